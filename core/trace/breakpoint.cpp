#include "core/trace/breakpoint.h"

#include "core/base/indexed_name.h"
#include "core/base/shape.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

namespace pallascope::trace {

namespace {

constexpr std::array<std::pair<std::string_view, breaks::Event>, 3> kEventNames{{
    {"stall", breaks::Event::Stall},
    {"finding", breaks::Event::Finding},
    {"nan", breaks::Event::Nan},
}};

constexpr const char* kAllForms =
    "line:kernel.py:42, grid:3,0,1, block:x(2,0), first:stall, first:finding, first:nan or "
    "when:count[0]>=3";

Error notUnderstood(const std::string& text, const std::string& expected)
{
    return userError("The breakpoint \"" + text + "\" is not understood; expected " + expected
                     + ".");
}

template<class Number>
std::optional<Number> wholeNumber(std::string_view text)
{
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool isWhole = error == std::errc() && end == text.data() + text.size();
    return isWhole ? std::optional(number) : std::nullopt;
}

std::optional<Breakpoint> lineOf(const std::string& rest)
{
    const std::size_t colon = rest.rfind(':');
    const std::string file = colon == std::string::npos ? "" : rest.substr(0, colon);
    const auto line = wholeNumber<std::int32_t>(
        std::string_view(rest).substr(colon == std::string::npos ? 0 : colon + 1));
    return line && *line > 0 && (colon == std::string::npos || !file.empty())
               ? std::optional<Breakpoint>(breaks::Line{file, *line})
               : std::nullopt;
}

std::optional<Breakpoint> gridOf(const std::string& rest)
{
    std::optional<IndexedName> index = parseIndexedName("grid[" + rest + "]", '[', ']');
    return index && !index->index.empty()
               ? std::optional<Breakpoint>(breaks::Grid{std::move(index->index)})
               : std::nullopt;
}

std::optional<Breakpoint> blockOf(const std::string& rest)
{
    std::optional<IndexedName> block = parseIndexedName(rest, '(', ')');
    block = block ? block : parseIndexedName(rest, '[', ']');
    return block && !block->name.empty() ? std::optional<Breakpoint>(
               breaks::Block{std::move(block->name), std::move(block->index)})
                                         : std::nullopt;
}

std::optional<Breakpoint> firstOf(const std::string& rest)
{
    for (const auto& [name, event] : kEventNames) {
        if (rest == name) {
            return breaks::First{event};
        }
    }
    return std::nullopt;
}

std::optional<Breakpoint> whenOf(const std::string& rest)
{
    std::optional<ParsedComparison> comparison = parseComparison(rest);
    if (!comparison) {
        return std::nullopt;
    }
    const auto value = wholeNumber<double>(comparison->right);
    const bool isIndexed = comparison->left.find('[') != std::string::npos;
    std::optional<IndexedName> element =
        parseIndexedName(isIndexed ? comparison->left : comparison->left + "[]", '[', ']');
    return value && element && !element->name.empty() ? std::optional<Breakpoint>(breaks::When{
               std::move(element->name), std::move(element->index), comparison->comparator, *value})
                                                      : std::nullopt;
}

struct Form
{
    std::string_view kind;
    std::optional<Breakpoint> (*read)(const std::string& rest);
    const char* expected;
};

constexpr std::array<Form, 5> kForms{{
    {"line", lineOf,
     "a line from 1, such as line:kernel.py:42, or line:42 if there is only one file"},
    {"grid", gridOf, "the index of a grid step from 0, such as grid:3,0,1"},
    {"block", blockOf, "an array with the index of a block from 0, such as block:x(2,0)"},
    {"first", firstOf, "first:stall, first:finding or first:nan"},
    {"when", whenOf,
     "an element of a ref, one of > >= < <= = !=, and a number, such as when:count[0]>=3"},
}};

std::string joined(const std::vector<std::int64_t>& index)
{
    return join(index, ",");
}

struct TextOf
{
    std::string operator()(const breaks::Line& at) const
    {
        return fmt::format("line:{}{}{}", at.file, at.file.empty() ? "" : ":", at.line);
    }

    std::string operator()(const breaks::Grid& at) const { return "grid:" + joined(at.index); }

    std::string operator()(const breaks::Block& at) const
    {
        return "block:" + at.array + "(" + joined(at.index) + ")";
    }

    std::string operator()(const breaks::First& at) const
    {
        return "first:"
               + std::string(
                   std::find_if(kEventNames.begin(), kEventNames.end(), [&](const auto& one) {
                       return one.second == at.event;
                   })->first);
    }

    std::string operator()(const breaks::When& at) const
    {
        const std::string index = at.index.empty() ? "" : "[" + joined(at.index) + "]";
        return fmt::format("when:{}{}{}{}", at.ref, index, comparatorText(at.comparator), at.value);
    }
};

} // namespace

Result<Breakpoint> parseBreakpoint(const std::string& text)
{
    const std::size_t colon = text.find(':');
    const auto form = std::find_if(kForms.begin(), kForms.end(), [&](const Form& one) {
        return text.substr(0, colon) == one.kind;
    });
    if (colon == std::string::npos || form == kForms.end()) {
        return notUnderstood(text, kAllForms);
    }
    const std::optional<Breakpoint> read = form->read(text.substr(colon + 1));
    return read ? Result<Breakpoint>(*read) : notUnderstood(text, form->expected);
}

std::string textOf(const Breakpoint& breakpoint)
{
    return std::visit(TextOf{}, breakpoint);
}

bool needsValues(const Breakpoint& breakpoint)
{
    const auto* first = std::get_if<breaks::First>(&breakpoint);
    return std::holds_alternative<breaks::When>(breakpoint)
           || (first != nullptr && first->event == breaks::Event::Nan);
}

} // namespace pallascope::trace
