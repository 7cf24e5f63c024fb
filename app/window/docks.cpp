#include "app/window/docks.h"

#include "views/fonts.h"
#include "views/layout/layouts.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace pallascope::app {
namespace {

using namespace layout;
using namespace Qt::StringLiterals;
using views::SceneView;

constexpr int kLeastBudget = 130; // px: bar and table; below it the panel scrolls
constexpr int kFindingsPage = 2;  // of the source dock: C++, IR, findings
constexpr QSize kLarge(1600, 900);
constexpr QSize kSmall(1280, 800);

} // namespace

Docks::Docks(Session& session, QMainWindow& window)
    : QObject(&window)
    , m_session(session)
    , m_window(window)
{
    auto view = [this](SceneView::Layout layout) {
        return new SceneView(std::move(layout), SceneView::Use::Fixed);
    };
    QWidget* panel = makeKernelPanel();
    add(tr("Kernel"), u"kernel"_s, panel, m_views.front());
    auto* grid = view(layoutGrid);
    add(tr("Grid"), u"grid"_s, grid, grid);
    auto* memory = view(layoutMemory);
    add(tr("Memory"), u"memory"_s, memory, memory);
    auto* roofline = view(layoutRoofline);
    add(tr("Roofline"), u"roofline"_s, roofline, roofline);
    makeSource();
    auto* verdict = view(layoutVerdict);
    add(tr("Verdict and findings"), u"verdict"_s, verdict, verdict);
    makeTimeline();
    for (SceneView* each : {static_cast<SceneView*>(grid), memory, roofline, verdict}) {
        m_views.push_back(each);
    }
    for (SceneView* each : m_views) {
        each->setCursorKeys(each != roofline && each != m_timeline);
        connect(each, &SceneView::hovered, &m_session, &Session::setHover);
        connect(each, &SceneView::clicked, &m_session, &Session::activate);
        connect(each, &SceneView::doubleClicked, &m_session, &Session::goTo);
    }
    connect(&m_session, &Session::staleChanged, this, &Docks::captions);
}

Dock* Docks::add(const QString& title, const QString& name, QWidget* content, SceneView* view)
{
    auto* dock = new Dock(title, name, content, view, &m_window);
    m_all.push_back(dock);
    caption(dock, view);
    connect(dock, &QDockWidget::topLevelChanged, this,
            [this] { m_movedByUser = m_movedByUser || !m_arranging; });
    return dock;
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
        QString caption = views::text(view->caption());
        if (m_session.state().stale) {
            caption += tr(" · of the previous run");
        }
        dock->head()->setCaption(caption);
    }
}

QWidget* Docks::makeKernelPanel()
{
    auto* panel = new QWidget;
    m_form = new KernelForm(panel);
    auto* budget = new SceneView(layoutBudget, SceneView::Use::Fixed, panel);
    budget->setMinimumHeight(kLeastBudget);
    m_views.push_back(budget);
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
    return scroll;
}

void Docks::makeSource()
{
    m_source = new views::SourceView;
    auto* findings = new SceneView(layoutVerdict, SceneView::Use::Fixed);
    m_views.push_back(m_source);
    m_views.push_back(findings);
    m_sourcePages = new QStackedWidget;
    m_sourcePages->addWidget(m_source);
    m_sourcePages->addWidget(findings);
    Dock* dock = add(tr("Source"), u"source"_s, m_sourcePages, m_source);
    caption(dock, findings);
    dock->head()->setSwitch({tr("Code"), tr("IR"), tr("Findings")});
    connect(dock->head(), &DockHead::switched, this, &Docks::showSourcePage);
    connect(m_source, &views::SourceView::scrolled, &m_session, &Session::setFirstSourceLine);
    showSourcePage(0);
}

void Docks::showSourcePage(int page)
{
    dock(u"source"_s)->head()->setCurrent(page);
    if (page != kFindingsPage) {
        m_source->setTab(page == 0 ? SourceTab::Source : SourceTab::Listing);
    }
    m_sourcePages->setCurrentIndex(page == kFindingsPage ? 1 : 0);
    captions();
}

void Docks::makeTimeline()
{
    m_timeline = new views::TimelineView;
    m_views.push_back(m_timeline);
    Dock* dock = add(tr("Time line"), u"timeline"_s, m_timeline, m_timeline);
    dock->head()->setSwitch({tr("op"), tr("step"), tr("run")});
    connect(dock->head(), &DockHead::switched, &m_session, [this](int index) {
        constexpr Session::Frame kFrames[] = {Session::Frame::Operation, Session::Frame::Steps,
                                              Session::Frame::Run};
        m_session.frame(kFrames[index]);
    });
    connect(m_timeline, &views::TimelineView::rangeChosen, &m_session, &Session::setVisible);
    connect(m_timeline, &views::TimelineView::timeChosen, &m_session, &Session::setNow);
    // The words say how near the time line is, as its zoom levels do: by px per step.
    const auto level = [this, dock] {
        if (!m_session.run()) {
            return;
        }
        const auto range = m_session.state().visible;
        const auto& view = *m_session.run()->view;
        const double step =
            static_cast<double>(view.periodTime.value()) / static_cast<double>(view.period);
        const double px =
            m_timeline->width() * step / static_cast<double>((range.end - range.begin).value());
        constexpr double kOperationPx = 400;
        constexpr double kStepPx = 40;
        dock->head()->setCurrent(px > kOperationPx ? 0 : (px >= kStepPx ? 1 : 2));
    };
    connect(&m_session, &Session::rangeChanged, dock, level);
    connect(&m_session, &Session::runChanged, dock, level);
}

Dock* Docks::dock(const QString& name) const
{
    const auto it = std::find_if(m_all.begin(), m_all.end(),
                                 [&](const Dock* dock) { return dock->objectName() == name; });
    return it == m_all.end() ? nullptr : *it;
}

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
        arrange(window);
    }
}

void Docks::arrange(QSize window)
{
    m_arranging = true;
    m_table = tableFor(window);
    for (Dock* each : m_all) {
        each->setFloating(false);
        m_window.removeDockWidget(each);
    }
    const auto at = [this](const char16_t* name) { return dock(QString::fromUtf16(name)); };
    m_window.addDockWidget(Qt::TopDockWidgetArea, at(u"kernel"), Qt::Horizontal);
    m_window.splitDockWidget(at(u"kernel"), at(u"timeline"), Qt::Vertical);
    m_window.splitDockWidget(at(u"kernel"), at(u"grid"), Qt::Horizontal);
    const bool large = m_table == Table::Large;
    large ? placeLarge() : placeSmall(m_table == Table::Compact);
    dock(u"source"_s)->head()->button(kFindingsPage)->setVisible(!large);
    if (large && m_sourcePages->currentIndex() == 1) {
        showSourcePage(0);
    }
    m_movedByUser = false;
    m_arranging = false;
}

void Docks::placeSmall(bool compact)
{
    Dock* kernel = dock(u"kernel"_s);
    Dock* grid = dock(u"grid"_s);
    Dock* memory = dock(u"memory"_s);
    Dock* roofline = dock(u"roofline"_s);
    Dock* source = dock(u"source"_s);
    Dock* timeline = dock(u"timeline"_s);
    m_window.splitDockWidget(grid, memory, Qt::Horizontal);
    m_window.splitDockWidget(memory, roofline, Qt::Horizontal);
    if (compact) {
        m_window.tabifyDockWidget(roofline, source);
    } else {
        m_window.splitDockWidget(roofline, source, Qt::Vertical);
    }
    for (Dock* each : {kernel, grid, memory, roofline, source, timeline}) {
        each->show();
    }
    dock(u"verdict"_s)->hide();
    m_window.resizeDocks({kernel, grid, memory, roofline}, {232, 333, 347, 365}, Qt::Horizontal);
    m_window.resizeDocks({kernel, timeline}, {462, 245}, Qt::Vertical);
    if (compact) {
        roofline->raise();
    } else {
        m_window.resizeDocks({roofline, source}, {258, 203}, Qt::Vertical);
    }
}

void Docks::placeLarge()
{
    Dock* kernel = dock(u"kernel"_s);
    Dock* grid = dock(u"grid"_s);
    Dock* memory = dock(u"memory"_s);
    Dock* roofline = dock(u"roofline"_s);
    Dock* source = dock(u"source"_s);
    Dock* verdict = dock(u"verdict"_s);
    Dock* timeline = dock(u"timeline"_s);
    m_window.splitDockWidget(grid, memory, Qt::Horizontal);
    m_window.splitDockWidget(memory, roofline, Qt::Horizontal);
    m_window.splitDockWidget(kernel, verdict, Qt::Vertical);
    m_window.splitDockWidget(roofline, source, Qt::Vertical);
    for (Dock* each : m_all) {
        each->show();
    }
    m_window.resizeDocks({kernel, grid, memory, roofline}, {304, 495, 449, 669}, Qt::Horizontal);
    m_window.resizeDocks({grid, timeline}, {706, 281}, Qt::Vertical);
    m_window.resizeDocks({kernel, verdict}, {466, 239}, Qt::Vertical);
    m_window.resizeDocks({roofline, source}, {360, 345}, Qt::Vertical);
}

void Docks::focusNext(int direction)
{
    std::vector<Dock*> shown;
    for (Dock* each : m_all) {
        if (each->isVisible()) {
            shown.push_back(each);
        }
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

void Docks::setTheme(Theme theme)
{
    for (Dock* each : m_all) {
        each->setTheme(theme);
    }
    for (SceneView* each : m_views) {
        each->setTheme(theme);
    }
    m_form->setTheme(theme);
}

} // namespace pallascope::app
