// Breakpoints in the docks: marks beside the source, and menus of things in views.
#include "app/window/break_menu.h"
#include "app/window/docks.h"

namespace pallascope::app {

using namespace layout;
using namespace Qt::StringLiterals;
using views::SceneView;

namespace {

void showBreakMarks(Session& session, views::SourceView& source)
{
    const auto& run = session.viewpoint().run();
    std::vector<views::SourceView::BreakMark> marks;
    std::vector<target::SourceLine> lines;
    if (run) {
        const trace::Info& info = run->trace->info();
        for (const trace::SourceLine& line : navigation::linesThatStop(info)) {
            lines.push_back({line.file, line.line});
        }
        for (const Breakpoints::Entry& entry : session.breakpoints().entries()) {
            if (const auto line = navigation::lineOf(info, entry.breakpoint)) {
                marks.push_back({{line->file, line->line}, entry.isOn});
            }
        }
    }
    source.setBreakMarks(std::move(marks));
    source.setBreakLines(std::move(lines));
}

} // namespace

void Docks::connectBreakpoints()
{
    for (SceneView* each : m_views) {
        if (each == m_budget || each == m_values->picture()) { // which have no things of the run's
            continue;                                          // course, or another menu
        }
        connect(each, &SceneView::menuAsked, this,
                [this, each](const Target& target, const std::optional<Picoseconds>& time,
                             const QPoint& at) {
                    makeBreakMenu(m_session, target, time, each)->popup(at);
                });
    }
    connect(m_source, &views::SourceView::breakAsked, this,
            [this](const target::SourceLine& line) { m_session.toggleBreakpoint(line); });
    connect(&m_session.breakpoints(), &Breakpoints::changed, this, [this] {
        showBreakMarks(m_session, *m_source);
        captions();
    });
    connect(m_values, &ValuesPanel::conditionAsked, this, &Docks::askBreakpoint);
}

void Docks::askBreakpoint(const QString& text)
{
    constexpr int kBreakpointsPage = 3; // of the source dock, behind the findings
    showSourcePage(kBreakpointsPage);
    Dock* source = dock(u"source"_s);
    source->show();
    source->raise();
    m_breakpoints->ask(text);
}

} // namespace pallascope::app
