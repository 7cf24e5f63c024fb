#include "core/analysis/report.h"

#include <algorithm>

namespace pallascope::analysis {

std::optional<Point> runPoint(const trace::Index& index, Picoseconds t)
{
    const double flops = index.flops(t), bytes = index.bytes(t), seconds = toSeconds(t).value();
    if (flops <= 0 || bytes <= 0 || seconds <= 0) {
        return std::nullopt;
    }
    return Point{flops / bytes, flops / seconds};
}

std::optional<Point> windowPoint(const trace::Index& index, Picoseconds t, Picoseconds window)
{
    if (t < window || window <= Picoseconds(0)) {
        return std::nullopt;
    }
    const double flops = index.flops(t) - index.flops(t - window),
                 bytes = index.bytes(t) - index.bytes(t - window);
    if (flops <= 0 || bytes <= 0) {
        return std::nullopt;
    }
    return Point{flops / bytes, flops / toSeconds(window).value()};
}

std::int64_t periodSteps(const trace::Trace& trace)
{
    // The longest visit of an output's block; one visit in the middle of the run is representative.
    std::int64_t period = 1;
    const trace::Visits& visits = trace.visits();
    for (std::size_t operand = 0; operand < trace.info().operands.size(); ++operand) {
        if (trace.info().operands[operand].direction == trace::Direction::In) {
            continue;
        }
        const auto middle = trace::StepRow::at(trace.steps().size() / 2);
        if (const trace::OptionalRow<trace::VisitRow> visit =
                trace::visitAt(trace, trace::OperandRow::at(operand), middle)) {
            const std::size_t row = visit->index();
            period =
                std::max<std::int64_t>(period, visits.lastStep[row] - visits.firstStep[row] + 1);
        }
    }
    return period;
}

Picoseconds periodTime(const trace::Trace& trace)
{
    const auto steps = static_cast<std::int64_t>(trace.steps().size());
    if (steps == 0) {
        return trace.end();
    }
    const std::int64_t period = std::min(periodSteps(trace), steps);
    const std::int64_t first = std::max<std::int64_t>(0, steps / 2 - period / 2);
    const std::int64_t last = std::min(first + period, steps) - 1;
    return Picoseconds(trace.steps().end[static_cast<std::size_t>(last)]
                       - trace.steps().begin[static_cast<std::size_t>(first)]);
}

} // namespace pallascope::analysis
