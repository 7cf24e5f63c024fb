#include "core/analysis/report.h"

#include "core/analysis/array_traffic.h"
#include "core/analysis/band.h"
#include "core/analysis/ceilings.h"
#include "core/analysis/fresh_waits.h"
#include "core/analysis/losses.h"
#include "core/analysis/owners.h"
#include "core/analysis/used_memory.h"
#include "core/chip/chip.h"
#include "core/cost/occupancy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>

namespace pallascope::analysis {

namespace {

class Accounting
{
public:
    Accounting(const trace::Info& info, const trace::Summary& sums, const chip::Chip& chip)
        : m_info(info)
        , m_sums(sums)
        , m_chip(chip)
    {}

    void run(Report& report) const
    {
        identify(report);
        work(report);
        traffic(report);
        split(report);
        memory(report);
        bound(report);
        roofline(report);
    }

private:
    void identify(Report& report) const;
    void work(Report& report) const;
    void traffic(Report& report) const;
    void split(Report& report) const;
    void memory(Report& report) const;
    void countBlocks(Report& report) const;
    void bound(Report& report) const;
    void roofline(Report& report) const;
    [[nodiscard]] Picoseconds unitBusy(std::size_t unit) const;
    [[nodiscard]] std::optional<Roof> peak(const Report& report) const;
    [[nodiscard]] bool multipliesOnVector() const;
    [[nodiscard]] Roof matrixRoof(const chip::Unit& matrix) const;
    [[nodiscard]] Roof inputsRoof(const chip::Unit& matrix) const;

    const trace::Info& m_info;
    const trace::Summary& m_sums;
    const chip::Chip& m_chip;
};

void Accounting::identify(Report& report) const
{
    report.kernel = m_info.kernel;
    report.parameters = m_info.parameters;
    report.chip = m_info.chip;
    report.isGpu = m_chip.multiprocessor.has_value();
    if (!m_info.pipelines.empty()) {
        report.grid = m_info.pipelines.front().grid;
    }
    report.steps = m_sums.steps;
    report.passedBlocks = m_sums.passedBlocks;
    report.lastStepEnd = m_sums.lastStepEnd;
    report.stoppedBy = m_info.stoppedBy;
    report.events = m_info.events;
    report.time = m_sums.end;
    const double cycles =
        toSeconds(report.time).value() * static_cast<double>(m_chip.agents.front().clock.value());
    report.cycles = Cycles(std::llround(cycles));
    report.check = m_info.check;
}

void Accounting::work(Report& report) const
{
    std::vector<Flops> useful(m_info.units.size());
    for (std::size_t id = 0; id < m_sums.instances.size(); ++id) {
        const trace::SegmentTemplate& segment = m_info.templates[id];
        for (std::size_t unit = 0; unit < useful.size() && unit < segment.flopsByUnit.size();
             ++unit) {
            useful[unit] += segment.flopsByUnit[unit] * m_sums.instances[id];
            report.executedFlops += segment.executedFlopsByUnit[unit] * m_sums.instances[id];
        }
        report.transcendentals += segment.transcendentals * m_sums.instances[id];
    }
    for (std::size_t unit = 0; unit < useful.size(); ++unit) {
        report.flops += useful[unit];
        if (useful[unit] > Flops(0)) {
            report.flopsByUnit.emplace_back(m_info.units[unit].name, useful[unit]);
        }
    }
    const double seconds = toSeconds(report.time).value();
    report.flopsPerSecond = seconds > 0 ? static_cast<double>(report.flops.value()) / seconds : 0;
}

void Accounting::traffic(Report& report) const
{
    for (std::size_t operand = 0; operand < m_info.operands.size(); ++operand) {
        using trace::Summary;
        const auto& ways = m_sums.moved[operand];
        report.hbmRead += ways[Summary::Read].bytes;
        report.hbmWritten += ways[Summary::Written].bytes;
        for (const Summary::Way way : {Summary::Read, Summary::Written, Summary::OnChip}) {
            const Summary::Moved& moved = ways[way];
            if (moved.copies > 0) {
                const trace::Operand& of = m_info.operands[operand];
                const auto row = static_cast<std::int32_t>(operand);
                const Bytes reach = trace::reachOf(m_info, std::span(&row, 1));
                report.traffic.push_back({of.name, way, moved.copies, moved.bytes, of.blockBytes,
                                          reach > Bytes(0) ? ratio(moved.bytes, reach) : 0, row,
                                          paddingShare(of)});
            }
        }
    }
    report.arrays = trafficByArray(report.traffic, m_info, trace::arraysOf(m_info).ofOperand,
                                   trace::pipelineKindsOf(m_info));
    if (m_info.hasL2()) {
        report.l2.emplace();
        report.l2->room = m_chip.multiprocessor ? m_chip.multiprocessor->l2Usable : Bytes();
        report.l2->fromL1 = m_info.fromL1;
        for (std::size_t operand = 0; operand < m_info.operands.size(); ++operand) {
            if (!m_info.operands[operand].isAround) {
                report.l2->hit += m_sums.moved[operand][trace::Summary::OnChip].bytes;
                report.l2->missed += m_sums.moved[operand][trace::Summary::Read].bytes;
            }
        }
    }
    const Bytes all = report.hbmRead + report.hbmWritten;
    report.arithmeticIntensity = all > Bytes(0) ? static_cast<double>(report.flops.value())
                                                      / static_cast<double>(all.value())
                                                : 0;
}

void Accounting::split(Report& report) const
{
    std::map<trace::SegmentKind, Picoseconds> ran;
    for (std::size_t id = 0; id < m_sums.instances.size(); ++id) {
        const trace::SegmentTemplate& segment = m_info.templates[id];
        ran[segment.kind] += segment.duration * m_sums.instances[id];
    }
    ran[trace::SegmentKind::Fusion] += m_sums.waitedInFusions;
    report.stalledSteps = m_sums.stalledSteps;
    report.blocks = m_sums.blocks;
    // The average over several agents. Rows of different agents may overlap or leave gaps, so each
    // part takes its time from what is left of the run, and idling gets the rest.
    const std::int64_t agents = agentsUsed(m_info);
    Picoseconds left = m_sums.end;
    const auto ofEach = [&](trace::SegmentKind kind) {
        return Picoseconds(ran[kind].value() / agents);
    };
    const auto take = [&left](Picoseconds part) {
        part = std::clamp(part, Picoseconds(0), left);
        left -= part;
        return part;
    };
    const trace::Summary::Agents& waits = m_sums.warpgroups;
    const auto ofWarpgroup = [&](Picoseconds sum) { return Picoseconds(sum.value() / agents); };
    TimeSplit& split = report.split;
    // On a GPU, what warpgroups do while they do not wait: issuing copies and arrivals, too. Their
    // products run beside them.
    split.compute =
        take(report.isGpu ? ofWarpgroup(m_sums.inBlocks - waits.copies - waits.own - waits.others)
                          : ofEach(trace::SegmentKind::Body));
    split.stepOverhead = take(ofEach(trace::SegmentKind::StepOverhead));
    // Only the first agent of a device launches kernels and runs fusions.
    const auto ofDevice = [&](trace::SegmentKind kind) {
        return Picoseconds(ran[kind].value() / m_info.deviceCount());
    };
    split.launches = take(ofDevice(trace::SegmentKind::Launch));
    split.fusions = take(ofDevice(trace::SegmentKind::Fusion));
    if (m_sums.steps > 0) {
        // What else happens before the first step and after the last is a sum over the devices.
        const auto ofEachDevice = [&](Picoseconds sum) {
            return Picoseconds(sum.value() / m_info.deviceCount());
        };
        split.prologue = take(m_sums.firstBody - ofEachDevice(m_sums.computeBefore));
        split.epilogue = take(m_sums.end - m_sums.lastStepEnd - ofEachDevice(m_sums.computeAfter));
    }
    const Picoseconds forCopies = m_sums.waitedForCopies - m_sums.waitedAround;
    split.exposedCopies =
        take(report.isGpu ? ofWarpgroup(waits.copies) : Picoseconds(forCopies.value() / agents));
    if (report.isGpu) {
        split.products = take(ofWarpgroup(waits.own));
        split.otherAgents = take(ofWarpgroup(waits.others));
    }
    split.idle = left;
}

// On a GPU several blocks have their memory on an SM at a time. The buffers are those of a block
// that needs most; blocks of another core_map may need more together.
void Accounting::countBlocks(Report& report) const
{
    const auto& grids = m_info.blockGrids;
    const auto largest =
        std::max_element(grids.begin(), grids.end(),
                         [](const auto& a, const auto& b) { return a.arrays < b.arrays; });
    if (largest == grids.end()) {
        return;
    }
    // What nobody asked for, such as room for operands of products that Triton multiplies.
    if (const Bytes more = largest->arrays - report.vmemPeak; more > Bytes(0)) {
        report.vmemPeak += more;
        report.compilersOfBlock = more;
        report.vmemByOperand.push_back({"compiler", more, true});
    }
    report.blocksTogether = largest->together();
    report.leavesPlaces = largest->blocks < largest->atATime;
    const auto allowsNoMore = [&](cost::OccupancyLimit which) {
        const std::string_view name = cost::kOccupancyLimitNames[static_cast<std::size_t>(which)];
        return std::ranges::any_of(largest->allowed, [&](const auto& limit) {
            return limit.name == name && limit.blocks <= report.blocksTogether;
        });
    };
    report.isSharedMemoryFull = allowsNoMore(cost::OccupancyLimit::SharedMemory);
    report.isSmFull =
        allowsNoMore(cost::OccupancyLimit::Threads) || allowsNoMore(cost::OccupancyLimit::Blocks);
    const auto times = [&](Bytes bytes) { // of any file: may wrap
        return Bytes(
            static_cast<std::int64_t>(static_cast<std::uint64_t>(bytes.value())
                                      * static_cast<std::uint64_t>(report.blocksTogether)));
    };
    report.vmemPeak = times(report.vmemPeak);
    for (UsedMemory& used : report.vmemByOperand) {
        used.bytes = times(used.bytes);
    }
    for (const trace::BlockGrid& grid : grids) {
        if (&grid != &*largest) {
            report.vmemPeak = std::max(report.vmemPeak, grid.arrays * grid.together());
        }
    }
}

void Accounting::memory(Report& report) const
{
    const std::int32_t onChip = blockMemoryOf(m_info, m_chip);
    report.vmemByOperand = usedOf(m_info, onChip);
    report.vmemPeak = sumOf(report.vmemByOperand);
    countBlocks(report);
    const trace::Memory& memory = m_info.memories[static_cast<std::size_t>(onChip)];
    report.onChipName = memory.name;
    report.vmemTemporariesEstimate = m_info.temporariesEstimate;
    report.vmemCapacity = memory.capacity;
    report.vmemScopedLimit = memory.scopedLimit.value_or(memory.capacity);
    if (report.isGpu) {
        report.blockLimit = m_chip.multiprocessor->sharedPerBlock;
    }
}

Picoseconds Accounting::unitBusy(std::size_t unit) const
{
    Picoseconds busy;
    for (std::size_t id = 0; id < m_sums.instances.size(); ++id) { // of all agents
        const trace::SegmentTemplate& segment = m_info.templates[id];
        if (segment.isBookkeeping()) {
            continue;
        }
        Cycles cycles;
        for (const trace::Mark& mark : segment.marks) {
            cycles += mark.unit == static_cast<std::int32_t>(unit) ? mark.length : Cycles(0);
        }
        // A unit is busy for its share of the segment; the share is exact for the unit that sets
        // the segment's length.
        if (segment.cycles > Cycles(0)) {
            const auto share = static_cast<__int128>(segment.duration.value()) * cycles.value()
                               / segment.cycles.value();
            busy += Picoseconds(static_cast<std::int64_t>(share)) * m_sums.instances[id];
        }
    }
    return Picoseconds(busy.value() / ownersOf(m_info, m_chip, unit)); // the average
}

void Accounting::bound(Report& report) const
{
    struct Class
    {
        Bound bound;
        Picoseconds busy;
    };

    std::vector<Class> classes;
    for (std::size_t unit = 0; unit < m_info.units.size(); ++unit) {
        const trace::Unit& which = m_info.units[unit];
        const Picoseconds busy = unitBusy(unit);
        report.busy.emplace_back(which.name, busy);
        switch (which.kind) {
        case UnitKind::Matrix:
        case UnitKind::Vector:
        case UnitKind::Transcendental:
        case UnitKind::Crosslane:
        case UnitKind::Scalar:
            classes.push_back({{BoundKind::Compute, which.name}, busy});
            break;
        case UnitKind::Load:
        case UnitKind::Store:
            classes.push_back({{BoundKind::Memory, report.onChipName}, busy});
            break;
        }
    }
    // The busiest link of each kind, because several devices have one each.
    std::map<std::string, Picoseconds> links;
    for (std::size_t link = 0; link < m_info.links.size(); ++link) {
        const trace::Link& one = m_info.links[link];
        Picoseconds& busy = links[kindOf(one)];
        busy = std::max(busy, m_sums.linkBusy[link]);
    }
    // What a core does itself comes one after the other. Copies that hide behind all of it bound
    // nothing, even if no unit is busy for as long.
    const Picoseconds own =
        report.isGpu ? Picoseconds(0) : report.split.compute + report.split.stepOverhead;
    for (const auto& [name, busy] : links) {
        report.busy.emplace_back(name, busy);
        if (busy > own) {
            classes.push_back({{BoundKind::Memory, name}, busy});
        }
    }
    classes.push_back({{BoundKind::StepOverhead}, report.split.stepOverhead});
    classes.push_back({{BoundKind::Launches}, report.split.launches});
    classes.push_back({{BoundKind::Latency}, m_sums.idle});
    const auto longest =
        std::max_element(classes.begin(), classes.end(),
                         [](const Class& a, const Class& b) { return a.busy < b.busy; });
    report.boundBy = longest->bound;
    std::stable_sort(report.busy.begin(), report.busy.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
}

// The FLOP/s that the matrix unit reaches with the products of this run, each at its own rate.
Roof Accounting::matrixRoof(const chip::Unit& matrix) const
{
    std::map<std::pair<DType, std::int32_t>, double> flops;
    for (std::size_t id = 0; id < m_sums.instances.size(); ++id) {
        for (const trace::Products& one : m_info.templates[id].products) {
            flops[{one.dtype, one.passes}] +=
                static_cast<double>(one.flops.value()) * static_cast<double>(m_sums.instances[id]);
        }
    }
    double all = 0, seconds = 0;
    std::string names;
    for (const auto& [run, count] : flops) {
        const auto rate = matrix.matrixRates.find(run.first);
        if (count > 0 && rate != matrix.matrixRates.end()) {
            all += count;
            seconds += count * run.second / rate->second.peakFlopsPerSecond;
            names += (names.empty() ? "" : " and ") + std::string(dtypeName(run.first))
                     + (run.second > 1 ? " x " + std::to_string(run.second) : "");
        }
    }
    return seconds > 0 ? Roof{names + " " + matrix.name, all / seconds, matrix.name}
                       : inputsRoof(matrix);
}

// For a trace that does not say how its products run: the rate of the first input's dtype that has
// one, or the fastest rate if none has.
Roof Accounting::inputsRoof(const chip::Unit& matrix) const
{
    for (const trace::Operand& operand : m_info.operands) {
        const auto rate = matrix.matrixRates.find(operand.dtype);
        if (operand.direction == trace::Direction::In && rate != matrix.matrixRates.end()) {
            return {std::string(dtypeName(operand.dtype)) + " " + matrix.name,
                    rate->second.peakFlopsPerSecond, matrix.name};
        }
    }
    double fastest = 0;
    for (const auto& [dtype, rate] : matrix.matrixRates) {
        fastest = std::max(fastest, rate.peakFlopsPerSecond);
    }
    return {matrix.name, fastest, matrix.name};
}

std::optional<Roof> Accounting::peak(const Report& report) const
{
    if (report.flops == Flops(0)) {
        return std::nullopt;
    }
    const chip::Unit* matrix = m_chip.unitOf(UnitKind::Matrix);
    const bool dots =
        matrix != nullptr
        && std::any_of(report.flopsByUnit.begin(), report.flopsByUnit.end(),
                       [&](const auto& entry) { return entry.first == matrix->name; });
    if (dots) {
        return matrixRoof(*matrix);
    }
    const chip::Unit* vector = m_chip.unitOf(UnitKind::Vector);
    Flops most;
    // Other kinds of agents have vector units of their own.
    for (const auto& [name, flops] : report.flopsByUnit) {
        for (const chip::Unit& unit : m_chip.units) {
            if (unit.kind == UnitKind::Vector && unit.name == name && flops > most) {
                vector = &unit;
                most = flops;
            }
        }
    }
    return vector == nullptr
               ? std::nullopt
               : std::optional(Roof{"32-bit " + vector->name,
                                    vector->peakFlopsPerSecond * (multipliesOnVector() ? 2 : 1),
                                    vector->name});
}

// Whether products of matrices ran, which is asked where no matrix unit did any. An instruction of
// these multiplies and adds, which counts as two FLOPs, whereas the peak of a vector unit is that
// of instructions that count as one.
bool Accounting::multipliesOnVector() const
{
    for (std::size_t id = 0; id < m_sums.instances.size(); ++id) {
        if (m_sums.instances[id] > 0 && !m_info.templates[id].products.empty()) {
            return true;
        }
    }
    return false;
}

void Accounting::roofline(Report& report) const
{
    Roofline& roofline = report.roofline;
    const trace::Link& link = m_info.links.front();
    const double devices = m_info.deviceCount();
    roofline.memory = {kindOf(link), BytesPerSecond(link.datasheet.value() * devices),
                       BytesPerSecond(link.achieved.value() * devices)};
    roofline.peak = peak(report);
    if (!roofline.peak) {
        return;
    }
    roofline.peak->flopsPerSecond *= devices;
    report.peakFlopsPerSecond = roofline.peak->flopsPerSecond;
    report.utilization = report.flopsPerSecond / report.peakFlopsPerSecond;
    roofline.ridge = report.peakFlopsPerSecond / roofline.memory.datasheet.value();
    roofline.ceilings = ceilingsOf(report, m_info, m_sums, m_chip);
    Picoseconds longest;
    for (std::size_t unit = 0; unit < m_info.units.size(); ++unit) {
        longest = std::max(longest, unitBusy(unit));
    }
    const double seconds = toSeconds(longest + report.split.stepOverhead).value();
    if (seconds > 0 && report.split.stepOverhead > Picoseconds(0)) {
        roofline.stepCeiling = static_cast<double>(report.flops.value()) / seconds;
    }
}

Result<Report> reportOf(const trace::Info& info, const trace::Summary& sums, const chip::Chip& chip,
                        const trace::Trace* rows)
{
    if (info.links.empty()) {
        return userError("The trace lists no link, so it has no roofline; use a trace of a chip "
                         "that has links.");
    }
    Report report;
    Accounting(info, sums, chip).run(report);
    report.losses = lossesOf(report, info, sums, chip, rows);
    if (!report.isStopped()) {
        report.band = bandOf(report, chip);
    }
    return report;
}

} // namespace

Result<Report> report(const trace::Trace& trace)
{
    const Result<chip::Chip> chip = chip::parse(trace.info().chipJson, "in the trace");
    if (!chip) {
        return chip.error();
    }
    Result<Report> made = reportOf(trace.info(), trace::summaryOf(trace), *chip, &trace);
    if (made) {
        made->freshWaits = freshWaits(trace, *chip);
    }
    return made;
}

Result<Report> report(const trace::Info& info, const trace::Summary& sums, const chip::Chip& chip)
{
    return reportOf(info, sums, chip, nullptr);
}

} // namespace pallascope::analysis
