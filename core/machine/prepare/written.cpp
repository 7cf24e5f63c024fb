#include "core/machine/prepare/written.h"

#include "core/ir/infer.h"

namespace pallascope::machine {

using ir::OpCode;

namespace {

// Calls write(ref) for each ref to which the operation itself writes; operations nested in it are
// left out.
template<class F>
void forEachWritten(const ir::Operation& operation, F write)
{
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
}

void noteWrites(const ir::Operation& operation, const NeededSet& refs, std::vector<bool>& written)
{
    forEachWritten(operation, [&](ir::ValueId ref) {
        written[static_cast<std::size_t>(refs.root(ref).index)] = true;
    });
}

} // namespace

std::vector<std::int32_t> broughtTo(const ir::Program& program, const NeededSet& refs)
{
    std::vector<std::int32_t> count(program.values.size(), 0);
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        forEachWritten(operation, [&](ir::ValueId ref) {
            if (!ir::isLoadable(*program.type(ref).space)) {
                ++count[static_cast<std::size_t>(refs.root(ref).index)];
            }
        });
    });
    return count;
}

std::vector<bool> writtenRoots(const ir::Program& program, const NeededSet& refs)
{
    std::vector<bool> written(program.values.size(), false);
    forEachOperation(program.body,
                     [&](const ir::Operation& operation) { noteWrites(operation, refs, written); });
    return written;
}

std::vector<bool> writtenRoots(const ir::Program& program, const ir::Operation& operation,
                               const NeededSet& refs)
{
    std::vector<bool> written(program.values.size(), false);
    noteWrites(operation, refs, written);
    for (const ir::Region& region : operation.regions) {
        forEachOperation(region,
                         [&](const ir::Operation& nested) { noteWrites(nested, refs, written); });
    }
    return written;
}

} // namespace pallascope::machine
