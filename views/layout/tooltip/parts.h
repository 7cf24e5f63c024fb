// The halves of tooltip(): what happens at a time (events.cpp), and what stays
// (tooltip.cpp).
#pragma once

#include "views/layout/run/run_view.h"

#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout::tips {

using Lines = std::vector<std::string>;

[[nodiscard]] inline std::size_t row(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

[[nodiscard]] inline bool isRow(std::int64_t index, std::size_t size)
{
    return index >= 0 && row(index) < size;
}

// "matmul.cpp line 42"; empty when unknown.
[[nodiscard]] std::string sourceText(const trace::Info& info, trace::SourceLine line);

[[nodiscard]] Lines copyLines(const RunView& run, std::size_t copy);
[[nodiscard]] Lines waitLines(const RunView& run, std::size_t wait);
[[nodiscard]] Lines stepLines(const RunView& run, std::int64_t first, std::int64_t last);
[[nodiscard]] Lines segmentLines(const RunView& run, std::size_t segment);
// Without a segment: the operation wherever it runs.
[[nodiscard]] Lines operationLines(const RunView& run, std::int64_t operation,
                                   std::optional<std::int64_t> segment);

// agents.cpp
// Its name where several agents take part, else empty.
[[nodiscard]] std::string byAgent(const RunView& run, std::int32_t agent);
// Which agents of a lane are busy or wait at a moment, and what for.
[[nodiscard]] Lines momentLines(const RunView& run, const target::Moment& moment);

} // namespace pallascope::layout::tips
