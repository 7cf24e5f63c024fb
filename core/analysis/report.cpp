#include "core/analysis/report.h"

#include "core/base/check.h"
#include "core/chip/chip.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pallascope::analysis {

namespace {

using trace::Trace;

// Everything a report needs from the rows, gathered in one pass over each table.
class Accounting
{
public:
    Accounting(const Trace& trace, const chip::Chip& chip)
        : m_trace(trace)
        , m_info(trace.info())
        , m_chip(chip)
    {
        countInstances();
    }

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
    void countInstances();
    void identify(Report& report) const;
    void work(Report& report) const;
    void traffic(Report& report) const;
    void split(Report& report) const;
    void memory(Report& report) const;
    void bound(Report& report) const;
    void roofline(Report& report) const;
    [[nodiscard]] Picoseconds unitBusy(std::size_t unit) const;
    [[nodiscard]] Picoseconds idle() const;
    [[nodiscard]] std::optional<Roof> peak(const Report& report) const;

    const Trace& m_trace;
    const trace::Info& m_info;
    const chip::Chip& m_chip;
    std::vector<std::int64_t> m_instances; // per template
};

void Accounting::countInstances()
{
    m_instances.assign(m_info.templates.size(), 0);
    for (const std::int32_t id : m_trace.segments().templateId) {
        ++m_instances[static_cast<std::size_t>(id)];
    }
}

void Accounting::identify(Report& report) const
{
    report.kernel = m_info.kernel;
    report.parameters = m_info.parameters;
    report.chip = m_info.chip;
    if (!m_info.pipelines.empty()) {
        report.grid = m_info.pipelines.front().grid;
    }
    report.steps = static_cast<std::int64_t>(m_trace.steps().size());
    report.events = m_info.events;
    report.time = m_trace.end();
    const double cycles =
        toSeconds(report.time).value() * static_cast<double>(m_chip.agents.front().clock.value());
    report.cycles = Cycles(std::llround(cycles));
    report.check = m_info.check;
}

void Accounting::work(Report& report) const
{
    std::vector<Flops> useful(m_info.units.size());
    for (std::size_t id = 0; id < m_instances.size(); ++id) {
        const trace::SegmentTemplate& segment = m_info.templates[id];
        for (std::size_t unit = 0; unit < useful.size() && unit < segment.flopsByUnit.size();
             ++unit) {
            useful[unit] += segment.flopsByUnit[unit] * m_instances[id];
            report.executedFlops += segment.executedFlopsByUnit[unit] * m_instances[id];
        }
        report.transcendentals += segment.transcendentals * m_instances[id];
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
    const trace::Copies& copies = m_trace.copies();
    std::vector<std::array<Traffic, 2>> rows(m_info.operands.size());
    for (std::size_t i = 0; i < copies.size(); ++i) {
        Traffic& row = rows[static_cast<std::size_t>(copies.operand[i])][copies.out[i]];
        ++row.copies;
        row.bytes += Bytes(copies.bytes[i]);
        (copies.out[i] != 0 ? report.hbmWritten : report.hbmRead) += Bytes(copies.bytes[i]);
    }
    for (std::size_t operand = 0; operand < rows.size(); ++operand) {
        for (const bool out : {false, true}) {
            Traffic row = rows[operand][out ? 1 : 0];
            if (row.copies == 0) {
                continue;
            }
            row.operand = m_info.operands[operand].name;
            row.out = out;
            row.blockBytes = m_info.operands[operand].blockBytes;
            row.refetchFactor = ratio(row.bytes, m_info.operands[operand].arrayBytes);
            report.traffic.push_back(std::move(row));
        }
    }
    const Bytes all = report.hbmRead + report.hbmWritten;
    report.arithmeticIntensity = all > Bytes(0) ? static_cast<double>(report.flops.value())
                                                      / static_cast<double>(all.value())
                                                : 0;
}

void Accounting::split(Report& report) const
{
    const trace::Steps& steps = m_trace.steps();
    TimeSplit& split = report.split;
    for (std::size_t id = 0; id < m_instances.size(); ++id) {
        const trace::SegmentTemplate& segment = m_info.templates[id];
        (segment.kind == trace::SegmentKind::StepOverhead ? split.stepOverhead : split.compute) +=
            segment.duration * m_instances[id];
    }
    if (steps.size() == 0) {
        split.exposedCopies = m_trace.end() - split.compute - split.stepOverhead;
        return;
    }
    split.prologue = Picoseconds(steps.bodyBegin.front());
    split.epilogue = m_trace.end() - Picoseconds(steps.end.back());
    const trace::Waits& waits = m_trace.waits();
    std::int32_t stalled = trace::kNone;
    for (std::size_t i = 0; i < waits.size(); ++i) {
        const bool inPrologue = waits.begin[i] < steps.bodyBegin.front();
        const bool inEpilogue = waits.begin[i] >= steps.end.back() && waits.step[i] == trace::kNone;
        if (inPrologue || inEpilogue || waits.end[i] == waits.begin[i]) {
            continue;
        }
        split.exposedCopies += Picoseconds(waits.end[i] - waits.begin[i]);
        if (waits.step[i] != stalled) {
            stalled = waits.step[i];
            ++report.stalledSteps;
        }
    }
    PALLASCOPE_CHECK(split.total() == m_trace.end());
}

void Accounting::memory(Report& report) const
{
    const std::int32_t onChip = m_info.links.front().to; // where blocks are copied to
    for (const trace::Buffer& buffer : m_info.buffers) {
        if (buffer.memory != onChip) {
            continue;
        }
        report.vmemPeak += buffer.bytes;
        const bool scratch = buffer.operand < 0;
        const std::string& name =
            scratch ? buffer.name : m_info.operands[static_cast<std::size_t>(buffer.operand)].name;
        if (scratch || buffer.slot == 0) {
            report.vmemByOperand.push_back({name, Bytes(0), scratch});
        }
        report.vmemByOperand.back().bytes += buffer.bytes;
    }
    const trace::Memory& memory = m_info.memories[static_cast<std::size_t>(onChip)];
    report.vmemTemporariesEstimate = m_info.temporariesEstimate;
    report.vmemCapacity = memory.capacity;
    report.vmemScopedLimit = memory.scopedLimit.value_or(memory.capacity);
}

Picoseconds Accounting::unitBusy(std::size_t unit) const
{
    Picoseconds busy;
    for (std::size_t id = 0; id < m_instances.size(); ++id) {
        const trace::SegmentTemplate& segment = m_info.templates[id];
        if (segment.kind == trace::SegmentKind::StepOverhead) {
            continue;
        }
        Cycles cycles;
        for (const trace::Mark& mark : segment.marks) {
            cycles += mark.unit == static_cast<std::int32_t>(unit) ? mark.length : Cycles(0);
        }
        // A unit is busy for its share of the segment: exact where it sets the segment's length.
        if (segment.cycles > Cycles(0)) {
            const auto share = static_cast<__int128>(segment.duration.value()) * cycles.value()
                               / segment.cycles.value();
            busy += Picoseconds(static_cast<std::int64_t>(share)) * m_instances[id];
        }
    }
    return busy;
}

// Time in which neither a segment runs nor a link moves.
Picoseconds Accounting::idle() const
{
    std::vector<std::pair<std::int64_t, std::int64_t>> core, links;
    const trace::Segments& segments = m_trace.segments();
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const auto& segment = m_info.templates[static_cast<std::size_t>(segments.templateId[i])];
        core.emplace_back(segments.begin[i], segments.begin[i] + segment.duration.value());
    }
    const trace::Copies& copies = m_trace.copies();
    for (std::size_t i = 0; i < copies.size(); ++i) {
        links.emplace_back(copies.start[i], copies.end[i]);
    }
    if (m_info.links.size() > 1) {
        std::sort(links.begin(), links.end());
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> all(core.size() + links.size());
    std::merge(core.begin(), core.end(), links.begin(), links.end(), all.begin());
    std::int64_t covered = 0, until = 0;
    for (const auto& [begin, end] : all) {
        covered += std::max<std::int64_t>(0, end - std::max(begin, until));
        until = std::max(until, end);
    }
    return m_trace.end() - Picoseconds(covered);
}

void Accounting::bound(Report& report) const
{
    struct Class
    {
        std::string name;
        Picoseconds busy;
    };

    std::vector<Class> classes;
    for (std::size_t unit = 0; unit < m_info.units.size(); ++unit) {
        const trace::Unit& which = m_info.units[unit];
        const Picoseconds busy = unitBusy(unit);
        report.busy.emplace_back(which.name, busy);
        switch (which.kind) {
        case trace::UnitKind::Matrix:
        case trace::UnitKind::Vector:
        case trace::UnitKind::Transcendental:
        case trace::UnitKind::Crosslane:
            classes.push_back({"compute(" + which.name + ")", busy});
            break;
        case trace::UnitKind::Load:
        case trace::UnitKind::Store:
            classes.push_back({"memory(VMEM)", busy});
            break;
        case trace::UnitKind::Scalar:
            break; // bookkeeping counts as step overhead
        }
    }
    const trace::Copies& copies = m_trace.copies();
    std::vector<Picoseconds> linkBusy(m_info.links.size());
    for (std::size_t i = 0; i < copies.size(); ++i) {
        linkBusy[static_cast<std::size_t>(copies.link[i])] +=
            Picoseconds(copies.end[i] - copies.start[i]);
    }
    for (std::size_t link = 0; link < linkBusy.size(); ++link) {
        report.busy.emplace_back(m_info.links[link].name, linkBusy[link]);
        classes.push_back({"memory(" + m_info.links[link].name + ")", linkBusy[link]});
    }
    classes.push_back({"step_overhead", report.split.stepOverhead});
    classes.push_back({"latency", idle()});
    const auto longest =
        std::max_element(classes.begin(), classes.end(),
                         [](const Class& a, const Class& b) { return a.busy < b.busy; });
    report.boundBy = longest->name;
    std::stable_sort(report.busy.begin(), report.busy.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
}

std::optional<Roof> Accounting::peak(const Report& report) const
{
    if (report.flops == Flops(0)) {
        return std::nullopt;
    }
    const chip::Unit* matrix = m_chip.unitOf(chip::UnitKind::Matrix);
    const bool dots =
        matrix != nullptr
        && std::any_of(report.flopsByUnit.begin(), report.flopsByUnit.end(),
                       [&](const auto& entry) { return entry.first == matrix->name; });
    if (dots) {
        // The rate of the inputs' dtype; the fastest one if no input has a rate of its own.
        for (const trace::Operand& operand : m_info.operands) {
            const auto rate = matrix->matrixRates.find(operand.dtype);
            if (operand.direction == trace::Direction::In && rate != matrix->matrixRates.end()) {
                return Roof{std::string(dtypeName(operand.dtype)) + " " + matrix->name,
                            rate->second.peakFlopsPerSecond};
            }
        }
        double fastest = 0;
        for (const auto& [dtype, rate] : matrix->matrixRates) {
            fastest = std::max(fastest, rate.peakFlopsPerSecond);
        }
        return Roof{matrix->name, fastest};
    }
    const chip::Unit* vector = m_chip.unitOf(chip::UnitKind::Vector);
    return vector == nullptr
               ? std::nullopt
               : std::optional(Roof{"32-bit " + vector->name, vector->peakFlopsPerSecond});
}

void Accounting::roofline(Report& report) const
{
    Roofline& roofline = report.roofline;
    const trace::Link& link = m_info.links.front();
    roofline.memory = {link.name, link.datasheet, link.achieved};
    roofline.peak = peak(report);
    if (!roofline.peak) {
        return;
    }
    report.peakFlopsPerSecond = roofline.peak->flopsPerSecond;
    report.utilization = report.flopsPerSecond / report.peakFlopsPerSecond;
    roofline.ridge = report.peakFlopsPerSecond / link.datasheet.value();
    Picoseconds longest;
    for (std::size_t unit = 0; unit < m_info.units.size(); ++unit) {
        longest = std::max(longest, unitBusy(unit));
    }
    const double seconds = toSeconds(longest + report.split.stepOverhead).value();
    if (seconds > 0 && report.split.stepOverhead > Picoseconds(0)) {
        roofline.stepCeiling = static_cast<double>(report.flops.value()) / seconds;
    }
}

} // namespace

Result<Report> report(const Trace& trace)
{
    const Result<chip::Chip> chip = chip::parse(trace.info().chipJson, "in the trace");
    if (!chip) {
        return chip.error();
    }
    if (trace.info().links.empty()) {
        return userError(
            "The trace lists no link, so it has no roofline; a trace of a chip with one is right.");
    }
    Report report;
    Accounting(trace, *chip).run(report);
    return report;
}

} // namespace pallascope::analysis
