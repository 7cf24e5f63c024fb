#include "views/navigation/break_lines.h"

#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/mark_time.h"
#include "core/trace/row.h"
#include "views/navigation/times_of_events.h"

#include <algorithm>
#include <set>

namespace pallascope::navigation {

namespace {

using trace::SourceLine;
using trace::Trace;

bool isManual(const trace::Operand& operand)
{
    return operand.pipeline == trace::kNone && !operand.isAround;
}

// Whether a path is `file` or ends with it, as kernels/matmul.cpp with matmul.cpp.
bool isNamed(const std::string& path, const std::string& file)
{
    return path == file
           || (path.size() > file.size()
               && path.compare(path.size() - file.size(), file.size(), file) == 0
               && path[path.size() - file.size() - 1] == '/');
}

std::set<std::int32_t> filesOf(const std::vector<SourceLine>& lines)
{
    std::set<std::int32_t> files;
    for (const SourceLine& line : lines) {
        files.insert(line.file);
    }
    return files;
}

std::string pathOf(const trace::Info& info, std::int32_t file)
{
    return info.sources[trace::at(file)].path;
}

// Which of the files that have lines that run is meant.
Result<std::int32_t> fileOf(const trace::Info& info, const std::vector<SourceLine>& lines,
                            const trace::breaks::Line& wanted)
{
    std::vector<std::int32_t> found;
    std::vector<std::string> all;
    for (const std::int32_t file : filesOf(lines)) {
        all.push_back(pathOf(info, file));
        if (wanted.file.empty() || isNamed(all.back(), wanted.file)) {
            found.push_back(file);
        }
    }
    if (found.size() == 1) {
        return found.front();
    }
    if (all.empty()) {
        return userError("No line of " + info.program + " is known, so none can stop the run.");
    }
    const std::string why = wanted.file.empty() ? "Several files have lines that run"
                            : found.empty() ? "No file \"" + wanted.file + "\" has lines that run"
                                            : "Several files are called \"" + wanted.file + "\"";
    return userError(why + "; expected " + orList(all) + ".");
}

// The nearest lines of the file before and behind one at which nothing can stop.
Error nothingRuns(const trace::Info& info, const std::vector<SourceLine>& lines,
                  const SourceLine& line)
{
    std::vector<std::string> near;
    const auto later = std::lower_bound(lines.begin(), lines.end(), line);
    if (later != lines.begin() && (later - 1)->file == line.file) {
        near.push_back(std::to_string((later - 1)->line));
    }
    if (later != lines.end() && later->file == line.file) {
        near.push_back(std::to_string(later->line));
    }
    return userError("Nothing that takes time runs at line " + std::to_string(line.line) + " of "
                     + pathOf(info, line.file) + "; expected a line such as " + orList(near) + ".");
}

Result<SourceLine> lineIn(const trace::Info& info, const trace::breaks::Line& wanted)
{
    const std::vector<SourceLine> lines = linesThatStop(info);
    const Result<std::int32_t> file = fileOf(info, lines, wanted);
    if (!file) {
        return file.error();
    }
    const SourceLine line{*file, wanted.line};
    return std::binary_search(lines.begin(), lines.end(), line) ? Result<SourceLine>(line)
                                                                : nothingRuns(info, lines, line);
}

// After how much of a segment the line begins to run in it, each time that it does.
std::vector<std::int64_t> beginsIn(const trace::Info& info, const trace::SegmentTemplate& of,
                                   const SourceLine& line)
{
    std::vector<std::int64_t> begins;
    SourceLine before;
    for (std::size_t i = 0; i < of.operations.size(); ++i) {
        const SourceLine& here = info.operations[trace::at(of.operations[i])].source;
        if (here == line && here != before) {
            // An operation becomes current when the one before it retires.
            begins.push_back(i == 0 ? 0 : trace::markTime(of, of.retire[i - 1]));
        }
        before = here;
    }
    return begins;
}

// Which rows count: those of one step, or all.
using Step = trace::OptionalRow<trace::StepRow>;

bool isOf(const Step& step, std::int32_t stored)
{
    return !step || trace::stored(step) == stored;
}

void addSegments(const Trace& trace, const SourceLine& line, const Step& step, BreakTimes& times)
{
    std::vector<std::vector<std::int64_t>> begins;
    for (const trace::SegmentTemplate& each : trace.info().templates) {
        begins.push_back(beginsIn(trace.info(), each, line));
    }
    const trace::Segments& segments = trace.segments();
    for (std::size_t row = 0; row < segments.size(); ++row) {
        for (const std::int64_t begin : begins[trace::at(segments.templateId[row])]) {
            if (isOf(step, segments.step[row])) {
                times.push_back(segments.begin[row] + begin);
            }
        }
    }
}

void addCopiesAndWaits(const Trace& trace, const SourceLine& line, const Step& step,
                       BreakTimes& times)
{
    const trace::Copies& copies = trace.copies();
    const auto& operands = trace.info().operands;
    for (std::size_t row = 0; row < copies.size(); ++row) {
        const trace::Operand& operand = operands[trace::at(copies.operand[row])];
        if (operand.source == line && isManual(operand) && isOf(step, copies.step[row])) {
            times.push_back(copies.issue[row]);
        }
    }
    for (std::size_t row = 0; row < trace.waits().operation.size(); ++row) {
        const auto operation = trace::OperationRow::of(trace.waits().operation[row]);
        if (operation && trace.info().operations[operation->index()].source == line
            && isOf(step, trace.waits().step[row])) {
            times.push_back(trace.waits().begin[row]);
        }
    }
}

void addLoopsAndPipelines(const Trace& trace, const SourceLine& line, BreakTimes& times)
{
    const trace::Rounds& rounds = trace.rounds();
    for (std::size_t row = 0; row < rounds.size(); ++row) {
        if (trace.info().loops[trace::at(rounds.loop[row])].source == line) {
            times.push_back(rounds.begin[row]);
        }
    }
    const trace::Steps& steps = trace.steps();
    for (std::size_t row = 0; row < steps.size(); ++row) {
        if (steps.ordinal[row] == 0
            && trace.info().pipelines[trace::at(steps.pipeline[row])].source == line) {
            times.push_back(steps.begin[row]);
        }
    }
}

} // namespace

std::vector<SourceLine> linesThatStop(const trace::Info& info)
{
    std::set<SourceLine> lines;
    const auto add = [&](const SourceLine& line) {
        if (line.file >= 0 && line.line > 0) {
            lines.insert(line);
        }
    };
    for (const trace::SegmentTemplate& each : info.templates) {
        for (const std::int32_t operation : each.operations) {
            add(info.operations[trace::at(operation)].source);
        }
    }
    for (const trace::Operand& operand : info.operands) {
        add(isManual(operand) ? operand.source : SourceLine{});
    }
    for (const trace::Operation& operation : info.operations) {
        const bool waits = operation.name == "dma_wait" || operation.name == "semaphore_wait"
                           || operation.name == "delay";
        add(waits ? operation.source : SourceLine{});
    }
    for (const trace::Loop& loop : info.loops) {
        add(loop.source);
    }
    for (const trace::Pipeline& pipeline : info.pipelines) {
        add(pipeline.source);
    }
    return {lines.begin(), lines.end()};
}

trace::Breakpoint breakpointAt(const trace::Info& info, const SourceLine& line)
{
    const std::set<std::int32_t> files = filesOf(linesThatStop(info));
    const std::string& path = info.sources[trace::at(line.file)].path;
    std::string name = path.substr(path.rfind('/') + 1);
    const bool isShared =
        std::count_if(files.begin(), files.end(),
                      [&](std::int32_t file) { return isNamed(pathOf(info, file), name); })
        > 1;
    return trace::breaks::Line{isShared ? path : std::move(name), line.line};
}

std::optional<SourceLine> lineOf(const trace::Info& info, const trace::Breakpoint& breakpoint)
{
    const auto* wanted = std::get_if<trace::breaks::Line>(&breakpoint);
    const Result<SourceLine> line =
        wanted == nullptr ? Result<SourceLine>(userError("")) : lineIn(info, *wanted);
    return line ? std::optional(*line) : std::nullopt;
}

Result<BreakTimes> runsOfLine(const Trace& trace, const trace::breaks::Line& wanted)
{
    const Result<SourceLine> line = lineIn(trace.info(), wanted);
    if (!line) {
        return line.error();
    }
    return runsOf(trace, *line, {});
}

BreakTimes runsOf(const Trace& trace, const SourceLine& line, const Step& step)
{
    BreakTimes times;
    addSegments(trace, line, step, times);
    addCopiesAndWaits(trace, line, step, times);
    if (!step) {
        addLoopsAndPipelines(trace, line, times);
    }
    return sortedOnce(std::move(times));
}

} // namespace pallascope::navigation
