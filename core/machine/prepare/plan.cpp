#include "core/machine/prepare/plan.h"

#include "core/cost/inside_shares.h"
#include "core/cost/left_out.h"
#include "core/cost/live_registers.h"
#include "core/cost/segment.h"
#include "core/cost/spilled_sums.h"
#include "core/cost/unrolled.h"
#include "core/ir/infer.h"
#include "core/ir/pipeline_facts.h"
#include "core/machine/arith/dot.h"
#include "core/machine/prepare/joined_products.h"
#include "core/machine/prepare/last_use.h"
#include "core/machine/prepare/load_levels.h"
#include "core/machine/prepare/scratch_reductions.h"
#include "core/machine/prepare/segment_template.h"
#include "core/machine/prepare/streams.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace pallascope::machine {

namespace {

// Whether it is a dot_general that takes its operands as they lie, without reordering any.
bool multipliesMatrices(const ir::Operation& operation)
{
    const auto* dot = std::get_if<ir::DotParams>(&operation.params);
    return operation.code == ir::OpCode::DotGeneral && dot != nullptr && dot->lhsBatch.empty()
           && dot->lhsContracting.size() == 1;
}

// A program that launches no kernel and no fusion is itself one kernel, such as a collective alone,
// whatever parts of it are fusions.
bool launchesAny(const ir::Program& program)
{
    bool launches = false;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        const auto* const fusion = std::get_if<ir::FusionParams>(&operation.params);
        launches = launches || operation.code == ir::OpCode::Kernel
                   || (fusion != nullptr && fusion->launches);
    });
    return launches;
}

class Planner
{
public:
    Planner(const ir::Program& program, const chip::Chip& chip, const NeededSet& needed,
            const Constants& constants, Plan& plan)
        : m_program(program)
        , m_chip(chip)
        , m_needed(needed)
        , m_constants(constants)
        , m_plan(plan)
        , m_streams(program, chip, plan.uses)
        , m_scratchReductions(scratchReductions(program, chip))
        , m_insideShares(cost::insideShares(program))
    {
        m_runner.insideShares = &m_insideShares;
        if (chip.multiprocessor) {
            m_runner.leftOut = &m_leftOut.emplace(program, chip);
        }
        plan.uses.assign(program.values.size(), 0);
        m_asFactors.assign(program.values.size(), 0);
        const auto use = [&](ir::ValueId id) { ++plan.uses[static_cast<std::size_t>(id.index)]; };
        forEachOperation(program.body, [&](const ir::Operation& operation) {
            std::for_each(operation.operands.begin(), operation.operands.end(), use);
            if (multipliesMatrices(operation)) {
                for (const ir::ValueId factor : operation.operands) {
                    ++m_asFactors[static_cast<std::size_t>(factor.index)];
                }
            }
            for (const ir::Region& region : operation.regions) {
                std::for_each(region.results.begin(), region.results.end(), use);
            }
        });
    }

    // Plans a region that begins with this time for a launch.
    [[nodiscard]] Result<const BlockPlan*> block(const ir::Region& region, Picoseconds launch);

private:
    [[nodiscard]] std::int32_t addTimed(trace::SegmentKind what, std::int32_t kind,
                                        Picoseconds takes);
    [[nodiscard]] Status collect(const ir::Region& region, std::vector<const ir::Operation*>& run,
                                 BlockPlan& block);
    [[nodiscard]] const ir::Region* knownBranch(const ir::Operation& operation) const;
    [[nodiscard]] Status control(const ir::Operation& operation, BlockPlan& block);
    [[nodiscard]] Status segments(const std::vector<const ir::Operation*>& operations,
                                  BlockPlan& block, const ir::Operation* start = nullptr);
    [[nodiscard]] Status segment(const std::vector<const ir::Operation*>& operations,
                                 BlockPlan& block, const ir::Operation* start);
    [[nodiscard]] bool takesTime(const ir::Operation& operation) const;
    [[nodiscard]] Status addTemplate(std::span<const ir::Operation* const> operations,
                                     PlanItem& item);
    [[nodiscard]] Picoseconds overheadOf(const ir::Operation& pipeline) const;
    void addLaunch(Picoseconds takes, BlockPlan& block);
    [[nodiscard]] Picoseconds launchOf(const ir::Operation& operation) const;
    [[nodiscard]] bool isLong(const ir::Operation& operation) const;
    [[nodiscard]] bool isLoadedAsRows(const ir::Operation& operation) const;

    const ir::Program& m_program;
    const chip::Chip& m_chip;
    const NeededSet& m_needed;
    const Constants& m_constants;
    Plan& m_plan;
    Streams m_streams;
    std::set<const ir::Operation*> m_scratchReductions;
    std::map<std::int32_t, double> m_insideShares;
    std::vector<std::int32_t> m_asFactors;   // by ValueId: number of uses by such a dot_general
    const ir::Operation* m_fusion = nullptr; // the fusion that is being planned
    bool m_isDirect = false; // whether a core_map is being planned whose agents access HBM
    std::optional<cost::LeftOut> m_leftOut;
    std::deque<std::set<ir::ValueId>> m_spilledSums; // of each core_map
    cost::Runner m_runner;                           // the agents that run what is being planned
    // Shares of the unrolled loop that is being planned.
    const std::map<std::int32_t, double>* m_rounds = nullptr;
};

// Whether it loads or stores the whole ref in the ref's own shape.
bool coversRef(const ir::Program& program, const ir::Operation& operation)
{
    const auto* indexer = std::get_if<ir::IndexerParams>(&operation.params);
    if (indexer == nullptr) {
        return true;
    }
    const Shape& shape = program.type(operation.operands[0]).shape;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const ir::IndexEntry& entry = indexer->entries[axis];
        if (!entry.isSlice || entry.operand >= 0 || entry.size != shape[axis]
            || entry.stride != 1) {
            return false;
        }
    }
    return true;
}

} // namespace

bool accessesByLane(const ir::Program& program, const ir::Operation& operation)
{
    return (ir::isMasked(operation.code) || ir::isAtomic(operation.code)
            || ir::listsElements(operation.code))
           && ir::isFar(*program.type(operation.operands[0]).space);
}

namespace {

// How long a segment uses each unit.
std::vector<std::pair<std::int32_t, Picoseconds>> demandsOf(const cost::SegmentCost& cost)
{
    std::map<std::int32_t, Cycles> sums;
    for (const cost::Place& place : cost.places) {
        sums[place.unit] += place.length;
    }
    std::vector<std::pair<std::int32_t, Picoseconds>> demands;
    for (const auto& [unit, cycles] : sums) {
        demands.emplace_back(unit, toPicoseconds(cycles, cost.clock));
    }
    return demands;
}

// Adds what the operations cost together as a template of the trace.
Status Planner::addTemplate(std::span<const ir::Operation* const> operations, PlanItem& item)
{
    // XLA divides the work of a fusion among the cores of a device, or the SMs of a GPU.
    const chip::AgentKind& first = m_chip.agents.front();
    const std::int64_t cores = m_fusion == nullptr     ? 1
                               : m_chip.multiprocessor ? first.slots
                                                       : first.count;
    std::map<std::int32_t, double> parts;
    if (m_fusion != nullptr) {
        parts = m_streams.shares(operations);
    }
    if (m_fusion != nullptr || m_isDirect) {
        item.streams = m_streams.of(operations, parts);
    }
    cost::Runner runner = m_runner;
    runner.cores = cores;
    runner.shares = m_rounds != nullptr ? m_rounds : &parts;
    runner.isAround = m_fusion != nullptr;
    Result<cost::SegmentCost> cost = cost::segmentCost(m_program, operations, m_chip, runner);
    if (!cost) {
        return cost.error();
    }
    item.templateId = static_cast<std::int32_t>(m_plan.templates.size());
    item.duration = cost->duration;
    item.slowed = toPicoseconds(cost->slowed, cost->clock);
    item.delays = toPicoseconds(cost->delays, cost->clock);
    item.awaited = toPicoseconds(cost->awaited, cost->clock);
    if (m_chip.agents[static_cast<std::size_t>(m_runner.agent)].sharesUnits) {
        item.demands = demandsOf(*cost);
    }
    m_plan.templates.push_back(asTemplate(std::move(*cost)));
    if (m_fusion != nullptr) {
        m_plan.templates.back().kind = trace::SegmentKind::Fusion;
    }
    return Done{};
}

// Adds the time that a kernel or a fusion takes before its first operation.
void Planner::addLaunch(Picoseconds takes, BlockPlan& block)
{
    if (takes > Picoseconds(0)) {
        block.items.push_back(
            {.templateId = addTimed(trace::SegmentKind::Launch, 0, takes), .duration = takes});
    }
}

Picoseconds Planner::launchOf(const ir::Operation& operation) const
{
    const auto* fusion = std::get_if<ir::FusionParams>(&operation.params);
    if (fusion != nullptr && fusion->launches) {
        return m_streams.copies(operation.regions[0]) ? m_chip.fusionLaunch
                                                      : m_chip.nearFusionLaunch;
    }
    return operation.code == ir::OpCode::Kernel ? m_chip.kernelLaunch : Picoseconds(0);
}

// Whether it starts a manual DMA on a chip where that takes the core's time, after the operations
// that say what to copy.
bool Planner::takesTime(const ir::Operation& operation) const
{
    const bool isByThreads = m_runner.compiler == ir::kTriton;
    return ir::startsCopy(operation.code)
           && (isByThreads || m_chip.operations.contains(ir::opName(operation.code)));
}

// Of agents that load from GMEM, one segment for each part that waits for loads of those before it.
Status Planner::segments(const std::vector<const ir::Operation*>& operations, BlockPlan& block,
                         const ir::Operation* start)
{
    if (!m_isDirect || !m_chip.multiprocessor || operations.empty()) {
        return segment(operations, block, start);
    }
    const auto parts = dividedByLoads(m_program, operations);
    Status status = Done{};
    for (std::size_t i = 0; i < parts.size() && status; ++i) {
        status = segment(parts[i], block, i + 1 == parts.size() ? start : nullptr);
    }
    return status;
}

// `start`, if given, is the start of a copy that follows; its time is part of the segment.
Status Planner::segment(const std::vector<const ir::Operation*>& operations, BlockPlan& block,
                        const ir::Operation* start)
{
    PlanItem item;
    std::vector<const ir::Operation*> timed = operations;
    if (start != nullptr) {
        timed.push_back(start);
    }
    if (Status status = addTemplate(timed, item); !status) {
        return status;
    }
    if (start != nullptr) { // the start is not an operation of the segment but runs after it
        m_plan.templates.back().operations.pop_back();
        m_plan.templates.back().retire.pop_back();
    }
    item.operationCount = static_cast<std::int32_t>(operations.size());
    item.fusion = m_fusion;
    std::int32_t number = -1;
    for (const ir::Operation* operation : operations) {
        ++number;
        const bool isMemory = ir::opEntry(operation->code).kind == ir::OpKind::Memory;
        const bool partial = isMemory && !coversRef(m_program, *operation);
        const bool needed = m_needed.needs(*operation) && !m_constants.makes(*operation);
        // Accesses out of bounds are found in both value modes.
        const bool byLane = isMemory && accessesByLane(m_program, *operation);
        if (needed || partial || byLane || ir::listsElements(operation->code)) {
            item.evaluate.push_back({.operation = operation,
                                     .number = number,
                                     .touches = !needed,
                                     .partial = partial,
                                     .isLong = isLong(*operation),
                                     .asRows = !partial && isLoadedAsRows(*operation)});
        }
        if (isMemory) {
            item.accesses.push_back({operation, number, operation->operands[0],
                                     ir::storesInto(operation->code), !partial && !byLane});
        } else if (m_scratchReductions.contains(operation)) {
            item.accesses.push_back(
                {.operation = operation, .number = number, .writes = true, .isReduction = true});
        }
    }
    joinProducts(m_program, m_plan.uses, item.evaluate);
    block.items.push_back(std::move(item));
    return Done{};
}

bool Planner::isLong(const ir::Operation& operation) const
{
    constexpr std::int64_t kShort = 4096; // elements
    return operation.results.empty()
           || m_program.type(operation.results[0]).shape.elements() > kShort;
}

bool Planner::isLoadedAsRows(const ir::Operation& operation) const
{
    if (operation.code != ir::OpCode::Get) {
        return false;
    }
    const ir::Type& type = m_program.type(operation.results[0]);
    const auto value = static_cast<std::size_t>(operation.results[0].index);
    return type.shape.rank() == 2 && arith::readByProducts(type.dtype)
           && m_asFactors[value] == m_plan.uses[value];
}

Result<const BlockPlan*> Planner::block(const ir::Region& region, Picoseconds launch)
{
    m_plan.blocks.push_back({&region, {}});
    BlockPlan& block = m_plan.blocks.back();
    addLaunch(launch, block);
    std::vector<const ir::Operation*> run;
    Status status = collect(region, run, block);
    if (status && !run.empty()) {
        status = segments(run, block);
    }
    if (!status) {
        return status.error();
    }
    markLastUses(m_program, region, block);
    return &block;
}

// Adds a region's items to the plan; operations of a segment that has not ended remain in `run`.
Status Planner::collect(const ir::Region& region, std::vector<const ir::Operation*>& run,
                        BlockPlan& block)
{
    for (const ir::Operation& operation : region.operations) {
        Status status = Done{};
        if (!ir::endsSegment(operation.code)) {
            run.push_back(&operation);
        } else if (const ir::Region* taken = knownBranch(operation)) {
            status = collect(*taken, run, block);
        } else {
            const bool starts = takesTime(operation);
            if (!run.empty() || starts) {
                status = segments(std::exchange(run, {}), block, starts ? &operation : nullptr);
            }
            status = status ? control(operation, block) : status;
        }
        if (!status) {
            return status;
        }
    }
    return Done{};
}

// The branch that is always taken, if that is known: a compiler leaves no branch there.
const ir::Region* Planner::knownBranch(const ir::Operation& operation) const
{
    if (operation.code != ir::OpCode::Cond || !operation.results.empty()
        || !m_constants.has(operation.operands[0])) {
        return nullptr;
    }
    const double index = m_constants.scalar(operation.operands[0]);
    const auto last = static_cast<double>(operation.regions.size() - 1);
    return &operation.regions[static_cast<std::size_t>(std::clamp(index, 0.0, last))];
}

Status Planner::control(const ir::Operation& operation, BlockPlan& block)
{
    PlanItem item{.control = &operation};
    if (ir::opEntry(operation.code).kind == ir::OpKind::Request) {
        const ir::Operation* const alone[] = {&operation};
        if (Status status = addTemplate(alone, item); !status) {
            return status;
        }
    }
    const cost::Runner around = m_runner;
    const ir::Operation* const fusion = m_fusion;
    if (const auto* mesh = std::get_if<ir::CoreMapParams>(&operation.params)) {
        const std::optional<std::int32_t> kind = m_chip.agentNamed(mesh->agents);
        if (!kind) {
            return userError(m_program.where(operation.location) + ": core_map runs on "
                             + mesh->agents + ", which the chip " + m_chip.title
                             + " does not have.");
        }
        m_isDirect = mesh->directAccess;
        m_runner.agent = *kind;
        m_runner.compiler = mesh->compiler;
        m_runner.threads = mesh->threads;
        const std::set<ir::ValueId>& spilled =
            m_spilledSums.emplace_back(cost::spilledSums(m_program, operation, m_chip));
        m_runner.spilledSums = spilled.empty() ? nullptr : &spilled;
        m_runner.awaitsEachProduct =
            !spilled.empty()
            || (m_leftOut && cost::awaitsEachProduct(m_program, operation, m_chip, *m_leftOut));
    }
    if (operation.code == ir::OpCode::Pipeline) {
        item.duration = overheadOf(operation);
        item.templateId = addTimed(trace::SegmentKind::StepOverhead, m_runner.agent, item.duration);
    }
    m_fusion = operation.code == ir::OpCode::Fusion ? &operation : m_fusion;
    const std::map<std::int32_t, double>* const rounds = m_rounds;
    std::map<std::int32_t, double> own;
    if (cost::isUnrolled(operation)) {
        own = cost::unrolledShares(m_program, operation);
        m_rounds = &own;
    }
    const std::size_t planned =
        operation.code == ir::OpCode::Pipeline ? 1 : operation.regions.size();
    // Index maps are bookkeeping and not part of segments.
    for (std::size_t i = 0; i < planned; ++i) {
        const Result<const BlockPlan*> inner =
            this->block(operation.regions[i], launchOf(operation));
        if (!inner) {
            return inner.error();
        }
        item.regions.push_back(*inner);
    }
    m_runner = around;
    m_isDirect = m_isDirect && operation.code != ir::OpCode::CoreMap;
    m_fusion = fusion;
    m_rounds = rounds;
    block.items.push_back(std::move(item));
    return Done{};
}

// The bookkeeping of one pipeline step: index maps, predicates and slots of the operands whose
// blocks it copies.
Picoseconds Planner::overheadOf(const ir::Operation& pipeline) const
{
    Picoseconds overhead = m_chip.agents[static_cast<std::size_t>(m_runner.agent)].stepOverhead;
    const std::size_t specs = std::get<ir::PipelineParams>(pipeline.params).specs.size();
    for (std::size_t i = 0; i < specs; ++i) {
        const bool copies = ir::operandFacts(m_program, pipeline, i).pipelined();
        overhead += copies && m_runner.agent == 0 ? m_chip.stepOperand : Picoseconds(0);
    }
    return overhead;
}

// Adds a segment whose time is a constant of the chip and that has no operations; returns the
// number of its template.
std::int32_t Planner::addTimed(trace::SegmentKind what, std::int32_t kind, Picoseconds takes)
{
    trace::SegmentTemplate timed{.kind = what};
    timed.clock = m_chip.agents[static_cast<std::size_t>(kind)].clock;
    timed.duration = takes;
    // The time is exactly the chip's constant; the cycles only say where it is drawn.
    const auto exact = static_cast<__int128>(takes.value()) * timed.clock.value();
    timed.cycles = Cycles(static_cast<std::int64_t>(exact / kPicosecondsPerSecond));
    timed.flopsByUnit.assign(m_chip.units.size(), Flops(0));
    timed.executedFlopsByUnit.assign(m_chip.units.size(), Flops(0));
    if (const chip::Unit* unit = m_chip.unitOf(UnitKind::Scalar, kind)) {
        timed.marks.push_back(
            {static_cast<std::int32_t>(unit - m_chip.units.data()), -1, Cycles(0), timed.cycles});
    }
    m_plan.templates.push_back(std::move(timed));
    return static_cast<std::int32_t>(m_plan.templates.size()) - 1;
}

} // namespace

Result<Plan> makePlan(const ir::Program& program, const chip::Chip& chip, const NeededSet& needed,
                      const Constants& constants)
{
    Plan plan;
    Planner planner(program, chip, needed, constants, plan);
    const Result<const BlockPlan*> body =
        planner.block(program.body, launchesAny(program) ? Picoseconds(0) : chip.kernelLaunch);
    if (!body) {
        return body.error();
    }
    plan.body = *body;
    return plan;
}

} // namespace pallascope::machine
