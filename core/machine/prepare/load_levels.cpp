#include "core/machine/prepare/load_levels.h"

#include "core/ir/infer.h"

#include <algorithm>
#include <map>

namespace pallascope::machine {

std::vector<std::vector<const ir::Operation*>>
dividedByLoads(const ir::Program& program, const std::vector<const ir::Operation*>& operations)
{
    std::vector<std::vector<const ir::Operation*>> parts;
    std::map<ir::ValueId, std::size_t> partOf; // the first that can use a value
    std::size_t lastStore = 0, lastAccess = 0;
    for (const ir::Operation* operation : operations) {
        std::size_t part = 0;
        for (const ir::ValueId operand : operation->operands) {
            part = std::max(part, partOf[operand]);
        }
        const bool isMemory = ir::opEntry(operation->code).kind == ir::OpKind::Memory;
        const bool stores = isMemory && ir::storesInto(operation->code);
        if (isMemory) {
            part = std::max(part, stores ? lastAccess : lastStore);
            lastAccess = std::max(lastAccess, part);
            lastStore = stores ? part : lastStore;
        }
        const bool isLoad = isMemory && !operation->results.empty()
                            && ir::isFar(*program.type(operation->operands[0]).space);
        for (const ir::ValueId result : operation->results) {
            partOf[result] = part + (isLoad ? 1 : 0);
        }
        parts.resize(std::max(parts.size(), part + 1));
        parts[part].push_back(operation);
    }
    return parts;
}

} // namespace pallascope::machine
