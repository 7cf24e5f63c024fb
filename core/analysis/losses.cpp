#include "core/analysis/losses.h"

#include "core/analysis/chains.h"
#include "core/analysis/gains.h"
#include "core/analysis/gpu_waits.h"
#include "core/analysis/moved_bytes.h"
#include "core/analysis/owners.h"
#include "core/analysis/savings.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

namespace pallascope::analysis {

namespace {

Picoseconds ofSeconds(double seconds)
{
    constexpr double kMost = 9e6; // below 2^63 ps
    return seconds > 0 ? toPicoseconds(Seconds(std::min(seconds, kMost))) : Picoseconds(0);
}

// Scalars and views between fusions are segments like those of a kernel. A program that names
// neither kernels nor fusions is one kernel.
bool hasKernel(const trace::Info& info, const trace::Summary& sums)
{
    const auto hasOperation = [&](std::string_view name) {
        return std::any_of(info.operations.begin(), info.operations.end(),
                           [&](const trace::Operation& one) { return one.name == name; });
    };
    if (hasOperation("fusion") && !hasOperation("kernel")) {
        return false;
    }
    for (std::size_t id = 0; id < sums.instances.size(); ++id) {
        if (sums.instances[id] > 0 && info.templates[id].kind == trace::SegmentKind::Body) {
            return true;
        }
    }
    return false;
}

// The row of Info::units whose peak is the roof, if there is one.
std::optional<std::int32_t> roofRow(const Report& report, const trace::Info& info)
{
    for (std::size_t unit = 0; unit < info.units.size(); ++unit) {
        if (report.roofline.peak && info.units[unit].name == report.roofline.peak->unit) {
            return static_cast<std::int32_t>(unit);
        }
    }
    return std::nullopt;
}

struct OtherLink
{
    std::string kind;
    Picoseconds busy;
    bool joinsDevices = false;
};

class Waterfall
{
public:
    Waterfall(const Report& report, const trace::Info& info, const trace::Summary& sums,
              const chip::Chip& chip, const trace::Trace* rows)
        : m_report(report)
        , m_info(info)
        , m_sums(sums)
        , m_chip(chip)
        , m_rows(rows)
        , m_hasKernel(hasKernel(info, sums))
        , m_roof(roofRow(report, info))
        // If a function has no kernel, the roofline is that of its fusions.
        , m_fusions(m_hasKernel ? report.split.fusions : Picoseconds(0))
        , m_kernels(report.time - report.split.launches - m_fusions)
        , m_stretch(adder())
        , m_stretches(stretches())
        , m_savings(info, sums, m_stretch, segmentKind())
        , m_bytes(movedBytesOf(info, sums, m_hasKernel))
        , m_shareUsed(shareUsed())
    {}

    [[nodiscard]] Losses run() const
    {
        Chains all = chains({});
        const Picoseconds exposed = m_kernels - all.reached();
        Losses losses = ended(all, exposed);
        const auto gain = [&](std::span<const Loss> without) {
            Chains others = chains(without);
            const Picoseconds time = ended(others, exposed).total();
            return std::max(Picoseconds(0), m_report.time - time);
        };
        const std::vector<double> shorten = sharesThatShorten(losses.beyond);
        std::vector<Loss> ofSmallBlocks;
        Picoseconds kept; // of these, what no blocks can save
        for (std::size_t i = 0; i < losses.beyond.size(); ++i) {
            Loss& loss = losses.beyond[i];
            const Picoseconds whole = gain(std::span(&loss, 1));
            const Picoseconds most = mostGain(loss, m_report, m_info, m_sums, m_chip);
            loss.gain = std::min({whole, times(shorten[i], most), mostOfUnits(loss, shorten[i])});
            loss.keepsPart = loss.gain < whole || keepsPart(loss.kind);
            if (loss.kind == LossKind::StepOverhead || loss.kind == LossKind::Refetch) {
                ofSmallBlocks.push_back(loss);
                kept += std::max(Picoseconds(0), loss.time - most);
            }
        }
        losses.multiplies = multiplies();
        losses.gainOfLargerBlocks = std::max(Picoseconds(0), gain(ofSmallBlocks) - kept);
        return losses;
    }

private:
    [[nodiscard]] StretchAdder adder() const;
    [[nodiscard]] Stretches stretches() const;
    [[nodiscard]] std::vector<double> sharesThatShorten(std::span<const Loss> losses) const;
    [[nodiscard]] double unitsOfRoof() const;
    [[nodiscard]] OtherLink otherLink() const;
    [[nodiscard]] bool copiesMostlyJoinDevices() const;
    [[nodiscard]] Chains chains(std::span<const Loss> without) const;
    [[nodiscard]] Losses ended(Chains& chains, Picoseconds exposed) const;
    void throughput(Chains& chains) const;
    void otherLinks(Chains& chains) const;
    void units(Chains& chains) const;
    void overhead(Chains& chains) const;
    [[nodiscard]] double ownersOfRoof() const;
    [[nodiscard]] double shareUsed() const;

    // Of the segments whose work the terms explain.
    [[nodiscard]] trace::SegmentKind segmentKind() const
    {
        return m_hasKernel ? trace::SegmentKind::Body : trace::SegmentKind::Fusion;
    }

    [[nodiscard]] bool multiplies() const
    {
        return m_roof && m_info.units[static_cast<std::size_t>(*m_roof)].kind == UnitKind::Matrix;
    }

    // On a GPU without warpgroups that only copy; and agents that share the units of an SM take as
    // long together as the busiest of these.
    [[nodiscard]] Picoseconds compute() const
    {
        if (m_hasKernel && m_report.isGpu) {
            return std::min(std::max(m_sums.agents.ran, busiestUnit()), m_kernels);
        }
        return m_hasKernel ? m_report.split.compute : m_report.split.fusions - waitedAround();
    }

    // Of those of which each agent, or each SM, has its own.
    [[nodiscard]] Picoseconds busiestUnit() const
    {
        Picoseconds most;
        for (const auto& [name, busy] : m_report.busy) {
            const bool isUnit = std::ranges::any_of(
                m_info.units, [&](const trace::Unit& unit) { return unit.name == name; });
            most = isUnit ? std::max(most, busy) : most;
        }
        return most;
    }

    [[nodiscard]] Picoseconds waitedAround() const
    {
        return std::min(m_report.split.fusions,
                        Picoseconds(m_sums.waitedInFusions.value() / m_info.deviceCount()));
    }

    // Units work side by side, so that doing without one of them saves no more than until another
    // one is the busiest. On a GPU, agents that wait for each other wait less, too.
    [[nodiscard]] Picoseconds mostOfUnits(const Loss& loss, double shortens) const
    {
        const Picoseconds run =
            m_report.isGpu ? m_sums.agents.ran + m_sums.agents.others : compute();
        const std::optional<double> share = m_savings.shareOf(loss);
        return share ? times(shortens * *share, run) : m_report.time;
    }

    // Whether no change of a kernel is likely to save all of it.
    [[nodiscard]] bool keepsPart(LossKind kind) const
    {
        const bool isOfGpu = kind == LossKind::Waits || kind == LossKind::IdleCores;
        return kind == LossKind::Copies || (m_report.isGpu && isOfGpu);
    }

    const Report& m_report;
    const trace::Info& m_info;
    const trace::Summary& m_sums;
    const chip::Chip& m_chip;
    const trace::Trace* m_rows; // none: of a run that kept none
    // The members are in this order because each needs those before it.
    const bool m_hasKernel;
    const std::optional<std::int32_t> m_roof;
    const Picoseconds m_fusions, m_kernels;
    const StretchAdder m_stretch;
    const Stretches m_stretches;
    const Savings m_savings;
    const MovedBytes m_bytes;
    const double m_shareUsed; // of the units of the roof, above 0
};

StretchAdder Waterfall::adder() const
{
    const bool hasPeak = m_roof && m_report.roofline.peak;
    const double peak = hasPeak ? m_report.roofline.peak->flopsPerSecond / unitsOfRoof() : 0;
    return {m_info, m_chip, m_roof, peak};
}

// 1 where only the whole run tells. On a GPU, L2 and other blocks hide more than a step shows.
std::vector<double> Waterfall::sharesThatShorten(std::span<const Loss> losses) const
{
    return m_rows == nullptr || m_report.isGpu ? std::vector<double>(losses.size(), 1)
                                               : m_savings.sharesThatShorten(losses, *m_rows);
}

Stretches Waterfall::stretches() const
{
    Stretches sums;
    for (std::size_t id = 0; id < m_sums.instances.size(); ++id) {
        const trace::SegmentTemplate& segment = m_info.templates[id];
        if (segment.kind == segmentKind() && m_sums.instances[id] > 0) {
            m_stretch.add(segment, m_sums.instances[id], sums);
        }
    }
    return sums;
}

// How many units of the roof all devices have: one for each agent, or for each SM of a GPU.
double Waterfall::unitsOfRoof() const
{
    const auto owns = [&](const chip::AgentKind& kind) {
        return std::any_of(kind.units.begin(), kind.units.end(), [&](std::int32_t unit) {
            return m_chip.units[static_cast<std::size_t>(unit)].name
                   == m_report.roofline.peak->unit;
        });
    };
    auto kind = std::find_if(m_chip.agents.begin(), m_chip.agents.end(), owns);
    kind = kind == m_chip.agents.end() ? m_chip.agents.begin() : kind;
    const std::int64_t each = kind->sharesUnits ? 1 : kind->count;
    return static_cast<double>(each * kind->slots * m_info.deviceCount());
}

double Waterfall::ownersOfRoof() const
{
    return static_cast<double>(ownersOf(m_info, m_chip, static_cast<std::size_t>(*m_roof)));
}

double Waterfall::shareUsed() const
{
    const bool hasRoof = m_report.roofline.peak && m_roof;
    return hasRoof ? std::min(1.0, ownersOfRoof() / unitsOfRoof()) : 1;
}

// The busiest link of any kind but that of the roofline.
OtherLink Waterfall::otherLink() const
{
    OtherLink busiest;
    for (std::size_t row = 0; row < m_info.links.size(); ++row) {
        const std::string& kind = kindOf(m_info.links[row]);
        if (kind != m_report.roofline.memory.name && m_sums.linkBusy[row] > busiest.busy) {
            busiest = {kind, m_sums.linkBusy[row], m_info.hbmPasses(row) == 2};
        }
    }
    return busiest;
}

// Whether the busiest of all links leads to another device.
bool Waterfall::copiesMostlyJoinDevices() const
{
    const auto busiest = std::max_element(m_sums.linkBusy.begin(), m_sums.linkBusy.end());
    return m_info.deviceCount() > 1 && busiest != m_sums.linkBusy.end()
           && m_info.joinsDevices(static_cast<std::size_t>(busiest - m_sums.linkBusy.begin()));
}

// All terms except copies that computing does not hide, and except those of `without`.
Chains Waterfall::chains(std::span<const Loss> without) const
{
    Chains chains(m_kernels, without);
    throughput(chains);
    overhead(chains);
    return chains;
}

// Adds the copies that are not hidden, and what happens besides kernels.
Losses Waterfall::ended(Chains& chains, Picoseconds exposed) const
{
    // Blocks that are not copied again do not wait either. L2 serves most of those of a GPU.
    if (chains.leavesOut(LossKind::Refetch) && !m_report.isGpu && m_bytes.moved > 0) {
        exposed = times(m_bytes.once / m_bytes.moved, exposed);
    }
    chains.add(copiesMostlyJoinDevices() ? LossKind::DeviceCopies : LossKind::Copies, exposed);
    const Picoseconds ofFusions = chains.leavesOut(LossKind::Fusions)
                                      ? launchesOfFusions(m_info, m_sums, m_chip)
                                      : Picoseconds(0);
    chains.add(LossKind::Launches, m_report.split.launches - ofFusions);
    chains.add(LossKind::Fusions, m_fusions);
    return chains.take();
}

// Terms that keep units and links busy.
void Waterfall::throughput(Chains& chains) const
{
    const Slope& memory = m_report.roofline.memory;
    const double peak =
        m_report.roofline.peak && m_roof ? m_report.roofline.peak->flopsPerSecond : 0;
    const double rate = memory.datasheet.value();
    chains.begin(ofSeconds(peak > 0 ? m_stretches.useful / peak : 0),
                 ofSeconds(rate > 0 ? m_bytes.useful / rate : 0));
    if (peak > 0) {
        const std::string& unit = m_report.roofline.peak->unit;
        const double owners = ownersOfRoof();
        const double executed = m_stretches.executed / peak;
        chains.compute(LossKind::Padding, ofSeconds(executed), unit);
        chains.compute(multiplies() ? LossKind::MatrixRate : LossKind::Units,
                       ofSeconds(m_stretches.busy / owners * m_shareUsed), unit);
    }
    if (rate > 0) {
        chains.memory(LossKind::PaddedCopies, ofSeconds(m_bytes.once / rate), m_bytes.mostPadded);
        chains.memory(LossKind::Refetch, ofSeconds(m_bytes.moved / rate), m_bytes.mostAgain);
        chains.memory(LossKind::LinkRate, ofSeconds(m_bytes.moved / memory.achieved.value()),
                      memory.name);
    }
    otherLinks(chains);
    units(chains);
    chains.compute(LossKind::IdleCores, times(1 / m_shareUsed, chains.computed()));
}

// Each link between devices is taken to move the same share of padding.
void Waterfall::otherLinks(Chains& chains) const
{
    const OtherLink link = otherLink();
    const double share = link.joinsDevices ? m_bytes.paddingBetweenDevices : 0;
    const Picoseconds padding = ofSeconds(toSeconds(link.busy).value() * share);
    chains.link(LossKind::OtherLinks, link.busy - padding, link.kind);
    chains.link(LossKind::PaddedCopies, link.busy, m_bytes.mostPaddedBetweenDevices);
}

// The time that units other than the roof's add to computing, if all cores did it; each gets a
// share as large as its share in the run's segments.
void Waterfall::units(Chains& chains) const
{
    double all = m_stretches.chains + m_stretches.masks;
    for (const auto& [unit, time] : m_stretches.others) {
        all += time;
    }
    const Picoseconds from = chains.computed();
    const Picoseconds spread = times(m_shareUsed, compute());
    const auto over = static_cast<double>((spread - from).value());
    if (over <= 0 || all <= 0) {
        chains.compute(LossKind::Units, spread);
        return;
    }
    double done = 0;
    const auto part = [&](LossKind kind, double time, const std::string& of) {
        done += time;
        const double share = std::min(1.0, done / all);
        chains.compute(kind, from + Picoseconds(std::llround(over * share)), of);
    };
    for (const auto& [unit, time] : m_stretches.others) {
        part(LossKind::Units, time, m_info.units[static_cast<std::size_t>(unit)].name);
    }
    part(LossKind::Masks, m_stretches.masks, "");
    part(LossKind::Chains, m_stretches.chains, "");
}

// Terms beside computing; they count where copies do not take as long anyway.
void Waterfall::overhead(Chains& chains) const
{
    const TimeSplit& split = m_report.split;
    const auto more = [&](LossKind kind, Picoseconds time) {
        chains.compute(kind, chains.computed() + time);
    };
    // Cores that are not idle share the steps.
    const double share = chains.leavesOut(LossKind::IdleCores) && !m_report.isGpu ? m_shareUsed : 1;
    const Picoseconds steps = times(share, split.stepOverhead);
    more(LossKind::StepOverhead, steps);
    more(LossKind::Prologue, split.prologue);
    more(LossKind::Epilogue, split.epilogue);
    if (m_report.isGpu) {
        addGpuWaits(chains, m_kernels, {m_info, m_sums, m_chip});
        return;
    }
    more(LossKind::Waits, split.idle);
    // However well the others hide their copies, all end with the one that has most to do.
    chains.compute(LossKind::Waits, m_sums.busiest - (split.stepOverhead - steps));
}

} // namespace

Losses lossesOf(const Report& report, const trace::Info& info, const trace::Summary& sums,
                const chip::Chip& chip, const trace::Trace* rows)
{
    return Waterfall(report, info, sums, chip, rows).run();
}

} // namespace pallascope::analysis
