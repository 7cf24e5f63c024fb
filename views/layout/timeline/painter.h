// The painter of the time line. The methods of FramePainter are in timeline.cpp (bands, playhead)
// and rulers.cpp. Those of Painter are in timeline.cpp (heads and frames), paint.cpp (lanes),
// paint_shared.cpp (lanes of several agents) and paint_sms.cpp (lanes of SMs).
#pragma once

#include "views/layout/run/break_marks.h"
#include "views/layout/run/finding_marks.h"
#include "views/layout/timeline/round_bands.h"
#include "views/layout/timeline/timeline.h"

#include <string>
#include <utility>
#include <vector>

namespace pallascope::layout::timeline {

// Where copies and computing cannot overlap.
inline constexpr Color kBand = mix(Role::Prologue, 0.75);

// A gap between two steps where two runs are aligned by them.
struct Gap
{
    double x0 = 0, x1 = 0; // whole px
    Picoseconds length;
};

[[nodiscard]] std::vector<Gap> gapsOf(const TimeAxis& axis);
// The bars without what would lie in gaps: a bar goes on behind a gap and is not stretched. Labels
// stay with the longest part.
[[nodiscard]] std::vector<Bar> cutAtGaps(std::vector<Bar> bars, const std::vector<Gap>& gaps);

// Paints what lies around and behind the lanes: rulers, bands, playhead.
class FramePainter
{
protected:
    FramePainter(const RunView& run, const ViewState& state, Size size, const TimeAxis& axis);

    [[nodiscard]] double right() const { return m_axis.left + m_axis.width; }

    [[nodiscard]] double x(std::int64_t t) const { return m_axis.toX(Picoseconds(t)); }

    [[nodiscard]] std::int64_t begin() const { return m_axis.range.begin.value(); }

    [[nodiscard]] std::int64_t end() const { return m_axis.range.end.value(); }

    // In timeline.cpp:
    [[nodiscard]] bool playheadInSight() const;
    // The place of the playhead's flag with the time; labels of the ruler leave it free.
    [[nodiscard]] Rect flag() const;
    // Marks where copies and computing cannot overlap: before the first body and after the last.
    void bands();
    // A program may compute before its kernel. Everything before the first step then counts as
    // prologue.
    [[nodiscard]] std::int64_t prologueEnd() const;
    [[nodiscard]] bool isAllPrologue() const; // whether nothing computes in the prologue
    void playhead();

    // In rulers.cpp:
    void timeRuler(); // with a mark for each place of a finding
    // Paints the times that marks and tags leave free; tags that would leave too few are removed.
    void timeLabels(const std::vector<FindingMark>& marks, std::vector<BreakMark>& breaks);
    // Paints a mark for each line that the kernel printed.
    void prints();
    void stepRuler();

    // In round_bands.cpp:
    void roundHeads(); // the names of the loops, left of the plot
    void roundBands();

    const RunView& m_run;
    const trace::Trace& m_trace;
    const ViewState& m_state;
    Size m_size;
    TimeAxis m_axis;
    Zoom m_zoom;
    std::vector<Lane> m_lanes;
    std::vector<RoundBand> m_roundBands;
    Canvas m_canvas;
    double m_bottom = 0;
    // In kept.cpp: the gaps at the ends of steps that are shorter than those of the other run, from
    // left to right.
    std::vector<Gap> m_gaps;

private:
    // In round_bands.cpp: the rounds of one loop; one of them, or several that are narrow.
    void roundsOf(const RoundBand& band, std::int32_t loop, bool outermost);
    void roundCell(const RoundBand& band, const Rect& cell, const std::vector<std::string>& names,
                   const std::pair<std::int64_t, std::int64_t>& times, bool outermost);
    void stepLine(double px);
    // Steps of leading agents alone are named: those of the others lie between them.
    [[nodiscard]] std::int64_t beginOf(std::size_t number) const;
    [[nodiscard]] double pxPerLeadingStep() const;
    // Writes a step's number every few periods, without lines through the lanes: beside bars that
    // stand for several steps, they would be one more pattern.
    void stepNumbers();
    // Writes the first name that fits, or nothing: a name is never cut.
    void firstFitting(double px, double w, double y, double h,
                      const std::vector<std::string>& names, TextStyle style);
    [[nodiscard]] std::vector<std::string> namesOf(std::size_t step) const;
    void stepNames();
    // Names the bands before the first body and after the last.
    void bandNames();
    // Writes one name per visit of the slowest output, or per 2, 4, ... of its visits.
    void periodNames();
};

// Draws one time line; layoutTimeline makes one for each call.
class Painter : private FramePainter
{
public:
    Painter(const RunView& run, const ViewState& state, Size size, const TimeAxis& axis);

    // Whether there is room for all lanes.
    [[nodiscard]] bool fits() const { return m_bottom <= m_size.height; }

    [[nodiscard]] Scene paint() &&;

private:
    // In timeline.cpp:

    // What the caption says if there is not enough room for all devices; empty otherwise.
    [[nodiscard]] std::string devicesShown() const;
    void head(const Lane& lane);
    void deviceHead(const Lane& lane);
    // If there is room, writes below the name how many agents of which kind share the lane. Returns
    // whether it did.
    bool headOfMany(const Lane& lane);
    // Marks that both copy lanes are one link with one queue.
    void linkBracket();
    // Frames the selection, and the hovered thing with its partners.
    void frames();

    // In kept.cpp: how long the gaps are, in the lane of the unit that computes most.
    void gaps();
    // In paint.cpp:
    void folded(const Lane& lane);
    // What a device that is not chosen does, tinted; its waits have full ink. Below the copies of a
    // strip of links is a margin in which its core works and waits.
    void strip(const Lane& lane);
    // Clamped to the plot, so that what is out of sight cannot be hit.
    void hit(double px, double y, double w, double h, Target target);
    void bars(const Lane& lane);
    // A bar from x0 to x1 with the first label that fits. Its target reaches to hitEnd.
    void solid(const Lane& lane, const Bar& bar, double x0, double x1, double hitEnd);
    bool label(const Lane& lane, const Bar& bar, double x0, double x1, Color fill);
    void copies(const Lane& lane);
    // A line from issue to start shows how long a copy was queued. Copies that are still queued at
    // the end of the range get one, too.
    void whiskers(const Lane& lane);
    bool whisker(const Lane& lane, std::size_t row); // returns whether it was drawn
    // A copy under way: solid up to now, tinted for what is still to come.
    void underWay(const Lane& lane, const Bar& bar, double x1);
    void wait(const Lane& lane, const Bar& bar);

    // In paint_sms.cpp:
    void smStrip(const Lane& lane);
    void smHead(const Lane& lane);
    void warpgroup(const Lane& lane);

    // In paint_shared.cpp:
    void tracks(const Lane& lane, const std::vector<Track>& tracks);
    // The share of a lane's agents, drawn as a height.
    void shared(const Lane& lane);
    void waitShares(const Lane& lane, const std::vector<double>& heights);
    [[nodiscard]] Target targetOf(const Lane& lane, std::int64_t row) const;
};

// The present run with the kept one below it.
[[nodiscard]] Scene besideKept(const RunView& run, const ViewState& state, Size size);

} // namespace pallascope::layout::timeline
