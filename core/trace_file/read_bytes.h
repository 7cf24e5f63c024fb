// Reads the text of a trace file, and unpacks it if it is gzip.
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

// The JSON parser numbers bytes with 32 bits, so larger texts are refused.
inline constexpr std::size_t kMaxJsonBytes = 0xffff'0000;

[[nodiscard]] bool isGzip(std::string_view bytes);

// The text of a file, piece by piece. Whether it is gzip is decided by its first bytes and not by
// its name.
class TraceText
{
public:
    [[nodiscard]] static Result<TraceText> open(const std::filesystem::path& path);
    TraceText(TraceText&& other) noexcept;
    TraceText(const TraceText&) = delete;
    TraceText& operator=(const TraceText&) = delete;
    ~TraceText();

    // Returns the next piece, empty at the end. It is valid until the next call.
    [[nodiscard]] Result<std::string_view> next();
    // The share of the file that has been read; 0 for a pipe.
    [[nodiscard]] double share() const;

private:
    TraceText(std::string path, InputFile file);
    // Reads bytes of the file into `m_packed` if that is empty. It stays empty at the end of the
    // file.
    [[nodiscard]] Status fill();
    [[nodiscard]] Result<std::string_view> nextUnpacked();

    std::string m_path;
    InputFile m_file;
    std::unique_ptr<class Inflater> m_inflater; // only for gzip
    std::vector<char> m_chunk;
    std::string_view m_packed; // the part of the chunk that is not yet handed out or unpacked
    bool m_begun = false;
    std::uint64_t m_read = 0, m_given = 0;
};

[[nodiscard]] Result<std::string> readWholeFile(const std::filesystem::path& path);

} // namespace pallascope::trace_file
