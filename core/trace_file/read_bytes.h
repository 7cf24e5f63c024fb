// What a trace file holds, unpacked when it is gzip.
#pragma once

#include "core/base/read_file.h"
#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::trace_file {

// The JSON parser numbers bytes with 32 bits.
inline constexpr std::size_t kMaxJsonBytes = 0xffff'0000;

[[nodiscard]] bool isGzip(std::string_view bytes);

// The text of a file, piece by piece, unpacked when it is gzip, which is told by its first bytes
// and not by the name.
class TraceText
{
public:
    [[nodiscard]] static Result<TraceText> open(const std::filesystem::path& path);
    TraceText(TraceText&& other) noexcept;
    TraceText(const TraceText&) = delete;
    TraceText& operator=(const TraceText&) = delete;
    ~TraceText();

    // Until the next call; empty at the end.
    [[nodiscard]] Result<std::string_view> next();
    // Of the file, how much was read; of a pipe 0.
    [[nodiscard]] double share() const;

private:
    TraceText(std::string path, InputFile file);
    // Bytes of the file for `m_packed`, if it has none; it has none at the end.
    [[nodiscard]] Status fill();
    [[nodiscard]] Result<std::string_view> nextUnpacked();

    std::string m_path;
    InputFile m_file;
    std::unique_ptr<class Inflater> m_inflater; // of gzip
    std::vector<char> m_chunk;
    std::string_view m_packed; // of the chunk, not given or unpacked yet
    bool m_begun = false;
    std::uint64_t m_read = 0, m_given = 0;
};

[[nodiscard]] Result<std::string> readWholeFile(const std::filesystem::path& path);

} // namespace pallascope::trace_file
