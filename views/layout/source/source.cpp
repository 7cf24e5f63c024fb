// Makes the scene of the source view: the kernel's lines with the time spent in each, beside the
// printed program.
#include "views/layout/source/source.h"

#include "core/base/format.h"
#include "views/layout/run/grid_blocks.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/pieces.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/source/parts.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace {

constexpr double kSideBySide = 900;

SourceMoment waitByProgram(const trace::Trace& trace, trace::WaitRow wait, Picoseconds now,
                           SourceMoment moment)
{
    const std::size_t row = wait.index();
    const std::int64_t begin = trace.waits().begin[row], end = trace.waits().end[row];
    moment.operation = trace::operationOfWait(trace, wait);
    moment.line = trace::lineOfWait(trace, wait);
    const std::string name = trace::awaitedLabel(trace, wait);
    moment.doing = name.empty() ? "waits" : "waits for " + name;
    moment.elapsed = now - Picoseconds(begin);
    moment.length = Picoseconds(end - begin);
    return moment;
}

// The agent whose step is shown; the first one while that one does nothing. On a GPU, the one that
// does the same on the chosen SM.
std::int32_t shownAgent(const RunView& run, const Position& position, const ViewState& state)
{
    const Picoseconds now = state.now;
    const std::int32_t sm = chosenSm(run, state);
    const trace::Trace& trace = *run.trace;
    if (!position.kind) {
        return run.trace->info().agents.empty() ? 0 : onSm(run, 0, sm);
    }
    const auto kind = static_cast<std::size_t>(*position.kind);
    const std::int32_t agent = onSm(run, run.index->pipelines().all[kind].agent, sm);
    const bool isIdle = !trace::segmentAt(trace, trace::AgentRow{agent}, now)
                        && !trace::waitAt(trace, trace::AgentRow{agent}, now);
    return isIdle ? onSm(run, 0, sm) : agent;
}

// Where the program is: at the operation that runs, or at the pipeline's line during waits and
// overhead.
SourceMoment sourceMomentOf(const RunView& run, const ViewState& state)
{
    const Picoseconds now = state.now;
    const trace::Trace& trace = *run.trace;
    const trace::Info& info = trace.info();
    SourceMoment moment;
    const Position position = positionAt(run, now);
    const std::int32_t agent = shownAgent(run, position, state);
    moment.step = stepUnderWay(run, position, now);
    moment.sm = chosenSm(run, state);
    if (now >= trace.end()) {
        moment.doing = "finished";
        return moment;
    }
    moment.operation = trace::operationAt(trace, trace::AgentRow{agent}, now);
    if (moment.operation) {
        const trace::Operation& op = info.operations[moment.operation->index()];
        moment.line = op.source;
        moment.doing = op.label.empty() ? op.name : op.label;
        const std::size_t row = trace::segmentAt(trace, trace::AgentRow{agent}, now)->index();
        const trace::SegmentTemplate& segment =
            info.templates[static_cast<std::size_t>(trace.segments().templateId[row])];
        const auto found = std::find(segment.operations.begin(), segment.operations.end(),
                                     moment.operation->number);
        const auto index = static_cast<std::size_t>(found - segment.operations.begin());
        // An operation lasts from the retirement of the operation before it to its own.
        const std::int64_t begin =
            index == 0 ? 0 : trace::markTime(segment, segment.retire[index - 1]);
        const std::int64_t end = trace::markTime(segment, segment.retire[index]);
        moment.elapsed = Picoseconds(now.value() - trace.segments().begin[row] - begin);
        moment.length = Picoseconds(end - begin);
        return moment;
    }
    if (moment.step) {
        moment.line = info.pipelines[position.pipeline.index()].source;
    }
    const trace::OptionalRow<trace::WaitRow> wait =
        trace::waitAt(trace, trace::AgentRow{agent}, now);
    if (wait && trace::operationOfWait(trace, *wait)) {
        return waitByProgram(trace, *wait, now, moment);
    }
    if (wait) {
        const bool copy = trace.waits().copy[wait->index()] != trace::kNone;
        moment.doing = copy ? "pipeline waits for a copy" : "waits for others";
    } else if (const trace::OptionalRow<trace::SegmentRow> segment =
                   trace::segmentAt(trace, trace::AgentRow{agent}, now)) {
        const auto id = trace.segments().templateId[segment->index()];
        const bool launches =
            info.templates[static_cast<std::size_t>(id)].kind == trace::SegmentKind::Launch;
        moment.doing = launches ? "launch" : "step overhead";
    } else {
        moment.doing = "pipeline";
    }
    return moment;
}

std::string captionOf(Canvas& canvas, const RunView& run, const SourceMoment& moment)
{
    std::string caption;
    if (moment.line.line > 0) {
        caption = "line |" + std::to_string(moment.line.line) + "| ";
    }
    caption += moment.doing;
    if (moment.length.value() > 0) {
        caption += " · |" + timeText(moment.elapsed) + "| of |" + timeText(moment.length) + "|";
    }
    if (moment.sm != trace::kNone) {
        caption += " · " + smName(run, moment.sm);
    }
    if (moment.step) {
        const std::int64_t number = parts::stepOrdinal(*run.trace, *moment.step);
        canvas.state({FactKind::Step, -1, static_cast<double>(number), countText(number)});
        caption += " · step |" + countText(number) + "|";
    }
    return caption;
}

} // namespace

trace::SourceLine currentLine(const RunView& run, const ViewState& state)
{
    return sourceMomentOf(run, state).line;
}

SourceGutter sourceGutter(const RunView& run, const ViewState& state)
{
    return gutterOfShown(run, state, sourceMomentOf(run, state));
}

Scene layoutSource(const RunView& run, const ViewState& state, Size size, SourceTab tab)
{
    const trace::Info& info = run.trace->info();
    const SourceMoment moment = sourceMomentOf(run, state);
    const bool noSource = info.sources.empty();
    if (noSource && info.listing.empty()) {
        return parts::nothing("Source", "no source in this trace",
                              "No source lines: this trace was saved without its program. Times "
                              "and copies are in the other views.",
                              size);
    }
    Canvas canvas(size.width, size.height);
    const bool both = size.width >= kSideBySide && !noSource && !info.listing.empty();
    const double half = both ? std::round(size.width * 0.56) : size.width;
    if (both || (tab == SourceTab::Source && !noSource) || info.listing.empty()) {
        paintSourceLines(canvas, run, state, moment, {0, 0, half, size.height});
    }
    if (both) {
        canvas.fill(half + 2, 0, 1, size.height, Role::Line);
        paintListing(canvas, run, moment, {half + 3, 0, size.width - half - 3, size.height});
    } else if (tab == SourceTab::Listing && !info.listing.empty()) {
        paintListing(canvas, run, moment, {0, 0, size.width, size.height});
    } else if (noSource) {
        paintListing(canvas, run, moment, {0, 0, size.width, size.height});
    }
    std::string caption = parts::captionOrNotRun(
        run, withKept(canvas, state, "time_split_s.compute", captionOf(canvas, run, moment)));
    return parts::finished(std::move(canvas), "Source", std::move(caption), run, state);
}

} // namespace pallascope::layout
