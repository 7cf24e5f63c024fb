#include "core/machine/written.h"

#include "core/ir/opcodes.h"
#include "core/ir/pipeline_facts.h"

namespace pallascope::machine {

using ir::OpCode;

std::vector<bool> writtenRefs(const ir::Program& program)
{
    std::vector<ir::ValueId> seen(program.values.size()); // by view: the ref that it sees
    std::vector<ir::ValueId> targets;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        const auto& operands = operation.operands;
        if (ir::opEntry(operation.code).kind == ir::OpKind::View && !operands.empty()) {
            seen[static_cast<std::size_t>(operation.results[0].index)] = operands[0];
        } else if (operation.code == OpCode::Swap || operation.code == OpCode::MaskedSwap) {
            targets.push_back(operands[0]);
        } else if (operation.code == OpCode::DmaStart) {
            targets.push_back(operands[1]);
        }
    });
    const auto root = [&](ir::ValueId ref) {
        while (seen[static_cast<std::size_t>(ref.index)].index >= 0) {
            ref = seen[static_cast<std::size_t>(ref.index)];
        }
        return static_cast<std::size_t>(ref.index);
    };
    std::vector<bool> written(program.values.size(), false);
    for (const ir::ValueId target : targets) {
        written[root(target)] = true;
    }
    // What a body stores to a block reaches its array, in the body of an outer pipeline another
    // block.
    for (bool changes = true; changes;) {
        changes = false;
        for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
            const auto& specs = std::get<ir::PipelineParams>(pipeline->params).specs;
            for (std::size_t i = 0; i < specs.size(); ++i) {
                const bool writes = specs[i].direction != ir::BlockDirection::In
                                    || written[root(pipeline->regions[0].arguments[i])];
                const std::size_t array = root(pipeline->operands[i]);
                changes = changes || (writes && !written[array]);
                written[array] = written[array] || writes;
            }
        }
    }
    return written;
}

} // namespace pallascope::machine
