#include "app/window/sweep_dialog.h"

#include "app/run_job/sweep_picture.h"
#include "app/window/help.h"
#include "app/window/request_fields.h"
#include "app/window/sweep_chart.h"
#include "app/window/sweep_fields.h"
#include "app/window/sweep_table.h"
#include "app/window/window_app.h"
#include "core/base/format.h"
#include "core/base/whole_file.h"
#include "views/fonts.h"

#include <QFileInfo>
#include <QHBoxLayout>

#include <algorithm>

namespace pallascope::app {
namespace {

using namespace Qt::StringLiterals;
using views::text;

constexpr QSize kDialogSize(1120, 700);
constexpr QSize kLeastDialog(820, 480);
constexpr int kPatience = 8; // a picture that takes long is drawn this much less often

// What stays the same in all runs: "m=8192 n=8192".
QString fixedWords(const RunRequest& request, const std::vector<std::string>& over)
{
    QStringList words;
    for (const auto& [name, value] : request.parameters) {
        const bool varies = std::ranges::any_of(
            over, [&](const std::string& range) { return range.starts_with(name + "="); });
        if (!varies) {
            words.append(text(name + "=" + value));
        }
    }
    return words.join(u' ');
}

// The chips of a sweep as a run asks for them: files by their paths, others by their names.
std::vector<std::string> namesOfChips(const std::string& typed, const study::SweepPlan& plan)
{
    std::vector<std::string> names = splitAtCommas(typed);
    names.resize(plan.chips.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!QFileInfo(text(names[i])).isFile()) {
            names[i] = plan.chips[i].name;
        }
    }
    return names;
}

} // namespace

SweepDialog::SweepDialog(QWidget* parent)
    : QDialog(parent)
{
    setWindowTitle(tr("Sweep"));
    setModal(false);
    setMinimumSize(kLeastDialog);
    resize(kDialogSize);
    auto* columns = new QHBoxLayout(this);
    columns->setContentsMargins(16, 14, 16, 14);
    columns->setSpacing(14);
    columns->addWidget(makeLeft());
    columns->addWidget(makeRight(), 1);
    connectRows();
    connect(&m_runs, &SweepRuns::prepared, this, &SweepDialog::begin);
    connect(&m_runs, &SweepRuns::came, this, &SweepDialog::add);
    connect(&m_runs, &SweepRuns::finished, this, &SweepDialog::finish);
    setRunning(false);
}

void SweepDialog::connectRows()
{
    connect(m_chart, &SweepChart::rowChosen, this,
            [this](std::size_t row) { m_table->choose(row); });
    connect(m_chart, &SweepChart::rowOpened, this, &SweepDialog::openChosen);
    connect(m_table, &SweepTable::chosenChanged, this, [this] {
        m_chart->choose(m_table->chosen());
        m_open->setEnabled(m_table->chosen().has_value());
    });
    connect(m_table, &SweepTable::opened, this, &SweepDialog::openChosen);
}

void SweepDialog::ask(const RunRequest& request)
{
    if (!m_runs.isRunning()) {
        m_asked = request;
        setWindowTitle(tr("Sweep of %1").arg(QFileInfo(text(request.kernel)).fileName()));
        m_fields->show(request);
        m_hint->setText(m_fields->inOrder().size() == 1
                            ? tr("The parameters of this kernel are fixed, so only the chip "
                                 "varies. Separate the names of chips by commas.")
                            : tr("Values to try: 256,512 or 128:1024:*2 or 128:512:+128. "
                                 "A field that is empty does not vary."));
        setTabOrders();
    }
    show();
    raise();
    activateWindow();
}

// The fields, which were made last, come first.
void SweepDialog::setTabOrders()
{
    QList<QWidget*> order = m_fields->inOrder();
    order.front()->setFocus();
    order += {m_cancel, m_start, m_chart, m_table, m_save, m_export, m_open};
    for (qsizetype i = 1; i < order.size(); ++i) {
        setTabOrder(order[i - 1], order[i]);
    }
}

void SweepDialog::follow()
{
    const QString kernel = QFileInfo(text(m_asked.kernel)).fileName();
    const QString fixed = fixedWords(m_asked, m_fields->over());
    m_what->setText(fixed.isEmpty() ? kernel : tr("%1 with %2").arg(kernel, fixed));
    const auto count = m_fields->count(false);
    m_count->setText(count ? text(counted(static_cast<std::int64_t>(*count), "run", "runs"))
                           : QString());
}

void SweepDialog::start()
{
    const auto count = m_fields->count(true);
    if (!count || m_runs.isRunning()) {
        return;
    }
    SweepRequest request{{m_asked.kernel}, m_fields->over(),  m_asked.parameters,
                         m_asked.settings, m_fields->chips(), programVersion()};
    for (const std::string& range : request.over) {
        request.fixed.erase(range.substr(0, range.find('=')));
    }
    if (request.chips.empty()) {
        request.chips = m_asked.chip;
    }
    m_pending = m_asked;
    m_pending.chip = request.chips;
    m_all = *count;
    m_table->rows().begin(nullptr); // of another sweep, which the buttons would take for this one
    m_table->hide();
    m_chart->clear();
    setRunning(true);
    say(tr("0 of %1").arg(text(countText(static_cast<std::int64_t>(m_all)))), false);
    m_runs.start(std::move(request));
}

void SweepDialog::begin(const std::shared_ptr<const SweepJob>& job)
{
    m_swept = m_pending;
    m_chips = namesOfChips(m_swept.chip, job->plan);
    m_table->rows().begin(job);
    m_table->show();
    m_table->sortByColumn(-1, Qt::AscendingOrder);
    m_sinceDrawn.invalidate();
    draw();
}

void SweepDialog::add(const std::vector<SweepRuns::Numbered>& rows)
{
    const bool isFirst = m_table->rows().rowCount() == 0;
    m_table->rows().add(rows);
    if (isFirst) {
        m_table->fitColumns();
    }
    const int done = m_table->rows().rowCount();
    m_progress->setMaximum(static_cast<int>(m_all));
    m_progress->setValue(done);
    say(tr("%1 of %2").arg(text(countText(done)), text(countText(static_cast<int>(m_all)))), false);
    if (!m_sinceDrawn.isValid() || m_sinceDrawn.elapsed() >= kPatience * m_drawing) {
        draw();
    }
}

void SweepDialog::draw()
{
    QElapsedTimer timer;
    timer.start();
    const SweepModel& model = m_table->rows();
    m_chart->show(sweepPicture(model.job()->subject.kernel, model.job()->plan, model.rows()));
    (void)m_chart->scene(); // which is laid out when it is asked for
    m_drawing = timer.elapsed();
    m_sinceDrawn.start();
    m_save->setEnabled(model.rowCount() > 0);
    m_export->setEnabled(model.rowCount() > 0);
}

void SweepDialog::finish(const std::optional<Error>& error)
{
    setRunning(false);
    if (error) {
        const bool isShown = m_fields->take(*error);
        say(isShown ? QString() : text(error->message), true);
        return;
    }
    draw();
    m_table->fitColumns();
    offerTheFastest();
    const Status any = checkAnyRuns(m_table->rows().rows());
    say(any ? tr("Values were not computed: a run that is opened can check them.")
            : text(any.error().message),
        !any);
}

// So that one key or click opens it. What was chosen meanwhile stays.
void SweepDialog::offerTheFastest()
{
    if (!m_table->chosen()) {
        m_table->choose(m_chart->fastest());
    }
    if (m_cancel->hasFocus() || focusWidget() == nullptr) { // which Start has left to it
        m_table->setFocus(Qt::OtherFocusReason);
    }
}

void SweepDialog::stop()
{
    m_runs.cancel();
    setRunning(false);
    const int done = m_table->rows().rowCount();
    say(tr("Cancelled after %1 of %2.")
            .arg(text(countText(done)), text(countText(static_cast<std::int64_t>(m_all)))),
        false);
    if (m_table->rows().job() != nullptr) {
        draw();
    }
}

void SweepDialog::openChosen()
{
    const auto chosen = m_table->chosen();
    const study::SweepRow* row = chosen ? m_table->rows().find(*chosen) : nullptr;
    if (row == nullptr) {
        return;
    }
    RunRequest request = m_swept;
    for (const auto& [name, value] : row->parameters) {
        putParameter(request, name, value);
    }
    request.chip = m_chips[*chosen % m_chips.size()]; // the chips vary fastest
    request.fullValues = request.check = false;       // as other changes of the form
    Q_EMIT opened(request);
}

bool SweepDialog::hasRows() const
{
    return isVisible() && (isRunning() || m_table->rows().rowCount() > 0);
}

void SweepDialog::saveRows(const QString& path)
{
    if (path.isEmpty()) {
        return;
    }
    const SweepModel& model = m_table->rows();
    const Status saved =
        writeFile(path.toStdString(), study::toJson(model.job()->subject, model.rows()));
    say(saved ? tr("Saved %1").arg(path) : text(saved.error().message), !saved);
}

void SweepDialog::savePictureAs(const QString& path)
{
    if (path.isEmpty()) {
        return;
    }
    const Status saved = savePicture(m_chart->scene(), m_theme, path.toStdString());
    say(saved ? tr("Saved %1").arg(path) : text(saved.error().message), !saved);
}

void SweepDialog::setRunning(bool running)
{
    m_fields->setEnabled(!running);
    m_start->setEnabled(!running);
    m_cancel->setText(running ? tr("Cancel") : tr("Close"));
    m_progress->setVisible(running);
    m_progress->setRange(0, 0);
    const bool isAny = m_table->rows().rowCount() > 0;
    m_save->setEnabled(isAny && !running);
    m_export->setEnabled(isAny && !running);
    m_open->setEnabled(m_table->chosen().has_value());
}

void SweepDialog::say(const QString& sentence, bool error)
{
    m_status->setObjectName(error ? u"error"_s : u"hint"_s);
    m_status->setStyleSheet({}); // makes Qt look the name up again
    m_status->setText(sentence);
}

void SweepDialog::setTheme(layout::Theme theme)
{
    m_theme = theme;
    m_chart->setTheme(theme);
}

void SweepDialog::done(int result)
{
    if (m_runs.isRunning()) {
        stop();
    }
    QDialog::done(result);
}

} // namespace pallascope::app
