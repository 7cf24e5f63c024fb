// The history of the chosen element in the Values dock, and the way of its NaN.
#include "app/window/values_history.h"
#include "app/window/values_panel.h"
#include "core/base/format.h"
#include "core/trace/pieces.h"
#include "views/fonts.h"

#include <algorithm>

namespace pallascope::app {

using namespace layout;
using views::text;

namespace {

// Whether the element that the numbers stand around is a NaN.
bool isNan(const ValuesSight& sight)
{
    const values::Region& region = sight.frame.numbers;
    const std::int64_t row = sight.plane.rowOf(sight.element) - region.row;
    const std::int64_t column = sight.plane.columnOf(sight.element) - region.column;
    if (row < 0 || row >= region.rows || column < 0 || column >= region.columns) {
        return false;
    }
    const auto at = static_cast<std::size_t>(row * region.columns + column);
    return at < sight.numbers.size() && sight.numbers[at].kind == values::Kind::Nan;
}

// The command line numbers steps over the whole run. The window counts those of each kernel, as its
// other views do: "2", or "2 of mix" where there are several kernels.
HistoryTable withStepsOfKernels(HistoryTable table, const RunView& run)
{
    const auto found = std::find(table.columns.begin(), table.columns.end(), "step");
    if (found == table.columns.end()) {
        return table;
    }
    const auto column = static_cast<std::size_t>(found - table.columns.begin());
    const trace::Steps& steps = run.trace->steps();
    for (HistoryRow& row : table.rows) {
        if (!row.step) {
            continue;
        }
        const std::size_t step = row.step->index();
        const trace::Info& info = run.trace->info();
        const trace::Pipeline& pipeline =
            info.pipelines[static_cast<std::size_t>(steps.pipeline[step])];
        const trace::Pieces& pieces = run.index->pieces(info.deviceOf(pipeline.agent));
        row.cells[column] = countText(steps.ordinal[step]);
        if (pieces.kernels > 1) {
            row.cells[column] +=
                " of " + pieces.all[pieces.at(Picoseconds(steps.begin[step]))].name;
        }
    }
    return table;
}

} // namespace

void ValuesPanel::connectHistory()
{
    m_askHistoryDelay.setSingleShot(true);
    m_askHistoryDelay.setInterval(kHistoryAfterMs);
    connect(&m_askHistoryDelay, &QTimer::timeout, this, &ValuesPanel::askHistory);
    connect(m_history->historyButton(), &QAbstractButton::clicked, this,
            [this](bool on) { on ? tellHistory(false) : stopHistory(); });
    connect(m_history->nanButton(), &QAbstractButton::clicked, this,
            [this](bool on) { on ? tellHistory(true) : stopHistory(); });
    connect(m_history, &ValuesHistory::cancelled, this, &ValuesPanel::stopHistory);
    connect(m_history, &ValuesHistory::rowChosen, this, &ValuesPanel::goToRow);
    connect(&m_jobs, &ValuesJobs::told, this,
            [this](const HistoryAsk& ask, const HistoryTable& table) {
                if (m_asked == ask) {
                    m_history->show(withStepsOfKernels(table, *m_opened));
                    m_history->setNow(m_session.viewpoint().state().now);
                    this->ask(); // the replay has lost its place
                }
            });
    connect(&m_jobs, &ValuesJobs::notTold, this,
            [this](const std::string& why) { m_history->fail(text(why)); });
    connect(&m_jobs, &ValuesJobs::progressed, this, [this] {
        if (m_asked && m_jobs.isTelling()) {
            m_history->await(elementText(), m_jobs.share());
        }
    });
    connect(&m_session.viewpoint(), &Viewpoint::nowChanged, m_history,
            [this] { m_history->setNow(m_session.viewpoint().state().now); });
}

// "out[3,5]"
QString ValuesPanel::elementText() const
{
    return m_asked && ref() != nullptr ? text(ref()->name + "[" + join(m_asked->index, ",") + "]")
                                       : QString();
}

void ValuesPanel::tellHistory(bool ofNan)
{
    m_history->historyButton()->setChecked(!ofNan);
    m_history->nanButton()->setChecked(ofNan);
    m_history->setOpen(true);
    askHistory();
}

void ValuesPanel::stopHistory()
{
    m_jobs.stopTelling();
    m_askHistoryDelay.stop();
    m_asked.reset();
    m_history->historyButton()->setChecked(false);
    m_history->nanButton()->setChecked(false);
    m_history->setOpen(false);
}

// Of the element that is shown now.
void ValuesPanel::askHistory()
{
    const auto& sight = m_picture->sight();
    if (!m_history->isOpen() || !sight || ref() == nullptr || sight->plane.elements == 0) {
        return;
    }
    const HistoryAsk next{static_cast<std::size_t>(m_ref->currentIndex()),
                          indexOf(sight->shape, sight->element),
                          m_history->nanButton()->isChecked()};
    if (m_asked == next) {
        return;
    }
    m_asked = next;
    m_history->await(elementText(), 0);
    m_jobs.tell(next);
}

// Called for every new picture.
void ValuesPanel::followElement()
{
    const auto& sight = m_picture->sight();
    const bool hasNan = sight && !m_minus && sight->unknown.empty() && isNan(*sight);
    m_history->nanButton()->setVisible(hasNan || m_history->nanButton()->isChecked());
    m_history->historyButton()->setEnabled(!m_minus);
    if (m_history->isOpen() && sight) {
        m_askHistoryDelay.start(); // while the cursor moves, nothing is asked
    }
}

void ValuesPanel::goToRow(const HistoryRow& row)
{
    Viewpoint& viewpoint = m_session.viewpoint();
    viewpoint.setPlaying(false);
    if (row.operation) {
        viewpoint.select(target::Operation{row.operation->number, {}});
    } else if (row.copy) {
        viewpoint.select(target::Copy{row.copy->number});
    }
    if (row.time) {
        viewpoint.setFirstSourceLine(0); // the source follows the playhead again
        viewpoint.setNow(*row.time);
    }
}

} // namespace pallascope::app
