// Where docks stand in a window of a certain size, by the table of views.
#pragma once

#include "app/window/dock.h"

#include <QMainWindow>

#include <vector>

namespace pallascope::app {

class DockPlaces
{
public:
    enum class Table
    {
        None,
        Compact,
        Small,
        Large
    };

    [[nodiscard]] static Table tableFor(QSize window);

    // The window has all docks of the table of views.
    DockPlaces(QMainWindow& window, Table table);

    // Puts the docks in their places that are shown at first, and shows them.
    void arrange();
    // Docks that are hidden become tabs of the first dock of their column when they are shown.
    void arrangeHidden();

private:
    struct Placed
    {
        Dock* dock;
        QSize size; // its share of the room is in proportion to this
    };

    [[nodiscard]] std::vector<Placed> placed(int column) const; // from top to bottom
    void split();
    void shareRoom();

    QMainWindow& m_window;
    Table m_table;
    std::vector<std::vector<Placed>> m_columns;
    std::vector<Placed> m_strip;
};

} // namespace pallascope::app
