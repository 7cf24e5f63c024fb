// What fusions (operations around kernels) stream from and to HBM while they work, and what loads
// and stores of a GPU's kernels move of GMEM.
#pragma once

#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/l1_caches.h"

namespace pallascope::machine {

class FusionCopies
{
public:
    FusionCopies(const Context& context, Copies& copies, L1Caches& l1);

    // Returns false if the run fails.
    [[nodiscard]] bool begin(const PlanItem& item, BlockFrame& frame);
    // Whether copies of the segment still move when its operations have ended.
    [[nodiscard]] bool isLate(const BlockFrame& frame) const;
    // Keeps the fusion running until everything that it writes is in HBM.
    void end(const PlanItem& item, BlockFrame& frame);

    // Whether the segment loads from GMEM or stores to it through L2. Then nothing begins before it
    // runs; load() does when it has run, since only then it is known which elements it reached.
    [[nodiscard]] bool isThroughL2(const PlanItem& item) const;
    // The segment has run; what it loads was asked for at its beginning. If it stores something,
    // the agent goes back to when it asks for that, and the frame says so: others may ask for
    // something before. Returns false if the run fails.
    [[nodiscard]] bool load(const PlanItem& item, BlockFrame& frame);
    // Asks for the next of what the segment stores. The agent then is where it asks for the one
    // after that, or at the end of the segment. Returns false if the run fails.
    [[nodiscard]] bool store(const PlanItem& item, BlockFrame& frame);

private:
    // Before the end of a segment's work, how long it takes to store this stream and those after
    // it: then it asks for this one.
    [[nodiscard]] Picoseconds storesFrom(const PlanItem& item, std::size_t stream) const;
    [[nodiscard]] bool serve(const PlanStream& asked, Picoseconds issue, BlockFrame& frame);
    void awaitStore(const PlanItem& item, std::size_t from, BlockFrame& frame);
    // Through what the operation reached the array.
    [[nodiscard]] const RefBinding& reachedBy(const PlanStream& stream,
                                              const BlockFrame& frame) const;
    // What of an array of this device the operation reached there. Empty if it lies anywhere in
    // the array: then caches are passed by.
    [[nodiscard]] std::optional<SectorCache::Part> windowOf(const PlanStream& stream,
                                                            const RefBinding& where) const;
    [[nodiscard]] std::optional<Copies::Served>
    serve(const PlanStream& stream, const RefBinding& where,
          const std::optional<SectorCache::Part>& window, Picoseconds issue);
    [[nodiscard]] std::optional<Copies::Served> serveRemote(const PlanStream& stream,
                                                            std::int32_t owner, Picoseconds issue);
    // `first` is the first element of its array that the stream moves.
    trace::CopyRow record(const PlanStream& stream, std::int64_t first,
                          const Copies::Served& served, Picoseconds issue, BlockFrame& frame);
    // The segment ends no earlier than this copy arrives.
    static void await(trace::CopyRow copy, Picoseconds arrival, BlockFrame& frame);

    const Prepared& m_prepared;
    Recorder& m_recorder;
    Turn& m_turn;
    Slab<Memory>& m_memory;
    Copies& m_copies;
    L1Caches& m_l1;
    Picoseconds m_sooner; // what the latency of a load is less than that of a copy
};

} // namespace pallascope::machine
