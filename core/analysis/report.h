// The report of a run, computed from its trace and chip alone. The JSON names of these fields are
// stable and documented in docs/report_format.md.
#pragma once

#include "core/analysis/bound.h"
#include "core/analysis/piece_times.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/chip/chip.h"
#include "core/trace/lookup.h"
#include "core/trace/summary.h"
#include "core/trace/trace.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pallascope::analysis {

struct Traffic // one row for each row of Info::operands and direction
{
    std::string operand;
    trace::Summary::Way way = trace::Summary::Read;
    std::int64_t copies = 0;
    Bytes bytes;
    Bytes blockBytes;
    double refetchFactor = 0; // bytes moved / bytes of the array, with its padding
    std::int32_t row = -1;    // of Info::operands
    double paddingShare = 0;  // the share of the array in HBM that only fills up its tiles
};

// One row for what moves the same array the same way under the same name: manual DMA in several
// places of a program, and the pipelines of several agents and kernels. Kernels of one name may do
// so with several arrays, as the layers of a model do.
struct ArrayTraffic : Traffic
{
    std::string kernel; // whose array it is, where other kernels have another one of that name
    std::int64_t pipelines = 0; // whose copies it sums; those of several agents count once
    std::int64_t launches = 0;  // on a device, of the only kernel that moves it; 0: several do
    bool isAlike = true;        // whether all these pipelines have the same re-fetch factor
    Bytes again;                // of `bytes`, those of blocks that were copied before
};

struct TimeSplit // its parts add up to the run's time, to the picosecond
{
    Picoseconds compute, exposedCopies, stepOverhead, prologue, epilogue; // of kernels
    Picoseconds launches;                                                 // of kernels and fusions
    Picoseconds fusions; // fusions, with what they read and write
    // Of GPUs: waits for the agent's own asynchronous products, and for other agents or the units
    // of the SM that they use.
    Picoseconds products, otherAgents;
    // Done before the others. On TPUs it also has the waits for other agents and for delays.
    Picoseconds idle;

    [[nodiscard]] Picoseconds total() const
    {
        return compute + exposedCopies + stepOverhead + prologue + epilogue + launches + fusions
               + products + otherAgents + idle;
    }
};

enum class LossKind : std::uint8_t
{
    Padding,   // products of elements that only pad tiles
    IdleCores, // cores without work, for all of the run or for a part of it
    // The matrix unit below its peak: it loads tiles, or its clock is lower than the datasheet's.
    MatrixRate,
    PaddedCopies, // the padding of tiles that copies move
    Refetch,      // blocks that are copied more than once
    LinkRate,     // the achieved bandwidth of the memory below the datasheet's
    OtherLinks,   // a link busier than the memory's, such as one between devices
    Units,        // units other than the matrix unit in the same segments
    Masks,        // comparisons, selections and iotas in these
    Chains,       // operations that wait for one another's results
    StepOverhead,
    BlockStarts, // of a GPU: from the end of one block to the first operation of the next
    Prologue,
    Epilogue,
    Waits,        // for other cores, semaphores and delays, or done before the others
    Copies,       // copies not hidden behind computing
    DeviceCopies, // the same, where most of them go to other devices
    Launches,
    Fusions // operations around kernels
};

struct Loss
{
    LossKind kind = LossKind::Padding;
    std::string of; // the unit, link or operand that has most of it; empty: none in particular
    Picoseconds time;
    Picoseconds gain; // how much shorter the run would be without this loss, all else unchanged
    bool keepsPart = false; // whether a part of it remains whatever one does; `gain` is without it
};

struct Losses // its parts add up to the run's time, to the picosecond
{
    Picoseconds roofline;     // no run on the chip can be shorter
    std::vector<Loss> beyond; // all above 0, in the order in which they were added
    // How much shorter the run would be with neither step overhead nor blocks that are copied
    // again.
    Picoseconds gainOfLargerBlocks;
    bool multiplies = false; // whether the roof is that of the matrix unit

    [[nodiscard]] Picoseconds total() const
    {
        Picoseconds sum = roofline;
        for (const Loss& loss : beyond) {
            sum += loss.time;
        }
        return sum;
    }
};

struct Band // the range in which a time may lie
{
    Picoseconds low, high;
    std::string work;       // the kind of work of the run
    chip::Residual support; // the timings behind it; of "other" work if there are none of this kind
    bool operator==(const Band&) const = default;
};

struct Roof // a horizontal ceiling: the peak of a unit
{
    std::string name; // "bf16 MXU"; "bf16 x 6 MXU": products in six passes; "bf16 and int8 MXU"
    double flopsPerSecond = 0;
    std::string unit = {}; // "MXU"
};

struct Slope // the slanted line of a bandwidth
{
    std::string name; // "HBM"
    BytesPerSecond datasheet, achieved;
};

// The slanted line of another level than the roofline's own: of the memory whose registers load and
// store units fill and empty, or of links between devices.
struct Ceiling
{
    std::string name; // "VMEM loads", "ICI"
    BytesPerSecond datasheet;
    std::string of; // the unit, or the kind of links, that moves the bytes: a name of Report::busy
};

struct Roofline
{
    std::optional<Roof> peak; // absent if the program has no FLOPs
    Slope memory;
    double ridge = 0; // in FLOP/B: where memory.datasheet meets the peak
    // Useful FLOPs of one step / (time of its longest unit + step overhead): the limit that steps
    // alone set.
    std::optional<double> stepCeiling;
    // Of what the run uses, where the chip file has the figures; empty if it has no FLOPs.
    std::vector<Ceiling> ceilings;
};

struct UsedMemory
{
    std::string operand; // or the name of the scratch
    Bytes bytes;         // of all slots, with tile padding
    bool scratch = false;
};

// What kernels read of GMEM where copies go through L2, as on a GPU.
struct CacheReads
{
    Bytes hit;    // held by L2; rows of Traffic with Summary::OnChip
    Bytes missed; // from HBM
    Bytes room;   // what L2 can hold
    Bytes fromL1; // what loads found in the L1 of their SM, and did not ask L2 for

    // 0 to 1; 0 if nothing was read.
    [[nodiscard]] double rate() const
    {
        const Bytes all = hit + missed;
        return all > Bytes(0) ? ratio(hit, all) : 0;
    }
};

struct Report
{
    std::string kernel;
    std::map<std::string, std::string> parameters;
    std::string chip;
    std::vector<Extent> grid;
    std::int64_t steps = 0;
    // Of long grids: blocks that did not run and are counted like those around them; never in a run
    // with a trace.
    std::int64_t passedBlocks = 0;
    std::int64_t events = 0;
    Picoseconds time;
    Picoseconds lastStepEnd; // where the epilogue begins; 0 without steps
    // The kind of the finding that ended the run before the program ended; empty if none did. All
    // figures are of what ran until then.
    std::string stoppedBy;

    [[nodiscard]] bool isStopped() const { return !stoppedBy.empty(); }

    // Absent if no timing supports the chip's figures, or if the run was stopped.
    std::optional<Band> band;
    Cycles cycles;
    Flops flops;
    Flops executedFlops;                                    // with tile padding
    std::vector<std::pair<std::string, Flops>> flopsByUnit; // only units that have any
    std::int64_t transcendentals = 0;
    Bytes hbmRead, hbmWritten;
    std::vector<Traffic> traffic;
    std::vector<ArrayTraffic> arrays; // the same, summed
    std::optional<CacheReads> l2;     // absent if no link of the chip comes from L2
    double arithmeticIntensity = 0;   // FLOP per byte of HBM; 0 if nothing moved
    double flopsPerSecond = 0;
    double peakFlopsPerSecond = 0; // datasheet
    double utilization = 0;        // of the datasheet peak
    Bound boundBy;
    TimeSplit split;
    Losses losses;
    // Units and links, the longest time first.
    std::vector<std::pair<std::string, Picoseconds>> busy;
    std::int64_t blocks = 0;       // of a GPU's grids, that began
    std::int64_t stalledSteps = 0; // steps after the first that waited for a copy
    std::int64_t freshWaits = 0;   // see fresh_waits.h; 0 as well for a run that kept only sums
    bool isGpu = false;            // whether the chip is a GPU, for the words of advice

    // Whether it says something of steps. A GPU's kernel without a pipeline has only blocks.
    [[nodiscard]] bool hasSteps() const { return !isGpu || steps > 0; }

    std::string onChipName; // of the memory where blocks are copied to: "VMEM", on a GPU "SMEM"
    // Of that memory, like all that follow. On a GPU of all blocks that an SM has at a time.
    Bytes vmemPeak;
    std::int64_t blocksTogether = 1; // these blocks
    Bytes compilersOfBlock;    // what the compiler takes for one of them beside arrays and scratch
    bool leavesPlaces = false; // whether the grid has fewer of them than would run at a time
    bool isSharedMemoryFull = false; // whether shared memory has room for no more of these blocks
    bool isSmFull = false;           // whether an SM has all the warps or blocks that it can have
    std::vector<UsedMemory> vmemByOperand;
    Bytes vmemTemporariesEstimate;
    Bytes vmemScopedLimit;
    std::optional<Bytes> blockLimit; // on a GPU, what one block may have
    Bytes vmemCapacity;
    trace::Check check;
    Roofline roofline;
    // Of a program of several kernels; only of a run with rows, for which viewOf adds them.
    std::vector<PieceTime> pieces;
};

// Fails only if the chip file inside of the trace cannot be parsed (a user error that names the
// trace).
[[nodiscard]] Result<Report> report(const trace::Trace& trace);

// The same for a run that kept only sums, not rows.
[[nodiscard]] Result<Report> report(const trace::Info& info, const trace::Summary& sums,
                                    const chip::Chip& chip);

// A run with other parameters, made to say what would help. Its time is the model's.
struct Alternative
{
    // Only parameters that differ, such as {"bm","1024"}.
    std::map<std::string, std::string> changed;
    std::string name; // "1024-blocks", "3 buffers"
    bool fits = true; // whether it fits into the physical memory
    bool overScopedLimit = false;
    Picoseconds time;
    std::optional<Band> band; // of `time`
    Bytes vmem;
    Bound boundBy;
    double flopsPerSecond = 0;
    double arithmeticIntensity = 0;

    [[nodiscard]] bool keepsLimits() const { return fits && !overScopedLimit; }
};

// The fastest alternative that keeps both limits, if it is faster than the run; otherwise null, as
// for a run that a finding stopped.
[[nodiscard]] const Alternative* best(const Report& report,
                                      const std::vector<Alternative>& alternatives);

// One sentence with numbers: what bounds the run, how near it is to the peak, why, and what would
// change it. A picture prints what stands between |bars| in bold; plain() removes the bars.
[[nodiscard]] std::string verdict(const Report& report, const trace::Info& info,
                                  const std::vector<Alternative>& alternatives);
[[nodiscard]] std::string plain(std::string text);

// The run point at time t and the window point over (t - window, t]: FLOP/B and FLOP/s. Absent
// while nothing has been computed or moved; the window point also until a whole window has passed.
struct Point
{
    double intensity = 0;
    double flopsPerSecond = 0;
};

[[nodiscard]] std::optional<Point> runPoint(const trace::Index& index, Picoseconds t);
[[nodiscard]] std::optional<Point> windowPoint(const trace::Index& index, Picoseconds t,
                                               Picoseconds window);

// The period of the slowest output: how many steps its block stays, at least 1; and how long that
// takes in the middle of the run.
[[nodiscard]] std::int64_t periodSteps(const trace::Trace& trace);
[[nodiscard]] Picoseconds periodTime(const trace::Trace& trace);

// How many agents have pipelines or semaphores, on a GPU how many run blocks; at least 1.
[[nodiscard]] std::int64_t agentsUsed(const trace::Info& info);

// The time of the whole run by source line, averaged over agents; the sum is the run's time. The
// time of a segment is divided among the lines of the operations on its longest unit. A wait for a
// manual DMA goes to the line that starts the copy. Other waits and overhead go to the pipeline's
// line.
struct LineTime
{
    trace::SourceLine line;
    Picoseconds time;
    // The unit that takes most of it; none if bookkeeping and waits do.
    std::optional<std::int32_t> unit;
};

[[nodiscard]] std::vector<LineTime> timeByLine(const trace::Trace& trace);

// The report as JSON text (the object that `run --json` prints), and as the eight lines of `run`.
// `walls` has the wall-clock time of each repetition, the last of which this report is of; empty
// for a report that comes from a file.
[[nodiscard]] std::string toJson(const Report& report, const trace::Info& info,
                                 const std::vector<Alternative>& alternatives,
                                 std::span<const Seconds> walls);
[[nodiscard]] std::string toText(const Report& report, const trace::Info& info,
                                 const std::vector<Alternative>& alternatives);

} // namespace pallascope::analysis
