#include "core/machine/written.h"

namespace pallascope::machine {

using ir::OpCode;

std::vector<bool> writtenRoots(const ir::Program& program, const NeededSet& refs)
{
    std::vector<bool> written(program.values.size(), false);
    const auto write = [&](ir::ValueId ref) {
        written[static_cast<std::size_t>(refs.root(ref).index)] = true;
    };
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (ir::storesInto(operation.code)) {
            write(operation.operands[0]);
        } else if (operation.code == OpCode::DmaStart) {
            write(operation.operands[1]);
        } else if (operation.code == OpCode::Pipeline) {
            const auto& specs = std::get<ir::PipelineParams>(operation.params).specs;
            for (std::size_t i = 0; i < specs.size(); ++i) {
                if (specs[i].direction != ir::BlockDirection::In) {
                    write(operation.operands[i]);
                }
            }
        }
    });
    return written;
}

} // namespace pallascope::machine
