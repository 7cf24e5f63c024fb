#include "core/cost/live_registers.h"

#include "core/cost/left_out.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace pallascope::cost {

namespace {

using ir::OpKind;

constexpr std::int64_t kGranule = 8; // of what ptxas allocates for a thread

class Liveness
{
public:
    Liveness(const ir::Program& program, const chip::Chip& chip, std::int64_t threads)
        : m_program(program)
        , m_chip(chip)
        , m_threads(threads)
    {}

    // The most registers of values that are alive at the same time in the region, among them its
    // arguments.
    double most(const ir::Region& region)
    {
        std::vector<const ir::Operation*> operations;
        for (const ir::Operation& operation : region.operations) {
            operations.push_back(&operation);
        }
        const LeftOut leftOut(m_program, operations, m_chip);
        const std::map<ir::ValueId, std::size_t> lastUse = lastUses(region);
        std::map<ir::ValueId, double> alive;
        for (const ir::ValueId argument : region.arguments) {
            alive[argument] = sizeOf(argument);
        }
        double sum = sumOf(alive), peak = sum;
        for (std::size_t i = 0; i < operations.size(); ++i) {
            const ir::Operation& operation = *operations[i];
            const double dying = end(i, lastUse, alive);
            double born = 0;
            for (const ir::ValueId result : operation.results) {
                const double size = leftOut.has(operation) ? 0 : computed(operation, result);
                const bool isUsed = lastUse.contains(result);
                born += isUsed ? size : 0;
                if (isUsed) {
                    alive[result] = size;
                }
            }
            double inner = 0;
            for (const ir::Region& one : operation.regions) {
                inner = std::max(inner, most(one));
            }
            // Other operations overwrite their operands as they proceed.
            const bool inPlace = ir::opEntry(operation.code).kind != OpKind::Dot;
            const double overwritten = inPlace ? std::min(dying, born) : 0;
            peak = std::max({peak, sum + born - overwritten, sum - dying + inner});
            sum += born - dying;
        }
        return peak;
    }

private:
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

    static double sumOf(const std::map<ir::ValueId, double>& alive)
    {
        double sum = 0;
        for (const auto& [value, size] : alive) {
            sum += size;
        }
        return sum;
    }

    // Removes the values that are used here for the last time, and returns what they filled.
    static double end(std::size_t at, const std::map<ir::ValueId, std::size_t>& lastUse,
                      std::map<ir::ValueId, double>& alive)
    {
        double dying = 0;
        for (auto one = alive.begin(); one != alive.end();) {
            const auto last = lastUse.find(one->first);
            const bool dies = last == lastUse.end() || last->second <= at;
            dying += dies ? one->second : 0;
            one = dies ? alive.erase(one) : std::next(one);
        }
        return dying;
    }

    // What an operation makes that is in registers as a whole: numbers that repeat one, or count,
    // are made where they are used.
    [[nodiscard]] double computed(const ir::Operation& operation, ir::ValueId result) const
    {
        const OpKind kind = ir::opEntry(operation.code).kind;
        const bool isMade = kind != OpKind::Layout && kind != OpKind::Generate;
        return isMade ? sizeOf(result) : 0;
    }

    // In registers of 32 bits of each thread. Masks are in predicates, and scalars are few.
    [[nodiscard]] double sizeOf(ir::ValueId value) const
    {
        const ir::Type& type = m_program.type(value);
        const bool isSum = type.space && *type.space == ir::MemorySpace::Accumulator;
        if ((type.space && !isSum) || type.shape.rank() == 0 || type.dtype == DType::Bool) {
            return 0;
        }
        return static_cast<double>(packedBytes(type.dtype, type.shape.elements()).value())
               / static_cast<double>(4 * m_threads);
    }

    const ir::Program& m_program;
    const chip::Chip& m_chip;
    std::int64_t m_threads; // of an agent
};

bool saysRegisters(const ir::Region& region)
{
    return std::any_of(region.operations.begin(), region.operations.end(), [](const auto& one) {
        return one.code == ir::OpCode::SetMaxRegisters
               || std::any_of(one.regions.begin(), one.regions.end(), saysRegisters);
    });
}

} // namespace

std::int64_t liveRegisters(const ir::Program& program, const ir::Operation& coreMap,
                           const chip::Chip& chip, std::int64_t most)
{
    if (saysRegisters(coreMap.regions[0])) {
        return most;
    }
    const std::int64_t threads = std::get<ir::CoreMapParams>(coreMap.params).threads;
    const double values = Liveness(program, chip, threads).most(coreMap.regions[0]);
    const auto needed = static_cast<std::int64_t>(std::ceil(values)) + kOtherRegisters;
    return std::min(most, (needed + kGranule - 1) / kGranule * kGranule);
}

} // namespace pallascope::cost
