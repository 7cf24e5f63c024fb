// Checks what must hold before anything runs.
#include "core/base/format.h"
#include "core/chip/clock.h"
#include "core/cost/block_grid.h"
#include "core/cost/budget.h"
#include "core/cost/target.h"
#include "core/cost/tiling.h"
#include "core/ir/makers.h"
#include "core/ir/mesh.h"
#include "core/ir/pipeline_facts.h"
#include "core/machine/prepare/prepared.h"

#include <algorithm>
#include <map>

namespace pallascope::machine {

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

namespace {

// What the arguments take in HBM: with the padding of tiles where pipelines copy them.
Bytes bytesOfArguments(const ir::Program& program, const chip::Chip& chip)
{
    std::map<ir::ValueId, Bytes> bytes;
    for (const ir::Argument& argument : program.arguments) {
        const ir::Type& type = program.type(argument.ref);
        bytes[argument.ref] = packedBytes(type.dtype, type.shape.elements());
    }
    const ir::Makers makers(program);
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        for (const ir::ValueId operand : pipeline->operands) {
            const auto argument = bytes.find(makers.rootOf(operand));
            if (argument != bytes.end()) {
                const ir::Type& type = program.type(operand);
                const Bytes padded =
                    cost::paddedBytes(type.dtype, type.shape, cost::nativeTile(chip));
                argument->second = std::max(argument->second, padded);
            }
        }
    }
    Bytes sum;
    for (const auto& [argument, taken] : bytes) {
        sum += taken;
    }
    return sum;
}

Status checkArrays(const ir::Program& program, const chip::Chip& chip)
{
    const std::optional<std::int32_t> hbm = chip.memoryIndex("HBM");
    const Bytes arrays = bytesOfArguments(program, chip);
    if (hbm && arrays > chip.memories[static_cast<std::size_t>(*hbm)].bytes) {
        return limitError("The arrays of " + program.name + " take " + bytesText(arrays)
                          + " of HBM, " + chip.title + " has "
                          + bytesText(chip.memories[static_cast<std::size_t>(*hbm)].bytes) + ".");
    }
    constexpr std::int64_t kMostAgentValues = 1 << 21;
    const std::int64_t devices = ir::deviceCount(program);
    const auto values = static_cast<std::int64_t>(program.values.size());
    if (devices > 1 && devices * values > kMostAgentValues) {
        return limitError(program.name + " runs on " + countText(devices) + " devices with "
                          + countText(values) + " values each; " + countText(kMostAgentValues)
                          + " together are the most.");
    }
    return Done{};
}

} // namespace

Result<std::vector<cost::Budget>> fittingBudgets(const ir::Program& program, const chip::Chip& chip,
                                                 std::optional<std::int64_t> registers)
{
    if (Status status = cost::checkTarget(program, chip); !status) {
        return status.error();
    }
    if (Status status = cost::checkBlocks(program, chip, registers); !status) {
        return status.error();
    }
    if (Status status = checkArrays(program, chip); !status) {
        return status.error();
    }
    Result<std::vector<cost::Budget>> budgets = cost::budgets(program, chip);
    if (!budgets) {
        return budgets.error();
    }
    for (const cost::Budget& budget : *budgets) {
        if (Status status = cost::checkCapacity(budget, chip); !status) {
            return status.error();
        }
    }
    if (Status status = checkSteps(program, kMostSteps); !status) {
        return status.error();
    }
    return budgets;
}

Status checkLongGrids(const chip::Chip& chip, const Settings& settings)
{
    if (settings.longGrids == LongGrid::Auto || chip.multiprocessor) {
        return Done{};
    }
    return userError("The setting long_grids is " + namesOf(settings, true).at("long_grids")
                         + ", which is for GPUs; on " + chip.title + " every step runs.",
                     {{Subject::Setting, "long_grids"}});
}

Status checkFit(const ir::Program& program, const chip::Chip& chip, const Settings& settings)
{
    const Result<chip::Chip> clocked = chip::atClock(chip, settings.clock);
    if (!clocked) {
        return clocked.error();
    }
    if (Status status = checkLongGrids(chip, settings); !status) {
        return status.error();
    }
    const Result<std::vector<cost::Budget>> budgets =
        fittingBudgets(program, chip, settings.registers);
    return budgets ? Status(Done{}) : Status(budgets.error());
}

} // namespace pallascope::machine
