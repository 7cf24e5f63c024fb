// The painter of the roofline. Its methods are in roofline.cpp (axes, roofs, trail), marks.cpp
// (points and texts) and, as they say, in other files.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/axis.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/scene/scene.h"

#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout::roofline {

using analysis::Point; // in FLOP/B and FLOP/s; a place in the picture is a layout::Point

// A kernel of a program; none where there is only one, or more than can be told apart.
struct Kernel
{
    std::size_t piece = 0; // row of trace::Pieces
    Point point;
};

[[nodiscard]] std::vector<Kernel> kernelsOf(const RunView& run, std::int32_t device);

// Where the whole kept run is; none where nothing is kept, or nothing comparable.
[[nodiscard]] std::optional<Point> keptPoint(const ViewState& state);

// Draws one roofline; layoutRoofline makes one for each call.
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

    // "145.4" if the rate is in the axis' unit; with its unit otherwise.
    [[nodiscard]] std::string rate(double flopsPerSecond) const;

    [[nodiscard]] std::string_view unitName() const;

    void axes();
    void axisTitle(); // once it is known which ceilings are there

    // The roofs of the bandwidths: the datasheet's is solid, the achieved one is dashed.
    void slopes();

    void roof();

    // The run points at times up to now that are evenly spaced on a log scale. Each place leads
    // back to its time.
    void trail();

    void ceiling();

    // The names of roofs lie on them.
    void names();

    // In ceilings.cpp: the thin lines of other levels of memory and of links, as far as they lie
    // in the picture and below the peak and there is room for their names; and what the run so far
    // has computed for each byte over the links of one.
    void ceilings();
    // Writes a text on a line if there is room for it; returns whether there was.
    bool nameAlong(const std::pair<layout::Point, layout::Point>& part, const std::string& text);

    // Where the run lies below the ceilings whose bytes the trace has, and their numbers in the
    // report.
    struct CeilingPoint
    {
        std::size_t ceiling = 0;
        Point point;
    };

    [[nodiscard]] std::vector<CeilingPoint> ceilingPointsAt(const Point& point) const;
    void ceilingPoints(const Point& point);
    // The ends of its part in the picture; empty where that is too short to be read.
    [[nodiscard]] std::optional<std::pair<layout::Point, layout::Point>>
    partOf(const analysis::Ceiling& ceiling) const;

    // Writes a text along the roof of a bandwidth, `offset` px below it, in the left part of the
    // roof.
    void along(double bandwidth, const std::string& text, Color color, double offset, double share);

    struct Line
    {
        std::string text;
        int size = 11;
        Weight weight = Weight::Regular;
        Color color = Role::Text2;
    };

    [[nodiscard]] static double widest(const std::vector<Line>& lines);

    // Whether a box lies inside the plot and covers no point, no text and, if asked for, no part of
    // the trail.
    [[nodiscard]] bool isFree(const Rect& box, bool clearOfTrail = false) const;

    // Where a label of this size covers no names of roofs: right of the point and of the ridge if
    // possible, otherwise below the point, otherwise left of it; none if there is no such place.
    [[nodiscard]] std::optional<Rect> freePlace(layout::Point p, double w, double h) const;

    [[nodiscard]] std::string windowText(const Point& window) const;

    [[nodiscard]] std::vector<Line> pointLines(const Point& point,
                                               const std::optional<Point>& window) const;

    void points(const Point& point);
    void nameRun(layout::Point p, std::vector<Line> lines);

    // Shows where the whole run will be, for the time before anything is computed.
    void expected();
    void outOfSight(const Point& point);

    // Other runs of the kernel, as diamonds.
    void others();     // painted below the run point
    void nameOthers(); // written where the other texts leave room
    [[nodiscard]] std::optional<layout::Point> placeOf(const analysis::Alternative& other) const;

    // In kept.cpp: a run that is kept, hollow, with an arrow to where the whole present run is.
    void kept();
    void nameKept();

    // In kernels.cpp: the kernels of a program as numbered diamonds, the one under the playhead
    // with a stronger edge.
    void kernels();
    void numberKernels();

    // Writes the name beside its diamond, in its shorter form if necessary, and not at all if
    // neither side is free.
    void nameOther(const analysis::Alternative& other, const layout::Point& p, std::int64_t row);

    [[nodiscard]] std::string captionOf(const std::optional<Point>& point);

    // Where nothing is computed, each link stands for itself.
    [[nodiscard]] Scene noFlops();

    const RunView& m_run;
    const ViewState& m_state;
    Size m_size;
    bool m_wide;
    Canvas m_canvas;
    Rect m_plot;
    LogScale m_x, m_y;
    double m_unit = 1e12; // FLOP/s of one unit of the vertical axis
    double m_peak = 0, m_ridge = 0;
    int m_small = 10;
    std::vector<Rect> m_taken; // the places of texts and points
    std::vector<Rect> m_trail;
    std::vector<std::size_t> m_ceilings;                           // those that are in the picture
    std::vector<std::pair<layout::Point, std::int64_t>> m_kernels; // places and numbers
};

} // namespace pallascope::layout::roofline
