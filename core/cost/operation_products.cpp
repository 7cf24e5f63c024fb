// What products demand of the matrix unit of a chip, and of others for it.
#include "core/cost/cost_model.h"
#include "core/cost/left_out.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pallascope::cost {

using ir::OpKind;

Status CostModel::dot()
{
    const auto& dimensions = std::get<ir::DotParams>(m_operation.params);
    std::int64_t batch = 1, k = 1;
    for (const std::int32_t axis : dimensions.lhsBatch) {
        batch *= operand(0).shape[static_cast<std::size_t>(axis)];
    }
    for (const std::int32_t axis : dimensions.lhsContracting) {
        k *= operand(0).shape[static_cast<std::size_t>(axis)];
    }
    const std::int64_t m = operand(0).shape.elements() / (batch * k),
                       n = operand(1).shape.elements() / (batch * k);
    if (isFullPrecision(m_chip, m_program, m_operation)) {
        return fusedWork(batch * m * n, k);
    }
    const chip::Unit* unit = m_chip.unitOf(UnitKind::Matrix, m_runner.agent);
    if (Status status = matrixWork(batch, m, n, k, unit == nullptr ? 1 : unit->count); !status) {
        return status;
    }
    return isMma() && m_runner.compiler == ir::kTriton ? operandReads(m, n) : Done{};
}

// How Triton divides the rows and columns of a product by mma.sync among its warps. docs/machine.md
// names the source. In kernels of Mosaic GPU the warps have no say in it.
CostModel::WarpGrid CostModel::warpGrid(std::int64_t m, std::int64_t n) const
{
    if (m_runner.compiler != ir::kTriton) {
        return {};
    }
    const chip::Unit& unit = *m_chip.unitOf(UnitKind::Matrix, m_runner.agent);
    const std::int64_t warps = m_runner.threads / chip::kWarpThreads;
    using Chained = OperandSources::Chained;
    if (const Chained by = m_runner.leftOut->sources().chained(m_operation); by != Chained::No) {
        return by == Chained::Rows ? WarpGrid{warps, 1} : WarpGrid{1, warps};
    }
    WarpGrid grid;
    while (grid.rows * grid.columns < warps) {
        const bool isTall = m / unit.mmaRows / grid.rows >= n / (2 * unit.columns) / grid.columns;
        const bool hasRows = grid.rows < m / unit.mmaRows;
        (isTall && hasRows ? grid.rows : grid.columns) *= 2;
    }
    return grid;
}

// What the operands of mma.sync take to come from shared memory to each warp that needs them,
// besides the one load that is an operation of its own, of what lies there. The left one is in
// registers already if it is made from the result of a product with the same rows; others that are
// made there are exchanged through shared memory.
Status CostModel::operandReads(std::int64_t m, std::int64_t n)
{
    const chip::Unit& unit = *m_chip.unitOf(UnitKind::Matrix, m_runner.agent);
    const OperandSources& sources = m_runner.leftOut->sources();
    const WarpGrid grid = warpGrid(m, n);
    const auto repeated = [](std::int64_t extent, std::int64_t granule) {
        return static_cast<double>(alignTo(extent, granule)) / static_cast<double>(extent);
    };
    const std::array copies{
        repeated(m, unit.mmaRows * grid.rows) * static_cast<double>(grid.columns),
        repeated(n, unit.columns * grid.columns) * static_cast<double>(grid.rows)};
    double loads = 0, stores = 0;
    for (std::size_t side = 0; side < copies.size(); ++side) {
        const ir::ValueId from = sources.moved(m_operation.operands[side]);
        const auto registers = static_cast<double>(m_registers.inMemory(operand(side)));
        if (sources.isLoadedFactor(from)) {
            loads += registers * copies[side];
        } else if (!sources.isComputed(from)) {
            loads += registers * (copies[side] - 1);
        } else if (side == 1 || grid.columns > 1
                   || sources.chained(m_operation) == OperandSources::Chained::No
                   || sources.isTransposed(m_operation.operands[side])) {
            loads += registers * copies[side];
            stores += registers;
        }
    }
    const Status loaded = demand(UnitKind::Load, loads);
    return loaded ? demand(UnitKind::Store, stores) : loaded;
}

// Each element of a product is a sum of k products, which are added one after the other: an
// instruction (FFMA) for each, of which the FP32 units do as many as additions (CUDA C++
// Programming Guide, throughput of native arithmetic instructions). What the operands take to come
// from shared memory into registers is not modelled.
Status CostModel::fusedWork(std::int64_t elements, std::int64_t k)
{
    const auto fused = static_cast<double>(ceilDiv(elements, chip::kWarpgroupThreads) * k);
    if (Status status = demand(UnitKind::Vector, fused); !status) {
        return status;
    }
    takesAtLeast(chained(UnitKind::Vector, static_cast<double>(k)));
    m_cost.product = MatrixRun{DType::F32, 1};
    m_cost.flopsUnit = m_cost.demands.back().unit;
    m_cost.executed = Flops(2 * elements * k);
    m_cost.useful = inside(m_cost.executed);
    return Done{};
}

Flops CostModel::inside(Flops all) const
{
    const auto* shares = m_runner.insideShares;
    const auto found = shares == nullptr ? decltype(shares->end()){} : shares->find(m_operation.id);
    return shares == nullptr || found == shares->end()
               ? all
               : Flops(std::llround(static_cast<double>(all.value()) * found->second));
}

// Adds the work of products on this many instances of the matrix unit.
Status CostModel::matrixWork(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
                             std::int64_t instances)
{
    const std::string name(ir::opName(m_operation.code));
    const chip::Unit* unit = m_chip.unitOf(UnitKind::Matrix, m_runner.agent);
    if (unit == nullptr) {
        return error(name + " needs a matrix unit, which " + m_chip.title + " lacks.");
    }
    const std::optional<MatrixRun> run = matrixRun(*unit, m_program, m_operation);
    if (!run) {
        std::string taken;
        for (const auto& [taker, unused] : unit->matrixRates) {
            taken += (taken.empty() ? "" : ", ") + std::string(dtypeName(taker));
        }
        const std::size_t first = ir::opEntry(m_operation.code).kind == OpKind::Request ? 1 : 0;
        return error(name + " of " + std::string(dtypeName(operand(first).dtype)) + " and "
                     + std::string(dtypeName(operand(first + 1).dtype)) + ": the " + unit->name
                     + " of " + m_chip.title + " takes " + taken + ".");
    }
    // Warps beyond those that have rows, or columns, of their own repeat what others do.
    const bool byWarps = isMma();
    const WarpGrid grid = byWarps ? warpGrid(m, n) : WarpGrid{};
    const std::int64_t granule = (byWarps ? unit->mmaRows : unit->rowGranule) * grid.rows;
    const std::int64_t columns = alignTo(ceilDiv(n, unit->columns), grid.columns);
    const std::int64_t tiles = batch * ceilDiv(k, unit->rows) * columns;
    const std::int64_t rowsPushed = tiles * alignTo(m, granule);
    const double ofRow =
        unit->matrixRates.at(run->dtype).cyclesPerRow / (byWarps ? unit->mmaRate : 1);
    const double ofPass =
        static_cast<double>(rowsPushed) * ofRow + static_cast<double>(tiles) * unit->cyclesPerTile;
    const double cycles = run->passes * ofPass / static_cast<double>(instances);
    if (Status status = demand(*unit, cycles); !status) {
        return status;
    }
    m_cost.product = run;
    m_cost.flopsUnit = m_cost.demands.back().unit;
    const bool isAwaited = ir::opEntry(m_operation.code).kind == OpKind::Dot; // by the same agent
    if (m_chip.multiprocessor && isAwaited) {
        const std::int64_t warpgroups = m_runner.warpgroups();
        const std::int64_t rows = ceilDiv(m, granule * warpgroups);
        const std::int64_t waits =
            m_runner.awaitsEachProduct ? batch * rows * ceilDiv(k, unit->rows) : 1;
        takesAtLeast(cycles / static_cast<double>(warpgroups)
                     + static_cast<double>(waits) * productWait());
    }
    m_cost.useful = inside(Flops(2 * batch * m * n * k));
    m_cost.executed = Flops(2 * rowsPushed * unit->rows * unit->columns);
    if (unit->cyclesPerResult > 0) {
        const auto popped = static_cast<double>(batch * m_registers.of(Shape{m, n})
                                                * ceilDiv(k, unit->rows) * run->passes);
        return demand(UnitKind::Vector, popped * unit->cyclesPerResult);
    }
    return Done{};
}

// Whether a product in a kernel of a GPU is one of mma.sync, whose operands come from registers.
bool CostModel::isMma() const
{
    return m_runner.leftOut != nullptr && m_operation.code == ir::OpCode::DotGeneral
           && !m_runner.isAround && !m_runner.leftOut->sources().readsShared(m_operation);
}

// From the end of a product's work until its agent goes on.
double CostModel::productWait() const
{
    const chip::Multiprocessor& sm = *m_chip.multiprocessor;
    const auto* wgmma = std::get_if<ir::WgmmaParams>(&m_operation.params);
    const bool isInRegisters = wgmma != nullptr
                                   ? wgmma->lhsInRegisters
                                   : m_runner.leftOut != nullptr
                                         && m_runner.leftOut->sources().readsRegisters(m_operation);
    const double fromShared = sm.productWaitCycles.value_or(0);
    return isInRegisters ? sm.registerProductWaitCycles.value_or(fromShared) : fromShared;
}

// A product of the tensor core takes as long as its work, or as its operands in SMEM take to be
// read: an instruction of wgmma reads the right one for each 64 rows of the left one. Of a pair of
// blocks each SM has its rows of the sum and half of the right operand.
Status CostModel::tensorProduct()
{
    const ir::Type &lhs = operand(1), &rhs = operand(2);
    const bool isWgmma = m_operation.code == ir::OpCode::Wgmma;
    const std::int64_t columns = isWgmma ? rhs.shape[1] : operand(0).shape[1];
    if (Status status = matrixWork(1, lhs.shape[0], columns, rhs.shape[0], 1); !status) {
        return status;
    }
    const chip::Unit& unit = *m_chip.unitOf(UnitKind::Matrix, m_runner.agent);
    const std::int64_t reads = isWgmma ? ceilDiv(lhs.shape[0], unit.rowGranule) : 1;
    Bytes read = packedBytes(rhs.dtype, rhs.shape.elements()) * reads;
    if (lhs.space == ir::MemorySpace::Smem) {
        read += packedBytes(lhs.dtype, lhs.shape.elements());
    }
    const double rate = m_chip.multiprocessor->sharedBytesPerCycle;
    const auto cycles =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(read.value()) / rate * m_share));
    Cycles& work = m_cost.demands.front().cycles;
    work = std::max(work, Cycles(cycles));
    if (isWgmma && m_runner.awaitsEachProduct) {
        awaitSpilled(ceilDiv(lhs.shape[0], unit.rowGranule) * ceilDiv(rhs.shape[0], unit.rows));
    }
    return Done{};
}

// Without enough registers each instruction of wgmma is waited for, and a sum that has no registers
// between its products comes from memory before this one and goes there after it.
void CostModel::awaitSpilled(std::int64_t instructions)
{
    const chip::Multiprocessor& sm = *m_chip.multiprocessor;
    double cycles = static_cast<double>(instructions) * productWait();
    if (m_runner.spilledSums != nullptr && m_runner.spilledSums->contains(m_operation.operands[0])
        && sm.spilledBytesPerCycle) {
        const ir::Type& sum = operand(0);
        cycles += static_cast<double>(packedBytes(sum.dtype, sum.shape.elements()).value())
                  / *sm.spilledBytesPerCycle;
    }
    m_cost.awaited = Cycles(static_cast<std::int64_t>(std::ceil(cycles * m_share)));
}

} // namespace pallascope::cost
