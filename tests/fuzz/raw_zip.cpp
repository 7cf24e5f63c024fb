#include "tests/fuzz/raw_zip.h"

#include "core/kernel_file/zip.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <zlib.h>

namespace pallascope::fuzz {

std::string littleEndian(std::uint64_t number, int bytes)
{
    std::string text;
    for (int i = 0; i < bytes; ++i) {
        text += static_cast<char>(number >> (8U * static_cast<unsigned>(i)));
    }
    return text;
}

RawMember stored(const std::string& name, const std::string& data)
{
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    return {name, data, data.size(), static_cast<std::uint32_t>(crc), 0};
}

std::string rawZip(const std::vector<RawMember>& members)
{
    std::string file, directory;
    for (const RawMember& member : members) {
        const std::string common = littleEndian(20, 2) + littleEndian(0, 2)
                                   + littleEndian(static_cast<std::uint64_t>(member.method), 2)
                                   + littleEndian(0, 4) + littleEndian(member.crc, 4)
                                   + littleEndian(member.data.size(), 4)
                                   + littleEndian(member.unpacked, 4)
                                   + littleEndian(member.name.size(), 2) + littleEndian(0, 2);
        directory += "PK\x01\x02" + littleEndian(20, 2) + common + littleEndian(0, 2)
                     + littleEndian(0, 2) + littleEndian(0, 2) + littleEndian(0, 4)
                     + littleEndian(file.size(), 4) + member.name;
        file += "PK\x03\x04" + common + member.name + member.data;
    }
    const std::size_t start = file.size();
    return file + directory + "PK\x05\x06" + littleEndian(0, 4) + littleEndian(members.size(), 2)
           + littleEndian(members.size(), 2) + littleEndian(directory.size(), 4)
           + littleEndian(start, 4) + littleEndian(0, 2);
}

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
