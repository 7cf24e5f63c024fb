// Estimates how many bytes of values a segment keeps alive at once (segment.h).
#include "core/cost/segment.h"

#include <algorithm>
#include <map>

namespace pallascope::cost {

using ir::OpKind;

Bytes temporaries(const ir::Program& program, std::span<const ir::Operation* const> operations,
                  const chip::Chip& chip)
{
    std::map<ir::ValueId, std::size_t> lastUse;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        for (const ir::ValueId operand : operations[i]->operands) {
            lastUse[operand] = i;
        }
    }
    std::map<ir::ValueId, std::int64_t> alive; // bytes of computed values
    std::int64_t sum = 0, peak = 0;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const OpKind kind = ir::opEntry(operations[i]->code).kind;
        const bool computes = kind != OpKind::Memory && kind != OpKind::View
                              && kind != OpKind::Layout && kind != OpKind::Rearrange
                              && kind != OpKind::Crosslane;
        std::int64_t dying = 0;
        for (const ir::ValueId operand : operations[i]->operands) {
            if (const auto found = alive.find(operand);
                found != alive.end() && lastUse[operand] == i) {
                dying += found->second;
                alive.erase(found);
            }
        }
        std::int64_t born = 0;
        if (computes && !operations[i]->results.empty()) {
            const ir::Type& type = program.type(operations[i]->results[0]);
            born = type.shape.rank() == 0 ? 0 : type.shape.elements() * 4;
            alive[operations[i]->results[0]] = born;
        }
        // A reduction or dot needs its operands until it has ended; other operations overwrite
        // them as they proceed.
        const bool inPlace = kind != OpKind::Dot && kind != OpKind::Reduction;
        peak = std::max(peak, sum + born - (inPlace ? std::min(dying, born) : 0));
        sum += born - dying;
    }
    return Bytes(std::max<std::int64_t>(0, peak - chip.registerBytes.value() * chip.registers));
}

} // namespace pallascope::cost
