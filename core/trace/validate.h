// The rules of a finished trace, as the comments of info.h and trace.h state them. Private to
// core/trace: TraceBuilder::finish calls both halves, rows only after the info that they refer to.
#pragma once

#include "core/base/result.h"
#include "core/trace/trace.h"

#include <fmt/format.h>
#include <utility>

namespace pallascope::trace {

// The latest time a trace may hold: every nanosecond up to it is exact in a double, which is what
// readers of the Chrome half use.
inline constexpr std::int64_t kMaxTime = ((std::int64_t{1} << 53) - 1) * 1000; // ps

// A rule that the trace breaks, told as a sentence.
template<class... Args>
[[nodiscard]] Error broken(fmt::format_string<Args...> text, Args&&... args)
{
    return userError(fmt::format(text, std::forward<Args>(args)...));
}

// Blocks of an operand's array; validateInfo has checked that it fits.
[[nodiscard]] std::int64_t blockTotal(const Operand& operand);

// `checked`, unless null, was found right before.
[[nodiscard]] Status validateInfo(const Info& info, const Info* checked);
[[nodiscard]] Status validateRows(const TraceBuilder& rows);
// That columns are as long as their tables and name rows that there are; validateRows asks it
// first.
[[nodiscard]] Status validateColumns(const TraceBuilder& rows);
// That all segments together do no more than can be counted; validateRows asks it.
[[nodiscard]] Status validateWork(const TraceBuilder& rows);

} // namespace pallascope::trace
