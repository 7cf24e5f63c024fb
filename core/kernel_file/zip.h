// Reads zip archives within limits, and writes them whole or not at all. Only zip.cpp uses libzip.
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::kernel_file {

inline constexpr std::int64_t kMostMembers = 4096;
inline constexpr std::uint64_t kMostUnpacked = std::uint64_t{1} << 36; // all members together
// NumPy and this program store arrays uncompressed. A member that unpacks to far more than its
// packed size was made to fill the memory.
inline constexpr std::uint64_t kMostRatio = 250;
inline constexpr std::uint64_t kRatioFrom =
    std::uint64_t{64} << 20; // the ratio is checked from this many unpacked bytes on

// Safe names are relative and have no "..", "." or empty parts, backslashes or control characters.
[[nodiscard]] bool isSafeMemberName(std::string_view name);

// Error sentences start with the archive's name.
class ZipReader
{
public:
    [[nodiscard]] static Result<ZipReader> open(const std::string& path);
    // Keeps a copy of the bytes.
    [[nodiscard]] static Result<ZipReader> openBytes(std::string_view bytes,
                                                     const std::string& name);

    [[nodiscard]] const std::string& name() const { return m_name; }

    // Members by name, with their unpacked sizes. Folders are left out.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& members() const { return m_sizes; }

    // Reads a member front to back, in pieces.
    class Member
    {
    public:
        // Reads exactly `bytes.size()` bytes.
        [[nodiscard]] Status read(std::span<std::byte> bytes);
        // Checks that nothing is left and that the checksum matches.
        [[nodiscard]] Status finish();

    private:
        friend class ZipReader;
        std::string m_who; // "FILE: MEMBER"
        std::shared_ptr<struct ZipMemberHandle> m_handle;
    };

    [[nodiscard]] Result<Member> member(const std::string& name) const;
    // The whole member. It is an error if it is longer than `most`.
    [[nodiscard]] Result<std::string> text(const std::string& name, std::uint64_t most) const;

private:
    [[nodiscard]] Status list(std::uint64_t packed);

    std::string m_name;
    std::shared_ptr<struct ZipHandle> m_handle;
    std::map<std::string, std::uint64_t> m_sizes;
};

struct MemberBytes
{
    std::string name;
    std::vector<std::span<const std::byte>> pieces; // concatenated
    bool packed = false; // whether to deflate it or to store it unchanged
};

// The same members give the same bytes, because no times are written. An existing file is replaced
// only if everything succeeded. `members` must not be empty.
[[nodiscard]] Status writeZip(const std::string& path, const std::vector<MemberBytes>& members);

} // namespace pallascope::kernel_file
