// What the Values dock shows of a ref: it asks for pictures, takes them, and moves over them.
#include "app/window/values_panel.h"
#include "views/fonts.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/values/move.h"

#include <QFileDialog>

#include <algorithm>

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

// Of an array, what is in VMEM at the moment that is shown.
std::vector<values::Resident> residents(const RunView& run, const ValuesRef& ref,
                                        const ValuesAsk& ask, const ValuesSight& sight)
{
    const trace::Info& info = run.trace->info();
    if (sight.operand < 0 || ref.isBlock || ask.minus
        || info.operands[static_cast<std::size_t>(sight.operand)].array != sight.shape) {
        return {};
    }
    const auto agent = std::find(info.agents.begin(), info.agents.end(), ask.agent);
    const auto device = agent == info.agents.end()
                            ? ask.device.value_or(0)
                            : info.deviceOf(static_cast<std::int32_t>(agent - info.agents.begin()));
    return values::residentsOf(run, ask.time, trace::OperandRow{sight.operand}, device,
                               sight.plane);
}

} // namespace

void ValuesPanel::chooseElement(const std::vector<std::int64_t>& index)
{
    if (ref() == nullptr || index.size() != ref()->shape.rank()) {
        return;
    }
    m_choice.element = index;
    m_axes->setIndex(index);
    ask();
}

// The one that all views show; none if there is only one.
std::optional<std::int32_t> ValuesPanel::device() const
{
    const bool isOne = m_opened == nullptr || m_opened->trace->info().deviceCount() == 1;
    return isOne ? std::nullopt : std::optional(m_session.viewpoint().state().device);
}

void ValuesPanel::followDevice()
{
    m_axes->setDevice(device());
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
                .agent = m_axes->agent(),
                .device = device(),
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
    seen->resident = residents(*m_opened, m_refs[ask.ref], ask, *sight);
    m_picture->show(seen, m_colours->scale(), m_colours->rangeOf(*sight));
    m_history->setEnabled(true);
    m_teller.follow({m_opened, ask.ref, ref()->name, seen, m_minus.has_value()});
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
        m_picture->show(seen, m_colours->scale(), m_colours->range());
    }
}

void ValuesPanel::redraw()
{
    m_choice.scale = m_colours->scale();
    if (const auto sight = m_picture->sight()) {
        m_picture->show(sight, m_colours->scale(), m_colours->rangeOf(*sight));
    }
}

void ValuesPanel::fail(const std::string& why)
{
    m_failure = why;
    forgetRefs();
    showNote();
    m_picture->show(nullptr, m_colours->scale(), {}, why);
    m_teller.stop();
    m_teller.forget();
    m_history->setEnabled(false); // until there is an element of which it can tell
}

void ValuesPanel::showAwaited()
{
    const bool isLong = m_jobs.isBusy() && !m_awaitedDelay.isActive();
    m_picture->setAwaited(isLong ? std::optional(m_jobs.share()) : std::nullopt);
}

void ValuesPanel::moveCursor(int rows, int columns)
{
    const auto& sight = m_picture->sight();
    if (const auto next = sight ? values::moved(*sight, m_choice, rows, columns) : std::nullopt) {
        m_choice.corner = next->corner;
        chooseElement(*next->element);
    }
}

void ValuesPanel::setSide(std::int64_t side,
                          std::optional<std::pair<std::int64_t, std::int64_t>> corner)
{
    m_choice.side = side;
    m_choice.corner = corner;
    m_side->setCurrentIndex(std::max(0, m_side->findData(QVariant::fromValue<qint64>(side))));
    ask();
}

void ValuesPanel::zoom(int direction, std::int64_t element)
{
    if (const auto next = values::zoomed(*m_picture->sight(), direction, element)) {
        setSide(next->side, next->corner);
    }
}

void ValuesPanel::subtract(std::optional<std::size_t> other)
{
    m_minus = other;
    m_colours->forgetRange();
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
