#include "app/window/docks.h"

#include "views/fonts.h"
#include "views/layout/kernel/kernel.h"
#include "views/layout/timeline/timeline.h"
#include "views/layout/verdict/verdict.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace pallascope::app {
namespace {

using namespace layout;
using namespace Qt::StringLiterals;
using views::SceneView;

constexpr int kLeastKernel = 200; // px; in a narrower dock fields cannot show their numbers
constexpr int kFindingsPage = 2;  // the third page of the source dock, after Code and IR

// The index of the word in the switch: op, step, run.
int wordOf(timeline::Level level)
{
    switch (level) {
    case timeline::Level::Operations:
        return 0;
    case timeline::Level::Steps:
        return 1;
    case timeline::Level::Periods:
    case timeline::Level::Run:
        break;
    }
    return 2;
}

} // namespace

Docks::Docks(Session& session, QMainWindow& window)
    : QObject(&window)
    , m_session(session)
    , m_window(window)
{
    std::vector<View> rows(allViews().begin(), allViews().end());
    std::sort(rows.begin(), rows.end(), [](const View& a, const View& b) { return a.key < b.key; });
    for (const View& row : rows) {
        if (row.dock.column != DockPlace::kAbove) {
            add(row);
        }
    }
    addValues();
    addLesson();
    connectSource();
    connectTimeline();
    connectBreakpoints();
    for (SceneView* each : m_views) {
        connect(each, &SceneView::hovered, this, [this, each](const Target& target) {
            if (isOfTheRun(each)) {
                m_session.viewpoint().setHover(target);
            }
        });
        if (!each->options().leads && each != m_budget && each != m_values->picture()) {
            connect(each, &SceneView::clicked, &m_session, &Session::activate);
        }
        connect(each, &SceneView::doubleClicked, this, [this, each](const Target& target) {
            if (isOfTheRun(each)) {
                m_session.viewpoint().goTo(target);
            }
        });
    }
    connect(&m_session.viewpoint(), &Viewpoint::runChanged, this, [this] {
        for (ScrolledView* each : m_scrolled) {
            each->setRun(m_session.viewpoint().run());
        }
        followDevices();
    });
    connect(&m_session.viewpoint(), &Viewpoint::selectionChanged, this, [this] {
        for (ScrolledView* each : m_scrolled) {
            each->show(m_session.viewpoint().state().selection);
        }
    });
    connect(m_budget, &SceneView::clicked, this, &Docks::clickedBudget);
}

bool Docks::isOfTheRun(const SceneView* view) const
{
    return view != m_budget || !m_session.runs().unfit() || !m_session.runs().shown();
}

void Docks::clickedBudget(const Target& target)
{
    const auto* choice = std::get_if<target::Alternative>(&target);
    if (m_session.runs().unfit() && choice != nullptr) {
        m_session.runs().applyFitting(static_cast<std::size_t>(choice->index));
    } else if (isOfTheRun(m_budget) && layout::is<target::Round>(target)) {
        m_session.viewpoint().goTo(target); // a row of a loop leads to its next round
    } else if (isOfTheRun(m_budget)) {
        followLink(target);
    }
}

// Makes the dock for a row of the table. Some docks hold more than the picture of their view.
void Docks::add(const View& row)
{
    SceneView* view = nullptr;
    QWidget* content = nullptr;
    if (row.name == "kernel") {
        view = m_budget = new SceneView(layoutBudget, SceneView::Use::Fixed);
        content = makeKernelPanel(view);
    } else if (row.name == "source") {
        view = m_source = new views::SourceView;
        content = makeSourcePages();
    } else if (row.name == "verdict") {
        view = new SceneView(row.layout, SceneView::Use::Fixed);
        content = makeFindings(view);
    } else if (row.name == "timeline") {
        content = view = m_timeline = new views::TimelineView;
    } else {
        content = view = new SceneView(row.layout, SceneView::Use::Fixed);
    }
    SceneView::Options options = view->options();
    options.cursorKeys = row.isWalked;
    view->setOptions(options);
    enlist(new Dock(views::text(row.title), views::text(row.name), content, view, &m_window), view);
}

void Docks::enlist(Dock* dock, SceneView* view)
{
    m_views.push_back(view);
    m_all.push_back(dock);
    caption(dock, view);
    connect(dock, &QDockWidget::topLevelChanged, this,
            [this] { m_movedByUser = m_movedByUser || !m_arranging; });
}

// The values are no row of the table: their picture needs a replay, not the run alone.
void Docks::addValues()
{
    m_values = new ValuesPanel(m_session);
    views::ValuesPicture* picture = m_values->picture();
    m_memoryDock = dock(u"memory"_s);
    m_valuesDock = new Dock(tr("Values"), u"values"_s, m_values, picture, &m_window);
    enlist(m_valuesDock, picture);
    for (Dock* each : {m_memoryDock, m_valuesDock}) {
        const int own = each == m_valuesDock ? 1 : 0;
        each->head()->setSwitch({tr("Memory"), tr("Values")});
        each->head()->setCurrent(own);
        connect(each->head(), &DockHead::switched, this, [this, each, own](int index) {
            each->head()->setCurrent(own); // the other head has the other word
            goTo(index == 1 ? *m_valuesDock : *m_memoryDock);
        });
    }
}

void Docks::goTo(Dock& dock)
{
    swapForValues(dock);
    dock.takeFocus();
}

void Docks::swapForValues(Dock& dock)
{
    if (&dock == m_memoryDock || &dock == m_valuesDock) {
        Dock& other = &dock == m_memoryDock ? *m_valuesDock : *m_memoryDock;
        const bool both = !dock.isHidden() && !other.isHidden();
        dock.show();
        if (!both && !dock.isFloating() && !other.isFloating()) {
            other.hide();
        }
    }
}

int keyOf(const Dock& dock)
{
    constexpr int kValuesKey = 0; // behind the 9 on keyboards, as this dock is behind the table
    const View* row = findView(dock.objectName().toStdString());
    return row == nullptr ? kValuesKey : row->key;
}

void Docks::caption(Dock* dock, SceneView* view)
{
    m_captioned.emplace_back(dock, view);
    connect(view, &SceneView::sceneChanged, this, &Docks::captions);
}

void Docks::captions()
{
    for (const auto& [dock, view] : m_captioned) {
        if (!view->isVisibleTo(dock)) {
            continue;
        }
        dock->head()->setCaption(views::text(view->caption()));
    }
    if (m_sourcePages->currentWidget() == m_breakpoints) {
        dock(u"source"_s)->head()->setCaption(m_breakpoints->caption());
    }
}

// The panel scrolls where the budget is higher than the room below the form.
void Docks::showBudget(std::shared_ptr<const RunView> run)
{
    if (run) {
        m_budget->setMinimumHeight(static_cast<int>(budgetHeight(*run, m_budget->width())));
        m_budget->setRun(std::move(run));
    }
}

QWidget* Docks::makeKernelPanel(SceneView* budget)
{
    auto* panel = new QWidget;
    m_form = new KernelForm(panel);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_form);
    column->addWidget(budget, 1);
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(panel);
    scroll->setMinimumWidth(kLeastKernel);
    return scroll;
}

// The findings, as many as there are, whose links lead to what they name.
ScrolledView* Docks::makeFindings(SceneView* view)
{
    SceneView::Options options = view->options();
    options.leads = true;
    view->setOptions(options);
    connect(view, &SceneView::clicked, this, &Docks::followLink);
    m_scrolled.push_back(new ScrolledView(view, findingsHeight));
    return m_scrolled.back();
}

void Docks::followLink(const Target& target)
{
    if (const auto* line = std::get_if<target::SourceLine>(&target)) {
        m_session.viewpoint().showLine(*line);
        showSourcePage(0);
        Dock* source = dock(u"source"_s);
        source->show();
        source->raise();
    } else if (is<target::Steps>(target)) {
        m_session.viewpoint().selectAndGoTo(target);
    } else {
        m_session.activate(target);
    }
}

QWidget* Docks::makeSourcePages()
{
    m_findings = new SceneView(layoutVerdict, SceneView::Use::Fixed);
    m_findings->setOptions({.cursorKeys = true});
    m_views.push_back(m_findings);
    m_sourcePages = new QStackedWidget;
    m_sourcePages->addWidget(m_source);
    m_sourcePages->addWidget(makeFindings(m_findings));
    m_breakpoints = new BreakList(m_session);
    m_sourcePages->addWidget(m_breakpoints);
    return m_sourcePages;
}

void Docks::connectSource()
{
    Dock* dock = this->dock(u"source"_s);
    caption(dock, m_findings);
    dock->head()->setSwitch({tr("Code"), tr("IR"), tr("Findings"), tr("Breakpoints")});
    connect(dock->head(), &DockHead::switched, this, &Docks::showSourcePage);
    connect(m_source, &views::SourceView::scrolled, &m_session.viewpoint(),
            &Viewpoint::setFirstSourceLine);
    showSourcePage(0);
}

// The findings are a page of the source's dock where they have no dock of their own.
void Docks::offerFindings(bool offered)
{
    dock(u"source"_s)->head()->offer(kFindingsPage, offered);
    if (!offered && m_sourcePages->currentIndex() == 1) {
        showSourcePage(0);
    }
}

void Docks::showFindings()
{
    Dock* apart = dock(u"verdict"_s);
    Dock* shown = apart->isHidden() ? dock(u"source"_s) : apart;
    if (shown != apart) {
        showSourcePage(kFindingsPage);
        shown->show();
    }
    shown->raise();
}

void Docks::showSourcePage(int page)
{
    dock(u"source"_s)->head()->setCurrent(page);
    if (page < kFindingsPage) {
        m_source->setTab(page == 0 ? SourceTab::Source : SourceTab::Listing);
    }
    m_sourcePages->setCurrentIndex(std::max(0, page - 1));
    captions();
}

void Docks::connectTimeline()
{
    DockHead* head = dock(u"timeline"_s)->head();
    head->setSwitch({tr("op"), tr("step"), tr("run")});
    connect(head, &DockHead::switched, this, [this](int index) {
        using navigation::Frame;
        constexpr Frame kFrames[] = {Frame::Operation, Frame::Steps, Frame::Run};
        m_session.viewpoint().changeRange(navigation::framed(kFrames[index]));
        showZoom(); // even if the range was the same already
    });
    connect(m_timeline, &views::TimelineView::rangeChosen, &m_session.viewpoint(),
            &Viewpoint::setVisible);
    connect(m_timeline, &views::TimelineView::timeChosen, &m_session.viewpoint(),
            &Viewpoint::setNow);
    // The size of the view matters as well.
    connect(m_timeline, &SceneView::sceneChanged, this, &Docks::showZoom);
    connect(&m_session.viewpoint(), &Viewpoint::rangeChanged, this, &Docks::showZoom);
    connect(&m_session.viewpoint(), &Viewpoint::runChanged, this, &Docks::showZoom);
}

// The switch says how near the time line is, by the same rule that the picture is drawn by.
void Docks::showZoom()
{
    if (!m_session.viewpoint().run()) {
        return;
    }
    const Size size{static_cast<double>(m_timeline->width()),
                    static_cast<double>(m_timeline->height())};
    const timeline::Zoom zoom = timeline::zoomOf(*m_session.viewpoint().run()->trace,
                                                 timelineAxis(m_session.viewpoint().state(), size));
    dock(u"timeline"_s)->head()->setCurrent(wordOf(zoom.level));
}

Dock* Docks::dock(const QString& name) const
{
    const auto it = std::find_if(m_all.begin(), m_all.end(),
                                 [&](const Dock* dock) { return dock->objectName() == name; });
    return it == m_all.end() ? nullptr : *it;
}

void Docks::focusNext(int direction)
{
    std::vector<Dock*> shown;
    for (Dock* each : m_all) {
        if (each->isVisible()) {
            shown.push_back(each);
        }
    }
    if (m_lessonDock->isVisible()) {
        shown.push_back(m_lessonDock);
    }
    if (shown.empty()) {
        return;
    }
    const auto has = [](const Dock* each) {
        const QWidget* focused = each->window()->focusWidget();
        return focused != nullptr && focused->hasFocus() && each->isAncestorOf(focused);
    };
    const auto count = static_cast<int>(shown.size());
    const auto now = std::find_if(shown.begin(), shown.end(), has);
    int next = direction > 0 ? 0 : count - 1;
    if (now != shown.end()) {
        next = (static_cast<int>(now - shown.begin()) + direction + count) % count;
    }
    shown[static_cast<std::size_t>(next)]->takeFocus();
}

void Docks::focusTimeline()
{
    m_timeline->setFocus(Qt::OtherFocusReason);
}

void Docks::setTheme(Theme theme)
{
    for (Dock* each : m_all) {
        each->setTheme(theme);
    }
    for (SceneView* each : m_views) {
        each->setTheme(theme);
    }
    m_form->setTheme(theme);
    m_values->setTheme(theme);
    m_breakpoints->setTheme(theme);
    m_lesson->setTheme(theme);
    m_lessonDock->setTheme(theme);
}

} // namespace pallascope::app
