// Cuts a JSON object into its members as its text comes in, so that a long list need not be in
// memory at once. It finds where values end and leaves it to a parser whether they are sound.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pallascope::trace_file {

class JsonCutter
{
public:
    struct Takes
    {
        // The whole value of a member, whose text may be taken; the key as it stands between its
        // quotes.
        std::function<Status(const std::string& key, std::string& value)> value;
        // Some elements of the list `list`, itself a list; the number of the first.
        std::function<Status(std::int64_t first, std::string& elements)> elements;
    };

    // `list`: the key of the member whose list is cut, if it is one.
    JsonCutter(std::string list, Takes takes);

    // The error: one of `takes`, or notSound().
    [[nodiscard]] Status feed(std::string_view text);
    // Nothing more comes.
    [[nodiscard]] Status finish();

    // What feed() and finish() say of a text that is no JSON object.
    [[nodiscard]] static Error notSound();

private:
    enum class Where : std::uint8_t
    {
        BeforeObject,
        BeforeFirstKey,
        BeforeKey,
        InKey,
        BeforeColon,
        BeforeValue,
        InValue,
        AfterValue,
        AfterObject
    };

    [[nodiscard]] Status outside(char c);
    [[nodiscard]] bool beginValue(char c);
    // How many bytes of the text belong to the value, which may end with them.
    [[nodiscard]] std::size_t inValue(std::string_view text, Status& status);
    [[nodiscard]] std::size_t inString(std::string_view text);
    [[nodiscard]] Status endValue();
    [[nodiscard]] Status giveElements();

    std::string m_list;
    Takes m_takes;
    Where m_where = Where::BeforeObject;
    std::string m_key, m_value;
    bool m_inString = false, m_isEscaped = false;
    bool m_isScalar = false; // a number or a word, which ends with what follows it
    bool m_isCut = false;    // the list's
    std::int64_t m_depth = 0;
    std::int64_t m_first = 0, m_count = 0; // elements given, and commas between those in m_value
};

} // namespace pallascope::trace_file
