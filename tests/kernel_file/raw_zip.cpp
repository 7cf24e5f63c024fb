// Writes zip files byte by byte.
#include "tests/kernel_file/raw_zip.h"

#include <zlib.h>

namespace pallascope::kernel_file_test {

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

} // namespace pallascope::kernel_file_test
