// Reads the archives to start from, and changes them.
#include "tests/fuzz/archive_corpus.h"

#include "core/kernel_file/zip.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pallascope::fuzz {

using kernel_file_test::rawZip;
using kernel_file_test::stored;

namespace {

std::vector<RawMember> unzipped(const std::string& bytes)
{
    const Result<kernel_file::ZipReader> zip = kernel_file::ZipReader::openBytes(bytes, "seed");
    std::vector<RawMember> members;
    for (const auto& [name, size] : zip.value().members()) {
        members.push_back(stored(name, zip->text(name, size).value()));
    }
    return members;
}

std::string changedContent(const std::string& data, const std::string& other, Random& random)
{
    return Json::accept(data) ? mutatedTree(Json::parse(data), Json(), random)
                              : mutatedBytes(data, other, random);
}

} // namespace

ArchiveCorpus::ArchiveCorpus(std::vector<std::string> files)
    : m_files(std::move(files))
{
    std::transform(m_files.begin(), m_files.end(), std::back_inserter(m_members), unzipped);
}

std::string ArchiveCorpus::mutated(Random& random) const
{
    const std::size_t which = random.below(m_files.size());
    if (random.oneIn(4)) {
        return mutatedBytes(m_files[which], random.pick(m_files), random);
    }
    std::vector<RawMember> members = m_members[which];
    RawMember& member = random.pick(members);
    switch (random.below(10)) {
    case 0:
        member.name = mutatedBytes(member.name, "../arrays/", random);
        break;
    case 1:
        member.unpacked = random.oneIn(2) ? 0xffff'0000U : member.unpacked + 7;
        break;
    case 2:
        member.method = static_cast<int>(random.below(20));
        break;
    case 3:
        member.crc ^= 1U << random.below(32);
        break;
    case 4:
        members.push_back(RawMember(random.pick(members)));
        break;
    case 5:
        members.erase(members.begin() + static_cast<std::ptrdiff_t>(random.below(members.size())));
        break;
    default:
        member =
            stored(member.name, changedContent(member.data, random.pick(members).data, random));
    }
    return rawZip(members);
}

} // namespace pallascope::fuzz
