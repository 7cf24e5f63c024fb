// The rules of a finished trace, as the comments in info.h and trace.h state them. Private to
// core/trace. TraceBuilder::finish calls both halves; rows are checked only after the info to which
// they refer.
#pragma once

#include "core/base/result.h"
#include "core/trace/trace.h"

#include <fmt/format.h>
#include <utility>

namespace pallascope::trace {

// The latest time that a trace may hold. Up to it, every nanosecond is exact in a double, which
// readers of the Chrome half use.
inline constexpr std::int64_t kMaxTime = ((std::int64_t{1} << 53) - 1) * 1000; // ps

// An error that says in a sentence which rule the trace breaks.
template<class... Args>
[[nodiscard]] Error broken(fmt::format_string<Args...> text, Args&&... args)
{
    return userError(fmt::format(text, std::forward<Args>(args)...));
}

// Whether a number is that of an entry of a list, or kNone.
template<class List>
[[nodiscard]] bool isIndex(std::int64_t value, const List& list)
{
    return value >= 0 && value < static_cast<std::int64_t>(list.size());
}

template<class List>
[[nodiscard]] bool isIndexOrNone(std::int64_t value, const List& list)
{
    return value == kNone || isIndex(value, list);
}

// The number of blocks of an operand's array; validateInfo has checked that it does not overflow.
[[nodiscard]] std::int64_t blockTotal(const Operand& operand);

// `checked` is null, or an info that has passed this check before.
[[nodiscard]] Status validateInfo(const Info& info, const Info* checked);
// One of its templates; validateInfo asks it.
[[nodiscard]] Status validateTemplate(const Info& info, std::size_t i);
[[nodiscard]] Status validateRows(const TraceBuilder& rows);
// Checks that all columns of a table have the same length, and that row numbers in them exist.
// validateRows calls it first.
[[nodiscard]] Status validateColumns(const TraceBuilder& rows);
// Checks that the rounds of loops are numbered and nest. validateRows calls it.
[[nodiscard]] Status validateRounds(const TraceBuilder& rows);
// Checks that the work of all segments together can be counted in 64 bits. validateRows calls it.
[[nodiscard]] Status validateWork(const TraceBuilder& rows);
// Checks the ends of manual DMA. validateRows calls it.
[[nodiscard]] Status validateCopyEnds(const TraceBuilder& rows);

} // namespace pallascope::trace
