// Where the docks stand: by the table of views, for the size of the window.
#include "app/window/docks.h"
#include "views/fonts.h"

#include <QPointer>

namespace pallascope::app {
namespace {

using namespace layout;
using namespace Qt::StringLiterals;

constexpr QSize kLarge(1600, 900);
constexpr QSize kSmall(1280, 800);

} // namespace

Docks::Table Docks::tableFor(QSize window)
{
    if (window.width() >= kLarge.width() && window.height() >= kLarge.height()) {
        return Table::Large;
    }
    return window.width() >= kSmall.width() && window.height() >= kSmall.height() ? Table::Small
                                                                                  : Table::Compact;
}

void Docks::follow(QSize window)
{
    if (!m_movedByUser && tableFor(window) != m_table) {
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
    const Table table = tableFor(m_window.size());
    if (!state.isEmpty() && m_window.restoreState(state, static_cast<int>(m_all.size()))) {
        m_table = table;
        m_movedByUser = moved;
        offerFindings(dock(u"verdict"_s)->isHidden());
    } else if (table != m_table) {
        arrange(m_window.size());
    }
    m_arranging = false;
}

std::vector<Docks::Placed> Docks::placed(int column) const
{
    std::vector<Placed> found;
    for (const View& row : allViews()) {
        const Size size = m_table == Table::Large ? row.dock.large : row.dock.small;
        if (row.dock.column == column && size.height > 0) {
            found.push_back({dock(views::text(row.name)),
                             QSize(static_cast<int>(size.width), static_cast<int>(size.height))});
        }
    }
    return found;
}

void Docks::arrange(QSize window)
{
    m_arranging = true;
    m_table = tableFor(window);
    const QPointer<QWidget> focused = m_window.focusWidget(); // hidden docks lose the focus
    for (Dock* each : m_all) {
        each->setFloating(false);
        m_window.removeDockWidget(each); // this also hides the dock
    }
    std::vector<std::vector<Placed>> columns;
    for (auto column = placed(0); !column.empty();
         column = placed(static_cast<int>(columns.size()))) {
        columns.push_back(std::move(column));
    }
    const std::vector<Placed> strip = placed(DockPlace::kStrip);
    split(columns, strip);
    shareRoom(columns, strip);
    Dock* values = dock(u"values"_s);
    m_window.tabifyDockWidget(dock(u"memory"_s), values);
    values->hide(); // Memory is shown first
    placeHidden(columns);
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

void Docks::split(const std::vector<std::vector<Placed>>& columns, const std::vector<Placed>& strip)
{
    Dock* first = columns.front().front().dock;
    m_window.addDockWidget(Qt::TopDockWidgetArea, first, Qt::Horizontal);
    m_window.splitDockWidget(first, strip.front().dock, Qt::Vertical);
    for (std::size_t i = 1; i < strip.size(); ++i) {
        m_window.splitDockWidget(strip[i - 1].dock, strip[i].dock, Qt::Horizontal);
    }
    for (std::size_t i = 1; i < columns.size(); ++i) {
        m_window.splitDockWidget(columns[i - 1].front().dock, columns[i].front().dock,
                                 Qt::Horizontal);
    }
    for (const std::vector<Placed>& column : columns) {
        for (std::size_t i = 1; i < column.size(); ++i) {
            if (m_table == Table::Compact) {
                m_window.tabifyDockWidget(column[i - 1].dock, column[i].dock);
            } else {
                m_window.splitDockWidget(column[i - 1].dock, column[i].dock, Qt::Vertical);
            }
        }
    }
}

// Divides the room in proportion to the sizes in the table. Qt does this for docks that lie in one
// row or in one column.
void Docks::shareRoom(const std::vector<std::vector<Placed>>& columns,
                      const std::vector<Placed>& strip)
{
    const auto resize = [this](const std::vector<Placed>& docks, Qt::Orientation along) {
        QList<QDockWidget*> list;
        QList<int> sizes;
        for (const Placed& each : docks) {
            list.append(each.dock);
            sizes.append(along == Qt::Horizontal ? each.size.width() : each.size.height());
        }
        m_window.resizeDocks(list, sizes, along);
    };
    std::vector<Placed> tops, beside;
    for (const std::vector<Placed>& column : columns) {
        for (const Placed& each : column) {
            each.dock->show();
        }
        tops.push_back(column.front());
        if (beside.empty() && (column.size() == 1 || m_table == Table::Compact)) {
            beside = {column.front(), strip.front()};
        }
    }
    for (const Placed& each : strip) {
        each.dock->show();
    }
    resize(tops, Qt::Horizontal);
    resize(beside, Qt::Vertical);
    for (const std::vector<Placed>& column : columns) {
        if (column.size() > 1 && m_table == Table::Compact) {
            column.front().dock->raise();
        } else if (column.size() > 1) {
            resize(column, Qt::Vertical);
        }
    }
}

// Docks that are hidden at first become tabs of the first dock of their column when they are shown.
void Docks::placeHidden(const std::vector<std::vector<Placed>>& columns)
{
    for (const View& row : allViews()) {
        Dock* hidden = dock(views::text(row.name));
        if (hidden != nullptr && row.dock.column >= 0 && hidden->isHidden()) {
            const auto column = static_cast<std::size_t>(row.dock.column);
            m_window.tabifyDockWidget(columns[column].front().dock, hidden);
            hidden->hide();
        }
    }
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
