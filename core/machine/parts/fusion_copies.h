// What fusions (operations around kernels) stream from and to HBM while they work.
#pragma once

#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"

namespace pallascope::machine {

class FusionCopies
{
public:
    FusionCopies(const Context& context, Copies& copies);

    // Returns false if the run fails.
    [[nodiscard]] bool begin(const PlanItem& item, BlockFrame& frame);
    // Keeps the fusion running until everything that it writes is in HBM.
    void end(const PlanItem& item, BlockFrame& frame);

private:
    const Prepared& m_prepared;
    Recorder& m_recorder;
    Turn& m_turn;
    Copies& m_copies;
};

} // namespace pallascope::machine
