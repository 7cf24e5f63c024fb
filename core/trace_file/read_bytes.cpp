// Reads files and pipes in chunks, and unpacks gzip with limits against files made to fill the
// memory.
#include "core/trace_file/read_bytes.h"

#include "core/base/check.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <zlib.h>

namespace pallascope::trace_file {

namespace {

constexpr std::size_t kChunk = 1024 * 1024;
constexpr int kAnyGzipWindow = 15 + 16; // the largest window, which also reads smaller ones

// Traces compress about 10 to 1. A file that unpacks to far more was made to fill the memory.
constexpr std::size_t kMaxRatio = 250;
constexpr std::size_t kRatioFrom = 256 * kChunk;

} // namespace

class Inflater
{
public:
    Inflater() { PALLASCOPE_CHECK(inflateInit2(&m_stream, kAnyGzipWindow) == Z_OK); }

    ~Inflater() { inflateEnd(&m_stream); }

    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    [[nodiscard]] bool complete() const { return m_complete; }

    // Takes bytes off the front of `packed` and returns what they unpack to. The error's message
    // continues a sentence that starts with the file's name.
    [[nodiscard]] Result<std::string_view> unpack(std::string_view& packed)
    {
        if (m_complete) { // another gzip member follows, as `cat a.gz b.gz` makes
            inflateReset(&m_stream);
            m_complete = false;
        }
        m_stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
        m_stream.avail_in = static_cast<uInt>(packed.size());
        m_stream.next_out = reinterpret_cast<Bytef*>(m_chunk.data());
        m_stream.avail_out = static_cast<uInt>(m_chunk.size());
        const int state = inflate(&m_stream, Z_NO_FLUSH);
        if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
            return userError("is damaged: its gzip data does not unpack");
        }
        m_complete = state == Z_STREAM_END;
        m_packed += packed.size() - m_stream.avail_in;
        packed.remove_prefix(packed.size() - m_stream.avail_in);
        const std::string_view text(m_chunk.data(), m_chunk.size() - m_stream.avail_out);
        m_unpacked += text.size();
        if (m_unpacked > kRatioFrom && m_unpacked / kMaxRatio > m_packed) {
            return userError(
                fmt::format("unpacks to more than {} times its size, as no trace does", kMaxRatio));
        }
        return text;
    }

private:
    z_stream m_stream{};
    std::vector<char> m_chunk = std::vector<char>(kChunk);
    std::size_t m_packed = 0, m_unpacked = 0;
    bool m_complete = false;
};

bool isGzip(std::string_view bytes)
{
    return bytes.starts_with("\x1f\x8b");
}

TraceText::TraceText(std::string path, InputFile file)
    : m_path(std::move(path))
    , m_file(std::move(file))
    , m_chunk(kChunk)
{}

TraceText::TraceText(TraceText&& other) noexcept = default;
TraceText::~TraceText() = default;

Result<TraceText> TraceText::open(const std::filesystem::path& path)
{
    std::error_code code;
    const std::filesystem::file_status status = std::filesystem::status(path, code);
    if (std::filesystem::is_character_file(status) || std::filesystem::is_block_file(status)) {
        // A device without an end would be read up to the limit of traces.
        return userError(
            fmt::format("\"{}\" is a device; expected a file or a pipe.", path.string()));
    }
    Result<InputFile> file = InputFile::open(path.string());
    if (!file) {
        return file.error();
    }
    if (file->size() > kMaxJsonBytes) {
        return tooLarge(path.string(), kMaxJsonBytes);
    }
    return TraceText(path.string(), std::move(*file));
}

double TraceText::share() const
{
    return m_file.size() == 0
               ? 0
               : std::min(1.0, static_cast<double>(m_read) / static_cast<double>(m_file.size()));
}

Status TraceText::fill()
{
    if (!m_packed.empty()) {
        return Done{};
    }
    const Result<std::size_t> count = m_file.read(m_chunk);
    if (!count) {
        return count.error();
    }
    m_packed = std::string_view(m_chunk.data(), *count);
    m_read += *count;
    return Done{};
}

Result<std::string_view> TraceText::next()
{
    if (const Status status = fill(); !status) {
        return status.error();
    }
    if (!m_begun && isGzip(m_packed)) {
        m_inflater = std::make_unique<Inflater>();
    }
    m_begun = true;
    Result<std::string_view> text =
        m_inflater ? nextUnpacked()
                   : Result<std::string_view>(std::exchange(m_packed, std::string_view()));
    if (text && (m_given += text->size()) > kMaxJsonBytes) {
        return m_inflater ? userError(m_path
                                      + " unpacks to more than 4 GiB, the most that is read of a "
                                        "trace")
                          : tooLarge(m_path, kMaxJsonBytes);
    }
    return text;
}

Result<std::string_view> TraceText::nextUnpacked()
{
    std::string_view text;
    while (text.empty()) { // a piece may unpack to nothing
        if (const Status status = fill(); !status) {
            return status.error();
        }
        if (m_packed.empty()) {
            return m_inflater->complete()
                       ? Result<std::string_view>(text)
                       : userError(m_path
                                   + " is cut short: its gzip data ends before its end mark");
        }
        const Result<std::string_view> unpacked = m_inflater->unpack(m_packed);
        if (!unpacked) {
            return userError(fmt::format("{} {}", m_path, unpacked.error().message));
        }
        text = *unpacked;
    }
    return text;
}

Result<std::string> readWholeFile(const std::filesystem::path& path)
{
    Result<TraceText> text = TraceText::open(path);
    if (!text) {
        return text.error();
    }
    std::string whole;
    for (;;) {
        const Result<std::string_view> piece = text->next();
        if (!piece) {
            return piece.error();
        }
        if (piece->empty()) {
            return whole;
        }
        whole += *piece;
    }
}

} // namespace pallascope::trace_file
