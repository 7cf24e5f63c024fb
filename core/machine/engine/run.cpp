#include "core/machine/run.h"

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/machine/engine/engine.h"

#include <algorithm>
#include <chrono>

namespace pallascope::machine {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// What a run is repeated with, of which only its findings matter.
Options optionsOfRepeat(Options options)
{
    options.rows = false;
    options.print = nullptr;
    if (options.progress) {
        options.progress = [progress = options.progress](double) { return progress(1); };
    }
    return options;
}

Status bindAndExecute(Engine& engine, const std::vector<Array>& inputs)
{
    const Status status = engine.bind(inputs);
    return status ? engine.execute() : status;
}

// Repeats the run and watches every operation, to find the one that made the first NaN or Inf in an
// output.
Status reportBirths(const Prepared& prepared, const std::vector<Array>& inputs,
                    const Options& given, const std::string& output, Recorder& recorder)
{
    const Options options = optionsOfRepeat(given);
    Engine engine(prepared, options, Keeps::Sums);
    engine.findings().watchBirths();
    if (Status status = bindAndExecute(engine, inputs); !status) {
        return status;
    }
    for (const Birth& birth : engine.findings().births()) {
        const std::string what = birth.nan ? "NaN" : "Inf";
        trace::Finding born = trace::found(
            birth.nan ? trace::FindingKind::NanBorn : trace::FindingKind::InfBorn,
            std::string(ir::opName(birth.operation->code)) + " makes " + what
                + (birth.ofInf ? " of Inf among its inputs: " : " of inputs without any: ")
                + countText(birth.elements) + " of " + countText(birth.of) + " elements; " + output
                + " ends with NaN or Inf."
                + engine.findings().calledFrom(birth.operation->location),
            output, birth.step, {},
            recorder.description().sourceLine(prepared.program, birth.operation->location),
            birth.count);
        born.time = birth.time;
        recorder.addFinding(std::move(born));
    }
    return Done{};
}

// Takes back that blocks were written undefined where a copy that another finding is about had yet
// to bring their elements. A repeat whose copies land as soon as they start finds what is undefined
// for other reasons, and how much of it that is.
Status dropWhatCopiesExplain(const Prepared& prepared, const std::vector<Array>& inputs,
                             const Options& given, Engine& engine)
{
    const auto isWrittenBack = [](const trace::Finding& finding) {
        return finding.kind == trace::findingEntry(trace::FindingKind::UndefinedWrittenBack).name;
    };
    std::vector<trace::Finding>& findings = engine.recorder().builder.info.findings;
    if (given.settings.dmaExecutionMode == DmaMode::Eager || !engine.findings().hasUnorderedCopies()
        || std::none_of(findings.begin(), findings.end(), isWrittenBack)) {
        return Done{};
    }
    Options options = optionsOfRepeat(given);
    options.settings.dmaExecutionMode = DmaMode::Eager;
    Engine repeat(prepared, options, Keeps::Sums);
    if (Status status = bindAndExecute(repeat, inputs); !status) {
        return status;
    }
    if (repeat.stoppedBy() != engine.stoppedBy()) { // they did not get equally far
        return Done{};
    }
    const std::vector<trace::Finding> before = findings;
    std::erase_if(findings, isWrittenBack);
    for (const trace::Finding& other : repeat.recorder().builder.info.findings) {
        const bool wasFound = std::any_of(before.begin(), before.end(), [&](const auto& finding) {
            return isWrittenBack(finding) && finding.operand == other.operand;
        });
        if (isWrittenBack(other) && wasFound) {
            findings.push_back(other);
        }
    }
    return Done{};
}

// Records in the trace how the run was made.
void describe(trace::Info& info, const Options& options, const chip::Chip& chip)
{
    info.parameters = options.parameters;
    info.parameterOrder = options.parameterOrder;
    info.seed = options.seed;
    info.values = options.values == ValueMode::Full ? "full" : "needed";
    info.settings = namesOf(options.settings, chip.multiprocessor.has_value());
}

// Moves the trace of the run, or its sums and what they are of, to its result.
void keepRecords(Engine& engine, bool rows, RunResult& result)
{
    Recorder& recorder = engine.recorder();
    if (rows) {
        engine.pipelines().recordLists();
        Result<std::shared_ptr<const trace::Trace>> finished = recorder.finish(engine.end());
        if (!finished) { // the machine broke a rule of its own trace, which is a bug
            checkFailed(finished.error().message, __FILE__, __LINE__);
        }
        result.trace = std::move(*finished);
    } else {
        result.sums = recorder.finishSums(engine.end());
        result.info = std::move(recorder.builder.info);
    }
}

} // namespace

Result<RunResult> run(const Prepared& prepared, const std::vector<Array>& inputs,
                      const Options& options)
{
    const Clock::time_point begin = Clock::now();
    PALLASCOPE_CHECK(options.values == prepared.values && options.rows == prepared.rows
                     && options.settings.registers == prepared.registers
                     && options.settings.clock == prepared.clock);
    if (Status status =
            checkSteps(prepared.program, options.rows ? kMostRecordedSteps : kMostSteps);
        !status) {
        return status.error();
    }
    const bool full = options.values == ValueMode::Full;
    Engine engine(prepared, options, options.rows ? Keeps::Rows : Keeps::Sums);
    Recorder& recorder = engine.recorder();
    trace::Info& info = recorder.builder.info;
    describe(info, options, prepared.chip);
    for (const trace::Finding& finding : prepared.findings) {
        recorder.addFinding(finding);
    }
    if (Status status = bindAndExecute(engine, inputs); !status) {
        return status.error();
    }
    engine.findings().reportNeverWritten();
    info.stoppedBy = engine.stoppedBy();
    RunResult result;
    double checking = 0;
    if (full) {
        if (!engine.hasStopped()) {
            engine.arguments().reportUndefinedResults();
        }
        if (const std::optional<std::string> output = engine.arguments().nonFiniteOutput();
            output && !engine.hasStopped()) {
            if (Status status = reportBirths(prepared, inputs, options, *output, recorder);
                !status) {
                return status.error();
            }
        }
        result.outputs = engine.arguments().outputs();
        if (options.check) {
            const Clock::time_point before = Clock::now();
            info.check = options.check(result.outputs);
            checking = secondsSince(before);
        }
    }
    if (Status status = dropWhatCopiesExplain(prepared, inputs, options, engine); !status) {
        return status.error();
    }
    keepRecords(engine, options.rows, result);
    result.completed = !engine.hasStopped();
    result.wall = Seconds(secondsSince(begin) - checking);
    return result;
}

Result<RunResult> run(const ir::Program& program, const std::vector<Array>& inputs,
                      const chip::Chip& chip, const Options& options)
{
    const Clock::time_point begin = Clock::now();
    Result<std::shared_ptr<const Prepared>> prepared =
        prepare(program, chip, options.values, options.rows, options.settings);
    if (!prepared) {
        return prepared.error();
    }
    const Seconds preparing(secondsSince(begin));
    Result<RunResult> result = run(**prepared, inputs, options);
    if (result) {
        result->wall += preparing;
    }
    return result;
}

} // namespace pallascope::machine
