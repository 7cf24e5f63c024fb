// What loads, stores and starts of copies demand of the units of a chip.
#include "core/cost/cost_model.h"
#include "core/cost/left_out.h"

#include <algorithm>

namespace pallascope::cost {

using ir::OpCode;

// Threads that copy into shared memory themselves (CUDA PTX ISA, cp.async) issue an instruction
// for each 16 bytes, and two that add to its address, and write like stores. To that comes what the
// chip file says.
Status CostModel::copyByThreads()
{
    constexpr std::int64_t kCopied = 16 * chip::kWarpgroupThreads; // bytes
    constexpr std::int64_t kEach = 3;
    const ir::Type& to = operand(1);
    const Bytes bytes = packedBytes(to.dtype, to.shape.elements());
    const std::int64_t copies = ceilDiv(bytes.value(), kCopied);
    const double warpgroups =
        static_cast<double>(m_runner.threads) / static_cast<double>(chip::kWarpgroupThreads);
    const Entry* known = listed();
    const double once = known == nullptr ? 0 : known->second.front().count * warpgroups;
    const Status issued = demand(UnitKind::Scalar, once + static_cast<double>(kEach * copies));
    return issued ? demand(UnitKind::Store, static_cast<double>(m_registers.inMemory(to))) : issued;
}

// The scalar unit's work to start a manual DMA, besides the operations that compute which one.
Status CostModel::copyStart()
{
    if (m_runner.compiler == ir::kTriton) {
        return copyByThreads();
    }
    const Entry* known = listed();
    if (known == nullptr || m_registers.areOwn()) {
        return Done{};
    }
    for (const chip::Instructions& part : known->second) {
        if (Status status = demand(part.kind, part.count); !status) {
            return status;
        }
    }
    return Done{};
}

// TMEM moves a register in another time than SMEM. Returns how many times as long that takes.
double CostModel::tensorShare(bool stores) const
{
    if (*operand(0).space != ir::MemorySpace::Tmem || !m_chip.multiprocessor) {
        return 1;
    }
    const chip::Multiprocessor& sm = *m_chip.multiprocessor;
    const auto& rate = stores ? sm.tensorStoreBytesPerCycle : sm.tensorLoadBytesPerCycle;
    return rate ? sm.sharedBytesPerCycle / *rate : 1;
}

Status CostModel::memory()
{
    const bool stores = ir::storesInto(m_operation.code);
    const ir::Type& moved = m_operation.results.empty() ? operand(1) : result();
    // SMEM of a GPU is loaded by whole registers, that of a TPU by scalars.
    const bool byScalars = *operand(0).space == ir::MemorySpace::Smem && !m_chip.multiprocessor;
    if (moved.shape.rank() == 0 || byScalars) {
        return demand(UnitKind::Scalar,
                      static_cast<double>(std::max<std::int64_t>(1, moved.shape.elements())));
    }
    const auto filled = static_cast<double>(m_registers.inMemory(moved)) * tensorShare(stores);
    if (m_isInOrder && moved.shape.rank() > 1 && *operand(0).space == ir::MemorySpace::Hbm) {
        if (Status status = relaid(filled); !status) {
            return status;
        }
    }
    if (!stores || m_operation.code == OpCode::AddupdateScatter) {
        if (Status status = demand(UnitKind::Load, filled); !status) {
            return status;
        }
    }
    return stores ? demand(UnitKind::Store, filled) : Done{};
}

// Threads whose accesses of GMEM lie side by side do not have the elements that a product gives
// them: they exchange what they have in shared memory. Those that a product reads, it loads from
// there itself.
Status CostModel::relaid(double registers)
{
    const bool isFactor = m_runner.leftOut != nullptr && !m_operation.results.empty()
                          && m_runner.leftOut->sources().isLoadedFactor(m_operation.results[0]);
    const Status put = demand(UnitKind::Store, registers);
    return put && !isFactor ? demand(UnitKind::Load, registers) : put;
}

} // namespace pallascope::cost
