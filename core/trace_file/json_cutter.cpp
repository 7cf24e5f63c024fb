// A state machine that follows strings and brackets, so that it may be fed pieces of any size.
#include "core/trace_file/json_cutter.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pallascope::trace_file {

namespace {

constexpr std::size_t kGivenAt =
    std::size_t{1} << 20; // how many bytes of elements to collect before handing them out
constexpr std::string_view kSpace = " \t\r\n";

bool isSpace(char c)
{
    return kSpace.find(c) != std::string_view::npos;
}

// The bytes outside strings that matter for where a value ends.
constexpr auto kMarks = [] {
    std::array<bool, 256> marks{};
    for (const char c : {'"', '{', '}', '[', ']', ','}) {
        marks[static_cast<unsigned char>(c)] = true;
    }
    return marks;
}();

std::size_t nextMark(std::string_view text, std::size_t from)
{
    while (from < text.size() && !kMarks[static_cast<unsigned char>(text[from])]) {
        ++from;
    }
    return from;
}

} // namespace

JsonCutter::JsonCutter(std::string list, Takes takes)
    : m_list(std::move(list))
    , m_takes(std::move(takes))
{}

Error JsonCutter::notSound()
{
    return userError("is not JSON");
}

Status JsonCutter::feed(std::string_view text)
{
    while (!text.empty()) {
        Status status = Done{};
        std::size_t taken = 1;
        if (m_where == Where::InValue) {
            taken = inValue(text, status);
        } else if (m_where == Where::InKey) {
            taken = inString(text);
            m_key += text.substr(0, taken);
            if (!m_inString) {
                m_key.pop_back(); // removes the closing quote
                m_where = Where::BeforeColon;
            }
        } else {
            status = outside(text.front());
        }
        if (!status) {
            return status;
        }
        text.remove_prefix(taken);
    }
    return Done{};
}

Status JsonCutter::outside(char c)
{
    if (isSpace(c)) {
        return Done{};
    }
    const auto go = [&](Where where) {
        m_where = where;
        return Status(Done{});
    };
    switch (m_where) {
    case Where::BeforeObject:
        return c == '{' ? go(Where::BeforeFirstKey) : notSound();
    case Where::BeforeFirstKey:
    case Where::BeforeKey:
        if (c == '"') {
            m_key.clear();
            m_inString = true;
            return go(Where::InKey);
        }
        return c == '}' && m_where == Where::BeforeFirstKey ? go(Where::AfterObject) : notSound();
    case Where::BeforeColon:
        return c == ':' ? go(Where::BeforeValue) : notSound();
    case Where::BeforeValue:
        return beginValue(c) ? Status(Done{}) : notSound();
    case Where::AfterValue:
        return c == ',' ? go(Where::BeforeKey) : c == '}' ? go(Where::AfterObject) : notSound();
    default:
        return notSound();
    }
}

bool JsonCutter::beginValue(char c)
{
    if (c == ',' || c == '}' || c == ']') {
        return false;
    }
    m_where = Where::InValue;
    m_value.assign(1, c);
    m_depth = c == '{' || c == '[' ? 1 : 0;
    m_inString = c == '"';
    m_isScalar = m_depth == 0 && !m_inString;
    m_isCut = c == '[' && m_key == m_list;
    m_first = m_count = 0;
    return true;
}

std::size_t JsonCutter::inString(std::string_view text)
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (m_isEscaped) {
            m_isEscaped = false;
        } else if (text[i] == '\\') {
            m_isEscaped = true;
        } else if (text[i] == '"') {
            m_inString = false;
            return i + 1;
        }
    }
    return text.size();
}

std::size_t JsonCutter::inValue(std::string_view text, Status& status)
{
    if (m_isScalar) {
        const std::size_t end = std::min(text.find_first_of(",} \t\r\n"), text.size());
        m_value += text.substr(0, end);
        status = end < text.size() ? endValue() : Status(Done{});
        return end;
    }
    std::size_t at = 0;
    while (at < text.size()) {
        if (m_inString) {
            at += inString(text.substr(at));
        } else if (at = nextMark(text, at); at < text.size()) {
            const char c = text[at++];
            m_inString = c == '"';
            m_depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
            if (c == ',' && m_depth == 1 && m_isCut) {
                ++m_count;
                if (m_value.size() + at > kGivenAt) {
                    m_value += text.substr(0, at - 1);
                    status = giveElements();
                    return at;
                }
            }
        }
        if (m_depth == 0 && !m_inString) {
            m_value += text.substr(0, at);
            status = endValue();
            return at;
        }
    }
    m_value += text;
    return text.size();
}

// Hands out the elements collected up to a comma.
Status JsonCutter::giveElements()
{
    m_value += ']';
    const Status status = m_takes.elements(m_first, m_value);
    m_first += m_count;
    m_count = 0;
    m_value.assign(1, '[');
    return status;
}

Status JsonCutter::endValue()
{
    m_where = Where::AfterValue;
    if (!m_isCut) {
        return m_takes.value(m_key, m_value);
    }
    const bool isBare =
        std::all_of(m_value.begin() + 1, m_value.end() - 1, [](char c) { return isSpace(c); });
    if (isBare && m_first > 0) { // a comma with nothing after it
        return notSound();
    }
    return m_takes.elements(m_first, m_value);
}

Status JsonCutter::finish()
{
    return m_where == Where::AfterObject ? Status(Done{}) : notSound();
}

} // namespace pallascope::trace_file
