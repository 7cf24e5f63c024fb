#include "core/cost/live_registers.h"

#include "core/base/shape.h"
#include "core/cost/block_grid.h"
#include "core/cost/occupancy.h"
#include "core/cost/register_counts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace pallascope::cost {

namespace {

using ir::OpKind;

constexpr std::int64_t kGranule = 8; // of what ptxas allocates for a thread
// Threads that make a copy hold an address of 8 bytes for each 16 bytes that they copy at a time
// (CUDA PTX ISA, cp.async).
constexpr std::int64_t kBytesForEachOfAddress = 2;

class Liveness
{
public:
    Liveness(const ir::Program& program, const ir::Operation& coreMap, const LeftOut& leftOut)
        : m_program(program)
        , m_leftOut(leftOut)
        , m_isTriton(std::get<ir::CoreMapParams>(coreMap.params).compiler == ir::kTriton)
    {
        ir::forEachOperation(coreMap.regions[0], [&](const ir::Operation& operation) {
            m_hasProducts = m_hasProducts || operation.code == ir::OpCode::DotGeneral
                            || operation.code == ir::OpCode::Wgmma;
        });
    }

    // The most bytes of values that are alive at the same time in the region, among them its
    // arguments. `aroundProducts`: only where products read shared memory by themselves, not in
    // regions without such products.
    Bytes most(const ir::Region& region, bool aroundProducts)
    {
        const bool counts = !aroundProducts || hasSharedProduct(region);
        const std::map<ir::ValueId, std::size_t> lastUse = lastUses(region);
        std::vector<Bytes> dying(region.operations.size()
                                 + 1); // by the operation that uses them last
        Bytes alive;
        const auto bear = [&](ir::ValueId value, Bytes size) {
            const auto last = lastUse.find(value);
            dying[last == lastUse.end() ? 0 : last->second] += size;
            alive += size;
        };
        for (const ir::ValueId argument : region.arguments) {
            bear(argument, sizeOf(argument));
        }
        alive += m_isTriton ? addressesIn(region) : Bytes(0);
        Bytes peak = counts ? alive : Bytes(0);
        for (std::size_t i = 0; i < region.operations.size(); ++i) {
            const ir::Operation& operation = region.operations[i];
            const Bytes before = alive;
            for (const ir::ValueId result : operation.results) {
                if (!m_leftOut.isNotHeld(operation) && lastUse.contains(result)) {
                    bear(result, computed(operation, result));
                }
            }
            const Bytes born = alive - before;
            alive -= dying[i];
            // All operations but products overwrite their operands as they proceed.
            const bool inPlace = ir::opEntry(operation.code).kind != OpKind::Dot;
            if (counts) {
                peak =
                    std::max(peak, before + born - (inPlace ? std::min(dying[i], born) : Bytes(0)));
            }
            for (const ir::Region& inner : operation.regions) {
                const Bytes within = most(inner, aroundProducts);
                if (within > Bytes(0)) {
                    peak = std::max(peak, before - dying[i] + within);
                }
            }
        }
        return peak;
    }

private:
    [[nodiscard]] bool hasSharedProduct(const ir::Region& region) const
    {
        return std::any_of(
            region.operations.begin(), region.operations.end(),
            [&](const ir::Operation& one) { return m_leftOut.sources().readsShared(one); });
    }

    // What the addresses of a loop's copies into shared memory take, which stay from one round to
    // the next.
    [[nodiscard]] Bytes addressesIn(const ir::Region& region) const
    {
        Bytes all;
        bool readsShared = false;
        for (const ir::Operation& operation : region.operations) {
            readsShared = readsShared || m_leftOut.sources().readsShared(operation);
            if (operation.code != ir::OpCode::Cond) {
                continue;
            }
            for (const ir::Operation& copy : operation.regions[1].operations) {
                if (copy.code == ir::OpCode::CopyGmemToSmem) {
                    const ir::Type& to = m_program.type(copy.operands[1]);
                    all += Bytes(packedBytes(to.dtype, to.shape.elements()).value()
                                 / kBytesForEachOfAddress);
                }
            }
        }
        return readsShared ? all : Bytes(0);
    }

    // Where each value is used last, by the numbers of the region's own operations; one after the
    // last for its results. Uses in regions of an operation count as uses by it.
    static std::map<ir::ValueId, std::size_t> lastUses(const ir::Region& region)
    {
        std::map<ir::ValueId, std::size_t> last;
        for (std::size_t i = 0; i < region.operations.size(); ++i) {
            noteUses(region.operations[i], i, last);
        }
        for (const ir::ValueId result : region.results) {
            last[result] = region.operations.size();
        }
        return last;
    }

    static void noteUses(const ir::Operation& operation, std::size_t at,
                         std::map<ir::ValueId, std::size_t>& last)
    {
        for (const ir::ValueId operand : operation.operands) {
            last[operand] = at;
        }
        for (const ir::Region& region : operation.regions) {
            for (const ir::Operation& inner : region.operations) {
                noteUses(inner, at, last);
            }
            for (const ir::ValueId result : region.results) {
                last[result] = at;
            }
        }
    }

    // What an operation makes that is in registers as a whole: numbers that repeat one, or count,
    // are made where they are used.
    [[nodiscard]] Bytes computed(const ir::Operation& operation, ir::ValueId result) const
    {
        const OpKind kind = ir::opEntry(operation.code).kind;
        const bool isMade = kind != OpKind::Layout && kind != OpKind::Generate;
        return isMade ? sizeOf(result) : Bytes(0);
    }

    // Masks are in predicates, and scalars are few.
    [[nodiscard]] Bytes sizeOf(ir::ValueId value) const
    {
        const ir::Type& type = m_program.type(value);
        const bool isSum = type.space && *type.space == ir::MemorySpace::Accumulator;
        if ((type.space && !isSum) || type.shape.rank() == 0 || type.dtype == DType::Bool) {
            return Bytes(0);
        }
        const std::int64_t elements = type.shape.elements();
        const bool isOfRows = m_hasProducts && type.shape.rank() == 1 && elements <= kMostRows
                              && type.dtype == DType::F32;
        return packedBytes(type.dtype, elements) * (isOfRows ? kRowThreads : 1);
    }

    const ir::Program& m_program;
    const LeftOut& m_leftOut;
    bool m_isTriton, m_hasProducts = false;
};

bool saysRegisters(const ir::Region& region)
{
    return std::any_of(region.operations.begin(), region.operations.end(), [](const auto& one) {
        return one.code == ir::OpCode::SetMaxRegisters
               || std::any_of(one.regions.begin(), one.regions.end(), saysRegisters);
    });
}

// nullopt where the kernel itself says how many registers its agents have.
std::optional<std::int64_t> neededRegisters(const ir::Program& program,
                                            const ir::Operation& coreMap, const LeftOut& leftOut,
                                            bool aroundProducts)
{
    if (saysRegisters(coreMap.regions[0])) {
        return std::nullopt;
    }
    const Bytes values =
        Liveness(program, coreMap, leftOut).most(coreMap.regions[0], aroundProducts);
    return registersFor(values, std::get<ir::CoreMapParams>(coreMap.params));
}

} // namespace

std::int64_t registersFor(Bytes values, const ir::CoreMapParams& mesh)
{
    constexpr std::int64_t kRegisterBytes = 4; // of one thread
    return ceilDiv(values.value(), kRegisterBytes * mesh.threads) + kOtherRegisters;
}

bool awaitsEachProduct(const ir::Program& program, const ir::Operation& coreMap,
                       const chip::Chip& chip, const LeftOut& leftOut)
{
    constexpr std::int64_t kOfWgmma = 9; // compute capability
    const auto& mesh = std::get<ir::CoreMapParams>(coreMap.params);
    return chip.multiprocessor && chip.multiprocessor->computeMajor == kOfWgmma
           && mesh.compiler == ir::kTriton
           && neededRegisters(program, coreMap, leftOut, true).value_or(0)
                  > mostRegisters(threadsOf(mesh), *chip.multiprocessor);
}

std::int64_t liveRegisters(const ir::Program& program, const ir::Operation& coreMap,
                           const LeftOut& leftOut, std::int64_t most)
{
    const std::int64_t needed = neededRegisters(program, coreMap, leftOut, false).value_or(most);
    return std::min(most, alignTo(needed, kGranule));
}

} // namespace pallascope::cost
