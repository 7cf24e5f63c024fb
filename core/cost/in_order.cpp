#include "core/cost/in_order.h"

#include "core/cost/place.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pallascope::cost {

namespace {

using ir::OpKind;

// Numbers the sections of a segment's operations.
class Sections
{
public:
    explicit Sections(const ir::Program& program)
        : m_program(program)
    {}

    std::size_t add(const ir::Operation& operation)
    {
        const OpKind kind = ir::opEntry(operation.code).kind;
        std::size_t section =
            kind == OpKind::Memory ? m_lastAccess : 0; // accesses keep their order
        for (const ir::ValueId operand : operation.operands) {
            if (!m_program.value(operand).literal) {
                section = std::max(section, m_first[operand]);
            }
        }
        if (kind == OpKind::Dot) { // it reads whole operands, which come to it in the one before
            ++section;
        }
        if (kind == OpKind::Memory) {
            m_lastAccess = section;
        }
        const bool isWhole =
            kind == OpKind::Reduction || kind == OpKind::Dot || kind == OpKind::Crosslane;
        for (const ir::ValueId result : operation.results) {
            m_first[result] = section + (isWhole ? 1 : 0);
        }
        return section;
    }

private:
    const ir::Program& m_program;
    std::map<ir::ValueId, std::size_t> m_first; // the section from which a value can be used
    std::size_t m_lastAccess = 0;
};

// Each partition of a multiprocessor has a scheduler, lanes and a tensor core of its own, and gets
// its warps in turn (NVIDIA's whitepapers since Volta). What moves values between lanes, or
// from and to shared memory, belongs to all of them.
bool isOfPartitions(UnitKind kind)
{
    return kind == UnitKind::Matrix || kind == UnitKind::Vector || kind == UnitKind::Transcendental
           || kind == UnitKind::Scalar;
}

// The threads that run a segment.
struct Threads
{
    std::int64_t warpgroups = 1; // that divide the work
    double idle = 1;             // how many times as long units take, as partitions have no warp
};

struct Section
{
    std::map<std::int32_t, Cycles> units; // how long each has work
    Cycles chain, begin;

    // With an even share of the work. `slowed`: while the tensor core of the SM works.
    [[nodiscard]] Cycles length(const chip::Chip& chip, bool slowed, Threads threads) const
    {
        return std::max(chain, work(chip, slowed, threads));
    }

    [[nodiscard]] Cycles work(const chip::Chip& chip, bool slowed, Threads threads) const
    {
        Cycles longest;
        for (const auto& [number, cycles] : units) {
            const chip::Unit& unit = chip.units[static_cast<std::size_t>(number)];
            const double factor = (slowed ? unit.slowedByProducts : 1)
                                  * (isOfPartitions(unit.kind) ? threads.idle : 1)
                                  / static_cast<double>(threads.warpgroups);
            longest = std::max(longest, scaled(cycles, factor));
        }
        return longest;
    }

    [[nodiscard]] Cycles delaysProducts(const chip::Chip& chip) const
    {
        Cycles all;
        for (const auto& [unit, cycles] : units) {
            all += scaled(cycles, chip.units[static_cast<std::size_t>(unit)].delaysProducts);
        }
        return all;
    }

private:
    static Cycles scaled(Cycles cycles, double factor)
    {
        return Cycles(std::llround(static_cast<double>(cycles.value()) * factor));
    }
};

// How long they take one after the other. Warpgroups that divide each section follow each other,
// by the longest one, as the schedulers serve the oldest first.
Cycles lasting(const std::vector<Section>& sections, const chip::Chip& chip, bool slowed,
               Threads threads)
{
    Cycles sum, longest;
    for (const Section& section : sections) {
        sum += section.length(chip, slowed, threads);
        longest = std::max(longest, section.work(chip, slowed, threads));
    }
    return sum + longest * (threads.warpgroups - 1);
}

// The section of an operation's work for a unit: what brings a product its operands comes first.
std::size_t sectionOfDemand(const ir::Operation& operation, std::size_t section,
                            const Demand& demand, const chip::Chip& chip)
{
    const UnitKind kind = chip.units[static_cast<std::size_t>(demand.unit)].kind;
    const bool brings = ir::opEntry(operation.code).kind == OpKind::Dot
                        && (kind == UnitKind::Load || kind == UnitKind::Store);
    return brings ? section - 1 : section;
}

// Each section's operations from its begin on.
void placeOneByOne(std::span<const ir::Operation* const> operations,
                   const std::vector<OperationCost>& costs, const chip::Chip& chip,
                   const std::vector<std::size_t>& sectionOf, Threads threads,
                   std::vector<Section>& sections, SegmentCost& out)
{
    Cycles begin;
    for (Section& section : sections) {
        section.begin = begin;
        begin += section.length(chip, false, threads);
        section.units.clear();
    }
    Cycles retired;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        Cycles end = sections[sectionOf[i]].begin + costs[i].chain;
        for (const Demand& demand : costs[i].demands) {
            Section& section =
                sections[sectionOfDemand(*operations[i], sectionOf[i], demand, chip)];
            Cycles& used = section.units[demand.unit];
            out.places.push_back(
                {demand.unit, operations[i]->id, section.begin + used, demand.cycles});
            used += demand.cycles;
            end = std::max(end, section.begin + used);
        }
        retired = std::max(retired, end);
        out.operations.push_back(operations[i]->id);
        out.retire.push_back(retired);
    }
}

} // namespace

void placeInSections(const ir::Program& program, std::span<const ir::Operation* const> operations,
                     const std::vector<OperationCost>& costs, const chip::Chip& chip,
                     const Runner& runner, SegmentCost& out)
{
    constexpr double kGroup = chip::kWarpgroupThreads; // a warp on each partition
    const Threads by{.warpgroups = runner.warpgroups(),
                     .idle = std::max(1.0, kGroup / static_cast<double>(runner.threads))};
    Sections numbers(program);
    std::vector<std::size_t> sectionOf;
    std::vector<Section> sections;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        sectionOf.push_back(numbers.add(*operations[i]));
        sections.resize(std::max(sections.size(), sectionOf.back() + 1));
        Section& section = sections[sectionOf.back()];
        section.chain = std::max(section.chain, costs[i].chain);
        for (const Demand& demand : costs[i].demands) {
            sections[sectionOfDemand(*operations[i], sectionOf[i], demand, chip)]
                .units[demand.unit] += demand.cycles;
        }
    }
    for (const Section& section : sections) {
        out.delays += section.delaysProducts(chip);
    }
    Cycles slowed = lasting(sections, chip, true, by);
    out.cycles = lasting(sections, chip, false, by);
    if (by.warpgroups == 1) {
        placeOneByOne(operations, costs, chip, sectionOf, by, sections, out);
    } else { // they share the units
        const Section whole{.units = workOf(costs)};
        slowed = std::max(slowed, whole.work(chip, true, {}));
        out.cycles = std::max(out.cycles, whole.work(chip, false, {}));
        placeWithin(program, operations, costs, whole.units, out);
    }
    out.slowed = slowed - out.cycles;
}

} // namespace pallascope::cost
