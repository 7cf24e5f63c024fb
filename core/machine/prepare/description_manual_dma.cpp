// Describes manual DMA, semaphores, and scopes without a pipeline for the static half of a trace.
#include "core/cost/budget.h"
#include "core/cost/tiling.h"
#include "core/ir/infer.h"
#include "core/ir/mesh.h"
#include "core/ir/pipeline_facts.h"
#include "core/machine/prepare/description.h"
#include "core/machine/prepare/streams.h"
#include "core/trace/pipelines.h"
#include "core/trace/trace.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace pallascope::machine {

namespace {

using Part = Description::Part;

Part partOf(const ir::Program& program, const ir::Makers& makers, ir::ValueId ref)
{
    std::vector<const ir::Operation*> chain;
    while (const ir::Operation* const view = makers.viewOf(ref)) {
        chain.push_back(view);
        ref = view->operands[0];
    }
    Part part{ref, program.type(ref).shape.extents()};
    std::vector<std::size_t> axes; // for each axis of the view, the axis of the array
    for (std::size_t axis = 0; axis < part.block.size(); ++axis) {
        axes.push_back(axis);
    }
    for (auto view = chain.rbegin(); view != chain.rend(); ++view) {
        if ((*view)->code != ir::OpCode::RefAt) {
            part.isKnown = false;
            break;
        }
        const auto& entries = std::get<ir::IndexerParams>((*view)->params).entries;
        std::vector<std::size_t> kept;
        for (std::size_t axis = 0; axis < entries.size(); ++axis) {
            const Extent all = part.block[axes[axis]];
            part.isKnown = part.isKnown && entries[axis].stride == 1;
            part.block[axes[axis]] = std::clamp<Extent>(
                (entries[axis].size - 1) * entries[axis].stride + 1, 1, std::max<Extent>(all, 1));
            if (entries[axis].isSlice) {
                kept.push_back(axes[axis]);
            }
        }
        axes = std::move(kept);
    }
    return part;
}

// Memory that fusions use inside has no name of its own.
std::string nameOrSpace(const ir::Program& program, ir::ValueId ref)
{
    const ir::Value& value = program.value(ref);
    return value.name.empty() ? std::string(ir::memorySpaceName(*value.type.space)) : value.name;
}

} // namespace

void Description::describeScopes(const ir::Program& program, const chip::Chip& chip,
                                 const cost::Budget& budget)
{
    info.temporariesEstimate = std::max(info.temporariesEstimate, budget.temporariesEstimate);
    std::vector<Bytes> address(chip.memories.size());
    for (const cost::BudgetEntry& entry : budget.entries) {
        const ir::Type& type = program.type(entry.ref);
        Bytes& next = address[static_cast<std::size_t>(entry.memory)];
        m_scratchBuffers.try_emplace(entry.ref, static_cast<std::int32_t>(info.buffers.size()));
        info.buffers.edit().push_back(
            {entry.name, -1, 0, entry.memory, next, entry.slotBytes, type.dtype, type.shape});
        next += entry.slotBytes;
    }
}

// If the chip has no such link, one that moves a register per cycle.
std::int32_t Description::linkOf(const chip::Chip& chip, std::int32_t from, std::int32_t to)
{
    if (const std::optional<std::int32_t> link = chip.linkBetween(from, to)) {
        return *link;
    }
    if (!m_onChipLink) {
        chip::Link link;
        link.name = "on chip";
        link.from = from;
        link.to = to;
        link.datasheet = BytesPerSecond(static_cast<double>(chip.registerBytes.value())
                                        * static_cast<double>(chip.agents.front().clock.value()));
        m_onChipLink = link;
        info.links.push_back({link.name, link.from, link.to, link.datasheet, link.achieved(), {}});
    }
    return static_cast<std::int32_t>(chip.links.size());
}

// Copies between the same arrays, of the same size and from the same source line share an operand:
// they come from a loop that Python has unrolled.
class Description::CopyDescriber
{
public:
    CopyDescriber(Description& description, const ir::Program& program, const chip::Chip& chip,
                  const ir::Makers& makers)
        : m_description(description)
        , m_program(program)
        , m_chip(chip)
        , m_makers(makers)
        , m_free(arraysOfFusions(program))
        , m_hbm(chip.memoryIndex("HBM"))
        , m_inKernel(static_cast<std::size_t>(program.operationCount), false)
    {
        forEachOperation(program.body, [&](const ir::Operation& operation) {
            if (operation.code == ir::OpCode::RefTranspose) {
                m_transposed.try_emplace(operation.operands[0], operation.results[0]);
            } else if (operation.code == ir::OpCode::CoreMap && chip.multiprocessor) {
                forEachOperation(operation.regions[0], [&](const ir::Operation& inner) {
                    m_inKernel[static_cast<std::size_t>(inner.id)] = true;
                });
            } else if (operation.code == ir::OpCode::CoreMap) {
                countOwners(operation);
            }
        });
    }

    [[nodiscard]] Status add(const ir::Operation& operation)
    {
        const bool loads = !ir::storesInto(operation.code);
        if (ir::startsCopy(operation.code)) {
            return between(operation, partOf(m_program, m_makers, operation.operands[0]),
                           partOf(m_program, m_makers, operation.operands[1]));
        }
        if (ir::opEntry(operation.code).kind == ir::OpKind::Memory
            && ir::isFar(*m_program.type(operation.operands[0]).space)) {
            const Part part = accessedPart(operation);
            return between(operation, loads ? part : Part{}, loads ? Part{} : part);
        }
        return Done{};
    }

private:
    // Each core that runs the map allocates its own of what its scopes allocate.
    void countOwners(const ir::Operation& coreMap)
    {
        const auto& mesh = std::get<ir::CoreMapParams>(coreMap.params);
        const std::int64_t cores =
            std::int64_t{mesh.cores} * ir::sizeOf(mesh.grid) * ir::sizeOf(mesh.cluster);
        forEachOperation(coreMap.regions[0], [&](const ir::Operation& scope) {
            for (const ir::Region& region : scope.regions) {
                for (const ir::ValueId allocated : region.arguments) {
                    m_owners[allocated] = cores;
                }
            }
        });
    }

    // What the arrays of this value take on a device, where each of several cores has its own in a
    // memory of its own; 0: there is one.
    [[nodiscard]] Bytes ofAllOwners(ir::ValueId array, std::int32_t memory, Bytes one) const
    {
        const auto owners = m_owners.find(array);
        const bool isOwn = m_chip.memories[static_cast<std::size_t>(memory)].scope == "agent";
        return isOwn && owners != m_owners.end() && owners->second > 1 ? one * owners->second
                                                                       : Bytes(0);
    }

    // The part of an array that a fusion loads or stores.
    [[nodiscard]] Part accessedPart(const ir::Operation& operation) const
    {
        Part part = partOf(m_program, m_makers, operation.operands[0]);
        const auto* indexer = std::get_if<ir::IndexerParams>(&operation.params);
        if (indexer != nullptr && part.array == operation.operands[0]) {
            const auto& entries = indexer->entries;
            for (std::size_t axis = 0; axis < entries.size(); ++axis) {
                part.block[axis] = std::clamp<Extent>(
                    (entries[axis].size - 1) * entries[axis].stride + 1, 1, part.block[axis]);
            }
        }
        return part;
    }

    // A part without an array is where a fusion works: in VMEM, or on a GPU beside SMEM.
    [[nodiscard]] Result<std::int32_t> memoryOf(const Part& part) const
    {
        const ir::MemorySpace near =
            m_chip.multiprocessor ? ir::MemorySpace::Smem : ir::MemorySpace::Vmem;
        return cost::memoryOf(part.array.index < 0 ? near : *m_program.type(part.array).space,
                              m_chip);
    }

    // Arrays in HBM lie in the tiles of the memory on chip that they are copied to and from.
    [[nodiscard]] const std::vector<std::int64_t>& tileBetween(std::int32_t from,
                                                               std::int32_t to) const
    {
        const std::int32_t near = to == m_hbm ? from : to;
        return near == m_hbm ? cost::nativeTile(m_chip)
                             : m_chip.memories[static_cast<std::size_t>(near)].tile;
    }

    // Arguments and results may lie in HBM with their axes in another order, in which a transposed
    // view shows them: the order that pads them less.
    [[nodiscard]] Bytes storedBytes(ir::ValueId array,
                                    const std::vector<std::int64_t>& native) const
    {
        const bool isFree = m_free[static_cast<std::size_t>(array.index)];
        const Bytes stored = bytesInHbm(m_program.type(array), isFree, native);
        const auto other = m_transposed.find(array);
        return other == m_transposed.end()
                   ? stored
                   : std::min(stored, bytesInHbm(m_program.type(other->second), isFree, native));
    }

    [[nodiscard]] Status between(const ir::Operation& operation, const Part& source,
                                 const Part& target)
    {
        const Result<std::int32_t> from = memoryOf(source), to = memoryOf(target);
        if (!from || !to) {
            return from ? to.error() : from.error();
        }
        CopySite site;
        site.link = m_description.linkOf(m_chip, *from, *to);
        site.out = *to == m_hbm && *from != m_hbm;
        site.passes = *to == m_hbm && *from == m_hbm ? 2 : 1;
        const Part& far = site.out ? target : source;
        const ir::Type& array = m_program.type(far.array);
        const std::vector<std::int64_t>& native = tileBetween(*from, *to);
        if (far.isKnown) {
            site.withPadding = cost::movedWithPadding(
                array.shape, far.block, cost::tiling(array.dtype, array.shape, native));
        }
        const ir::Location* const at =
            operation.location.index < 0
                ? nullptr
                : &m_program.locations[static_cast<std::size_t>(operation.location.index)];
        const bool isOnChip = *from != m_hbm && *to != m_hbm;
        const Bytes stored = storedBytes(far.array, native);
        const auto operandOf = [&](const Part& read, const Part& written,
                                   trace::Direction direction) {
            const auto [place, isNew] = m_known.try_emplace(
                {read.array, written.array, far.block,
                 at == nullptr ? "" : std::string_view(at->file), at == nullptr ? 0 : at->line},
                static_cast<std::int32_t>(m_description.info.operands.size()));
            if (isNew) {
                trace::Operand& operand =
                    m_description.describeCopy(m_program, operation, read, written, direction);
                operand.isAround =
                    operand.isAround && !m_inKernel[static_cast<std::size_t>(operation.id)];
                operand.isOnChip = isOnChip;
                operand.paddedBytes = stored > operand.arrayBytes ? stored : Bytes(0);
                if (isOnChip) { // whose array is the one that is read
                    operand.slicedBytes =
                        ofAllOwners(far.array, *from, trace::storedBytes(operand));
                }
                operand.arrayNumber = m_description.numberOf(far.array);
                operand.kernel = m_description.kernelOf(operation);
            }
            return place->second;
        };
        site.operand = operandOf(source, target,
                                 site.passes == 2 ? trace::Direction::InOut
                                 : site.out       ? trace::Direction::Out
                                                  : trace::Direction::In);
        if (m_chip.multiprocessor && ir::isAtomic(operation.code)) {
            site.fetched = operandOf(target, source, trace::Direction::In);
        }
        m_description.m_copySites[static_cast<std::size_t>(operation.id)] = site;
        return Done{};
    }

    Description& m_description;
    const ir::Program& m_program;
    const chip::Chip& m_chip;
    const ir::Makers& m_makers;
    std::map<ir::ValueId, ir::ValueId> m_transposed; // arrays seen with another order of axes
    std::map<ir::ValueId, std::int64_t> m_owners;    // the cores that each have an array
    std::vector<bool> m_free; // by ValueId: arrays with the layout that pads least
    std::optional<std::int32_t> m_hbm;
    std::vector<bool> m_inKernel; // by Operation::id: of a GPU, whose kernels load and store
    std::map<std::tuple<ir::ValueId, ir::ValueId, std::vector<Extent>, std::string_view, int>,
             std::int32_t>
        m_known;
};

Status Description::describeCopies(const ir::Program& program, const chip::Chip& chip,
                                   const ir::Makers& makers)
{
    m_copySites.resize(static_cast<std::size_t>(program.operationCount));
    CopyDescriber describer(*this, program, chip, makers);
    Status status = Done{};
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        status = status ? describer.add(operation) : status;
    });
    return status;
}

// Describes the copy as an operand whose blocks are as large as what is copied.
trace::Operand& Description::describeCopy(const ir::Program& program,
                                          const ir::Operation& operation, const Part& source,
                                          const Part& target, trace::Direction direction)
{
    const Part& part = direction == trace::Direction::Out ? target : source;
    const ir::Value& array = program.value(part.array);
    trace::Operand operand;
    operand.isAround = source.array.index < 0 || target.array.index < 0;
    operand.name = operand.isAround ? nameOrSpace(program, part.array)
                                    : nameOrSpace(program, source.array) + " \u2192 "
                                          + nameOrSpace(program, target.array);
    operand.dtype = array.type.dtype;
    operand.direction = direction;
    operand.array = array.type.shape;
    operand.block = Shape(part.block);
    for (std::size_t axis = 0; axis < part.block.size(); ++axis) {
        operand.blockCounts.push_back(
            ceilDiv(std::max<Extent>(operand.array[axis], 1), part.block[axis]));
        operand.gridAxes.push_back(trace::kNone);
    }
    operand.pipeline = trace::kNone;
    operand.slots = 0;
    operand.arrayBytes = packedBytes(operand.dtype, operand.array.elements());
    operand.blockBytes = packedBytes(operand.dtype, operand.block.elements());
    operand.source = sourceLine(program, operation.location);
    return info.operands.edit().emplace_back(std::move(operand));
}

} // namespace pallascope::machine
