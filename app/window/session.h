// What the window looks at, in one place: the run, the view state, playback, the job under way.
// Views read it and report to it; they do not know each other. One signal per concern.
#pragma once

#include "app/run_job/run_job.h"
#include "app/window/playback.h"
#include "app/window/run_jobs.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/theme.h"
#include "views/navigation/stops.h"

#include <QObject>
#include <QString>

#include <memory>
#include <optional>

namespace pallascope::app {

using navigation::StepUnit;

// The job under way, and how the last one ended; shown in place (verdict strip, field of the form).
struct JobStatus
{
    bool running = false;
    QString what; // "re-running", "opening main.trace.json"
    double share = 0;
    QString error;     // one sentence, empty: none
    QString parameter; // the field of the form that the error is about, empty: none
    QString notice;    // "Saved main.trace.json", empty: none
    bool operator==(const JobStatus&) const = default;
};

class Session : public QObject
{
    Q_OBJECT

public:
    explicit Session(QObject* parent = nullptr);

    [[nodiscard]] const std::optional<FinishedRun>& run() const { return m_run; }

    [[nodiscard]] const layout::ViewState& state() const { return m_state; }

    [[nodiscard]] const JobStatus& job() const { return m_job; }

    // What was asked for last: the form shows it, whether it ran or not.
    [[nodiscard]] const RunRequest& request() const { return m_request; }

    [[nodiscard]] layout::Theme theme() const { return m_theme; }

    [[nodiscard]] Playback& playback() { return m_playback; }

    // Runs and traces, in the background.
    void start(RunRequest request);
    void setKernel(const std::string& kernel);
    void setChip(const std::string& chip);
    void setParameter(const std::string& name, const std::string& value);
    void applyAlternative(std::size_t index);
    void checkValues(); // the same run with every number computed and checked
    void openTrace(const QString& path);
    void saveTrace(const QString& path);
    void cancel();
    void adopt(FinishedRun run);        // shows a run that is already there
    void look(layout::ViewState state); // clamped to the run; playing is not taken over
    void report(const QString& error);  // shows a sentence in place

    // The playhead.
    void setPlaying(bool playing);
    void setNow(Picoseconds now);
    void step(StepUnit unit, int direction);

    void home() { setNow(Picoseconds(0)); }

    void end();

    // The range of the time line.
    void setVisible(layout::TimeRange range);
    void zoom(double factor); // about the playhead
    void pan(double share);   // of the range, positive: later
    enum class Frame
    {
        Operation,
        Steps,
        Run
    };
    void frame(Frame frame);

    // Looking at things.
    void setHover(const layout::Target& target);
    void select(const layout::Target& target);
    void activate(const layout::Target& target); // a click: follows links, selects the rest
    void goTo(const layout::Target& target);
    void nextFinding(int direction);
    void setFirstSourceLine(std::int64_t line);
    void setTheme(layout::Theme theme);

Q_SIGNALS:
    void runChanged();
    void requestChanged();
    void nowChanged();
    void rangeChanged();
    void hoverChanged();
    void selectionChanged();
    void playingChanged();
    void sourceScrolled();
    void staleChanged();
    void jobChanged();
    void themeChanged();

private:
    enum class Follow
    {
        No,
        Jump,
        Scroll
    };

    void change(const layout::ViewState& next);
    void moveTo(Picoseconds now, Follow follow);
    void setJob(JobStatus job);
    void finishRun(const JobResult& result);
    void finishSave(const JobResult& result);

    [[nodiscard]] const trace::Trace& trace() const { return *m_run->view->trace; }

    [[nodiscard]] layout::TimeRange within(Picoseconds begin, Picoseconds length) const;
    [[nodiscard]] QString fieldOf(const Error& error) const;

    std::optional<FinishedRun> m_run;
    std::unique_ptr<navigation::Stops> m_stops;
    RunRequest m_request;
    layout::ViewState m_state;
    layout::Theme m_theme = layout::Theme::Light;
    Playback m_playback;
    JobStatus m_job;
    QString m_savePath;
    QTimer m_staleDelay;
    RunJobs m_runs, m_saves;
};

} // namespace pallascope::app
