// Cuts a JSON object into its members while its text arrives, so that a long list need not be in
// memory as a whole. It finds only where values end; a parser then checks them.
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
        // Receives the whole value of a member, and may take its text. The key is the raw text
        // between its quotes.
        std::function<Status(const std::string& key, std::string& value)> value;
        // Receives some elements of the list `list` as a list of their own, and the number of the
        // first.
        std::function<Status(std::int64_t first, std::string& elements)> elements;
    };

    // `list` is the key of the member to cut into elements if it is a list.
    JsonCutter(std::string list, Takes takes);

    // The error is one that `takes` returned, or notSound().
    [[nodiscard]] Status feed(std::string_view text);
    // Call it when no more text comes.
    [[nodiscard]] Status finish();

    // The error of feed() and finish() for a text that is not a JSON object.
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
    // How many bytes at the start of the text belong to the value, which may end there.
    [[nodiscard]] std::size_t inValue(std::string_view text, Status& status);
    [[nodiscard]] std::size_t inString(std::string_view text);
    [[nodiscard]] Status endValue();
    [[nodiscard]] Status giveElements();

    std::string m_list;
    Takes m_takes;
    Where m_where = Where::BeforeObject;
    std::string m_key, m_value;
    bool m_inString = false, m_isEscaped = false;
    bool m_isScalar = false; // a number or a word, which ends where something else follows
    bool m_isCut = false;    // whether it is the list to cut
    std::int64_t m_depth = 0;
    std::int64_t m_first = 0, m_count = 0; // elements handed out so far, and commas in m_value
};

} // namespace pallascope::trace_file
