// What a run's numbers mean, computed from its trace and chip alone. The JSON names of these fields
// are stable and documented in docs/report_format.md.
#pragma once

#include "core/analysis/bound.h"
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

struct Traffic // one per operand and direction
{
    std::string operand;
    trace::Summary::Way way = trace::Summary::Read;
    std::int64_t copies = 0;
    Bytes bytes;
    Bytes blockBytes;
    double refetchFactor = 0; // bytes moved / bytes of the array
};

struct TimeSplit // sums to the run's time, to the picosecond
{
    Picoseconds compute, exposedCopies, stepOverhead, prologue, epilogue; // of kernels
    Picoseconds launches;                                                 // of kernels and fusions
    Picoseconds fusions; // operations around kernels, with what they read and write
    Picoseconds idle;    // waits for other agents or for a delay, or is done before they are

    [[nodiscard]] Picoseconds total() const
    {
        return compute + exposedCopies + stepOverhead + prologue + epilogue + launches + fusions
               + idle;
    }
};

enum class LossKind : std::uint8_t
{
    Padding,    // products of elements that only fill up tiles
    IdleCores,  // cores that take no part
    MatrixRate, // the matrix unit below its peak: tiles enter it, its clock is lower
    Refetch,    // blocks that are copied again
    LinkRate,   // the memory's achieved bandwidth under that of the datasheet
    OtherLinks, // a link that is busier than the memory's, as between devices
    Units,      // other units than the matrix unit, in the same stretch of operations
    Masks,      // comparisons, selections and iotas among these
    Chains,     // operations that need one another's results
    StepOverhead,
    Prologue,
    Epilogue,
    Waits,  // for other cores, semaphores and delays, or done before others are
    Copies, // not hidden behind computing
    Launches,
    Fusions // operations around kernels
};

struct Loss
{
    LossKind kind = LossKind::Padding;
    std::string of; // the unit, link or operand that has most of it; empty: none in particular
    Picoseconds time;
    Picoseconds gain; // by how much the run would be shorter without it, if all else stayed
};

struct Losses // sums to the run's time, to the picosecond
{
    Picoseconds roofline;     // that no run on the chip is under
    std::vector<Loss> beyond; // none of 0; in the order in which they were added

    [[nodiscard]] Picoseconds total() const
    {
        Picoseconds sum = roofline;
        for (const Loss& loss : beyond) {
            sum += loss.time;
        }
        return sum;
    }
};

struct Band // a time may be off so far
{
    Picoseconds low, high;
    std::string work;       // the run's kind of work
    chip::Residual support; // the timings that say so; of "other" work where none are of such work
    bool operator==(const Band&) const = default;
};

struct Roof // a horizontal ceiling: a unit's peak
{
    std::string name; // "bf16 MXU", "bf16 x 6 MXU": of passes, "bf16 and int8 MXU"
    double flopsPerSecond = 0;
    std::string unit = {}; // "MXU"
};

struct Slope // a bandwidth
{
    std::string name; // "HBM"
    BytesPerSecond datasheet, achieved;
};

struct Roofline
{
    std::optional<Roof> peak; // absent when the program has no FLOPs
    Slope memory;
    double ridge = 0; // FLOP/B where memory.datasheet meets the peak
    // Useful FLOPs of one step / (its longest unit + step overhead): where steps alone would stop
    // it.
    std::optional<double> stepCeiling;
};

struct UsedMemory
{
    std::string operand; // or the scratch's name
    Bytes bytes;         // all slots, tile padding included
    bool scratch = false;
};

struct Report
{
    std::string kernel;
    std::map<std::string, std::string> parameters;
    std::string chip;
    std::vector<Extent> grid;
    std::int64_t steps = 0;
    std::int64_t events = 0;
    Picoseconds time;
    std::optional<Band> band; // absent where no timing supports the chip's figures
    Cycles cycles;
    Flops flops;
    Flops executedFlops;                                    // with tile padding
    std::vector<std::pair<std::string, Flops>> flopsByUnit; // units with any
    std::int64_t transcendentals = 0;
    Bytes hbmRead, hbmWritten;
    std::vector<Traffic> traffic;
    double arithmeticIntensity = 0; // FLOP per HBM byte; 0 when nothing moved
    double flopsPerSecond = 0;
    double peakFlopsPerSecond = 0; // datasheet
    double utilization = 0;        // of the datasheet peak
    Bound boundBy;
    TimeSplit split;
    Losses losses;
    std::vector<std::pair<std::string, Picoseconds>> busy; // units and links, longest first
    std::int64_t stalledSteps = 0; // steps after the first that waited for a copy
    Bytes vmemPeak;
    std::vector<UsedMemory> vmemByOperand;
    Bytes vmemTemporariesEstimate;
    Bytes vmemScopedLimit;
    Bytes vmemCapacity;
    trace::Check check;
    Roofline roofline;
};

// Fails only on a chip file inside the trace that does not parse (a user error naming the trace).
[[nodiscard]] Result<Report> report(const trace::Trace& trace);

// The same of a run that kept no rows.
[[nodiscard]] Result<Report> report(const trace::Info& info, const trace::Summary& sums,
                                    const chip::Chip& chip);

// A run with other parameters, tried to say what would help. Times are the model's.
struct Alternative
{
    std::map<std::string, std::string> changed; // only what differs, e.g. {"bm","1024"}, ...
    std::string name;                           // "1024-blocks", "3 buffers"
    bool fits = true;                           // in the physical memory
    bool overScopedLimit = false;
    Picoseconds time;
    std::optional<Band> band; // of the time
    Bytes vmem;
    Bound boundBy;
    double flopsPerSecond = 0;
    double arithmeticIntensity = 0;
};

// The alternative with the least time among those that fit both limits, if it beats the run.
[[nodiscard]] const Alternative* best(const Report& report,
                                      const std::vector<Alternative>& alternatives);

// One sentence with numbers: what bounds the run, how near the peak, why, and what turns it.
// |bars| around what a picture prints strong; plain() removes them.
[[nodiscard]] std::string verdict(const Report& report, const trace::Info& info,
                                  const std::vector<Alternative>& alternatives);
[[nodiscard]] std::string plain(std::string text);

// Run point at t and window point over (t - window, t]: FLOP/B and FLOP/s. Absent while nothing has
// been computed or moved, or (window) before a whole window has passed.
struct Point
{
    double intensity = 0;
    double flopsPerSecond = 0;
};

[[nodiscard]] std::optional<Point> runPoint(const trace::Index& index, Picoseconds t);
[[nodiscard]] std::optional<Point> windowPoint(const trace::Index& index, Picoseconds t,
                                               Picoseconds window);

// Length of one period of the slowest output in steps (how long its block stays), at least 1; and
// in time, measured in the middle of the run.
[[nodiscard]] std::int64_t periodSteps(const trace::Trace& trace);
[[nodiscard]] Picoseconds periodTime(const trace::Trace& trace);

// How many agents have pipelines or semaphores; at least the first.
[[nodiscard]] std::int64_t agentsUsed(const trace::Info& info);

// Time of the whole run by source line, of several agents the average; sums to the run. A segment's
// time goes to the lines of the operations on its longest unit, in proportion; a wait for a copy by
// hand to the line that starts it; other waits and overhead to the pipeline's line.
struct LineTime
{
    trace::SourceLine line;
    Picoseconds time;
    std::int32_t unit = -1; // the unit most of it is spent on, -1: bookkeeping and waits
};

[[nodiscard]] std::vector<LineTime> timeByLine(const trace::Trace& trace);

// The report as JSON text (the object that `run --json` prints), and as the eight lines of `run`.
// walls: how long each of its runs took, the last of which it is of; none for a report from a file.
[[nodiscard]] std::string toJson(const Report& report, const trace::Info& info,
                                 const std::string& verdict, std::span<const Seconds> walls);
[[nodiscard]] std::string toText(const Report& report, const trace::Info& info,
                                 const std::vector<Alternative>& alternatives);

} // namespace pallascope::analysis
