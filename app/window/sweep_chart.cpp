#include "app/window/sweep_chart.h"

#include "views/layout/scene/canvas.h"
#include "views/layout/scene/header.h"
#include "views/pointing.h"

#include <QKeyEvent>

namespace pallascope::app {

namespace target = layout::target;

namespace {

constexpr std::string_view kNothing = "Start draws the predicted time of each combination here.";

} // namespace

SweepChart::SweepChart(QWidget* parent)
    : SceneView({}, Use::Fixed, parent)
{
    setOptions({.cursorKeys = true});
    clear();
    connect(this, &SceneView::clicked, this, &SweepChart::report);
    connect(this, &SceneView::doubleClicked, this, [this](const layout::Target& at) {
        if (layout::is<target::SweepRow>(at)) {
            Q_EMIT rowOpened(); // the first click has chosen it
        }
    });
}

void SweepChart::clear()
{
    m_picture = std::make_shared<const layout::SweepPicture>();
    choose({});
    setPicture({[](layout::Size size) {
                    layout::Canvas canvas(size.width, size.height);
                    canvas.text(
                        0, 0, size.width, size.height, kNothing,
                        {12, layout::Role::Text2, layout::Weight::Regular, layout::Align::Center});
                    return std::move(canvas).finish({}, std::string(kNothing));
                },
                [](const layout::Target& /*nothing*/) { return std::vector<std::string>(); }});
}

void SweepChart::show(layout::SweepPicture picture)
{
    m_picture = std::make_shared<const layout::SweepPicture>(std::move(picture));
    setPicture(
        {[shown = m_picture](layout::Size size) {
             return layout::withHeader(layout::layoutSweep(
                 *shown,
                 {size.width, std::max(1.0, size.height - layout::headerHeight(size.width))}));
         },
         [shown = m_picture](const layout::Target& at) { return layout::sweepTip(*shown, at); }});
}

void SweepChart::choose(std::optional<std::size_t> row)
{
    layout::ViewState chosen;
    if (row) {
        chosen.selection = target::SweepRow{static_cast<std::int64_t>(*row)};
    }
    setState(chosen);
}

std::optional<std::size_t> SweepChart::fastest() const
{
    for (const layout::SweepPoint& point : m_picture->points) {
        if (point.standing == layout::SweepStanding::Fastest) {
            return static_cast<std::size_t>(point.row);
        }
    }
    return std::nullopt;
}

void SweepChart::report(const layout::Target& at)
{
    if (const auto* row = std::get_if<target::SweepRow>(&at)) {
        Q_EMIT rowChosen(static_cast<std::size_t>(row->row));
    }
}

void SweepChart::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Return: // would otherwise press the default button of the dialog
    case Qt::Key_Enter:
        Q_EMIT rowOpened();
        return;
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
        if (layout::isNothing(pointing().target())) { // the cursor starts at what is chosen
            pointing().pointAt(state().selection, mapToGlobal(QPoint()));
        }
        SceneView::keyPressEvent(event);
        report(pointing().target());
        return;
    default:
        SceneView::keyPressEvent(event);
    }
}

} // namespace pallascope::app
