// The roofline's painter; its methods are in roofline.cpp (axes, roofs, trail) and
// marks.cpp (points and texts).
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/axis.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/scene/scene.h"

#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout::roofline {

using analysis::Point; // FLOP/B and FLOP/s; a place in the picture is a layout::Point

// Draws one roofline; made for one call of layoutRoofline.
class Painter
{
public:
    Painter(const RunView& run, const ViewState& state, Size size);

    [[nodiscard]] Scene paint() &&;

private:
    [[nodiscard]] double datasheet() const;

    [[nodiscard]] double achieved() const { return m_run.report.roofline.memory.achieved.value(); }

    [[nodiscard]] double roofAt(double intensity) const;

    [[nodiscard]] bool inSight(const Point& p) const;

    [[nodiscard]] layout::Point at(const Point& p) const;

    // "145.4" in the unit of the axis, with its unit in any other.
    [[nodiscard]] std::string rate(double flopsPerSecond) const;

    [[nodiscard]] std::string_view unitName() const;

    void axes();

    // The bandwidths: datasheet solid, achieved dashed.
    void slopes();

    // Where the lowest of them is at an x, both in px.
    [[nodiscard]] double slopeAt(double px) const;

    void roof();

    // The run point at log-spaced times up to now; each place leads back to its time.
    void trail();

    void ceiling();

    // Names lie on their roofs.
    void names();

    // Text along the slope of a bandwidth, `offset` px below it, where its left part is.
    void along(double bandwidth, const std::string& text, Color color, double offset, double share);

    struct Line
    {
        std::string text;
        int size = 11;
        Weight weight = Weight::Regular;
        Color color = Role::Text2;
    };

    [[nodiscard]] static double widest(const std::vector<Line>& lines);

    // Inside the plot and clear of points and texts, and of the trail if asked for.
    [[nodiscard]] bool isFree(const Rect& box, bool clearOfTrail = false) const;

    // Where a label of this size lies clear of the roofs' names: right of the point and the ridge,
    // else below, else left.
    [[nodiscard]] Rect place(layout::Point p, double w, double h) const;

    [[nodiscard]] std::string windowText(const Point& window) const;

    [[nodiscard]] std::vector<Line> pointLines(const Point& point,
                                               const std::optional<Point>& window) const;

    void points(const Point& point);

    // Before anything is computed: where the whole run will be.
    void expected();

    // Other runs of the kernel, as diamonds.
    void others();     // under the run point
    void nameOthers(); // where the other texts leave room
    [[nodiscard]] std::optional<layout::Point> placeOf(const analysis::Alternative& other) const;

    // Beside its diamond, the shorter name if need be, nothing if neither side is free.
    void nameOther(const analysis::Alternative& other, const layout::Point& p, std::int64_t row);

    [[nodiscard]] std::string captionOf(const std::optional<Point>& point) const;

    [[nodiscard]] Scene noFlops();

    const RunView& m_run;
    const ViewState& m_state;
    Size m_size;
    bool m_wide;
    Canvas m_canvas;
    Rect m_plot;
    LogScale m_x, m_y;
    double m_unit = 1e12; // of the vertical axis
    double m_peak = 0, m_ridge = 0;
    int m_small = 10;
    std::vector<Rect> m_taken; // by texts and points
    std::vector<Rect> m_trail;
};

} // namespace pallascope::layout::roofline
