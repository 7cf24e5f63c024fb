// Describes the loops whose rounds a run records.
#include "core/ir/loop_facts.h"
#include "core/machine/prepare/description.h"
#include "core/trace/trace.h"

namespace pallascope::machine {

void Description::describeLoops(const ir::Program& program)
{
    m_loops.assign(static_cast<std::size_t>(program.operationCount), trace::kNone);
    for (const ir::LoopFacts& loop : ir::loopsThatCopy(program)) {
        m_loops[static_cast<std::size_t>(loop.operation->id)] =
            static_cast<std::int32_t>(info.loops.size());
        info.loops.push_back({loop.name, sourceLine(program, loop.location),
                              info.operations.empty() ? trace::kNone : loop.operation->id,
                              loop.parent});
    }
}

} // namespace pallascope::machine
