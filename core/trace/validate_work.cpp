#include "core/trace/columns.h"
#include "core/trace/validate.h"

namespace pallascope::trace {

namespace {

// sum += each * times. Returns false if that overflows 64 bits.
bool add(std::int64_t& sum, std::int64_t each, std::int64_t times)
{
    std::int64_t all = 0;
    return !__builtin_mul_overflow(each, times, &all) && !__builtin_add_overflow(sum, all, &sum);
}

} // namespace

Status validateWork(const TraceBuilder& rows)
{
    const SharedList<SegmentTemplate>& templates = rows.info.templates;
    std::vector<std::int64_t> times(templates.size(), 0);
    for (const std::int32_t id : rows.segments.templateId) {
        ++times[at(id)];
    }
    std::int64_t useful = 0, executed = 0, transcendentals = 0;
    for (std::size_t id = 0; id < templates.size(); ++id) {
        const SegmentTemplate& segment = templates[id];
        bool fits = add(transcendentals, segment.transcendentals, times[id]);
        for (std::size_t unit = 0; unit < segment.flopsByUnit.size(); ++unit) {
            fits = fits && add(useful, segment.flopsByUnit[unit].value(), times[id])
                   && add(executed, segment.executedFlopsByUnit[unit].value(), times[id]);
        }
        if (!fits) {
            return broken("templates[{}] runs {} times: the FLOPs of the run are more than 2^63",
                          id, times[id]);
        }
    }
    return Done{};
}

} // namespace pallascope::trace
