#include "core/analysis/stretches.h"

#include "core/cost/segment.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace pallascope::analysis {

namespace {

bool makesMasks(const std::string& operation)
{
    constexpr std::array<std::string_view, 8> kNames{"eq", "ne", "lt",       "le",
                                                     "gt", "ge", "select_n", "iota"};
    return std::find(kNames.begin(), kNames.end(), operation) != kNames.end();
}

} // namespace

void StretchAdder::add(const trace::SegmentTemplate& segment, std::int64_t instances,
                       Stretches& sums) const
{
    const auto all = static_cast<double>(instances);
    if (const auto at = static_cast<std::size_t>(m_roof.value_or(0));
        m_roof && at < segment.flopsByUnit.size()) {
        sums.useful += all * static_cast<double>(segment.flopsByUnit[at].value());
        sums.executed += all * static_cast<double>(segment.executedFlopsByUnit[at].value());
    }
    if (segment.cycles == Cycles(0)) {
        return;
    }
    std::map<std::int32_t, Cycles> totals;
    std::map<std::int32_t, Cycles> masks;
    for (const trace::Mark& mark : segment.marks) {
        totals[mark.unit] += mark.length;
        masks[mark.unit] += isOfMask(mark) ? mark.length : Cycles(0);
    }
    const double second = all * toSeconds(segment.duration).value()
                          / static_cast<double>(segment.cycles.value()); // seconds per cycle
    const auto found = m_roof ? totals.find(*m_roof) : totals.end();
    const Cycles own = found == totals.end() ? Cycles(0) : found->second;
    const Cycles units = std::max(own, std::min(segment.cycles, together(totals)));
    sums.busy += second * static_cast<double>(own.value());
    sums.chains += second * static_cast<double>((segment.cycles - units).value());
    if (const std::optional<std::int32_t> other = busiestOther(totals)) {
        const double over = second * static_cast<double>((units - own).value());
        const double masked = over * ratio(masks[*other], totals[*other]);
        sums.masks += masked;
        sums.others[*other] += over - masked;
    }
}

// A trace may name units that the chip file inside of it does not have.
Cycles StretchAdder::together(const std::map<std::int32_t, Cycles>& totals) const
{
    std::map<std::int32_t, Cycles> known;
    for (const auto& [unit, cycles] : totals) {
        const std::string& name = m_info.units[static_cast<std::size_t>(unit)].name;
        const auto found = std::find_if(m_chip.units.begin(), m_chip.units.end(),
                                        [&](const chip::Unit& one) { return one.name == name; });
        if (found != m_chip.units.end()) {
            known[static_cast<std::int32_t>(found - m_chip.units.begin())] = cycles;
        }
    }
    return cost::together(known, m_chip);
}

// Runs that were made only for their times do not record their operations.
bool StretchAdder::isOfMask(const trace::Mark& mark) const
{
    const auto row = static_cast<std::size_t>(mark.operation);
    const bool isScalar =
        m_info.units[static_cast<std::size_t>(mark.unit)].kind == UnitKind::Scalar;
    return !isScalar && mark.operation >= 0 && row < m_info.operations.size()
           && makesMasks(m_info.operations[row].name);
}

std::optional<std::int32_t>
StretchAdder::busiestOther(const std::map<std::int32_t, Cycles>& totals) const
{
    std::optional<std::int32_t> busiest;
    for (const auto& [unit, cycles] : totals) {
        if (unit != m_roof && cycles > Cycles(0) && (!busiest || cycles > totals.at(*busiest))) {
            busiest = unit;
        }
    }
    return busiest;
}

} // namespace pallascope::analysis
