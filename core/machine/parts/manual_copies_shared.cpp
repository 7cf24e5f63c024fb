// Copies that the blocks of a cluster make for each other.
#include "core/ir/mesh.h"
#include "core/machine/parts/manual_copies.h"

#include <algorithm>

namespace pallascope::machine {

namespace {

// The numbers of the blocks that make a copy together with this one; empty: nothing says which.
std::vector<std::int32_t> blocksAlong(const ir::CoreMapParams& mesh, const ir::LoadCopyParams& load,
                                      std::int32_t block)
{
    std::vector<std::int32_t> found;
    for (std::int32_t other = 0; other < ir::sizeOf(mesh.cluster); ++other) {
        bool isOf = true;
        for (std::size_t axis = 0; axis < mesh.cluster.size() && !load.along.empty(); ++axis) {
            const bool isFree =
                std::find(load.along.begin(), load.along.end(), mesh.cluster[axis].name)
                != load.along.end();
            isOf = isOf
                   && (isFree
                       || ir::coordinate(mesh.cluster, other, axis)
                              == ir::coordinate(mesh.cluster, block, axis));
        }
        if (isOf) {
            found.push_back(other);
        }
    }
    return found.size() == static_cast<std::size_t>(load.blocks) ? found
                                                                 : std::vector<std::int32_t>();
}

} // namespace

// A part of a copy that blocks of a cluster make for each other comes to all of them.
void ManualCopies::share(const ir::Operation& operation, const Access& access, trace::CopyRow row)
{
    const auto* load = std::get_if<ir::LoadCopyParams>(&operation.params);
    if (load == nullptr || load->blocks == 1) {
        return;
    }
    SharedWrite write{access, 0, {}, row};
    const Reach& reach = reachOf(write.access.place);
    const ir::CoreMapParams& mesh = *m_turn.agent().mesh;
    const std::int64_t blocks = ir::sizeOf(mesh.cluster);
    const bool isOfCluster = blocks > 1 && !reach.start.empty()
                             && m_turn.memoryShape(operation.operands[1])[0] == blocks
                             && stopOf(reach) == startOf(reach) + 1;
    if (!isOfCluster) { // nothing says which memory is whose
        return;
    }
    write.block = static_cast<std::int32_t>(startOf(reach));
    write.blocks = blocksAlong(mesh, *load, write.block);
    if (write.blocks.empty()) { // whose part would be kept for ever, and never looked at
        return;
    }
    if (const auto found = m_races.share(m_turn.agent().id, write)) {
        m_findings.reportSharedRace(found->first, m_prepared.refName(operation.operands[1]),
                                    found->second);
    }
}

} // namespace pallascope::machine
