#include "core/cost/place.h"

#include <algorithm>

namespace pallascope::cost {

std::map<std::int32_t, Cycles> workOf(const std::vector<OperationCost>& costs)
{
    std::map<std::int32_t, Cycles> work;
    for (const OperationCost& cost : costs) {
        for (const Demand& demand : cost.demands) {
            work[demand.unit] += demand.cycles;
        }
    }
    return work;
}

void placeWithin(const ir::Program& program, std::span<const ir::Operation* const> operations,
                 const std::vector<OperationCost>& costs,
                 const std::map<std::int32_t, Cycles>& work, SegmentCost& out)
{
    std::map<std::int32_t, Cycles> free, used;
    std::map<ir::ValueId, Cycles> ready;
    Cycles retired;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        Cycles earliest;
        for (const ir::ValueId operand : operations[i]->operands) {
            if (!program.value(operand).literal) {
                earliest = std::max(earliest, ready[operand]);
            }
        }
        Cycles end = earliest;
        for (const Demand& demand : costs[i].demands) {
            const Cycles later = work.at(demand.unit) - used[demand.unit] - demand.cycles;
            const Cycles last = out.cycles - later;
            const Cycles unitEnd =
                std::min(std::max(free[demand.unit] + demand.cycles, earliest), last);
            out.places.push_back(
                {demand.unit, operations[i]->id, unitEnd - demand.cycles, demand.cycles});
            free[demand.unit] = unitEnd;
            used[demand.unit] += demand.cycles;
            end = std::max(end, unitEnd);
        }
        for (const ir::ValueId result : operations[i]->results) {
            ready[result] = end;
        }
        retired = std::max(retired, end);
        out.operations.push_back(operations[i]->id);
        out.retire.push_back(retired);
    }
}

} // namespace pallascope::cost
