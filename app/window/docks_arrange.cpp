// Where the docks stand: by the table of views, for the size of the window.
#include "app/window/docks.h"

#include <QPointer>

namespace pallascope::app {

using namespace Qt::StringLiterals;

void Docks::follow(QSize window)
{
    if (!m_movedByUser && DockPlaces::tableFor(window) != m_table) {
        const bool values = dock(u"memory"_s)->isHidden() && !dock(u"values"_s)->isHidden();
        const QPointer<QWidget> focused = m_window.focusWidget();
        arrange(window);
        if (values) {
            goTo(*m_valuesDock);
            focused != nullptr ? focused->setFocus(Qt::ActiveWindowFocusReason) : focusTimeline();
        }
    }
}

// The version tells states of windows with other docks apart.
QByteArray Docks::state() const
{
    return m_window.saveState(static_cast<int>(m_all.size()));
}

void Docks::restore(const QByteArray& state, bool moved)
{
    m_arranging = true;
    const DockPlaces::Table table = DockPlaces::tableFor(m_window.size());
    if (!state.isEmpty() && m_window.restoreState(state, static_cast<int>(m_all.size()))) {
        m_table = table;
        m_movedByUser = moved;
        offerFindings(dock(u"verdict"_s)->isHidden());
    } else if (table != m_table) {
        arrange(m_window.size());
    }
    m_arranging = false;
}

void Docks::arrange(QSize window)
{
    m_arranging = true;
    m_table = DockPlaces::tableFor(window);
    const QPointer<QWidget> focused = m_window.focusWidget(); // hidden docks lose the focus
    for (Dock* each : m_all) {
        each->setFloating(false);
        m_window.removeDockWidget(each); // this also hides the dock
    }
    DockPlaces places(m_window, m_table);
    places.arrange();
    Dock* values = dock(u"values"_s);
    m_window.tabifyDockWidget(dock(u"memory"_s), values);
    values->hide(); // Memory is shown first
    places.arrangeHidden();
    if (m_severalDevices) {
        showDevices();
    }
    const bool findingsApart = !dock(u"verdict"_s)->isHidden();
    offerFindings(!findingsApart);
    if (focused != nullptr && focused->isVisibleTo(&m_window)) {
        focused->setFocus(Qt::ActiveWindowFocusReason);
    } else {
        focusTimeline();
    }
    m_movedByUser = false;
    m_arranging = false;
}

void Docks::followDevices()
{
    const bool several = m_session.viewpoint().run()->trace->info().deviceCount() > 1;
    if (several == m_severalDevices) {
        return; // whoever closed the dock wants it closed
    }
    m_severalDevices = several;
    if (several) {
        showDevices();
    } else {
        dock(u"devices"_s)->hide();
    }
}

void Docks::showDevices()
{
    Dock* devices = dock(u"devices"_s);
    devices->show();
    devices->raise();
}

} // namespace pallascope::app
