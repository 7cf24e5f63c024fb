// Formats numbers and strings as JSON, so that they read back the same.
#include "core/trace_file/json_out.h"

#include "core/base/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace pallascope::trace_file {

namespace {

template<class T, class... Format>
void append(std::string& buffer, T value, Format... format)
{
    std::array<char, 32> digits{};
    const std::to_chars_result result =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, format...);
    buffer.append(digits.data(), result.ptr);
}

} // namespace

void JsonOut::integer(std::int64_t value)
{
    append(m_buffer, value);
}

void JsonOut::unsignedInteger(std::uint64_t value)
{
    append(m_buffer, value);
}

void JsonOut::number(double value)
{
    if (value == 0 && std::signbit(value)) {
        raw("-0.0"); // "-0" would be read as an integer without a sign
    } else if (std::isfinite(value) && std::fabs(value) < 1e18) {
        append(m_buffer, value);
    } else if (std::isfinite(value)) { // as an integer, readers would find it too large
        append(m_buffer, value, std::chars_format::scientific);
    } else {
        raw(std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
    }
}

void JsonOut::text(std::string_view text)
{
    constexpr std::string_view kHex = "0123456789abcdef";
    raw('"');
    while (!text.empty()) {
        const auto lead = static_cast<unsigned char>(text.front());
        const std::size_t length = utf8Length(text);
        if (length == 0) {
            raw("\xef\xbf\xbd");
        } else if (lead == '"' || lead == '\\') {
            raw('\\');
            raw(text.front());
        } else if (lead == '\n') {
            raw("\\n");
        } else if (lead < 0x20) {
            raw("\\u00");
            raw(kHex[lead >> 4U]);
            raw(kHex[lead & 15U]);
        } else {
            raw(text.substr(0, length));
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    raw('"');
}

void JsonOut::microseconds(std::int64_t ps)
{
    const std::int64_t ns = ps / 1000; // times of a run are never negative
    integer(ns / 1000);
    const auto rest = static_cast<int>(ns % 1000);
    const std::array<char, 4> decimals{'.', static_cast<char>('0' + rest / 100),
                                       static_cast<char>('0' + rest / 10 % 10),
                                       static_cast<char>('0' + rest % 10)};
    raw(std::string_view(decimals.data(), decimals.size()));
}

bool JsonOut::flush()
{
    const bool ok = m_sink.write(m_buffer);
    m_buffer.clear();
    return ok;
}

} // namespace pallascope::trace_file
