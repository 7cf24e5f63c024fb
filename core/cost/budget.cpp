// Lists what a pipeline and the scopes around and inside it allocate in each on-chip memory.
#include "core/cost/budget.h"

#include "core/base/format.h"
#include "core/cost/segment.h"
#include "core/cost/target.h"
#include "core/cost/tensor_memory.h"
#include "core/cost/tiling.h"
#include "core/ir/pipeline_facts.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace pallascope::cost {

namespace {

// The largest estimate of all segments in a region.
Bytes temporariesOf(const ir::Program& program, const ir::Region& region, const chip::Chip& chip)
{
    Bytes largest;
    std::vector<const ir::Operation*> run;
    const auto close = [&] {
        largest = std::max(largest, temporaries(program, run, chip));
        run.clear();
    };
    for (const ir::Operation& operation : region.operations) {
        if (!ir::endsSegment(operation.code)) {
            run.push_back(&operation);
            continue;
        }
        close();
        if (operation.code == ir::OpCode::Fusion) {
            continue; // XLA lets it work on its arrays piece by piece
        }
        for (const ir::Region& inner : operation.regions) {
            largest = std::max(largest, temporariesOf(program, inner, chip));
        }
    }
    close();
    return largest;
}

struct Around
{
    // Refs of run_scoped operations, of those inside of all pipelines around and of the others.
    std::vector<ir::ValueId> inside, outside;
    std::vector<const ir::Operation*> pipelines; // innermost first
};

// Collects what encloses an operation of a region. Returns whether the operation is there.
bool findAround(const ir::Region& region, const ir::Operation& inner, Around& around)
{
    for (const ir::Operation& operation : region.operations) {
        if (&operation == &inner) {
            return true;
        }
        for (const ir::Region& nested : operation.regions) {
            if (!findAround(nested, inner, around)) {
                continue;
            }
            if (operation.code == ir::OpCode::RunScoped) {
                auto& scopes = around.pipelines.empty() ? around.inside : around.outside;
                scopes.insert(scopes.begin(), nested.arguments.begin(), nested.arguments.end());
            } else if (operation.code == ir::OpCode::Pipeline) {
                around.pipelines.push_back(&operation);
            }
            return true;
        }
    }
    return false;
}

// How many blocks of a cluster share a ref, where several do.
using SharingBlocks = std::map<std::int32_t, std::int64_t>;

SharingBlocks sharedRefs(const ir::Program& program)
{
    SharingBlocks blocks;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        const auto* scope = std::get_if<ir::ScopedParams>(&operation.params);
        if (scope != nullptr && scope->blocks > 1) {
            for (const ir::ValueId ref : operation.regions[0].arguments) {
                blocks[ref.index] = scope->blocks;
            }
        }
    });
    return blocks;
}

// What one block takes of a memory for a ref.
Bytes bytesOf(const ir::Program& program, ir::ValueId ref, const SharingBlocks& sharing,
              std::int32_t memory, const chip::Chip& chip)
{
    const ir::Type& type = program.type(ref);
    const auto shared = sharing.find(ref.index);
    const std::int64_t blocks = shared == sharing.end() ? 1 : shared->second;
    if (type.space == ir::MemorySpace::Tmem) {
        return Bytes(tensorColumns(type.dtype, type.shape) * kTensorColumnBytes / blocks);
    }
    const auto& tile = chip.memories[static_cast<std::size_t>(memory)].tile;
    return Bytes(paddedBytes(type.dtype, type.shape, tile).value() / blocks);
}

// Scopes that follow each other reuse the same bytes, so only the chain of nested scopes that
// needs most counts.
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
                if (!ir::hasMemory(*type.space)) {
                    continue;
                }
                const Result<std::int32_t> memory = memoryOf(*type.space, chip);
                sum += memory ? bytesOf(program, ref, {}, *memory, chip)
                              : paddedBytes(type.dtype, type.shape, {});
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
    if (space == ir::MemorySpace::Any) { // the compiler chooses, in practice HBM
        space = ir::MemorySpace::Hbm;
    }
    std::string name(ir::memorySpaceName(space));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::optional<std::int32_t> memory = chip.memoryIndex(name);
    if (!memory) {
        return userError("The kernel uses " + name + ", a memory that the chip " + chip.title
                         + " does not list.");
    }
    return *memory;
}

namespace {

class Adder
{
public:
    Adder(const ir::Program& program, const chip::Chip& chip)
        : m_program(program)
        , m_chip(chip)
        , m_blocks(sharedRefs(program))
    {}

    Budget budget;
    Status status = Done{};

    // Semaphores and accumulators have memory of their own, which no kernel fills.
    void add(ir::ValueId ref, bool scratch, std::int32_t slots)
    {
        const ir::Type& type = m_program.type(ref);
        if (!status || !ir::hasMemory(*type.space)) {
            return;
        }
        const Result<std::int32_t> memory = memoryOf(*type.space, m_chip);
        if (!memory) {
            status = memory.error();
            return;
        }
        budget.entries.push_back({m_program.value(ref).name, ref, false, scratch, *memory, slots,
                                  bytesOf(m_program, ref, m_blocks, *memory, m_chip)});
    }

    void addPipeline(const ir::Operation& pipeline)
    {
        const std::size_t specs = std::get<ir::PipelineParams>(pipeline.params).specs.size();
        const auto& arguments = pipeline.regions[0].arguments;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const bool scratch = i >= specs;
            add(arguments[i], scratch,
                scratch ? 1 : ir::operandFacts(m_program, pipeline, i).slots);
        }
    }

    void addScratch(const std::vector<ir::ValueId>& refs)
    {
        for (const ir::ValueId ref : refs) {
            add(ref, true, 1);
        }
    }

    void addArguments()
    {
        for (const ir::Argument& argument : m_program.arguments) {
            if (m_program.type(argument.ref).space == ir::MemorySpace::Smem) {
                add(argument.ref, true, 1);
            }
        }
    }

private:
    const ir::Program& m_program;
    const chip::Chip& m_chip;
    SharingBlocks m_blocks;
};

} // namespace

Result<Budget> budget(const ir::Program& program, const ir::Operation& pipeline,
                      const chip::Chip& chip)
{
    Adder adder(program, chip);
    adder.addPipeline(pipeline);
    Around around;
    (void)findAround(program.body, pipeline, around);
    // An enclosing pipeline lists the scopes that need most of all in its body.
    std::set<ir::ValueId> listed;
    for (const ir::Operation* outer : around.pipelines) {
        const std::vector<ir::ValueId> refs = largestScopes(program, outer->regions[0], chip);
        listed.insert(refs.begin(), refs.end());
    }
    std::vector<ir::ValueId> scratch = around.inside;
    const std::vector<ir::ValueId> own = largestScopes(program, pipeline.regions[0], chip);
    scratch.insert(scratch.end(), own.begin(), own.end());
    const auto others = std::stable_partition(
        scratch.begin(), scratch.end(), [&](ir::ValueId ref) { return !listed.contains(ref); });
    if (around.pipelines.empty()) {
        adder.addArguments();
        adder.addScratch(around.outside);
    }
    adder.addScratch({scratch.begin(), others});
    const std::size_t ends = adder.budget.entries.size();
    for (const ir::Operation* outer : around.pipelines) {
        adder.addPipeline(*outer);
    }
    if (!around.pipelines.empty()) {
        adder.addArguments();
        adder.addScratch(around.outside);
    }
    adder.addScratch({others, scratch.end()});
    for (std::size_t i = ends; i < adder.budget.entries.size(); ++i) {
        adder.budget.entries[i].outer = true;
    }
    if (!adder.status) {
        return adder.status.error();
    }
    adder.budget.temporariesEstimate = temporariesOf(program, pipeline.regions[0], chip);
    adder.budget.location = pipeline.location;
    return std::move(adder.budget);
}

Result<Budget> scopeBudget(const ir::Program& program, const chip::Chip& chip)
{
    Adder adder(program, chip);
    adder.addArguments();
    adder.addScratch(largestScopes(program, program.body, chip));
    if (!adder.status) {
        return adder.status.error();
    }
    adder.budget.temporariesEstimate = temporariesOf(program, program.body, chip);
    return std::move(adder.budget);
}

Result<std::vector<Budget>> budgets(const ir::Program& program, const chip::Chip& chip)
{
    std::vector<Budget> result;
    const auto take = [&](Result<Budget> budget) -> Status {
        if (!budget) {
            return budget.error();
        }
        result.push_back(std::move(*budget));
        return Done{};
    };
    const std::vector<const ir::Operation*> pipelines = ir::pipelinesOf(program);
    Status status = checkTarget(program, chip);
    if (status && pipelines.empty()) {
        status = take(scopeBudget(program, chip));
    }
    for (std::size_t i = 0; i < pipelines.size() && status; ++i) {
        status = take(budget(program, *pipelines[i], chip));
    }
    if (!status) {
        return status.error();
    }
    return result;
}

std::optional<Bytes> scopedLimit(const ir::Program& program, const chip::Memory& memory)
{
    const std::int64_t asked = program.vmemLimitBytes();
    return memory.defaultLimit && asked > 0 ? std::min(Bytes(asked), memory.bytes)
                                            : memory.defaultLimit;
}

Status checkCapacity(const Budget& budget, const chip::Chip& chip)
{
    for (std::size_t memory = 0; memory < chip.memories.size(); ++memory) {
        const Bytes used = budget.used(static_cast<std::int32_t>(memory));
        if (used <= chip.memories[memory].bytes) {
            continue;
        }
        std::string parts;
        std::vector<About> about;
        for (const BudgetEntry& entry : budget.entries) {
            if (entry.memory == static_cast<std::int32_t>(memory)) {
                about.push_back({Subject::Operand, entry.name});
                parts += (parts.empty() ? "" : ", ") + entry.name + " " + bytesText(entry.total());
                if (entry.slots > 1) {
                    parts += " (" + std::to_string(entry.slots) + " \u00d7 "
                             + bytesText(entry.slotBytes) + ")";
                }
            }
        }
        return limitError("The blocks need " + bytesText(used) + " of " + chip.memories[memory].name
                              + " (" + parts + "), " + chip.title + " has "
                              + bytesText(chip.memories[memory].bytes) + ".",
                          std::move(about));
    }
    return Done{};
}

} // namespace pallascope::cost
