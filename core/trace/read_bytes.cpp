#include "core/trace/read_bytes.h"

#include "core/base/check.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>
#include <vector>
#include <zlib.h>

namespace pallascope::trace {

namespace {

constexpr std::size_t kChunk = 1024 * 1024;
constexpr int kAnyGzipWindow = 15 + 16; // the largest, which reads the smaller ones too

// Traces pack about 10 to 1. Something that unpacks to far more is made to fill the memory.
constexpr std::size_t kMaxRatio = 250;
constexpr std::size_t kRatioFrom = 256 * kChunk;

Error unreadable(const std::filesystem::path& path, int code)
{
    return userError(
        fmt::format("cannot read {}: {}", path.string(), std::generic_category().message(code)));
}

class Descriptor
{
public:
    explicit Descriptor(int value)
        : m_value(value)
    {}

    ~Descriptor()
    {
        if (m_value >= 0) {
            ::close(m_value);
        }
    }

    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] int value() const { return m_value; }

    // Bytes read, 0 at the end, -1 with errno.
    [[nodiscard]] ssize_t read(char* bytes, std::size_t size) const
    {
        ssize_t count = -1;
        do {
            count = ::read(m_value, bytes, size);
        } while (count < 0 && errno == EINTR);
        return count;
    }

private:
    int m_value;
};

Status checkKind(const std::filesystem::path& path)
{
    namespace fs = std::filesystem;
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (status.type() == fs::file_type::not_found) {
        return userError(fmt::format("there is no file {}", path.string()));
    }
    if (fs::is_directory(status)) {
        return userError(fmt::format("{} is a folder, not a trace file", path.string()));
    }
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_fifo(status)) {
        return userError(fmt::format("{} is not an ordinary file", path.string()));
    }
    return Done{};
}

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
                return userError("unpacks to more than 4 GiB, the most that can be read");
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

bool isGzip(std::string_view bytes)
{
    return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

Result<std::string> readPacked(const Descriptor& file, const std::filesystem::path& path,
                               std::vector<char>& chunk, std::size_t size)
{
    Inflater inflater;
    std::string text;
    ssize_t count = static_cast<ssize_t>(size);
    while (count > 0) {
        const Status status =
            inflater.unpack(std::string_view(chunk.data(), static_cast<std::size_t>(count)), text);
        if (!status) {
            return userError(fmt::format("{} {}", path.string(), status.error().message));
        }
        count = file.read(chunk.data(), chunk.size());
    }
    if (count < 0) {
        return unreadable(path, errno);
    }
    if (!inflater.complete()) {
        return userError(
            fmt::format("{} is cut short: its gzip data ends before its end mark", path.string()));
    }
    return text;
}

} // namespace

Result<std::string> readWholeFile(const std::filesystem::path& path, std::size_t padding)
{
    if (Status status = checkKind(path); !status) {
        return status.error();
    }
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.value() < 0) {
        return unreadable(path, errno);
    }
    std::vector<char> chunk(kChunk);
    ssize_t count = file.read(chunk.data(), chunk.size());
    std::string text;
    if (count > 0 && isGzip(std::string_view(chunk.data(), static_cast<std::size_t>(count)))) {
        Result<std::string> unpacked =
            readPacked(file, path, chunk, static_cast<std::size_t>(count));
        if (!unpacked) {
            return unpacked;
        }
        text = std::move(unpacked).value();
        count = 0;
    } else {
        std::error_code code;
        const std::uintmax_t size = std::filesystem::file_size(path, code);
        if (!code && size <= kMaxJsonBytes) {
            text.reserve(static_cast<std::size_t>(size) + padding);
        }
    }
    for (; count > 0; count = file.read(chunk.data(), chunk.size())) {
        text.append(chunk.data(), static_cast<std::size_t>(count));
        if (text.size() > kMaxJsonBytes) {
            return userError(
                fmt::format("{} is larger than 4 GiB, the most that can be read", path.string()));
        }
    }
    if (count < 0) {
        return unreadable(path, errno);
    }
    text.reserve(text.size() + padding);
    return text;
}

} // namespace pallascope::trace
