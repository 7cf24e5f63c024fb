#include "app/window/lesson_guide.h"

#include "views/fonts.h"

#include <cmath>
#include <utility>

namespace pallascope::app {

LessonGuide::LessonGuide(Runs& runs, Viewpoint& viewpoint, QObject* parent)
    : QObject(parent)
    , m_runs(runs)
    , m_viewpoint(viewpoint)
{
    connect(&runs, &Runs::jobChanged, this, [this] {
        const bool isRunning = m_runs.job().running; // its progress changes nothing here
        if (m_lesson && std::exchange(m_isRunning, isRunning) != isRunning) {
            Q_EMIT changed();
        }
    });
}

void LessonGuide::open(const QString& nameOrFile)
{
    Result<NamedLesson> lesson = loadLesson(nameOrFile.toStdString());
    if (lesson) {
        begin(std::move(*lesson));
    } else {
        m_runs.reportUnopened(views::text(lesson.error().message));
    }
}

void LessonGuide::take(NamedLesson lesson)
{
    m_lesson = std::move(lesson);
    m_reports.assign(count(), {});
    m_views.assign(count(), nullptr);
    m_requested = {};
}

void LessonGuide::begin(NamedLesson lesson)
{
    take(std::move(lesson));
    enter(0);
}

void LessonGuide::leave()
{
    const bool isTask = m_lesson && step().task;
    m_lesson.reset();
    m_progress.reset();
    m_isAwaited = false;
    if (isTask && m_runs.shown()) {
        m_viewpoint.show(m_runs.shown()->view);
    }
    letGo();
    Q_EMIT changed();
}

// Of what the lesson has kept; what the user keeps stays.
void LessonGuide::letGo()
{
    const auto& kept = m_viewpoint.state().kept;
    if (m_kept != nullptr && kept != nullptr && kept->run == m_kept) {
        m_viewpoint.keep(nullptr);
    }
    m_kept = nullptr;
}

bool LessonGuide::canGo(int direction) const
{
    const bool isThere = direction > 0 ? m_number + 1 < count() : m_number > 0;
    return isThere && !(m_isAwaited && m_runs.job().running);
}

void LessonGuide::go(int direction)
{
    if (m_lesson && canGo(direction)) {
        enter(direction > 0 ? m_number + 1 : m_number - 1);
    }
}

void LessonGuide::enter(std::size_t number)
{
    m_number = number;
    m_progress.reset();
    m_isOwnRun = m_isAnswerShown = false;
    if (!(step().run == m_requested)) { // else it is known on which chip that was
        m_requested = step().run;
        m_request = requestOf(m_requested);
    }
    showStep();
    Q_EMIT changed();
    Q_EMIT taken();
}

void LessonGuide::showStep()
{
    m_isAwaited = true;
    if (m_runs.shown() && !m_runs.job().running && isSameRun(m_request, m_runs.shown()->request)) {
        m_viewpoint.show(shownOf(m_runs.shown()->view));
        arrive(*m_runs.shown());
    } else {
        m_runs.start(m_request);
    }
}

void LessonGuide::showAnswer()
{
    if (m_lesson && step().task && !report().empty()) {
        m_isAnswerShown = true;
        m_runs.start(requestWith(step().run, step().task->answer));
    }
}

std::shared_ptr<const layout::RunView>
LessonGuide::shownOf(const std::shared_ptr<const layout::RunView>& view) const
{
    if (!m_lesson || !step().task || view->alternatives.empty()) {
        return view;
    }
    auto shown = std::make_shared<layout::RunView>(*view);
    shown->alternatives.clear();
    return shown;
}

void LessonGuide::follow()
{
    if (!m_lesson) {
        return;
    }
    const FinishedRun& run = *m_runs.shown();
    m_isOwnRun = isSameRun(m_request, run.request);
    if (m_isOwnRun && (m_isAwaited || report().empty())) {
        arrive(run);
        return;
    }
    m_isAwaited = false;
    hold(run);
    Q_EMIT changed();
}

// Holds the run against the task.
void LessonGuide::hold(const FinishedRun& run)
{
    if (step().task && !report().empty()) {
        const auto progress = study::progressOf(*step().task, report(), reportJson(run));
        m_progress = progress ? std::optional(*progress) : std::nullopt;
    }
}

// The step's own run is shown: from now on runs on another chip are others.
void LessonGuide::arrive(const FinishedRun& run)
{
    m_isAwaited = false;
    m_isOwnRun = true;
    m_request = run.request;
    m_reports[m_number] = reportJson(run);
    if (m_number + 1 < count() && m_lesson->lesson.steps[m_number + 1].keepsBefore) {
        m_views[m_number] = run.view;
    }
    hold(run);
    keepBefore();
    const double end = static_cast<double>(run.view->trace->end().value());
    m_viewpoint.setNow(Picoseconds(std::llround(step().at * end)));
    if (!step().view.empty()) {
        Q_EMIT viewAsked(views::text(step().view));
    }
    Q_EMIT changed();
}

void LessonGuide::keepBefore()
{
    if (step().keepsBefore && m_views[m_number - 1] != nullptr) {
        m_kept = m_views[m_number - 1];
        m_viewpoint.keep(m_kept);
    } else {
        letGo();
    }
}

void LessonGuide::goOn(const LessonPlace& place)
{
    if (place.lesson) {
        take(*place.lesson);
        m_number = place.number;
        m_reports = place.reports;
        m_kept = place.kept;
        m_requested = step().run;
        m_request = requestOf(m_requested);
        if (m_runs.shown()) {
            m_viewpoint.show(shownOf(m_runs.shown()->view));
            follow();
        }
        Q_EMIT taken();
    }
}

} // namespace pallascope::app
