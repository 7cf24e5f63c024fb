// Makes zip files by hand, as PKWARE's APPNOTE describes them, so that they may contain lies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::kernel_file_test {

[[nodiscard]] std::string littleEndian(std::uint64_t number, int bytes);

struct RawMember
{
    std::string name, data;     // deflated data stays as given
    std::uint64_t unpacked = 0; // the size that the headers state
    std::uint32_t crc = 0;
    int method = 0; // 0: stored, 8: deflated
};

[[nodiscard]] RawMember stored(const std::string& name, const std::string& data);
[[nodiscard]] std::string rawZip(const std::vector<RawMember>& members);

} // namespace pallascope::kernel_file_test
