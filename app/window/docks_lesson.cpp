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
    for (const Qt::Corner corner : {Qt::TopLeftCorner, Qt::BottomLeftCorner}) {
        m_window.setCorner(corner, Qt::LeftDockWidgetArea); // beside the views it is as high as all
    }
    for (const Qt::Corner corner : {Qt::TopRightCorner, Qt::BottomRightCorner}) {
        m_window.setCorner(corner, Qt::RightDockWidgetArea);
    }
    // Below or above the views it is as high as its texts need; elsewhere as high as there is room.
    const auto fit = [this] {
        const Qt::DockWidgetArea area = m_window.dockWidgetArea(m_lessonDock);
        const bool isLow = !m_lessonDock->isFloating()
                           && (area == Qt::BottomDockWidgetArea || area == Qt::TopDockWidgetArea);
        const int high = m_lesson->sizeHint().height();
        m_lesson->setMinimumHeight(isLow ? high : 0);
        m_lesson->setMaximumHeight(isLow ? high : QWIDGETSIZE_MAX);
    };
    connect(m_lessonDock, &QDockWidget::dockLocationChanged, this, fit);
    connect(m_lessonDock, &QDockWidget::topLevelChanged, this, fit);
    fit();
    connect(m_lesson, &LessonPanel::captionChanged, this,
            [this] { m_lessonDock->head()->setCaption(m_lesson->caption()); });
    connect(&guide, &LessonGuide::taken, this, &Docks::showLesson);
    connect(&guide, &LessonGuide::viewAsked, this, &Docks::reveal);
}

void Docks::showLesson()
{
    m_lessonDock->show();
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
