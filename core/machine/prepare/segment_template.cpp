#include "core/machine/prepare/segment_template.h"

#include <utility>

namespace pallascope::machine {

trace::SegmentTemplate asTemplate(cost::SegmentCost cost)
{
    trace::SegmentTemplate result;
    result.cycles = cost.cycles;
    result.duration = cost.duration;
    result.clock = cost.clock;
    result.operations = std::move(cost.operations);
    result.retire = std::move(cost.retire);
    for (const cost::Place& place : cost.places) {
        result.marks.push_back({place.unit, place.operation, place.offset, place.length});
    }
    result.flopsByUnit = std::move(cost.useful);
    result.executedFlopsByUnit = std::move(cost.executed);
    result.transcendentals = cost.transcendentals;
    for (const cost::Products& one : cost.products) {
        result.products.push_back({one.run.dtype, one.run.passes, one.flops});
    }
    return result;
}

} // namespace pallascope::machine
