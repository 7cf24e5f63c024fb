// Copies that the program starts: from the start to what they signal at their end. Manual DMA
// signals semaphores. Of the copies by a GPU's TMA those into SMEM arrive on a barrier, and those
// out of it belong to a group.
#pragma once

#include "core/machine/memory/known_reaches.h"
#include "core/machine/parts/accesses.h"
#include "core/machine/parts/agents.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/findings.h"
#include "core/machine/parts/semaphores.h"
#include "core/machine/parts/store_groups.h"

#include <optional>
#include <utility>
#include <vector>

namespace pallascope::machine {

class ManualCopies : private Part
{
public:
    ManualCopies(const Context& context, Agents& agents, Copies& copies, Semaphores& semaphores,
                 StoreGroups& groups, Accesses& accesses, Findings& findings);

    void start(const ir::Operation& operation);
    void waitFor(const ir::Operation& operation);

private:
    // For each listed row of a copy, or other part, where it lies at the source and at the target.
    using Rows = std::vector<std::pair<RefBinding, RefBinding>>;
    struct ManualCopy;

    [[nodiscard]] bool locate(ManualCopy& copy);
    [[nodiscard]] bool comesLater(const Agent& peer, const ir::Operation& dmaStart);
    void checkEntry(const ManualCopy& copy);
    [[nodiscard]] bool serve(ManualCopy& copy);
    [[nodiscard]] std::optional<Copies::Served>
    serveOn(ManualCopy& copy, const Description::Route& route, Bytes bytes, bool out);
    // In whose memory a ref lies that this agent names.
    [[nodiscard]] std::int32_t holderOf(ir::ValueId root, const Agent& agent) const;
    void recordEnds(ManualCopy& copy);
    [[nodiscard]] Access accessOf(ManualCopy& copy, bool writes);
    void share(const ir::Operation& operation, const Access& access, trace::CopyRow row);
    void signalEnds(const ManualCopy& copy);
    void arriveAtEnd(const ManualCopy& copy);
    // Empty if the run ends with a finding.
    [[nodiscard]] std::optional<Rows>
    listedRows(const ir::Operation& operation, const RefBinding& source, const RefBinding& target);
    void dropPadding(const ir::Operation& dmaStart, RefBinding& source, RefBinding& target);
    [[nodiscard]] bool takesElements(const ir::Operation& operation) const;
    // Empty if the run ends with a finding.
    [[nodiscard]] std::optional<Rows> takenParts(const ir::Operation& operation,
                                                 const RefBinding& target);
    void fill(const ir::Operation& copy, const RefBinding& target, bool withZeros);

    Agents& m_agents;
    Copies& m_copies;
    Semaphores& m_semaphores;
    StoreGroups& m_groups;
    Accesses& m_accesses;
    Findings& m_findings;
    KnownReaches m_reaches;
};

} // namespace pallascope::machine
