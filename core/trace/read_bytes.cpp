#include "core/trace/read_bytes.h"

#include "core/base/check.h"
#include "core/base/read_file.h"

#include <fmt/format.h>
#include <vector>
#include <zlib.h>

namespace pallascope::trace {

namespace {

constexpr std::size_t kChunk = 1024 * 1024;
constexpr int kAnyGzipWindow = 15 + 16; // the largest, which reads the smaller ones too

// Traces pack about 10 to 1. Something that unpacks to far more is made to fill the memory.
constexpr std::size_t kMaxRatio = 250;
constexpr std::size_t kRatioFrom = 256 * kChunk;

class Inflater
{
public:
    Inflater() { PALLASCOPE_CHECK(inflateInit2(&m_stream, kAnyGzipWindow) == Z_OK); }

    ~Inflater() { inflateEnd(&m_stream); }

    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    [[nodiscard]] bool complete() const { return m_complete; }

    // Appends what `packed` unpacks to; the error's message continues the file's name.
    [[nodiscard]] Status unpack(std::string_view packed, std::string& text)
    {
        m_packed += packed.size();
        m_stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
        m_stream.avail_in = static_cast<uInt>(packed.size());
        while (m_stream.avail_in > 0) {
            if (m_complete) { // another gzip member follows, as `cat a.gz b.gz` makes
                inflateReset(&m_stream);
                m_complete = false;
            }
            m_stream.next_out = reinterpret_cast<Bytef*>(m_chunk.data());
            m_stream.avail_out = static_cast<uInt>(m_chunk.size());
            const int state = inflate(&m_stream, Z_NO_FLUSH);
            if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
                return userError("is damaged: its gzip data does not unpack");
            }
            m_complete = state == Z_STREAM_END;
            text.append(m_chunk.data(), m_chunk.size() - m_stream.avail_out);
            if (text.size() > kMaxJsonBytes) {
                return userError("unpacks to more than 4 GiB, the most that is read of a trace");
            }
            if (text.size() > kRatioFrom && text.size() / kMaxRatio > m_packed) {
                return userError(fmt::format(
                    "unpacks to more than {} times its size, as no trace does", kMaxRatio));
            }
        }
        return Done{};
    }

private:
    z_stream m_stream{};
    std::vector<char> m_chunk = std::vector<char>(kChunk);
    std::size_t m_packed = 0;
    bool m_complete = false;
};

Result<std::string> readPacked(InputFile& file, const std::string& path, std::vector<char>& chunk,
                               std::size_t size)
{
    Inflater inflater;
    std::string text;
    while (size > 0) {
        const Status status = inflater.unpack(std::string_view(chunk.data(), size), text);
        if (!status) {
            return userError(fmt::format("{} {}", path, status.error().message));
        }
        const Result<std::size_t> count = file.read(chunk);
        if (!count) {
            return count.error();
        }
        size = *count;
    }
    if (!inflater.complete()) {
        return userError(
            fmt::format("{} is cut short: its gzip data ends before its end mark", path));
    }
    return text;
}

} // namespace

bool isGzip(std::string_view bytes)
{
    return bytes.starts_with("\x1f\x8b");
}

Result<std::string> readWholeFile(const std::filesystem::path& path, std::size_t padding)
{
    std::error_code code;
    const std::filesystem::file_status status = std::filesystem::status(path, code);
    if (std::filesystem::is_character_file(status) || std::filesystem::is_block_file(status)) {
        // One without an end would fill the memory, which the limit of traces allows.
        return userError(
            fmt::format("\"{}\" is a device; a file or a pipe is right.", path.string()));
    }
    Result<InputFile> file = InputFile::open(path.string());
    if (!file) {
        return file.error();
    }
    if (file->size() > kMaxJsonBytes) {
        return tooLarge(path.string(), kMaxJsonBytes);
    }
    std::vector<char> chunk(kChunk);
    Result<std::size_t> count = file->read(chunk);
    if (count && isGzip(std::string_view(chunk.data(), *count))) {
        Result<std::string> unpacked = readPacked(*file, path.string(), chunk, *count);
        if (unpacked) {
            unpacked->reserve(unpacked->size() + padding);
        }
        return unpacked;
    }
    std::string text;
    text.reserve(file->size() + padding);
    for (; count && *count > 0; count = file->read(chunk)) {
        text.append(chunk.data(), *count);
        if (text.size() > kMaxJsonBytes) {
            return tooLarge(path.string(), kMaxJsonBytes);
        }
    }
    if (!count) {
        return count.error();
    }
    text.reserve(text.size() + padding);
    return text;
}

} // namespace pallascope::trace
