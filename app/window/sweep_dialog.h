// Run → Sweep: fields for the values to try, the picture and the table of what comes of them, and a
// way to open one of the rows in the window. The window stays in use meanwhile.
#pragma once

#include "app/run_job/run_job.h"
#include "app/window/sweep_runs.h"
#include "views/layout/scene/theme.h"

#include <QDialog>
#include <QElapsedTimer>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

#include <optional>

namespace pallascope::app {

class SweepChart;
class SweepFields;
class SweepTable;

class SweepDialog : public QDialog
{
    Q_OBJECT

public:
    explicit SweepDialog(QWidget* parent);

    // Asks for a sweep around this request, and shows the dialog.
    void ask(const RunRequest& request);
    void setTheme(layout::Theme theme);
    void saveRows(const QString& path);
    void savePictureAs(const QString& path);

    [[nodiscard]] SweepFields& fields() { return *m_fields; }

    [[nodiscard]] SweepChart& chart() { return *m_chart; }

    [[nodiscard]] SweepTable& table() { return *m_table; }

    [[nodiscard]] bool isRunning() const { return m_runs.isRunning(); }

    // Whether it shows rows, or makes some, that would be lost with the window.
    [[nodiscard]] bool hasRows() const;

Q_SIGNALS:
    void opened(const pallascope::app::RunRequest& request); // a row, for the window to run

protected:
    void done(int result) override; // Escape and the title bar come here, too; cancels the sweep

private:
    QWidget* makeLeft();
    QWidget* makeRight();
    QPushButton* makeButton(const QString& name, const QString& label);
    void connectRows();
    void setTabOrders();
    void follow(); // brings the rest up to date with the fields
    void start();
    void stop();
    void begin(const std::shared_ptr<const SweepJob>& job);
    void add(const std::vector<SweepRuns::Numbered>& rows);
    void finish(const std::optional<Error>& error);
    void offerTheFastest();
    void draw();
    void openChosen();
    void setRunning(bool running);
    void say(const QString& sentence, bool error);

    RunRequest m_asked;               // what the fields vary
    RunRequest m_pending;             // the same of the sweep that is being prepared
    RunRequest m_swept;               // what the rows are around
    std::vector<std::string> m_chips; // the chips as a run asks for them
    std::size_t m_all = 0;            // how many rows the sweep has
    QElapsedTimer m_sinceDrawn;
    qint64 m_drawing = 0; // ms that the last picture took
    SweepFields* m_fields = nullptr;
    SweepChart* m_chart = nullptr;
    SweepTable* m_table = nullptr;
    QLabel *m_what = nullptr, *m_hint = nullptr, *m_count = nullptr, *m_status = nullptr;
    QProgressBar* m_progress = nullptr;
    QPushButton *m_start = nullptr, *m_cancel = nullptr, *m_open = nullptr, *m_save = nullptr,
                *m_export = nullptr;
    layout::Theme m_theme = layout::Theme::Light;
    SweepRuns m_runs;
};

} // namespace pallascope::app
