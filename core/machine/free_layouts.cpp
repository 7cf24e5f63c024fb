#include "core/machine/free_layouts.h"

#include "core/ir/infer.h"

namespace pallascope::machine {

FreeLayouts::FreeLayouts(const ir::Program& program)
    : m_free(program.values.size(), false)
{
    const auto mark = [&](ir::ValueId id, bool free) {
        m_free[static_cast<std::size_t>(id.index)] = free;
    };
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code != ir::OpCode::RunScoped) {
            return;
        }
        for (const ir::ValueId array : operation.regions[0].arguments) {
            const ir::Type& type = program.type(array);
            mark(array, type.isRef() && ir::isFar(*type.space));
        }
    });
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code != ir::OpCode::Get && operation.code != ir::OpCode::Swap) {
            for (const ir::ValueId used : operation.operands) {
                mark(used, false);
            }
        }
    });
}

} // namespace pallascope::machine
