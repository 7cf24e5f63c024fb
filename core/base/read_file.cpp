#include "core/base/read_file.h"

#include "core/base/format.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace pallascope {

namespace {

Error unreadable(const std::string& path, int code)
{
    return userError("Cannot read \"" + path + "\": " + std::strerror(code) + ".",
                     {{Subject::File, path}});
}

} // namespace

Status checkReadable(const std::string& path)
{
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) {
        return userError("There is no file \"" + path + "\".", {{Subject::File, path}});
    }
    if (std::filesystem::is_directory(status)) {
        return userError("\"" + path + "\" is a folder; expected a file.", {{Subject::File, path}});
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

Result<InputFile> InputFile::open(const std::string& path)
{
    if (Status status = checkReadable(path); !status) {
        return status.error();
    }
    InputFile file;
    file.m_path = path;
    file.m_descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file.m_descriptor < 0) {
        return unreadable(path, errno);
    }
    struct stat found = {};
    if (::fstat(file.m_descriptor, &found) == 0 && S_ISREG(found.st_mode)) {
        file.m_size = static_cast<std::uint64_t>(found.st_size);
    }
    return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_size(other.m_size)
    , m_descriptor(std::exchange(other.m_descriptor, -1))
{}

InputFile::~InputFile()
{
    if (m_descriptor >= 0) {
        ::close(m_descriptor);
    }
}

Result<std::size_t> InputFile::read(std::span<char> bytes)
{
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const ssize_t count = ::read(m_descriptor, bytes.data() + filled, bytes.size() - filled);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return unreadable(m_path, errno);
        }
        if (count == 0) {
            break;
        }
        filled += static_cast<std::size_t>(count);
    }
    return filled;
}

Result<std::string> readFile(const std::string& path, std::uint64_t most)
{
    Result<InputFile> file = InputFile::open(path);
    if (!file) {
        return file.error();
    }
    if (file->size() > most) {
        return tooLarge(path, most);
    }
    constexpr std::uint64_t kPart = std::uint64_t{1} << 16;
    std::string text;
    std::uint64_t filled = 0;
    while (filled == text.size()) {
        // Asks for one byte more than the limit, or than the size that the file claims, to notice a
        // longer file.
        text.resize(std::min(most + 1, filled + std::max(kPart, file->size() + 1)));
        const Result<std::size_t> count = file->read(std::span(text).subspan(filled));
        if (!count) {
            return count.error();
        }
        filled += *count;
        if (filled > most) {
            return tooLarge(path, most);
        }
    }
    text.resize(filled);
    return text;
}

std::string firstBytes(const std::string& path, std::size_t count)
{
    Result<InputFile> file =
        isOrdinaryFile(path) ? InputFile::open(path) : Result<InputFile>(userError("No file."));
    if (!file) {
        return "";
    }
    std::string bytes(count, '\0');
    const Result<std::size_t> filled = file->read(bytes);
    bytes.resize(filled ? *filled : 0);
    return bytes;
}

Error tooLarge(const std::string& path, std::uint64_t most)
{
    return userError("\"" + path + "\" is larger than "
                         + bytesText(Bytes(static_cast<std::int64_t>(most)))
                         + ", the most that is read of such a file.",
                     {{Subject::File, path}});
}

} // namespace pallascope
