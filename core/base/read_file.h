// Every file that comes in, read up to a limit: a device or a pipe without an end is refused as a
// file that is too large is. What a pipe holds can be read once only.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <span>
#include <string>

namespace pallascope {

// Of what people write: chips, sweeps, tables.
inline constexpr std::uint64_t kMostWrittenBytes = std::uint64_t{64} << 20;

// There is such a file, it is no folder, and it may be read.
[[nodiscard]] Status checkReadable(const std::string& path);

// Neither a pipe nor a device: can be read twice, and has a size.
[[nodiscard]] bool isOrdinaryFile(const std::string& path);

// A file that is read front to back.
class InputFile
{
public:
    [[nodiscard]] static Result<InputFile> open(const std::string& path);
    InputFile(InputFile&& other) noexcept;
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile();

    // Of an ordinary file; 0 of any other.
    [[nodiscard]] std::uint64_t size() const { return m_size; }

    // Fills as much as there is; fewer bytes than asked for are the last ones.
    [[nodiscard]] Result<std::size_t> read(std::span<char> bytes);

private:
    InputFile() = default;

    std::string m_path;
    std::uint64_t m_size = 0;
    int m_descriptor = -1;
};

// The bytes of the file, which are `most` at most.
[[nodiscard]] Result<std::string> readFile(const std::string& path, std::uint64_t most);

// The first bytes of an ordinary file, fewer where it ends; none of any other file, or of one that
// cannot be read.
[[nodiscard]] std::string firstBytes(const std::string& path, std::size_t count);

[[nodiscard]] Error tooLarge(const std::string& path, std::uint64_t most);

} // namespace pallascope
