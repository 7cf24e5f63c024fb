// Reads and writes archives with libzip, and refuses what is damaged, unsafe or too large.
#include "core/kernel_file/zip.h"

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/base/read_file.h"
#include "core/base/whole_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <zip.h>

namespace pallascope::kernel_file {

struct ZipHandle
{
    explicit ZipHandle(zip_t* opened, std::shared_ptr<const std::string> bytes = nullptr)
        : zip(opened)
        , contents(std::move(bytes))
    {}

    ~ZipHandle() { zip_discard(zip); }

    ZipHandle(const ZipHandle&) = delete;
    ZipHandle& operator=(const ZipHandle&) = delete;
    zip_t* zip;
    std::shared_ptr<const std::string> contents; // of an archive that is not a file
};

struct ZipMemberHandle
{
    ZipMemberHandle(std::shared_ptr<ZipHandle> archive, zip_file_t* opened)
        : zip(std::move(archive))
        , file(opened)
    {}

    ~ZipMemberHandle() { zip_fclose(file); }

    ZipMemberHandle(const ZipMemberHandle&) = delete;
    ZipMemberHandle& operator=(const ZipMemberHandle&) = delete;
    std::shared_ptr<ZipHandle> zip;
    zip_file_t* file;
};

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNameBytes = 255;

// A name in the form in which an error shows it.
std::string shown(std::string_view name)
{
    constexpr std::size_t kShown = 60;
    std::string text;
    for (const char c : name.substr(0, kShown)) {
        text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
    return name.size() > kShown ? text + "..." : text;
}

Error notZip(const std::string& name)
{
    return userError(fmt::format("{} is not a zip archive, or is cut short or damaged", name));
}

} // namespace

bool isSafeMemberName(std::string_view name)
{
    if (name.empty() || name.size() > kMostNameBytes) {
        return false;
    }
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '\\' && c != ':';
    });
    while (plain) {
        const std::size_t slash = name.find('/');
        const std::string_view part = name.substr(0, slash);
        if (part.empty() || part == "." || part == "..") {
            return false;
        }
        if (slash == std::string_view::npos) {
            return true;
        }
        name.remove_prefix(slash + 1);
    }
    return false;
}

Result<ZipReader> ZipReader::open(const std::string& path)
{
    if (Status readable = checkReadable(path); !readable) {
        return readable.error();
    }
    if (!isOrdinaryFile(path)) {
        return userError(
            fmt::format("\"{}\" is no ordinary file, which an archive has to be", path));
    }
    std::error_code code;
    const std::uintmax_t size = fs::file_size(path, code);
    int fault = 0;
    zip_t* const zip = zip_open(path.c_str(), ZIP_RDONLY, &fault);
    if (zip == nullptr) {
        return fault == ZIP_ER_OPEN || fault == ZIP_ER_READ
                   ? userError(fmt::format("Cannot read \"{}\"", path))
                   : notZip(path);
    }
    ZipReader reader;
    reader.m_name = path;
    reader.m_handle = std::make_shared<ZipHandle>(zip);
    if (Status listed = reader.list(size); !listed) {
        return listed.error();
    }
    return reader;
}

Result<ZipReader> ZipReader::openBytes(std::string_view bytes, const std::string& name)
{
    zip_error_t fault;
    zip_error_init(&fault);
    const auto kept = std::make_shared<const std::string>(bytes);
    zip_source_t* const source = zip_source_buffer_create(kept->data(), kept->size(), 0, &fault);
    zip_t* const zip =
        source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &fault);
    zip_error_fini(&fault);
    if (zip == nullptr) {
        zip_source_free(source);
        return notZip(name);
    }
    ZipReader reader;
    reader.m_name = name;
    reader.m_handle = std::make_shared<ZipHandle>(zip, kept);
    if (Status listed = reader.list(bytes.size()); !listed) {
        return listed.error();
    }
    return reader;
}

Status ZipReader::list(std::uint64_t packed)
{
    const zip_int64_t count = zip_get_num_entries(m_handle->zip, 0);
    if (count > kMostMembers) {
        return userError(
            fmt::format("{} has {} members; {} at most are read", m_name, count, kMostMembers));
    }
    std::uint64_t total = 0;
    for (zip_int64_t i = 0; i < count; ++i) {
        zip_stat_t stat;
        zip_stat_init(&stat);
        constexpr zip_uint64_t kNeeded =
            ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
        if (zip_stat_index(m_handle->zip, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW, &stat) != 0
            || (stat.valid & kNeeded) != kNeeded) {
            return notZip(m_name);
        }
        std::string_view name = stat.name;
        const bool folder = name.ends_with('/');
        if (!isSafeMemberName(folder ? name.substr(0, name.size() - 1) : name)) {
            return userError(
                fmt::format("{} has a member \"{}\"; expected a relative path without \"..\"",
                            m_name, shown(name)));
        }
        if ((stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
            || stat.encryption_method != ZIP_EM_NONE) {
            return userError(fmt::format("{}: the member {} is encrypted or packed in another way "
                                         "than stored or deflated",
                                         m_name, shown(name)));
        }
        if (stat.size > kMostUnpacked || (total += stat.size) > kMostUnpacked) {
            return userError(fmt::format("{} unpacks to more than {} GiB, the most that is read",
                                         m_name, kMostUnpacked >> 30U));
        }
        if (!folder && !m_sizes.emplace(name, stat.size).second) {
            return userError(fmt::format("{} has two members {}", m_name, shown(name)));
        }
    }
    if (total > kRatioFrom && total / kMostRatio > packed) {
        return userError(
            fmt::format("{} unpacks to more than {} times its size", m_name, kMostRatio));
    }
    return Done{};
}

Result<ZipReader::Member> ZipReader::member(const std::string& name) const
{
    if (!m_sizes.contains(name)) {
        return userError(fmt::format("{} has no member {}", m_name, shown(name)));
    }
    Member member;
    member.m_who = fmt::format("{}: {}", m_name, name);
    zip_file_t* const file = zip_fopen(m_handle->zip, name.c_str(), ZIP_FL_ENC_RAW);
    if (file == nullptr) {
        return userError(fmt::format("{} is damaged", member.m_who));
    }
    member.m_handle = std::make_shared<ZipMemberHandle>(m_handle, file);
    return member;
}

Status ZipReader::Member::read(std::span<std::byte> bytes)
{
    while (!bytes.empty()) {
        const zip_int64_t count = zip_fread(m_handle->file, bytes.data(), bytes.size());
        if (count <= 0) {
            return userError(
                fmt::format("{} is {}", m_who, count < 0 ? "damaged" : "shorter than it says"));
        }
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return Done{};
}

Status ZipReader::Member::finish()
{
    std::byte more{};
    const zip_int64_t count = zip_fread(m_handle->file, &more, 1);
    if (count != 0) {
        return userError(
            fmt::format("{} is {}", m_who, count < 0 ? "damaged" : "longer than it says"));
    }
    return Done{};
}

Result<std::string> ZipReader::text(const std::string& name, std::uint64_t most) const
{
    Result<Member> opened = member(name);
    if (!opened) {
        return opened.error();
    }
    const std::uint64_t size = m_sizes.at(name);
    if (size > most) {
        return userError(fmt::format("{}: {} has {}; {} at most are read", m_name, name,
                                     bytesText(Bytes(static_cast<std::int64_t>(size))),
                                     bytesText(Bytes(static_cast<std::int64_t>(most)))));
    }
    std::string text(static_cast<std::size_t>(size), '\0');
    if (Status status = opened->read(std::as_writable_bytes(std::span(text))); !status) {
        return status.error();
    }
    if (Status status = opened->finish(); !status) {
        return status.error();
    }
    return text;
}

namespace {

// Adds the member. If it fails, returns false and leaves the reason in the archive.
bool add(zip_t* zip, const MemberBytes& member)
{
    std::vector<zip_buffer_fragment_t> fragments;
    for (const std::span<const std::byte> piece : member.pieces) {
        // libzip only reads the bytes, but its interface is not const-correct.
        auto* const bytes = const_cast<std::byte*>(piece.data());
        fragments.push_back({reinterpret_cast<zip_uint8_t*>(bytes), piece.size()});
    }
    zip_source_t* const source =
        zip_source_buffer_fragment(zip, fragments.data(), fragments.size(), 0);
    if (source == nullptr) {
        return false;
    }
    const zip_int64_t index = zip_file_add(zip, member.name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return false;
    }
    const auto at = static_cast<zip_uint64_t>(index);
    constexpr zip_uint16_t kMidnight = 0, kFirstDay = (1U << 5U) | 1U; // of 1980
    return zip_set_file_compression(zip, at, member.packed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) == 0
           && zip_file_set_dostime(zip, at, kMidnight, kFirstDay, 0) == 0;
}

} // namespace

Status writeZip(const std::string& path, const std::vector<MemberBytes>& members)
{
    PALLASCOPE_CHECK(!members.empty());
    WholeFile file(path);
    if (Status opened = file.open(); !opened) {
        return opened;
    }
    int fault = 0;
    zip_t* const zip = zip_open(file.temporary().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &fault);
    if (zip == nullptr) {
        return file.error(errno);
    }
    const bool added = std::all_of(members.begin(), members.end(),
                                   [&](const MemberBytes& member) { return add(zip, member); });
    if (!added || zip_close(zip) != 0) {
        const int code = zip_error_code_system(zip_get_error(zip));
        const std::string reason = zip_strerror(zip);
        zip_discard(zip);
        return code != 0 ? file.error(code)
                         : userError(fmt::format("Cannot write \"{}\": {}", path, reason));
    }
    return file.commit();
}

} // namespace pallascope::kernel_file
