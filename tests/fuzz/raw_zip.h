// A zip by hand, as PKWARE's APPNOTE lays it out, so that it may lie.
#pragma once

#include "tests/fuzz/mutate.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::fuzz {

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

// Sound archives, with their members unpacked.
class ArchiveCorpus
{
public:
    explicit ArchiveCorpus(std::vector<std::string> files);

    [[nodiscard]] const std::vector<std::string>& files() const { return m_files; }

    // One of them with other bytes, or with other members packed again.
    [[nodiscard]] std::string mutated(Random& random) const;

private:
    std::vector<std::string> m_files;
    std::vector<std::vector<RawMember>> m_members;
};

} // namespace pallascope::fuzz
