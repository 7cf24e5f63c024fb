#include "app/window/scrolled_view.h"

#include <QScrollBar>

#include <cmath>

namespace pallascope::app {

ScrolledView::ScrolledView(views::SceneView* view, Height height, QWidget* parent)
    : QScrollArea(parent)
    , m_view(view)
    , m_height(std::move(height))
{
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidgetResizable(true);
    setFocusPolicy(Qt::NoFocus);
    setWidget(view);
}

void ScrolledView::setRun(std::shared_ptr<const layout::RunView> run)
{
    m_run = std::move(run);
    fit();
    verticalScrollBar()->setValue(0);
}

void ScrolledView::show(const layout::Target& target)
{
    if (m_run && isVisible()) {
        for (const layout::Rect& rect : layout::framesOf(m_view->scene(), target)) {
            const auto bottom = static_cast<int>(rect.y + rect.h);
            const auto top = static_cast<int>(rect.y);
            ensureVisible(0, bottom, 0, 0);
            ensureVisible(0, top, 0, 0); // the beginning counts where not all of it fits
        }
    }
}

void ScrolledView::resizeEvent(QResizeEvent* event)
{
    QScrollArea::resizeEvent(event);
    fit();
}

void ScrolledView::fit()
{
    const double height = m_run ? m_height(*m_run, viewport()->width()) : 0;
    m_view->setMinimumHeight(static_cast<int>(std::ceil(height)));
}

} // namespace pallascope::app
