#include "app/window/dock_places.h"

#include "views/fonts.h"
#include "views/layout/views.h"

namespace pallascope::app {
namespace {

using namespace layout;

constexpr QSize kLarge(1600, 900);
constexpr QSize kSmall(1280, 800);

Dock* dockOf(const QMainWindow& window, const View& row)
{
    return window.findChild<Dock*>(views::text(row.name));
}

} // namespace

DockPlaces::Table DockPlaces::tableFor(QSize window)
{
    if (window.width() >= kLarge.width() && window.height() >= kLarge.height()) {
        return Table::Large;
    }
    return window.width() >= kSmall.width() && window.height() >= kSmall.height() ? Table::Small
                                                                                  : Table::Compact;
}

DockPlaces::DockPlaces(QMainWindow& window, Table table)
    : m_window(window)
    , m_table(table)
    , m_strip(placed(DockPlace::kStrip))
{
    for (auto column = placed(0); !column.empty();
         column = placed(static_cast<int>(m_columns.size()))) {
        m_columns.push_back(std::move(column));
    }
}

std::vector<DockPlaces::Placed> DockPlaces::placed(int column) const
{
    std::vector<Placed> found;
    for (const View& row : allViews()) {
        const Size size = m_table == Table::Large ? row.dock.large : row.dock.small;
        if (row.dock.column == column && size.height > 0) {
            found.push_back({dockOf(m_window, row),
                             QSize(static_cast<int>(size.width), static_cast<int>(size.height))});
        }
    }
    return found;
}

void DockPlaces::arrange()
{
    split();
    shareRoom();
}

void DockPlaces::split()
{
    Dock* first = m_columns.front().front().dock;
    m_window.addDockWidget(Qt::TopDockWidgetArea, first, Qt::Horizontal);
    m_window.splitDockWidget(first, m_strip.front().dock, Qt::Vertical);
    for (std::size_t i = 1; i < m_strip.size(); ++i) {
        m_window.splitDockWidget(m_strip[i - 1].dock, m_strip[i].dock, Qt::Horizontal);
    }
    for (std::size_t i = 1; i < m_columns.size(); ++i) {
        m_window.splitDockWidget(m_columns[i - 1].front().dock, m_columns[i].front().dock,
                                 Qt::Horizontal);
    }
    for (const std::vector<Placed>& column : m_columns) {
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
void DockPlaces::shareRoom()
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
    for (const std::vector<Placed>& column : m_columns) {
        for (const Placed& each : column) {
            each.dock->show();
        }
        tops.push_back(column.front());
        if (beside.empty() && (column.size() == 1 || m_table == Table::Compact)) {
            beside = {column.front(), m_strip.front()};
        }
    }
    for (const Placed& each : m_strip) {
        each.dock->show();
    }
    resize(tops, Qt::Horizontal);
    resize(beside, Qt::Vertical);
    for (const std::vector<Placed>& column : m_columns) {
        if (column.size() > 1 && m_table == Table::Compact) {
            column.front().dock->raise();
        } else if (column.size() > 1) {
            resize(column, Qt::Vertical);
        }
    }
}

void DockPlaces::arrangeHidden()
{
    for (const View& row : allViews()) {
        Dock* hidden = dockOf(m_window, row);
        if (hidden != nullptr && row.dock.column >= 0 && hidden->isHidden()) {
            const auto column = static_cast<std::size_t>(row.dock.column);
            m_window.tabifyDockWidget(m_columns[column].front().dock, hidden);
            hidden->hide();
        }
    }
}

} // namespace pallascope::app
