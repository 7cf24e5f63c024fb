#include "core/machine/prepare/written.h"

#include "core/ir/infer.h"

namespace pallascope::machine {

namespace {

// Calls write(ref) for each ref to which the operation itself writes; operations nested in it are
// left out.
template<class F>
void forEachWritten(const ir::Operation& operation, F write)
{
    for (std::size_t i = 0; i < operation.operands.size(); ++i) {
        if (ir::writes(operation, i)) {
            write(operation.operands[i]);
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
