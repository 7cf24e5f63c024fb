#include "core/trace/file_sink.h"

#include "core/base/check.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <system_error>
#include <unistd.h>
#include <zlib.h>

namespace pallascope::trace {

namespace {

constexpr int kLevel = 6;                     // higher ones take twice the time for a few percent
constexpr int kGzipWindow = 15 + 16;          // the largest window, in a gzip wrapper
constexpr unsigned char kUnknownSystem = 255; // in the header, so that every system writes the same

std::string temporaryName(const std::filesystem::path& path)
{
    static std::atomic<int> counter{0};
    return fmt::format(".{}.{}-{}.part", path.filename().string(), ::getpid(), counter++);
}

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

FileSink::FileSink(std::filesystem::path path)
    : m_path(std::move(path))
{}

FileSink::~FileSink()
{
    if (m_descriptor >= 0) {
        ::close(m_descriptor);
    }
    if (!m_temporary.empty()) {
        std::error_code ignored;
        std::filesystem::remove(m_temporary, ignored);
    }
}

Status FileSink::open()
{
    namespace fs = std::filesystem;
    std::error_code code;
    if (fs::is_symlink(m_path, code)) { // write what it points to, keep the link
        const fs::path target = fs::canonical(m_path, code);
        m_path = code ? m_path : target;
    }
    const fs::file_status status = fs::status(m_path, code);
    if (fs::is_directory(status)) {
        return userError(fmt::format("cannot write {}: it is a folder", m_path.string()));
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        return userError(
            fmt::format("cannot write {}: it is not an ordinary file", m_path.string()));
    }
    if (m_path.filename().empty()) {
        return userError(fmt::format("cannot write \"{}\": it names no file", m_path.string()));
    }
    if (fs::exists(status) && ::access(m_path.c_str(), W_OK) != 0) {
        m_errno = errno;
        return error();
    }
    const fs::path temporary = m_path.parent_path() / temporaryName(m_path);
    m_descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (m_descriptor < 0) {
        m_errno = errno;
        return error();
    }
    m_temporary = temporary;
    if (m_path.extension() == ".gz") {
        m_deflater = std::make_unique<Deflater>();
    }
    return Done{};
}

bool FileSink::write(std::string_view text)
{
    return m_deflater ? deflateAll(text, false) : writeBytes(text.data(), text.size());
}

bool FileSink::deflateAll(std::string_view text, bool last)
{
    z_stream& stream = m_deflater->stream;
    // zlib's interface predates const.
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size()); // chunks, far below 4 GiB
    for (;;) {
        stream.next_out = m_deflater->bytes.data();
        stream.avail_out = static_cast<uInt>(m_deflater->bytes.size());
        const int state = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
        if (!writeBytes(m_deflater->bytes.data(), m_deflater->bytes.size() - stream.avail_out)) {
            return false;
        }
        if (state == Z_STREAM_END || (!last && stream.avail_in == 0 && stream.avail_out != 0)) {
            return true;
        }
    }
}

bool FileSink::writeBytes(const void* bytes, std::size_t size)
{
    const auto* next = static_cast<const char*>(bytes);
    while (size > 0) {
        const ssize_t written = ::write(m_descriptor, next, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            m_errno = errno;
            return false;
        }
        next += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

Status FileSink::commit()
{
    if (m_deflater && !deflateAll({}, true)) {
        return error();
    }
    // close() reports what the system could not write after all (a quota, a network disk).
    const int closed = ::close(m_descriptor);
    m_descriptor = -1;
    if (closed != 0) {
        m_errno = errno;
        return error();
    }
    std::error_code code;
    std::filesystem::rename(m_temporary, m_path, code);
    if (code) {
        m_errno = code.value();
        return error();
    }
    m_temporary.clear();
    return Done{};
}

Error FileSink::error() const
{
    return userError(fmt::format("cannot write {}: {}", m_path.string(),
                                 std::generic_category().message(m_errno)));
}

} // namespace pallascope::trace
