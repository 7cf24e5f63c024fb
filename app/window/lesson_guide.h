// The lesson that is being taken: its step, the run that the step shows, and how far the runs since
// then are with its task.
#pragma once

#include "app/lessons/lessons.h"
#include "app/window/runs.h"
#include "app/window/viewpoint.h"

#include <QObject>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::app {

class LessonGuide : public QObject
{
    Q_OBJECT

public:
    LessonGuide(Runs& runs, Viewpoint& viewpoint, QObject* parent = nullptr);

    void begin(NamedLesson lesson);
    // Takes a name or a file; what is wrong with it is shown as an error of a file.
    void open(const QString& nameOrFile);
    void leave();

    [[nodiscard]] const std::optional<NamedLesson>& lesson() const { return m_lesson; }

    // From 0; only while there is a lesson.
    [[nodiscard]] std::size_t number() const { return m_number; }

    [[nodiscard]] std::size_t count() const { return m_lesson->lesson.steps.size(); }

    [[nodiscard]] const study::LessonStep& step() const { return m_lesson->lesson.steps[m_number]; }

    // Shows the run of another step. Nothing happens while the run of this one is awaited, with
    // whose figures later ones may be compared, unless that run failed.
    void go(int direction);
    [[nodiscard]] bool canGo(int direction) const;
    void follow(); // another run is shown
    // The same run as the views show it: without what would be faster, where a task asks for that.
    [[nodiscard]] std::shared_ptr<const layout::RunView>
    shownOf(const std::shared_ptr<const layout::RunView>& view) const;
    void showStep();   // its own run again
    void showAnswer(); // of its task

    [[nodiscard]] bool isAnswerShown() const { return m_isAnswerShown; }

    // The reports' JSON of the step's own run and of the one before; empty while there is none.
    [[nodiscard]] const std::string& report() const { return m_reports[m_number]; }

    [[nodiscard]] std::string reportBefore() const
    {
        return m_number == 0 ? std::string() : m_reports[m_number - 1];
    }

    // Whether the views show the step's own run, not one of the user's.
    [[nodiscard]] bool isOwnRun() const { return m_isOwnRun; }

    // How far the run that is shown is with the task. nullopt without a task or before a run.
    [[nodiscard]] const std::optional<study::LessonProgress>& progress() const
    {
        return m_progress;
    }

    // Where another window goes on from here.
    [[nodiscard]] LessonPlace state() const { return {m_lesson, m_number, m_reports, m_kept}; }

    void goOn(const LessonPlace& place);

Q_SIGNALS:
    void changed();
    void taken(); // a step is entered: its dock has to be in sight
    void viewAsked(const QString& name);

private:
    void take(NamedLesson lesson);
    void enter(std::size_t number);
    void hold(const FinishedRun& run);
    void arrive(const FinishedRun& run);
    void keepBefore();
    void letGo();

    Runs& m_runs;
    Viewpoint& m_viewpoint;
    std::optional<NamedLesson> m_lesson;
    std::size_t m_number = 0;
    study::LessonRun m_requested;
    RunRequest m_request; // the same, as the step's own run
    bool m_isAwaited = false, m_isOwnRun = false, m_isAnswerShown = false;
    bool m_isRunning = false;                      // a job, as far as was said
    std::shared_ptr<const layout::RunView> m_kept; // by the lesson, not by the user
    // Of each step's own run, once it was shown; views only of those that the next step keeps.
    std::vector<std::string> m_reports;
    std::vector<std::shared_ptr<const layout::RunView>> m_views;
    std::optional<study::LessonProgress> m_progress;
};

} // namespace pallascope::app
