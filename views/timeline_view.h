// The widget of the time line: a scene view whose horizontal axis is time. The wheel zooms at the
// cursor, a drag pans, Shift and a drag measure, the ruler sets the playhead, and a click in a lane
// selects.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/timeline/time_axis.h"
#include "views/scene_view.h"

#include <optional>

namespace pallascope::views {

class TimelineView : public SceneView
{
    Q_OBJECT

public:
    explicit TimelineView(QWidget* parent = nullptr);

    // "2.40 µs · 1.42 steps" while a measure is shown, otherwise empty.
    [[nodiscard]] QString measureText() const;

    // Below it: what was busy, moved and waited for meanwhile.
    [[nodiscard]] const QStringList& measureLines() const { return m_measureLines; }

Q_SIGNALS:
    void rangeChosen(const pallascope::layout::TimeRange& range);
    void timeChosen(pallascope::Picoseconds time);

protected:
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    [[nodiscard]] std::optional<Picoseconds> timeUnder(const QPointF& position) override;
    void paintOverlay(QPainter& painter) override;

private:
    enum class Drag
    {
        None,
        Pan,
        Measure,
        Scrub
    };

    [[nodiscard]] layout::TimeAxis axis() const;
    [[nodiscard]] Picoseconds timeAt(double x) const; // clamped to the run
    void measure(std::optional<layout::TimeRange> range);
    void paintMeasured(QPainter& painter, double middle, double top);

    Drag m_drag = Drag::None;
    bool m_moved = false;
    QPointF m_pressed;
    QPointF m_pressedGlobal;
    layout::TimeAxis m_axisAtPress;
    std::optional<layout::TimeRange> m_measure; // begin may lie after end
    QStringList m_measureLines;
};

// The strip of the whole run in the transport bar. Dragging moves the playhead; Shift and a drag
// choose the range that the time line shows.
class OverviewView : public SceneView
{
    Q_OBJECT

public:
    explicit OverviewView(QWidget* parent = nullptr);

Q_SIGNALS:
    void rangeChosen(const pallascope::layout::TimeRange& range);
    void timeChosen(pallascope::Picoseconds time);

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    [[nodiscard]] Picoseconds timeAt(double x) const;
    void choose(double x);

    bool m_dragging = false;
    std::optional<Picoseconds> m_frameFrom;
};

} // namespace pallascope::views
