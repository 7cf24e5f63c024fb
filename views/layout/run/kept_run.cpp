#include "views/layout/run/kept_run.h"

#include "core/base/check.h"
#include "core/base/format.h"
#include "views/layout/run/position.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

// The parameters in which the kept run differs: "buffers 1, bm 256".
std::string differingParameters(const trace::Info& kept, const trace::Info& present)
{
    std::string text;
    for (const std::string& name : kept.parameterOrder) {
        const auto value = kept.parameters.find(name);
        const auto other = present.parameters.find(name);
        if (value != kept.parameters.end()
            && (other == present.parameters.end() || other->second != value->second)) {
            text += (text.empty() ? "" : ", ") + name + " " + value->second;
        }
    }
    return text;
}

std::string nameOfKept(const RunView& kept, const RunView& present)
{
    const trace::Info &one = kept.trace->info(), &other = present.trace->info();
    if (one.kernel != other.kernel) {
        return one.kernel;
    }
    std::string name = one.chipName != other.chipName ? one.chipName : "";
    const std::string parameters = differingParameters(one, other);
    name += (name.empty() || parameters.empty() ? "" : ", ") + parameters;
    return name.empty() ? "the run before" : name;
}

// When the run's steps or rounds begin, with 0 and the end; empty if it has none.
std::vector<std::int64_t> beginsOf(const RunView& run)
{
    std::vector<std::int64_t> begins{0};
    const auto add = [&](std::int64_t time) { begins.push_back(std::max(time, begins.back())); };
    const trace::Trace& trace = *run.trace;
    if (goesBySteps(run)) {
        const trace::LeadingSteps& leading = run.index->leading();
        for (std::size_t i = 0; i < leading.size(); ++i) {
            add(trace.steps().begin[leading.row(i).index()]);
        }
        add(trace.steps().end[leading.row(leading.size() - 1).index()]);
    } else {
        const trace::LoopRounds& loops = run.index->rounds();
        std::vector<std::int64_t> times;
        for (const std::int32_t loop : loops.outermost()) {
            for (std::size_t i = 0; i < loops.size(loop); ++i) {
                times.push_back(trace.rounds().begin[loops.row(loop, i).index()]);
            }
            times.push_back(trace.rounds().end[loops.row(loop, loops.size(loop) - 1).index()]);
        }
        std::sort(times.begin(), times.end());
        std::for_each(times.begin(), times.end(), add);
    }
    if (begins.size() == 1) {
        return {};
    }
    add(trace.end().value());
    return begins;
}

std::string passedText(const RunView& run)
{
    if (goesBySteps(run)) {
        return countText(static_cast<std::int64_t>(run.index->leading().size())) + " steps";
    }
    std::size_t rounds = 0;
    for (const std::int32_t loop : run.index->rounds().outermost()) {
        rounds += run.index->rounds().size(loop);
    }
    return rounds == 0 ? "no steps" : countText(static_cast<std::int64_t>(rounds)) + " rounds";
}

void alignBySteps(KeptRun& kept, const RunView& present)
{
    std::vector<std::int64_t> one = beginsOf(present), other = beginsOf(*kept.run);
    const std::string ofOne = passedText(present), ofOther = passedText(*kept.run);
    if (ofOne != ofOther || one.empty() || one.size() != other.size()) {
        kept.notBySteps = ofOne == ofOther ? "their steps do not pair up"
                                           : "this run has " + ofOne + ", the kept one " + ofOther;
        return;
    }
    kept.bySteps = align(std::move(one), std::move(other));
}

// "42.1 % less", "the same"
std::string moreOrLess(const analysis::Figure& figure)
{
    if (figure.a == figure.b) {
        return "the same";
    }
    std::string change = analysis::changeText(figure);
    const bool hasSign = change.front() == '-' || change.front() == '+';
    return figure.a == 0
               ? "none before"
               : change.substr(hasSign ? 1 : 0) + (figure.b < figure.a ? " less" : " more");
}

// "|945.1 µs|, |42.1 % less| than kept"
std::string comparedText(const analysis::Figure& figure)
{
    const std::string_view key = figure.key;
    const std::string value = "|" + figure.textB + "|", name = figure.name;
    if (key == "utilization") { // a share of a share says little
        return value + " " + name + ", kept " + figure.textA;
    }
    return (key == "time_s"  ? value
            : key == "steps" ? value + " " + name
                             : name + " " + value)
           + (figure.a == figure.b ? ", as kept" : ", |" + moreOrLess(figure) + "| than kept");
}

} // namespace

const analysis::Figure& KeptRun::figure(std::string_view key) const
{
    const auto found = std::find_if(figures.begin(), figures.end(),
                                    [&](const analysis::Figure& one) { return one.key == key; });
    PALLASCOPE_CHECK(found != figures.end());
    return *found;
}

std::shared_ptr<const KeptRun> keptBeside(std::shared_ptr<const RunView> kept,
                                          const RunView& present)
{
    auto pair = std::make_shared<KeptRun>();
    pair->run = std::move(kept);
    pair->name = nameOfKept(*pair->run, present);
    const trace::Info &one = pair->run->trace->info(), &other = present.trace->info();
    pair->isOfKernel = one.kernel == other.kernel;
    pair->isOnChip = one.chipName == other.chipName;
    pair->figures = analysis::figuresOf(pair->run->report, present.report);
    if (present.notRun.empty()) {
        alignBySteps(*pair, present);
    }
    return pair;
}

bool isBySteps(const ViewState& state)
{
    return state.kept != nullptr && state.isKeptBySteps && state.kept->bySteps.has_value();
}

ViewState keptState(const ViewState& state)
{
    const RunView& run = *state.kept->run;
    ViewState its = state;
    its.kept = nullptr;
    its.selection = its.hover = {};
    its.breaks = nullptr;
    its.loop = trace::kNone;
    its.device = std::clamp(state.device, 0, run.trace->info().deviceCount() - 1);
    if (isBySteps(state)) {
        const AlignedPair& both = *state.kept->bySteps;
        const auto there = [&](Picoseconds time) {
            return Picoseconds(both.other.time(both.one.place(time.value())));
        };
        its.now = there(state.now);
        its.visible = {there(state.visible.begin), there(state.visible.end)};
    }
    its.now = std::min(its.now, run.trace->end());
    return its;
}

Picoseconds axisEnd(const RunView& run, const ViewState& state)
{
    const Picoseconds end = run.trace->end();
    if (state.kept == nullptr) {
        return end;
    }
    const Picoseconds other = state.kept->run->trace->end();
    if (!isBySteps(state)) {
        return std::max(end, other);
    }
    const AlignedPair& both = *state.kept->bySteps;
    return Picoseconds(
        both.one.time(std::max(both.one.place(end.value()), both.other.place(other.value()))));
}

std::string withKept(Canvas& canvas, const ViewState& state, std::string_view key,
                     std::string caption)
{
    if (state.kept == nullptr) {
        return caption;
    }
    const analysis::Figure& figure = state.kept->figure(key);
    canvas.state({FactKind::Compared,
                  static_cast<std::int32_t>(&figure - state.kept->figures.data()), figure.b,
                  figure.textB});
    return comparedText(figure) + " · " + caption;
}

std::string keptVerdict(const RunView& run, const ViewState& state)
{
    const KeptRun& kept = *state.kept;
    const analysis::Figure& time = kept.figure("time_s");
    if (time.a == time.b) {
        return "|" + time.textB + "|, as long as the kept run (" + kept.name + ")";
    }
    return "|" + time.textB + "|, |" + moreOrLess(time) + "| than the kept run (" + kept.name + ": "
           + time.textA + "); "
           + analysis::fasterText(kept.run->report, run.report, {"the kept run", "this run"});
}

} // namespace pallascope::layout
