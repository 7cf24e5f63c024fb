// What a view says in numbers, beside the texts that say it: so that tests can ask whether all
// views say the same of one moment without reading English.
#pragma once

#include <cstdint>
#include <string>

namespace pallascope::layout {

enum class FactKind : std::uint8_t
{
    Step,          // the number of the step under the playhead
    Steps,         // how many its pipeline has
    Round,         // the number of the round of the marked loop under the playhead
    Rounds,        // how many that loop has in the run
    RunSteps,      // of the whole run, all pipelines and agents together
    BlocksWritten, // of an operand's array so far, by all that share it
    BlocksOfArray, // how many it has
    BytesMoved,    // of an operand's array so far, read and written, by all that share it
    BytesRead,     // of an operand's array in the whole run
    BytesWritten,
    BytesOnChip,  // likewise: from L2, or between on-chip memories
    BytesTaken,   // of an on-chip memory, by the pipeline under the playhead and those around it
    BytesAllowed, // of that memory: the limit that applies
    FlopRate,     // so far, per second
    Intensity,    // so far, FLOP per byte of HBM
    CeilingRate,  // bytes per second of a ceiling of the roofline
    CeilingIntensity, // so far, FLOP per byte that its links have moved
    Kernel,           // the number of the kernel under the playhead, from 1; 0: between kernels
    Kernels,          // how many kernels the chosen device runs
    Device,           // the chosen one
    LinksMoving,      // how many links between devices carry something now
    GridBlocks,       // of a GPU's grid
    GridBlocksDone,
    GridBlocksRunning,
    SmsIdle,      // that run none of these blocks now
    Phases,       // of a barrier that are complete
    Arrivals,     // in its phase under way
    BytesFromL2,  // of an operand's array so far
    BytesInL2,    // of an operand's array now
    PendingBytes, // that copies under way will bring before they arrive on it
    Waited,       // for other devices so far, in ps, of a device
    Compared,     // a number that a kept run has too; of: its row in KeptRun::figures
    Swatch        // the colour (Role) of an operand in a key
};

struct Fact
{
    FactKind kind = FactKind::Step;
    std::int32_t of = -1; // operand, memory, or row of a list; -1: of the run
    double value = 0;
    std::string text; // as the view writes it; empty: it is not a text
    bool operator==(const Fact&) const = default;
};

} // namespace pallascope::layout
