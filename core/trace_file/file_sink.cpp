// Compresses with zlib, in such a way that the same trace gives the same bytes on every system.
#include "core/trace_file/file_sink.h"

#include "core/base/check.h"

#include <array>
#include <zlib.h>

namespace pallascope::trace_file {

namespace {

constexpr int kLevel = 6;                     // higher ones take twice the time for a few percent
constexpr int kGzipWindow = 15 + 16;          // the largest window, with a gzip wrapper
constexpr unsigned char kUnknownSystem = 255; // in the header, so that every system writes the same

} // namespace

struct FileSink::Deflater
{
    z_stream stream{};
    gz_header header{}; // no name, no time: the same trace gives the same bytes
    std::array<unsigned char, 64 * 1024> bytes{};

    Deflater()
    {
        const int state =
            deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, 9, Z_DEFAULT_STRATEGY);
        PALLASCOPE_CHECK(state == Z_OK);
        header.os = kUnknownSystem;
        deflateSetHeader(&stream, &header);
    }

    ~Deflater() { deflateEnd(&stream); }

    Deflater(const Deflater&) = delete;
    Deflater& operator=(const Deflater&) = delete;
};

FileSink::FileSink(const std::filesystem::path& path)
    : m_file(path)
    , m_deflater(path.extension() == ".gz" ? std::make_unique<Deflater>() : nullptr)
{}

FileSink::~FileSink() = default;

bool FileSink::write(std::string_view text)
{
    return m_deflater ? deflateAll(text, false) : m_file.write(text);
}

bool FileSink::deflateAll(std::string_view text, bool last)
{
    z_stream& stream = m_deflater->stream;
    // zlib's interface is not const-correct.
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size()); // chunks, far below 4 GiB
    for (;;) {
        stream.next_out = m_deflater->bytes.data();
        stream.avail_out = static_cast<uInt>(m_deflater->bytes.size());
        const int state = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
        const std::size_t size = m_deflater->bytes.size() - stream.avail_out;
        if (!m_file.write({reinterpret_cast<const char*>(m_deflater->bytes.data()), size})) {
            return false;
        }
        if (state == Z_STREAM_END || (!last && stream.avail_in == 0 && stream.avail_out != 0)) {
            return true;
        }
    }
}

Status FileSink::commit()
{
    return m_deflater && !deflateAll({}, true) ? m_file.error() : m_file.commit();
}

} // namespace pallascope::trace_file
