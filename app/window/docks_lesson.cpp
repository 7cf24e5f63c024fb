// The dock of lessons, which stands below all others while one takes a lesson.
#include "app/window/docks.h"

namespace pallascope::app {

using namespace Qt::StringLiterals;

void Docks::addLesson()
{
    LessonGuide& guide = m_session.lesson();
    m_lesson = new LessonPanel(guide);
    m_lessonDock = new Dock(tr("Lesson"), u"lesson"_s, m_lesson, m_lesson->next(), &m_window);
    m_window.addDockWidget(Qt::BottomDockWidgetArea, m_lessonDock);
    m_lessonDock->hide();
    connect(m_lesson, &LessonPanel::captionChanged, this,
            [this] { m_lessonDock->head()->setCaption(m_lesson->caption()); });
    connect(&guide, &LessonGuide::begun, this, &Docks::showLesson);
    connect(&guide, &LessonGuide::viewAsked, this, &Docks::reveal);
}

void Docks::showLesson()
{
    if (m_lessonDock->isHidden()) {
        m_lessonDock->show();
        m_window.resizeDocks({m_lessonDock}, {m_lessonDock->sizeHint().height()}, Qt::Vertical);
    }
    m_lessonDock->raise();
    m_lessonDock->head()->setCaption(m_lesson->caption());
}

void Docks::reveal(const QString& name)
{
    if (name == u"verdict"_s) {
        showFindings();
    } else if (Dock* dock = this->dock(name)) {
        swapForValues(*dock);
        dock->show();
        dock->raise();
    }
}

} // namespace pallascope::app
