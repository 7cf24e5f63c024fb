// Reads every file that comes in, up to a limit. A device or an endless pipe is refused like a file
// that is too large. The contents of a pipe can be read only once.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <span>
#include <string>

namespace pallascope {

// The limit for files that people write: chips, sweeps, tables.
inline constexpr std::uint64_t kMostWrittenBytes = std::uint64_t{64} << 20;

// Checks that the file exists, is not a folder and may be read.
[[nodiscard]] Status checkReadable(const std::string& path);

// Whether it is neither a pipe nor a device: it has a size and can be read twice.
[[nodiscard]] bool isOrdinaryFile(const std::string& path);

// A file that is read from front to back.
class InputFile
{
public:
    [[nodiscard]] static Result<InputFile> open(const std::string& path);
    InputFile(InputFile&& other) noexcept;
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile();

    // The size of an ordinary file; 0 for anything else.
    [[nodiscard]] std::uint64_t size() const { return m_size; }

    // Fills as much of `bytes` as the file has left. Fewer bytes than asked for mean the end of the
    // file.
    [[nodiscard]] Result<std::size_t> read(std::span<char> bytes);

private:
    InputFile() = default;

    std::string m_path;
    std::uint64_t m_size = 0;
    int m_descriptor = -1;
};

// The whole file; an error if it has more than `most` bytes.
[[nodiscard]] Result<std::string> readFile(const std::string& path, std::uint64_t most);

// The first bytes of an ordinary file, or fewer if it is shorter. Empty for anything else, or for a
// file that cannot be read.
[[nodiscard]] std::string firstBytes(const std::string& path, std::size_t count);

[[nodiscard]] Error tooLarge(const std::string& path, std::uint64_t most);

} // namespace pallascope
