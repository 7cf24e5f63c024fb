// Writes JSON text piece by piece into a sink, so that saving a trace of any size takes constant
// memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pallascope::trace_file {

// Receives the text. A result of false stops the writing (an error, or a cancelled save).
class Sink
{
public:
    virtual ~Sink() = default;
    [[nodiscard]] virtual bool write(std::string_view text) = 0;
};

class JsonOut
{
public:
    explicit JsonOut(Sink& sink)
        : m_sink(sink)
    {}

    void raw(std::string_view text) { m_buffer.append(text); }

    void raw(char character) { m_buffer.push_back(character); }

    void integer(std::int64_t value);
    void unsignedInteger(std::uint64_t value);
    void number(double value); // shortest text that reads back the same; "nan", "inf", "-inf"
    void text(std::string_view text);   // quoted; bytes that are not UTF-8 become U+FFFD
    void microseconds(std::int64_t ps); // three decimals: rounded down to ns

    // Whether the buffer is worth handing to the sink. The writer asks between two events.
    [[nodiscard]] bool full() const { return m_buffer.size() >= kChunk; }

    [[nodiscard]] bool flush(); // false: the sink takes no more

private:
    static constexpr std::size_t kChunk = 256 * 1024;
    Sink& m_sink;
    std::string m_buffer;
};

} // namespace pallascope::trace_file
