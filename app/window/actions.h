// Every action of the window with its menu, its key and what it does. Menus, shortcuts and the
// command palette all use this list.
#pragma once

#include <QAction>
#include <QKeySequence>
#include <QList>

#include <functional>
#include <vector>

class QMenu;
class QMenuBar;
class QWidget;

namespace pallascope::app {

class Docks;
class Session;

class MainWindow;

inline constexpr double kZoomOfKeys = 1.5;

struct Actions
{
    std::vector<QAction*> all;
    QAction* play = nullptr;
    QAction* dark = nullptr;
    QAction* cancel = nullptr;
    QAction* letGo = nullptr;
    QAction* bySteps = nullptr;
    QMenu* recent = nullptr; // of files; empty, and so disabled, if the window remembers none
};

// Fills the menu bar. The actions belong to the window.
[[nodiscard]] Actions makeActions(MainWindow& window, Session& session, Docks& docks,
                                  QMenuBar& bar);

} // namespace pallascope::app
