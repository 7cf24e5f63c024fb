// What the Values dock shows of a ref: it asks for pictures, takes them, and moves over them.
#include "app/window/values_panel.h"
#include "views/fonts.h"
#include "views/layout/run/kept_run.h"

#include <QFileDialog>

#include <algorithm>
#include <bit>

namespace pallascope::app {

using namespace layout;
using namespace Qt::StringLiterals;
using views::text;

namespace {

bool isPart(const ValuesSight& sight)
{
    return sight.frame.region.rows < sight.plane.rows
           || sight.frame.region.columns < sight.plane.columns;
}

} // namespace

void ValuesPanel::chooseElement(const std::vector<std::int64_t>& index)
{
    if (ref() == nullptr || index.size() != ref()->shape.rank()) {
        return;
    }
    m_choice.element = index;
    for (const auto& [axis, field] : m_axes) {
        field->setValueText(QString::number(index[axis]));
    }
    ask();
}

void ValuesPanel::ask()
{
    openIfSeen();
    if (!isVisible() || ref() == nullptr || !m_failure.empty()) {
        return;
    }
    m_jobs.ask({.time = m_session.viewpoint().state().now,
                .ref = static_cast<std::size_t>(m_ref->currentIndex()),
                .minus = m_minus,
                .agent = m_agent->currentData().toString().toStdString(),
                .choice = m_choice,
                .size = {static_cast<double>(m_picture->width()),
                         static_cast<double>(m_picture->height())}});
    if (!m_awaitedDelay.isActive() && !m_picture->awaited()) {
        m_awaitedDelay.start();
    }
}

void ValuesPanel::take(const ValuesAsk& ask, const std::shared_ptr<const ValuesSight>& sight)
{
    if (ask.ref != static_cast<std::size_t>(m_ref->currentIndex()) || ask.minus != m_minus) {
        return; // another one was chosen meanwhile
    }
    if (isPart(*sight) && !m_choice.corner && ask.choice.side == m_choice.side) {
        m_choice.corner = {sight->frame.region.row, sight->frame.region.column};
    }
    auto seen = std::make_shared<ValuesSight>(*sight);
    seen->resident = residents(ask, sight->plane);
    m_held = m_isLocked ? rangeOf(*sight, m_held) : std::nullopt;
    m_picture->show(seen, m_choice.scale, m_held);
    followElement();
    if (keptRun() != nullptr && !ask.minus && sight->unknown.empty()) {
        ViewState then = m_session.viewpoint().state();
        then.now = ask.time;
        m_jobs.compare(ask, seen, keptState(then).now);
    }
}

void ValuesPanel::takeKept(const std::shared_ptr<const ValuesSight>& sight,
                           const values::Counts& kept)
{
    if (sight == m_picture->sight()) {
        auto seen = std::make_shared<ValuesSight>(*sight);
        seen->kept = kept;
        m_picture->show(seen, m_choice.scale, m_held);
    }
}

// Of an array, what is in VMEM at the moment that is shown.
std::vector<values::Resident> ValuesPanel::residents(const ValuesAsk& ask,
                                                     const values::Plane& plane) const
{
    const ValuesRef& shown = m_refs[ask.ref];
    const trace::Info& info = m_opened->trace->info();
    if (shown.operand < 0 || shown.isBlock || ask.minus
        || info.operands[static_cast<std::size_t>(shown.operand)].array != shown.shape) {
        return {};
    }
    const auto agent = std::find(info.agents.begin(), info.agents.end(), ask.agent);
    const auto device = agent == info.agents.end()
                            ? 0
                            : info.deviceOf(static_cast<std::int32_t>(agent - info.agents.begin()));
    return values::residentsOf(*m_opened, ask.time, trace::OperandRow{shown.operand}, device,
                               plane);
}

void ValuesPanel::redraw()
{
    if (const auto sight = m_picture->sight()) {
        m_held = m_isLocked ? rangeOf(*sight, m_held) : std::nullopt;
        m_picture->show(sight, m_choice.scale, m_held);
    }
}

void ValuesPanel::fail(const std::string& why)
{
    m_failure = why;
    m_refs.clear();
    m_ref->clear();
    showNote();
    m_picture->show(nullptr, m_choice.scale, {}, why);
}

void ValuesPanel::showAwaited()
{
    const bool isLong = m_jobs.isBusy() && !m_awaitedDelay.isActive();
    m_picture->setAwaited(isLong ? std::optional(m_jobs.share()) : std::nullopt);
}

void ValuesPanel::moveCursor(int rows, int columns)
{
    const auto& sight = m_picture->sight();
    if (!sight || sight->plane.elements == 0 || !sight->unknown.empty()) {
        return;
    }
    // From where the cursor will be once all presses are answered.
    const std::int64_t from =
        m_choice.element ? numberOf(sight->shape, *m_choice.element) : sight->element;
    const std::int64_t row =
        std::clamp<std::int64_t>(sight->plane.rowOf(from) + rows, 0, sight->plane.rows - 1);
    const std::int64_t column = std::clamp<std::int64_t>(sight->plane.columnOf(from) + columns, 0,
                                                         sight->plane.columns - 1);
    const std::optional<std::int64_t> element = sight->plane.at(row, column);
    if (!element) {
        return;
    }
    if (m_choice.corner) { // keeps it in sight
        const auto& region = sight->frame.region;
        const auto into = [](std::int64_t first, std::int64_t at, std::int64_t count) {
            return at < first ? at : at >= first + count ? at - count + 1 : first;
        };
        const auto side = sight->frame.side;
        m_choice.corner = {into(m_choice.corner->first, row, region.rows),
                           into(m_choice.corner->second, column, region.columns)};
        m_choice.corner->first = ceilDiv(m_choice.corner->first, side) * side;
        m_choice.corner->second = ceilDiv(m_choice.corner->second, side) * side;
    }
    chooseElement(indexOf(sight->shape, *element));
}

void ValuesPanel::setSide(std::int64_t side,
                          std::optional<std::pair<std::int64_t, std::int64_t>> corner)
{
    m_choice.side = side;
    m_choice.corner = corner;
    m_side->setCurrentIndex(std::max(0, m_side->findData(QVariant::fromValue<qint64>(side))));
    ask();
}

// Keeps the element that the pointer is on where it is.
void ValuesPanel::zoom(int direction, std::int64_t element)
{
    const auto sight = m_picture->sight();
    const auto now = static_cast<std::uint64_t>(sight->frame.side);
    const auto side = static_cast<std::int64_t>(
        direction > 0 ? std::bit_floor(std::max<std::uint64_t>(now - 1, 1))
                      : std::bit_floor(now) * 2);
    if (side == sight->frame.side || side > kLargestValuesSide) {
        return;
    }
    const values::Frame next =
        values::frameOf(sight->plane, {.element = element, .side = side}, sight->size);
    const auto corner = [](std::int64_t at, std::int64_t first, std::int64_t count,
                           std::int64_t nextCount) {
        const double share = static_cast<double>(at - first) / static_cast<double>(count);
        return std::max<std::int64_t>(
            0, at - static_cast<std::int64_t>(share * static_cast<double>(nextCount)));
    };
    const auto& region = sight->frame.region;
    if (next.side < side) { // all of it is in sight
        setSide(0, {});
        return;
    }
    setSide(side, std::pair(corner(sight->plane.rowOf(element), region.row, region.rows,
                                   next.region.rows),
                            corner(sight->plane.columnOf(element), region.column, region.columns,
                                   next.region.columns)));
}

void ValuesPanel::subtract(std::optional<std::size_t> other)
{
    m_minus = other;
    m_held.reset();
    ask();
}

void ValuesPanel::copy()
{
    m_jobs.copy();
}

void ValuesPanel::save()
{
    if (ref() == nullptr) {
        return;
    }
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save values"), text(ref()->name) + u".npy"_s, tr("NumPy arrays (*.npy)"));
    if (!path.isEmpty()) {
        m_jobs.save(path);
    }
}

} // namespace pallascope::app
