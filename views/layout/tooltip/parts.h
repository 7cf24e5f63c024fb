// The parts of tooltip(): things that happen at a time (events.cpp), several agents at once
// (agents.cpp), what devices run (pieces.cpp), ceilings of the roofline (roofs.cpp), things of a
// kept run (kept.cpp), and things that last (tooltip.cpp).
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

// "matmul.cpp line 42"; empty if the line is unknown.
[[nodiscard]] std::string sourceText(const trace::Info& info, trace::SourceLine line);

[[nodiscard]] Lines copyLines(const RunView& run, std::size_t copy);
[[nodiscard]] Lines waitLines(const RunView& run, std::size_t wait);
[[nodiscard]] Lines stepLines(const RunView& run, std::int64_t first, std::int64_t last);
[[nodiscard]] Lines roundLines(const RunView& run, std::size_t row);
[[nodiscard]] Lines segmentLines(const RunView& run, std::size_t segment);
// Without a segment, the lines are about the operation wherever it runs.
[[nodiscard]] Lines operationLines(const RunView& run, std::int64_t operation,
                                   std::optional<std::int64_t> segment);

// The functions below are in agents.cpp.
// The agent's name if several agents take part in the run, otherwise empty.
[[nodiscard]] std::string byAgent(const RunView& run, trace::AgentRow agent);
// Which agents of a lane are busy or wait at a moment, and what they wait for.
[[nodiscard]] Lines momentLines(const RunView& run, const target::Moment& moment);

// What moves the bytes of a ceiling of the roofline, and how much so far; in roofs.cpp.
[[nodiscard]] Lines ceilingLines(const RunView& run, const analysis::Ceiling& ceiling,
                                 Picoseconds now);

// The functions below are in pieces.cpp.
[[nodiscard]] Lines pieceLines(const RunView& run, std::int32_t device, std::size_t piece);
[[nodiscard]] Lines deviceLines(const RunView& run, const ViewState& state, std::int32_t device);

// In sms.cpp.
[[nodiscard]] Lines smLines(const RunView& run, std::int32_t sm);

// A block of a GPU's grid: which it is, where and when it runs; in sms.cpp.
[[nodiscard]] Lines gridBlockLines(const RunView& run, const ViewState& state, std::int64_t block);
// What a semaphore or a barrier counts, and who waits for it; in sms.cpp.
[[nodiscard]] Lines semaphoreLines(const RunView& run, const ViewState& state,
                                   std::int64_t semaphore);

// What L2 holds of an array, and what of its reads came from there; in sms.cpp.
[[nodiscard]] Lines cachedLines(const RunView& run, const ViewState& state,
                                const target::Cached& cached);

// In kept.cpp. What the kept run has there; the first line names the run.
[[nodiscard]] Lines keptLines(const ViewState& state, const target::Kept& kept);

} // namespace pallascope::layout::tips
