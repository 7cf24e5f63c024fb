#include "core/analysis/stretches.h"

#include "core/cost/segment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace pallascope::analysis {

namespace {

bool makesMasks(const std::string& operation)
{
    constexpr std::array<std::string_view, 8> kNames{"eq", "ne", "lt",       "le",
                                                     "gt", "ge", "select_n", "iota"};
    return std::find(kNames.begin(), kNames.end(), operation) != kNames.end();
}

// In seconds, of one cycle.
double cycleOf(const trace::SegmentTemplate& segment)
{
    return toSeconds(segment.duration).value() / static_cast<double>(segment.cycles.value());
}

} // namespace

void SavedSeconds::add(const SavedSeconds& other, double times)
{
    padding += times * other.padding;
    rate += times * other.rate;
    masks += times * other.masks;
    for (const auto& [unit, saved] : other.units) {
        units[unit] += times * saved;
    }
}

std::optional<double> SavedSeconds::of(const Loss& loss, const trace::Info& info) const
{
    switch (loss.kind) {
    case LossKind::Padding:
        return padding;
    case LossKind::MatrixRate:
        return rate;
    case LossKind::Masks:
        return masks;
    case LossKind::Units:
        for (const auto& [unit, saved] : units) {
            if (info.units[static_cast<std::size_t>(unit)].name == loss.of) {
                return saved;
            }
        }
        return std::nullopt;
    default:
        return std::nullopt;
    }
}

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
    const auto [totals, masks] = totalsOf(segment);
    const double second = all * cycleOf(segment);
    const auto found = m_roof ? totals.find(*m_roof) : totals.end();
    const Cycles own = found == totals.end() ? Cycles(0) : found->second;
    const Cycles units = unitsTogether(segment, totals);
    sums.busy += second * static_cast<double>(own.value());
    sums.chains += second * static_cast<double>((segment.cycles - units).value());
    if (const std::optional<std::int32_t> other = busiestOther(totals)) {
        const double over = second * static_cast<double>((units - own).value());
        const double masked = over * ratio(masks.at(*other), totals.at(*other));
        sums.masks += masked;
        sums.others[*other] += over - masked;
    }
}

SavedSeconds StretchAdder::savedBy(const trace::SegmentTemplate& segment) const
{
    SavedSeconds saved;
    if (segment.cycles == Cycles(0)) {
        return saved;
    }
    const auto [totals, masks] = totalsOf(segment);
    const Cycles now = unitsTogether(segment, totals);
    const auto secondsWith = [&](std::int32_t unit, double cycles) {
        Totals changed = totals;
        changed[unit] = Cycles(std::llround(std::max(0.0, cycles)));
        return cycleOf(segment)
               * static_cast<double>((now - unitsTogether(segment, changed)).value());
    };
    for (const auto& [unit, cycles] : totals) {
        saved.units[unit] = unit == m_roof ? 0 : secondsWith(unit, 0);
    }
    if (const std::optional<std::int32_t> other = busiestOther(totals)) {
        const Cycles left = totals.at(*other) - masks.at(*other);
        saved.masks = secondsWith(*other, static_cast<double>(left.value()));
    }
    const auto own = m_roof ? totals.find(*m_roof) : totals.end();
    const auto at = static_cast<std::size_t>(m_roof.value_or(0));
    if (own == totals.end() || at >= segment.executedFlopsByUnit.size()) {
        return saved;
    }
    const auto executed = static_cast<double>(segment.executedFlopsByUnit[at].value());
    const auto cycles = static_cast<double>(own->second.value());
    if (executed > 0) {
        const auto useful = static_cast<double>(segment.flopsByUnit[at].value());
        saved.padding = secondsWith(*m_roof, cycles * std::min(1.0, useful / executed));
    }
    if (m_peak > 0) {
        const double atPeak = executed / m_peak * static_cast<double>(segment.clock.value());
        saved.rate = secondsWith(*m_roof, std::min(cycles, atPeak));
        saved.units[*m_roof] = saved.rate;
    }
    return saved;
}

// The cycles of each unit, and those of masks among them.
std::pair<StretchAdder::Totals, StretchAdder::Totals>
StretchAdder::totalsOf(const trace::SegmentTemplate& segment) const
{
    Totals totals, masks;
    for (const trace::Mark& mark : segment.marks) {
        totals[mark.unit] += mark.length;
        masks[mark.unit] += isOfMask(mark) ? mark.length : Cycles(0);
    }
    return {std::move(totals), std::move(masks)};
}

// How long the units of a segment take together, without what its operations wait for one another.
Cycles StretchAdder::unitsTogether(const trace::SegmentTemplate& segment,
                                   const Totals& totals) const
{
    const auto found = m_roof ? totals.find(*m_roof) : totals.end();
    const Cycles own = found == totals.end() ? Cycles(0) : found->second;
    return std::max(own, std::min(segment.cycles, together(totals)));
}

// A trace may name units that the chip file inside of it does not have.
Cycles StretchAdder::together(const Totals& totals) const
{
    Totals known;
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

std::optional<std::int32_t> StretchAdder::busiestOther(const Totals& totals) const
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
