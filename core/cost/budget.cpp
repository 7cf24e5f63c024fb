#include "core/cost/budget.h"

#include "core/base/format.h"
#include "core/cost/segment.h"
#include "core/cost/tiling.h"
#include "core/ir/pipeline_facts.h"

#include <algorithm>
#include <cctype>

namespace pallascope::cost {

namespace {

// The largest estimate over the straight-line stretches of a region.
Bytes temporariesOf(const ir::Program& program, const ir::Region& region, const chip::Chip& chip)
{
    Bytes largest;
    std::vector<const ir::Operation*> run;
    const auto close = [&] {
        largest = std::max(largest, temporaries(program, run, chip));
        run.clear();
    };
    for (const ir::Operation& operation : region.operations) {
        if (ir::opEntry(operation.code).kind != ir::OpKind::Control) {
            run.push_back(&operation);
            continue;
        }
        close();
        for (const ir::Region& inner : operation.regions) {
            largest = std::max(largest, temporariesOf(program, inner, chip));
        }
    }
    close();
    return largest;
}

// The refs of the run_scoped operations that a region's operation lies in; whether it does.
bool scopesAround(const ir::Region& region, const ir::Operation& inner,
                  std::vector<ir::ValueId>& refs)
{
    for (const ir::Operation& operation : region.operations) {
        if (&operation == &inner) {
            return true;
        }
        for (const ir::Region& nested : operation.regions) {
            std::vector<ir::ValueId> found;
            if (operation.code == ir::OpCode::RunScoped) {
                found = nested.arguments;
            }
            if (scopesAround(nested, inner, found)) {
                refs.insert(refs.end(), found.begin(), found.end());
                return true;
            }
        }
    }
    return false;
}

// Scopes that follow one another use the same bytes: the chain of nested ones that needs most.
std::vector<ir::ValueId> largestScopes(const ir::Program& program, const ir::Region& region,
                                       const chip::Chip& chip)
{
    std::vector<ir::ValueId> largest;
    Bytes most(-1);
    for (const ir::Operation& operation : region.operations) {
        for (const ir::Region& nested : operation.regions) {
            std::vector<ir::ValueId> refs = largestScopes(program, nested, chip);
            if (operation.code == ir::OpCode::RunScoped) {
                refs.insert(refs.begin(), nested.arguments.begin(), nested.arguments.end());
            }
            Bytes sum;
            for (const ir::ValueId ref : refs) {
                const ir::Type& type = program.type(ref);
                const Result<std::int32_t> memory = memoryOf(*type.space, chip);
                sum += paddedBytes(type.dtype, type.shape,
                                   memory ? chip.memories[static_cast<std::size_t>(*memory)].tile
                                          : std::vector<std::int64_t>{});
            }
            if (sum > most) {
                most = sum;
                largest = std::move(refs);
            }
        }
    }
    return largest;
}

} // namespace

Bytes Budget::used(std::int32_t memory) const
{
    Bytes sum;
    for (const BudgetEntry& entry : entries) {
        sum += entry.memory == memory ? entry.total() : Bytes(0);
    }
    return sum;
}

Result<std::int32_t> memoryOf(ir::MemorySpace space, const chip::Chip& chip)
{
    if (space == ir::MemorySpace::Any) { // the compiler's choice, in practice HBM
        space = ir::MemorySpace::Hbm;
    }
    std::string name(ir::memorySpaceName(space));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::int32_t memory = chip.memoryIndex(name);
    if (memory < 0) {
        return userError("The kernel uses " + name + ", a memory that the chip " + chip.title
                         + " does not list.");
    }
    return memory;
}

Result<Budget> budget(const ir::Program& program, const ir::Operation& pipeline,
                      const chip::Chip& chip)
{
    const auto& params = std::get<ir::PipelineParams>(pipeline.params);
    const auto& arguments = pipeline.regions[0].arguments;
    Budget result;
    const auto add = [&](ir::ValueId ref, bool scratch, std::int32_t slots) -> Status {
        const ir::Type& type = program.type(ref);
        const Result<std::int32_t> memory = memoryOf(*type.space, chip);
        if (!memory) {
            return memory.error();
        }
        const auto& tile = chip.memories[static_cast<std::size_t>(*memory)].tile;
        result.entries.push_back({program.value(ref).name, ref, scratch, *memory, slots,
                                  paddedBytes(type.dtype, type.shape, tile)});
        return Done{};
    };
    Status status = Done{};
    for (std::size_t i = 0; i < arguments.size() && status; ++i) {
        const bool scratch = i >= params.specs.size();
        status =
            add(arguments[i], scratch, scratch ? 1 : ir::operandFacts(program, pipeline, i).slots);
    }
    std::vector<ir::ValueId> others;
    for (const ir::Argument& argument : program.arguments) {
        if (program.type(argument.ref).space == ir::MemorySpace::Smem) {
            others.push_back(argument.ref);
        }
    }
    scopesAround(program.body, pipeline, others);
    const std::vector<ir::ValueId> inside = largestScopes(program, pipeline.regions[0], chip);
    others.insert(others.end(), inside.begin(), inside.end());
    for (std::size_t i = 0; i < others.size() && status; ++i) {
        status = add(others[i], true, 1);
    }
    if (!status) {
        return status.error();
    }
    result.temporariesEstimate = temporariesOf(program, pipeline.regions[0], chip);
    return result;
}

Status checkCapacity(const Budget& budget, const chip::Chip& chip)
{
    for (std::size_t memory = 0; memory < chip.memories.size(); ++memory) {
        const Bytes used = budget.used(static_cast<std::int32_t>(memory));
        if (used <= chip.memories[memory].bytes) {
            continue;
        }
        std::string parts;
        for (const BudgetEntry& entry : budget.entries) {
            if (entry.memory == static_cast<std::int32_t>(memory)) {
                parts += (parts.empty() ? "" : ", ") + entry.name + " " + bytesText(entry.total());
                if (entry.slots > 1) {
                    parts += " (" + std::to_string(entry.slots) + " \u00d7 "
                             + bytesText(entry.slotBytes) + ")";
                }
            }
        }
        return limitError("The blocks need " + bytesText(used) + " of " + chip.memories[memory].name
                          + " (" + parts + "), " + chip.title + " has "
                          + bytesText(chip.memories[memory].bytes) + ".");
    }
    return Done{};
}

} // namespace pallascope::cost
