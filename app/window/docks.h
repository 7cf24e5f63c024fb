// The docks of the window. There is one for each row of the table of views, which also says where
// it stands.
#pragma once

#include "app/window/break_list.h"
#include "app/window/dock.h"
#include "app/window/dock_places.h"
#include "app/window/kernel_form.h"
#include "app/window/lesson_panel.h"
#include "app/window/scrolled_view.h"
#include "app/window/session.h"
#include "app/window/values_panel.h"
#include "views/layout/views.h"
#include "views/scene_view.h"
#include "views/source_view.h"
#include "views/timeline_view.h"

#include <QMainWindow>
#include <QStackedWidget>

#include <vector>

namespace pallascope::app {

class Docks : public QObject
{
    Q_OBJECT

public:
    Docks(Session& session, QMainWindow& window);

    // Puts every dock where the table for this size of the window says.
    void arrange(QSize window);
    // Arranges the docks again if the size now belongs to another table, unless the user has moved
    // a dock.
    void follow(QSize window);
    // Where the docks stand and how large they are, to be restored in a later window with the same
    // docks. `moved` says whether the user had moved one. A state that does not fit changes
    // nothing.
    [[nodiscard]] QByteArray state() const;
    void restore(const QByteArray& state, bool moved);

    [[nodiscard]] bool areMoved() const { return m_movedByUser; }

    // Shows a dock and gives it the keyboard. Values stand where Memory stands: one of them is
    // shown instead of the other. Where the user has opened both, both stay.
    void goTo(Dock& dock);

    // Shows the list of findings: its dock or, where that is closed, the page of the source's.
    void showFindings();

    // Shows the dock of lessons below the others.
    void showLesson();
    // Shows a dock without giving it the keyboard; by its name.
    void reveal(const QString& name);

    [[nodiscard]] LessonPanel* lesson() const { return m_lesson; }

    [[nodiscard]] Dock* lessonDock() const { return m_lessonDock; }

    void focusNext(int direction);
    // Gives the keyboard to the time line, where the arrows are the transport's.
    void focusTimeline();
    void setTheme(layout::Theme theme);

    // The docks in the order of Ctrl+1, Ctrl+2, ...
    [[nodiscard]] const std::vector<Dock*>& all() const { return m_all; }

    [[nodiscard]] Dock* dock(const QString& name) const;

    [[nodiscard]] const std::vector<views::SceneView*>& views() const { return m_views; }

    [[nodiscard]] KernelForm* form() const { return m_form; }

    void showBudget(std::shared_ptr<const layout::RunView> run);
    // Whether a view shows the run of the session: not so the budget of what does not fit, beside
    // views of the run before. Its rows are others.
    [[nodiscard]] bool isOfTheRun(const views::SceneView* view) const;

    [[nodiscard]] views::SceneView* budget() const { return m_budget; } // below the form

    [[nodiscard]] views::TimelineView* timeline() const { return m_timeline; }

    [[nodiscard]] views::SourceView* source() const { return m_source; }

    [[nodiscard]] ValuesPanel* values() const { return m_values; }

    [[nodiscard]] BreakList* breakpoints() const { return m_breakpoints; } // a page of the source

    // Lets a breakpoint be typed that begins with this text.
    void askBreakpoint(const QString& text = {});

private:
    void add(const layout::View& row);
    void addValues();
    void addLesson();
    void swapForValues(Dock& dock);
    void enlist(Dock* dock, views::SceneView* view);
    void clickedBudget(const layout::Target& target);
    QWidget* makeKernelPanel(views::SceneView* budget);
    QWidget* makeSourcePages();
    ScrolledView* makeFindings(views::SceneView* view);
    void followLink(const layout::Target& target);
    void connectSource();
    void connectTimeline();
    void connectBreakpoints();
    void showSourcePage(int page);
    void offerFindings(bool offered);
    void showZoom();
    void caption(Dock* dock, views::SceneView* view);
    void captions();
    // The devices open by themselves where there are several, beside the grid.
    void followDevices();
    void showDevices();

    Session& m_session;
    QMainWindow& m_window;
    std::vector<Dock*> m_all;
    std::vector<views::SceneView*> m_views;
    std::vector<std::pair<Dock*, views::SceneView*>> m_captioned;
    KernelForm* m_form = nullptr;
    views::SceneView* m_budget = nullptr;
    views::TimelineView* m_timeline = nullptr;
    views::SourceView* m_source = nullptr;
    ValuesPanel* m_values = nullptr;
    Dock* m_memoryDock = nullptr;
    Dock* m_valuesDock = nullptr; // it stands where that of the memory stands
    LessonPanel* m_lesson = nullptr;
    Dock* m_lessonDock = nullptr;           // not in m_all, as it stands apart
    BreakList* m_breakpoints = nullptr;     // a page of the source dock
    views::SceneView* m_findings = nullptr; // a page of the source dock
    std::vector<ScrolledView*> m_scrolled;  // that page, and the dock of the findings
    QStackedWidget* m_sourcePages = nullptr;
    DockPlaces::Table m_table = DockPlaces::Table::None;
    bool m_arranging = false;
    bool m_movedByUser = false;
    bool m_severalDevices = false; // in the run that is shown
};

// The digit that, with Ctrl, goes to a dock.
[[nodiscard]] int keyOf(const Dock& dock);

} // namespace pallascope::app
