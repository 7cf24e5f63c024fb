// Archives to start from: .pallascope and .npz files.
#pragma once

#include "tests/fuzz/mutate.h"
#include "tests/kernel_file/raw_zip.h"

#include <string>
#include <vector>

namespace pallascope::fuzz {

using kernel_file_test::RawMember;

// Valid archives, with their members unpacked.
class ArchiveCorpus
{
public:
    explicit ArchiveCorpus(std::vector<std::string> files);

    [[nodiscard]] const std::vector<std::string>& files() const { return m_files; }

    // One of the archives with some bytes changed, or with changed members packed again.
    [[nodiscard]] std::string mutated(Random& random) const;

private:
    std::vector<std::string> m_files;
    std::vector<std::vector<RawMember>> m_members;
};

} // namespace pallascope::fuzz
