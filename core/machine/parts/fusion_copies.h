// What fusions (operations around kernels) stream from and to HBM while they work, and what loads
// and stores of a GPU's kernels move of GMEM.
#pragma once

#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/l1_caches.h"

#include <span>
#include <vector>

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
    [[nodiscard]] Picoseconds storesFrom(const PlanItem& item, std::size_t stream,
                                         const BlockFrame& frame) const;
    [[nodiscard]] bool serve(const PlanStream& asked, Picoseconds issue, BlockFrame& frame);
    void awaitStore(const PlanItem& item, std::size_t from, BlockFrame& frame);

    // Where the operation reached the array, if that is not all that its ref shows.
    [[nodiscard]] static std::span<const ReachedElements> reachedBy(const PlanStream& stream,
                                                                    const BlockFrame& frame);
    // Of what it moves of the array: all, and what lies in this part.
    [[nodiscard]] Bytes bytesOf(const PlanStream& stream, const BlockFrame& frame) const;
    [[nodiscard]] Bytes bytesOf(const PlanStream& stream, const RefBinding& where) const;
    [[nodiscard]] Copies::Piece pieceOf(const PlanStream& stream, const RefBinding& where,
                                        Bytes bytes) const;
    [[nodiscard]] std::int32_t linkOf(const PlanStream& stream) const;

    // What lies on this device. `first` is the first element of it that the stream moves.
    [[nodiscard]] bool loadHere(PlanStream stream, std::span<const Copies::Piece> pieces,
                                std::int64_t first, Picoseconds issue, BlockFrame& frame);
    [[nodiscard]] bool storeHere(const PlanStream& stream, std::span<const Copies::Piece> pieces,
                                 std::int64_t first, Picoseconds issue, BlockFrame& frame);
    [[nodiscard]] bool changeHere(PlanStream stream, std::span<const Copies::Piece> pieces,
                                  std::span<const ReachedElements> reached, Picoseconds issue,
                                  BlockFrame& frame);
    [[nodiscard]] std::optional<Copies::Served> serveRemote(const PlanStream& stream,
                                                            std::int32_t owner, Picoseconds issue);
    trace::CopyRow arrive(const PlanStream& stream, std::int64_t first, Copies::Served& served,
                          Picoseconds issue, BlockFrame& frame);
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
