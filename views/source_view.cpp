#include "views/source_view.h"

#include "views/to_qt.h"

#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pallascope::views {
namespace {

using namespace layout;

constexpr double kLinesPerNotch = 3;
constexpr double kPixelsPerLine = 17;

SceneView::Layout layoutOf(SourceTab tab)
{
    return [tab](const RunView& run, const ViewState& state, Size size) {
        return layoutSource(run, state, size, tab);
    };
}

std::int64_t lineCount(const RunView& run)
{
    std::size_t most = run.trace->info().listing.size();
    for (const auto& file : run.trace->info().sources) {
        most = std::max(
            most, static_cast<std::size_t>(std::count(file.text.begin(), file.text.end(), '\n')));
    }
    return static_cast<std::int64_t>(most);
}

} // namespace

SourceView::SourceView(QWidget* parent)
    : SceneView(layoutOf(SourceTab::Source), Use::Fixed, parent)
{}

void SourceView::setTab(SourceTab tab)
{
    m_tab = tab;
    setLayoutFunction(layoutOf(tab));
}

std::int64_t SourceView::firstShown()
{
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const Hit& hit : scene().hits) {
        if (const auto* line = std::get_if<target::SourceLine>(&hit.target);
            line != nullptr && m_tab == SourceTab::Source) {
            first = std::min(first, line->line);
        }
        if (const auto* line = std::get_if<target::ListingLine>(&hit.target);
            line != nullptr && m_tab == SourceTab::Listing) {
            first = std::min(first, line->line + 1);
        }
    }
    return first == std::numeric_limits<std::int64_t>::max() ? 1 : first;
}

void SourceView::wheelEvent(QWheelEvent* event)
{
    event->accept();
    if (!run()) {
        return;
    }
    m_notches += event->pixelDelta().isNull()
                     ? event->angleDelta().y() / kAngleOfNotch * kLinesPerNotch
                     : event->pixelDelta().y() / kPixelsPerLine;
    const double lines = std::trunc(m_notches);
    m_notches -= lines;
    if (lines == 0) {
        return;
    }
    const std::int64_t from = state().firstSourceLine > 0 ? state().firstSourceLine : firstShown();
    const auto to = from - static_cast<std::int64_t>(lines);
    Q_EMIT scrolled(std::clamp<std::int64_t>(to, 1, std::max<std::int64_t>(1, lineCount(*run()))));
}

} // namespace pallascope::views
