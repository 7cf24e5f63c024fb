#include "core/machine/run.h"

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/cost/budget.h"
#include "core/cost/legality.h"
#include "core/ir/mesh.h"
#include "core/ir/pipeline_facts.h"
#include "core/machine/engine.h"
#include "core/machine/unknown_figures.h"

#include <algorithm>
#include <chrono>

namespace pallascope::machine {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The name of what takes most of a memory.
std::string largestIn(const cost::Budget& budget, std::int32_t memory)
{
    const cost::BudgetEntry* largest = nullptr;
    for (const cost::BudgetEntry& entry : budget.entries) {
        if (entry.memory == memory && (largest == nullptr || entry.total() > largest->total())) {
            largest = &entry;
        }
    }
    return largest == nullptr ? "" : largest->name;
}

// Over the scoped limit a kernel still runs, if it asks for more.
void reportScopedLimit(const ir::Program& program, const chip::Chip& chip, Recorder& recorder)
{
    const Result<std::vector<cost::Budget>> budgets = cost::budgets(program, chip);
    PALLASCOPE_CHECK(budgets.has_value());
    for (const cost::Budget& budget : *budgets) {
        for (std::size_t memory = 0; memory < chip.memories.size(); ++memory) {
            const Bytes used = budget.used(static_cast<std::int32_t>(memory));
            const std::optional<Bytes> limit = cost::scopedLimit(program, chip.memories[memory]);
            if (limit && used > *limit) {
                recorder.addFinding(
                    {"over_scoped_limit",
                     trace::FindingClass::Structural,
                     "The operands take " + bytesText(used) + " of " + chip.memories[memory].name
                         + ", over the scoped limit of " + bytesText(*limit)
                         + ": ask for vmem_limit_bytes=" + std::to_string(used.value())
                         + ", or use smaller blocks.",
                     largestIn(budget, static_cast<std::int32_t>(memory)),
                     -1,
                     {},
                     recorder.sourceLine(program, budget.location),
                     1});
            }
        }
    }
}

void reportIllegalBlocks(const ir::Program& program, const chip::Chip& chip, Recorder& recorder)
{
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        const auto& specs = std::get<ir::PipelineParams>(pipeline->params).specs;
        for (const cost::IllegalBlock& block : cost::illegalBlocks(program, *pipeline, chip)) {
            const ir::BlockSpec& spec = specs[block.spec];
            recorder.addFinding({"illegal_block",
                                 trace::FindingClass::Structural,
                                 block.sentence,
                                 spec.name,
                                 -1,
                                 {},
                                 recorder.sourceLine(program, spec.location),
                                 1});
        }
    }
}

// The run once more, with an eye on every operation: which of them made the NaN or Inf that an
// output holds.
Status reportBirths(const ir::Program& program, const std::vector<Array>& inputs,
                    const chip::Chip& chip, Options options, const Plan& plan,
                    const std::string& output, Recorder& recorder)
{
    options.rows = false;
    options.print = nullptr;
    if (options.progress) {
        options.progress = [progress = options.progress](double) { return progress(1); };
    }
    const NeededSet needed = NeededSet::everything(program);
    Engine engine(program, chip, options, needed, plan, Keeps::Sums);
    engine.watchBirths();
    if (Status status = engine.recorder().describe(program, chip, plan); !status) {
        return status;
    }
    if (Status status = engine.bind(inputs); !status) {
        return status;
    }
    if (Status status = engine.execute(); !status) {
        return status;
    }
    for (const Birth& birth : engine.births()) {
        const std::string what = birth.nan ? "NaN" : "Inf";
        recorder.addFinding({birth.nan ? "nan_born" : "inf_born",
                             trace::FindingClass::Value,
                             std::string(ir::opName(birth.operation->code)) + " makes " + what
                                 + " of inputs without any: " + countText(birth.elements) + " of "
                                 + countText(birth.of) + " elements; " + output
                                 + " ends with NaN or Inf.",
                             output,
                             birth.step,
                             {},
                             recorder.sourceLine(program, birth.operation->location),
                             birth.count});
    }
    return Done{};
}

void reportUnknownFigures(const ir::Program& program, const chip::Chip& chip, const Plan& plan,
                          Recorder& recorder)
{
    std::vector<std::int32_t> memories{chip.memoryIndex("HBM")};
    for (const trace::Buffer& buffer : recorder.builder.info.buffers) {
        memories.push_back(buffer.memory);
    }
    if (std::optional<trace::Finding> finding = unknownFigures(program, chip, plan, memories)) {
        recorder.addFinding(std::move(*finding));
    }
}

Status checkSteps(const ir::Program& program, std::int64_t most)
{
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        const std::int64_t steps =
            ir::stepCount(std::get<ir::PipelineParams>(pipeline->params).grid);
        if (steps > most) {
            return limitError(program.name + " would take " + countText(steps)
                              + " grid steps; a run records " + countText(most)
                              + " at most. Larger blocks make fewer steps.");
        }
    }
    return Done{};
}

} // namespace

Status checkFit(const ir::Program& program, const chip::Chip& chip)
{
    const std::int32_t hbm = chip.memoryIndex("HBM");
    Bytes arrays;
    for (const ir::Argument& argument : program.arguments) {
        const ir::Type& type = program.type(argument.ref);
        arrays += packedBytes(type.dtype, type.shape.elements());
    }
    if (hbm >= 0 && arrays > chip.memories[static_cast<std::size_t>(hbm)].bytes) {
        return limitError("The arrays of " + program.name + " take " + bytesText(arrays)
                          + " of HBM, " + chip.title + " has "
                          + bytesText(chip.memories[static_cast<std::size_t>(hbm)].bytes) + ".");
    }
    constexpr std::int64_t kMostAgentValues = 1 << 21;
    const std::int64_t devices = ir::deviceCount(program);
    const auto values = static_cast<std::int64_t>(program.values.size());
    if (devices > 1 && devices * values > kMostAgentValues) {
        return limitError(program.name + " runs on " + countText(devices) + " devices with "
                          + countText(values) + " values each; " + countText(kMostAgentValues)
                          + " together are the most.");
    }
    const Result<std::vector<cost::Budget>> budgets = cost::budgets(program, chip);
    if (!budgets) {
        return budgets.error();
    }
    for (const cost::Budget& budget : *budgets) {
        if (Status status = cost::checkCapacity(budget, chip); !status) {
            return status;
        }
    }
    return checkSteps(program, kMostSteps);
}

Result<RunResult> run(const ir::Program& program, const std::vector<Array>& inputs,
                      const chip::Chip& chip, const Options& options)
{
    const Clock::time_point begin = Clock::now();
    if (Status status = checkFit(program, chip); !status) {
        return status.error();
    }
    if (Status status = checkSteps(program, options.rows ? kMostRecordedSteps : kMostSteps);
        !status) {
        return status.error();
    }
    const bool full = options.values == ValueMode::Full;
    const NeededSet needed = full ? NeededSet::everything(program) : NeededSet::of(program);
    const Result<Plan> plan = makePlan(program, chip, needed);
    if (!plan) {
        return plan.error();
    }
    Engine engine(program, chip, options, needed, *plan, options.rows ? Keeps::Rows : Keeps::Sums);
    Recorder& recorder = engine.recorder();
    if (Status status = recorder.describe(program, chip, *plan); !status) {
        return status.error();
    }
    trace::Info& info = recorder.builder.info;
    info.parameters = options.parameters;
    info.parameterOrder = options.parameterOrder;
    info.seed = options.seed;
    info.values = full ? "full" : "needed";
    info.settings = namesOf(options.settings);
    reportScopedLimit(program, chip, recorder);
    reportIllegalBlocks(program, chip, recorder);
    reportUnknownFigures(program, chip, *plan, recorder);
    if (Status status = engine.bind(inputs); !status) {
        return status.error();
    }
    if (Status status = engine.execute(); !status) {
        return status.error();
    }
    RunResult result;
    double checking = 0;
    if (full) {
        if (const std::optional<std::string> output = engine.nonFiniteOutput();
            output && !engine.hasStopped()) {
            if (Status status =
                    reportBirths(program, inputs, chip, options, *plan, *output, recorder);
                !status) {
                return status.error();
            }
        }
        result.outputs = engine.outputs();
        if (options.check) {
            const Clock::time_point before = Clock::now();
            info.check = options.check(result.outputs);
            checking = secondsSince(before);
        }
    }
    if (options.rows) {
        engine.recordLists();
        Result<std::shared_ptr<const trace::Trace>> finished = recorder.finish(engine.end());
        if (!finished) { // the machine broke a rule of its own trace
            checkFailed(finished.error().message, __FILE__, __LINE__);
        }
        result.trace = std::move(*finished);
    } else {
        result.sums = recorder.finishSums(engine.end());
        result.info = std::move(info);
    }
    result.wall = Seconds(secondsSince(begin) - checking);
    return result;
}

} // namespace pallascope::machine
