// The parts of layoutSweep(): axes and marks (sweep.cpp), the legend and the caption (legend.cpp).
#pragma once

#include "views/layout/scene/axis.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/sweep/arrange.h"
#include "views/layout/sweep/sweep.h"

namespace pallascope::layout::sweep {

inline constexpr double kRow = 17;       // px: a line of the legend
inline constexpr double kLegendGap = 16; // px between the plot and the legend

// What is drawn at all.
struct Present
{
    const SweepPoint* fastest = nullptr;
    bool perhaps = false, bands = false, findings = false, notRun = false;
};

class Painter
{
public:
    Painter(const SweepPicture& picture, Size size);

    Scene paint() &&;

private:
    void setTimes();
    void timeAxis();
    void columns();
    void join(std::size_t series);
    void whisker(const SweepPoint& point, Point at, Color color);
    void mark(const SweepPoint& point, int series);
    void legend();
    void legendRow(double y, const std::string& text, Color color);
    void keys(double y);
    void leftOut(double y);
    [[nodiscard]] double legendWidth() const;
    [[nodiscard]] double slot() const;
    [[nodiscard]] double columnAt(std::size_t column) const;
    [[nodiscard]] Point placeOf(const SweepPoint& point, std::size_t series) const;
    [[nodiscard]] std::string caption() const;

    [[nodiscard]] const SweepAxis& across() const { return m_picture.axes[m_rows.across]; }

    const SweepPicture& m_picture;
    Canvas m_canvas;
    Arrangement m_rows;
    Present m_present;
    double m_legend = 0; // its width with the gap before it; 0: there is none
    Rect m_plot;
    LogScale m_y;
};

} // namespace pallascope::layout::sweep
