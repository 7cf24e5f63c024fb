#include "app/window/history_teller.h"

#include "views/fonts.h"
#include "views/layout/run/position.h"

#include <algorithm>
#include <utility>

namespace pallascope::app {

using namespace layout;
using views::text;

namespace {

// What the element is that the numbers stand around.
values::Kind kindOf(const ValuesSight& sight)
{
    const values::Region& region = sight.frame.numbers;
    const std::int64_t row = sight.plane.rowOf(sight.element) - region.row;
    const std::int64_t column = sight.plane.columnOf(sight.element) - region.column;
    if (row < 0 || row >= region.rows || column < 0 || column >= region.columns) {
        return values::Kind::None;
    }
    const auto at = static_cast<std::size_t>(row * region.columns + column);
    return at < sight.numbers.size() ? sight.numbers[at].kind : values::Kind::None;
}

// The command line numbers steps over the whole run, the window those of each kernel.
HistoryTable withStepsOfKernels(HistoryTable table, const RunView& run)
{
    const auto found = std::find(table.columns.begin(), table.columns.end(), "step");
    if (found == table.columns.end()) {
        return table;
    }
    const auto column = static_cast<std::size_t>(found - table.columns.begin());
    for (HistoryRow& row : table.rows) {
        if (row.step) {
            row.cells[column] = layout::stepOfKernel(run, *row.step);
        }
    }
    return table;
}

} // namespace

HistoryTeller::HistoryTeller(ValuesJobs& jobs, Viewpoint& viewpoint, ValuesHistory& list)
    : m_jobs(jobs)
    , m_viewpoint(viewpoint)
    , m_list(list)
{
    m_delay.setSingleShot(true);
    m_delay.setInterval(kHistoryAfterMs);
    connect(&m_delay, &QTimer::timeout, this, &HistoryTeller::ask);
    connectList();
    connect(&m_jobs, &ValuesJobs::told, this, &HistoryTeller::take);
    connect(&m_jobs, &ValuesJobs::notTold, this,
            [this](const std::string& why) { m_list.fail(text(why)); });
    connect(&m_jobs, &ValuesJobs::progressed, this, [this] {
        if (m_asked && m_jobs.isTelling()) {
            m_list.await(m_element, m_jobs.share());
        }
    });
    connect(&m_viewpoint, &Viewpoint::nowChanged, this,
            [this] { m_list.setNow(m_viewpoint.state().now); });
}

void HistoryTeller::connectList()
{
    const auto toggle = [this](bool ofNan) {
        return [this, ofNan](bool on) { on ? tell(ofNan) : stop(); };
    };
    connect(m_list.historyButton(), &QAbstractButton::clicked, this, toggle(false));
    connect(m_list.nanButton(), &QAbstractButton::clicked, this, toggle(true));
    connect(&m_list, &ValuesHistory::cancelled, this, &HistoryTeller::stop);
    connect(&m_list, &ValuesHistory::rowChosen, this, &HistoryTeller::goToRow);
}

void HistoryTeller::tell(bool ofNan)
{
    m_list.historyButton()->setChecked(!ofNan);
    m_list.nanButton()->setChecked(ofNan);
    m_list.setOpen(true);
    ask();
}

void HistoryTeller::stop()
{
    m_jobs.stopTelling();
    m_delay.stop();
    m_asked.reset();
    m_list.historyButton()->setChecked(false);
    m_list.nanButton()->setChecked(false);
    m_list.setOpen(false);
}

// Of the element that is shown now.
void HistoryTeller::ask()
{
    const auto& sight = m_shown.sight;
    if (!m_list.isOpen() || !sight || sight->plane.elements == 0) {
        return;
    }
    const HistoryAsk next{m_shown.ref, indexOf(sight->shape, sight->element),
                          m_list.nanButton()->isChecked()};
    if (m_asked == next) {
        return;
    }
    m_asked = next;
    m_element = text(m_shown.name + "[" + join(next.index, ",") + "]");
    m_list.await(m_element, 0);
    m_jobs.tell(next);
}

void HistoryTeller::take(const HistoryAsk& ask, const HistoryTable& table)
{
    if (m_asked == ask && m_shown.run) {
        m_list.show(withStepsOfKernels(table, *m_shown.run));
        m_list.setNow(m_viewpoint.state().now);
        Q_EMIT told();
    }
}

void HistoryTeller::follow(Shown shown)
{
    m_shown = std::move(shown);
    const auto& sight = m_shown.sight;
    const values::Kind kind =
        !m_shown.isDifference && sight->unknown.empty() ? kindOf(*sight) : values::Kind::None;
    const bool isUndefined = kind == values::Kind::Undefined;
    m_list.nanButton()->setText(isUndefined ? tr("follow undefined") : tr("follow NaN"));
    m_list.nanButton()->setVisible(isUndefined || kind == values::Kind::Nan
                                   || m_list.nanButton()->isChecked());
    m_list.historyButton()->setEnabled(!m_shown.isDifference);
    if (m_list.isOpen()) {
        m_delay.start(); // while the cursor moves, nothing is asked
    }
}

void HistoryTeller::goToRow(const HistoryRow& row)
{
    m_viewpoint.setPlaying(false);
    if (row.operation) {
        m_viewpoint.select(target::Operation{row.operation->number, {}});
    } else if (row.copy) {
        m_viewpoint.select(target::Copy{row.copy->number});
    }
    if (row.time) {
        m_viewpoint.setFirstSourceLine(0); // the source follows the playhead again
        m_viewpoint.setNow(*row.time);
    }
}

} // namespace pallascope::app
