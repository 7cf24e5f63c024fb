#include "core/base/read_file.h"

#include "core/base/format.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace pallascope {

namespace {

Error unreadable(const std::string& path, int code)
{
    return userError("Cannot read \"" + path + "\": " + std::strerror(code) + ".");
}

} // namespace

Status checkReadable(const std::string& path)
{
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) {
        return userError("There is no file \"" + path + "\".");
    }
    if (std::filesystem::is_directory(status)) {
        return userError("\"" + path + "\" is a folder; a file is right.");
    }
    if (::access(path.c_str(), R_OK) != 0) {
        return unreadable(path, errno);
    }
    return Done{};
}

bool isOrdinaryFile(const std::string& path)
{
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

Result<std::string> readFile(const std::string& path, std::uint64_t most)
{
    if (Status status = checkReadable(path); !status) {
        return status.error();
    }
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return unreadable(path, errno);
    }
    struct stat found = {};
    const bool sized = ::fstat(file, &found) == 0 && S_ISREG(found.st_mode);
    const std::uint64_t size = sized ? static_cast<std::uint64_t>(found.st_size) : 0;
    constexpr std::uint64_t kPart = std::uint64_t{1} << 16;
    std::string text;
    std::uint64_t filled = 0;
    int fault = 0;
    // A byte beyond the limit, and beyond the size that a file says it has, tells that there is
    // more.
    while (size <= most && filled <= most) {
        text.resize(std::min(most + 1, std::max(filled + kPart, size + 1)));
        const ssize_t count = ::read(file, text.data() + filled, text.size() - filled);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            fault = count < 0 ? errno : 0;
            break;
        }
        filled += static_cast<std::uint64_t>(count);
    }
    ::close(file);
    if (fault != 0) {
        return unreadable(path, fault);
    }
    if (size > most || filled > most) {
        return userError("\"" + path + "\" is larger than "
                         + bytesText(Bytes(static_cast<std::int64_t>(most)))
                         + ", the most that is read of such a file.");
    }
    text.resize(filled);
    return text;
}

} // namespace pallascope
