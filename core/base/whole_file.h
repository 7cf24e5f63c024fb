// A file that appears whole or not at all: bytes go to a temporary file beside it, which takes its
// name at the end and is removed when anything goes wrong before. All files that are written go
// through it. A link stays one: what it points to is written.
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

    // Refuses what cannot be written, as far as that can be known before: a folder, a device, a
    // folder that is not there.
    [[nodiscard]] static Status check(const std::filesystem::path& path);

    // Also removes what earlier writers of this file left that were killed.
    [[nodiscard]] Status open();
    [[nodiscard]] bool write(std::string_view bytes);
    [[nodiscard]] Status commit();

    // Of the last call that failed; `code` where another one failed with the temporary file.
    [[nodiscard]] Error error() const { return error(m_errno); }

    [[nodiscard]] Error error(int code) const;

    // For a library that writes by itself, from open() to commit().
    [[nodiscard]] const std::filesystem::path& temporary() const { return m_temporary; }

private:
    [[nodiscard]] Status refuse();

    std::filesystem::path m_named, m_path; // as it was said; without links
    std::filesystem::path m_temporary;
    int m_descriptor = -1;
    int m_errno = 0;
};

[[nodiscard]] Status writeFile(const std::filesystem::path& path, std::string_view bytes);

// Those of all files that are being written, for a process that ends at once: their writers must
// not go on.
void removeTemporaryFiles();

// Whether two names are of one file, or will be.
[[nodiscard]] bool isSamePlace(const std::filesystem::path& a, const std::filesystem::path& b);

} // namespace pallascope
