// A zip by hand, as PKWARE's APPNOTE lays it out, so that it may lie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::kernel_file_test {

[[nodiscard]] std::string littleEndian(std::uint64_t number, int bytes);

struct RawMember
{
    std::string name, data;     // deflated data as it is
    std::uint64_t unpacked = 0; // what the headers say
    std::uint32_t crc = 0;
    int method = 0; // 0 stored, 8 deflated
};

[[nodiscard]] RawMember stored(const std::string& name, const std::string& data);
[[nodiscard]] std::string rawZip(const std::vector<RawMember>& members);

} // namespace pallascope::kernel_file_test
