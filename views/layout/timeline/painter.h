// The time line's painter. Methods of FramePainter are in timeline.cpp (bands, playhead) and
// rulers.cpp, those of Painter in timeline.cpp (heads and frames), paint.cpp (lanes) and
// paint_shared.cpp (lanes of several agents).
#pragma once

#include "views/layout/timeline/timeline.h"

#include <string>
#include <vector>

namespace pallascope::layout::timeline {

inline constexpr Color kBand = mix(Role::Prologue, 0.75); // where nothing can overlap

// What lies around and behind the lanes: rulers, bands, playhead.
class FramePainter
{
protected:
    FramePainter(const RunView& run, const ViewState& state, Size size);

    [[nodiscard]] double right() const { return m_axis.left + m_axis.width; }

    [[nodiscard]] double x(std::int64_t t) const { return m_axis.toX(Picoseconds(t)); }

    [[nodiscard]] std::int64_t begin() const { return m_axis.range.begin.value(); }

    [[nodiscard]] std::int64_t end() const { return m_axis.range.end.value(); }

    // timeline.cpp
    [[nodiscard]] bool playheadInSight() const;
    // The playhead's flag with the time; the ruler's labels give way to it.
    [[nodiscard]] Rect flag() const;
    // Where nothing can overlap: before the first body, after the last.
    void bands();
    // A program may compute before its kernel: then it is all that comes before the first step.
    [[nodiscard]] std::int64_t prologueEnd() const;
    [[nodiscard]] bool isAllPrologue() const; // nothing computes in it
    void playhead();

    // rulers.cpp
    void timeRuler();
    // A mark for each line that the kernel printed.
    void prints();
    void stepRuler();

    const RunView& m_run;
    const trace::Trace& m_trace;
    const ViewState& m_state;
    Size m_size;
    TimeAxis m_axis;
    Zoom m_zoom;
    std::vector<Lane> m_lanes;
    Canvas m_canvas;
    double m_bottom = 0;

private:
    void stepLine(double px);
    // A number every so many periods; where bars are steps folded, lines through the lanes would be
    // one more pattern.
    void stepNumbers();
    // The first that fits, else nothing: a name is never cut in mid-word.
    void firstFitting(double px, double w, double y, double h,
                      const std::vector<std::string>& names, TextStyle style);
    [[nodiscard]] std::vector<std::string> namesOf(std::size_t step) const;
    void stepNames();
    // The bands before the first body and after the last.
    void bandNames();
    // One name per stay of the slowest output, or per 2, 4, ... of them.
    void periodNames();
};

// Draws one time line; made for one call of layoutTimeline.
class Painter : private FramePainter
{
public:
    Painter(const RunView& run, const ViewState& state, Size size);

    [[nodiscard]] Scene paint() &&;

private:
    // timeline.cpp
    // What the caption says where not all fit; else empty.
    [[nodiscard]] std::string devicesShown() const;
    void head(const Lane& lane);
    // Below the name, where there is room: how many agents of which kind share the lane.
    bool headOfMany(const Lane& lane);
    // Both copy lanes are one link with one queue.
    void linkBracket();
    // Selection, and the hovered thing with its partners.
    void frames();

    // paint.cpp
    void folded(const Lane& lane);
    // Clamped to the plot, so that what is out of sight cannot be hit.
    void hit(double px, double y, double w, double h, Target target);
    void bars(const Lane& lane);
    // A bar from x0 to x1 with the first label that fits; it is hit up to hitEnd.
    void solid(const Lane& lane, const Bar& bar, double x0, double x1, double hitEnd);
    bool label(const Lane& lane, const Bar& bar, double x0, double x1, Color fill);
    void copies(const Lane& lane);
    // From issue to start: how long a copy queued. Copies still queued behind the range's end
    // belong here too.
    void whiskers(const Lane& lane);
    bool whisker(const Lane& lane, std::size_t row); // whether it is drawn
    // Solid up to now, tinted for what is still to come.
    void underWay(const Lane& lane, const Bar& bar, double x1);
    void wait(const Lane& lane, const Bar& bar);

    // paint_shared.cpp
    void tracks(const Lane& lane, const std::vector<Track>& tracks);
    // The share of a lane's agents as height.
    void shared(const Lane& lane);
    void waitShares(const Lane& lane, const std::vector<double>& heights);
    [[nodiscard]] Target targetOf(const Lane& lane, std::int64_t row) const;
};

} // namespace pallascope::layout::timeline
