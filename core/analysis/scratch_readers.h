// Who reads the slots of scratch that manual DMA fills, and when: a fact of the program for each
// product and load, times the segments that hold it.
#pragma once

#include "core/ir/scratch_reads.h"
#include "core/trace/lookup.h"
#include "core/trace/scratch_slots.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::analysis {

class ScratchReaders
{
public:
    // `program` is the one that the trace was made of; it need not outlive this. The first question
    // reads all segments of runs with manual DMA. Any thread may ask.
    ScratchReaders(const ir::Program& program, std::shared_ptr<const trace::Index> index);

    // Reads the segments now.
    void prepareForPictures() const { static_cast<void>(slots()); }

    struct Count
    {
        std::int64_t reads = 0;
        bool areProducts = false; // else loads: no product reads the scratch
        bool operator==(const Count&) const = default;
    };

    // How many products, or loads, that read a slot (of ScratchSlots::all) have retired after
    // `from` and up to `to`. Nothing where that is not known: an index that the kernel computes may
    // be that of several slots that have been waited for.
    [[nodiscard]] std::optional<Count> between(std::size_t slot, Picoseconds from,
                                               Picoseconds to) const;

private:
    struct OfSlot
    {
        bool isKnown = false, areProducts = false;
        std::vector<std::int64_t> sure, unsure; // ps, ascending
    };

    [[nodiscard]] const std::vector<OfSlot>& slots() const;
    [[nodiscard]] std::vector<OfSlot> readSegments() const;
    static void add(std::vector<OfSlot>& all, const trace::Index& index,
                    const std::vector<std::size_t>& candidates, const ir::ScratchRead& read,
                    std::int64_t begin, std::int64_t retires);

    std::shared_ptr<const trace::Index> m_index;
    std::map<std::string, std::vector<ir::ScratchRead>> m_reads; // by the name of the scratch
    mutable std::once_flag m_isMade;
    mutable std::vector<OfSlot> m_slots;
};

} // namespace pallascope::analysis
