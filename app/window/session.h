// Everything that the window looks at, in one place: the runs, the viewpoint on the run that is
// shown, the lesson that is taken, and the theme. Views read the session and report to it; they do
// not know each other.
#pragma once

#include "app/window/breakpoints.h"
#include "app/window/lesson_guide.h"
#include "app/window/runs.h"
#include "app/window/viewpoint.h"
#include "views/layout/scene/theme.h"

#include <QObject>
#include <QString>

namespace pallascope::app {

class Session : public QObject
{
    Q_OBJECT

public:
    explicit Session(QObject* parent = nullptr);

    [[nodiscard]] Runs& runs() { return m_runs; }

    [[nodiscard]] const Runs& runs() const { return m_runs; }

    [[nodiscard]] Viewpoint& viewpoint() { return m_viewpoint; }

    [[nodiscard]] const Viewpoint& viewpoint() const { return m_viewpoint; }

    [[nodiscard]] Breakpoints& breakpoints() { return m_breakpoints; }

    [[nodiscard]] const Breakpoints& breakpoints() const { return m_breakpoints; }

    [[nodiscard]] LessonGuide& lesson() { return m_lesson; }

    // To the next or previous stop of a breakpoint; without one the playhead stays, and `said`
    // tells why.
    void goToBreakpoint(int direction);
    // Sets a breakpoint at a thing of a view, or removes it.
    void toggleBreakpoint(const layout::Target& target);
    // At what is selected or, where that has none, at the line that runs.
    void toggleBreakpointHere();

    [[nodiscard]] layout::Theme theme() const { return m_theme; }

    void setTheme(layout::Theme theme);
    // The run that is shown becomes the one with which later ones are compared.
    void keepRun();
    void letGo();
    // Opens a trace, a kernel file or a lesson; a lesson that is built in by its name.
    void open(const QString& path);
    // Opens one file, keeps its run, and opens the other one.
    void compareFiles(const QString& kept, const QString& other);

    // All that another window needs to go on from here, but for what is kept from start to start
    // anyway (remembered.h).
    struct State
    {
        Runs::State runs;
        layout::ViewState view; // with the kept run
        StepUnit unit = StepUnit::Step;
        int speed = 0;
        bool reducedMotion = false;
        LessonPlace lesson;
    };

    [[nodiscard]] State state() const;
    void goOn(const State& state);
    // For a click: follows links and selects other things.
    void activate(const layout::Target& target);

Q_SIGNALS:
    void themeChanged();
    void said(const QString& sentence); // about breakpoints

private:
    void showRun();
    void openAwaited();

    Runs m_runs;
    Viewpoint m_viewpoint;
    Breakpoints m_breakpoints;
    LessonGuide m_lesson{m_runs, m_viewpoint};
    // Files to compare: the second is opened once the first is shown.
    QString m_toKeep, m_awaited;
    layout::Theme m_theme = layout::Theme::Light;
};

} // namespace pallascope::app
