// A file that appears whole or not at all. Bytes go to a temporary file beside it, which is renamed
// at the end, or removed if anything goes wrong before. All files that the program writes go
// through this class. If the path is a link, the link stays and its target is written.
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string_view>

namespace pallascope {

class WholeFile
{
public:
    explicit WholeFile(std::filesystem::path path);
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    // Refuses what cannot be written, as far as that can be known in advance: a folder, a device, a
    // file to which this process prints, "-", or a path in a folder that does not exist.
    [[nodiscard]] static Status check(const std::filesystem::path& path);

    // Also removes temporary files that earlier writers of this file left behind when they were
    // killed.
    [[nodiscard]] Status open();
    [[nodiscard]] bool write(std::string_view bytes);
    [[nodiscard]] Status commit();

    // The error of the last call that failed. Pass `code` if another function failed with the
    // temporary file.
    [[nodiscard]] Error error() const { return error(m_errno); }

    [[nodiscard]] Error error(int code) const;

    // The temporary file, for a library that writes it by itself between open() and commit().
    [[nodiscard]] const std::filesystem::path& temporary() const { return m_temporary; }

private:
    [[nodiscard]] Status refuse();

    std::filesystem::path m_named, m_path; // as the caller gave it; with links resolved
    std::filesystem::path m_temporary;
    int m_descriptor = -1;
    int m_errno = 0;
};

[[nodiscard]] Status writeFile(const std::filesystem::path& path, std::string_view bytes);

// Removes the temporary files of all writers, for a process that ends at once. No writer may go on
// afterwards.
void removeTemporaryFiles();

// Whether two paths name the same file, or will once it is written.
[[nodiscard]] bool isSamePlace(const std::filesystem::path& a, const std::filesystem::path& b);

} // namespace pallascope
