// The time line, and its parts apart so that each can be tested: lanes, bars, folding, the caption.
#pragma once

#include "views/layout/scene/canvas.h"
#include "views/layout/timeline/time_axis.h"

#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout {

// In two layers: all but the playhead (cache it per range, size and run; it changes with `now` only
// where a copy is under way), and the playhead with what moves.
[[nodiscard]] Scene layoutTimeline(const RunView& run, const ViewState& state, Size size);

namespace timeline {

inline constexpr double kHead = 112;     // px left of the plot
inline constexpr double kRight = 12;     // px right of it
inline constexpr double kRuler = 18;     // the time ruler
inline constexpr double kStepRuler = 18; // the band with the names of the steps
inline constexpr double kLaneGap = 4;
inline constexpr double kPlotTop = kRuler + kStepRuler;

// By the mean px of a step: over 400, 40 to 400, 6 to 40, less.
enum class Level
{
    Operations,
    Steps,
    Periods,
    Run
};

struct Zoom
{
    double pxPerStep = 0;
    Level level = Level::Steps;
    std::int64_t stepsPerBar = 1; // Level::Run: a power of two
};

[[nodiscard]] Zoom zoomOf(const trace::Trace& trace, const TimeAxis& axis);

enum class LaneKind
{
    CopyIn,
    CopyOut,
    Unit,
    Wait,
    DeviceCopy, // in both directions, of one device
    DeviceWait
};

struct Lane
{
    LaneKind kind = LaneKind::Unit;
    std::int32_t unit = -1;
    std::string name;
    Role role = Role::Scalar;
    std::int32_t device = -1;
    // Whose unit it is, or who waits; empty in a run of one agent. Its busy share is their average.
    std::vector<std::int32_t> agents;
    std::vector<std::int32_t> links; // whose copies it shows, of its direction or device
    bool used = true;                // busy at all during the run; else only its head is shown
    bool folded = false;             // copies and waits of a device, close together under one head
    double y = 0, h = 0;
};

// Top to bottom, with heights that fill `height` as far as they may grow or shrink. Where that is
// not enough: the waits of many agents share a lane for each kind, and units without work go; of
// devices the lanes fold, and at last devices go from the end.
[[nodiscard]] std::vector<Lane> lanesOf(const RunView& run, Level level, double height);
[[nodiscard]] LaneId idOf(const Lane& lane);
[[nodiscard]] std::optional<Lane> laneOf(const RunView& run, const LaneId& id);

// Busy time of a lane in [0, t), of several agents the average; for all of some times that ascend.
[[nodiscard]] Picoseconds busy(const RunView& run, const Lane& lane, Picoseconds t);
[[nodiscard]] std::vector<Picoseconds> busyBy(const RunView& run, const Lane& lane,
                                              const std::vector<Picoseconds>& times);

// What a part of a row of Segments stands for: its one operation, kNone for several or none.
[[nodiscard]] Target partOfSegment(std::int64_t segment, std::int32_t operation);

struct Bar
{
    double x0 = 0, x1 = 0;           // whole px
    std::int64_t begin = 0, end = 0; // ps
    Target target;
    Color color;
    std::int64_t count = 1;          // events; > 1: those that share its pixels
    std::vector<std::string> labels; // the longest first; the first that fits is drawn
};

// At most one bar per pixel, ascending, not overlapping.
// Of a lane of copies those over some of its links, as they are found in a track of it.
[[nodiscard]] std::vector<Bar> copyBars(const RunView& run, const Lane& lane,
                                        const std::vector<std::int32_t>& links,
                                        const TimeAxis& axis, Level level);
// Of several agents that of one, which must be told.
[[nodiscard]] std::vector<Bar> unitBars(const RunView& run, std::int32_t unit, const TimeAxis& axis,
                                        Level level, std::int32_t agent = trace::kNone);
[[nodiscard]] std::vector<Bar> waitBars(const RunView& run, const TimeAxis& axis,
                                        std::int32_t agent = trace::kNone);

// A lane of several agents has a track for each where they can be told apart, the first on top:
// what is drawn of the lane's height is the share of them that is busy. Else it is drawn as shares.
struct Track
{
    std::int32_t agent = 0;
    double y = 0, h = 0;
};

[[nodiscard]] std::vector<Track> tracksOf(const Lane& lane);

// A lane of copies has one for each of its links, which work at the same time, the first on top;
// where the lane is too low some links share one.
struct LinkTrack
{
    std::vector<std::int32_t> links;
    double y = 0, h = 0;
};

[[nodiscard]] std::vector<LinkTrack> linkTracksOf(const Lane& lane);

// One pixel of such a lane: how much of its agents is busy, or waits, on average over its time.
struct Share
{
    double share = 0;                 // 0 to 1
    std::int64_t rows = 0;            // of Segments or Waits that reach into it
    std::int64_t row = -1;            // if there is only one
    std::uint64_t which = 0;          // differs, as good as surely, where other rows do
    std::optional<Picoseconds> begin; // of the first that begins in it
};

// From the plot's left edge on, one per pixel.
[[nodiscard]] std::vector<Share> sharesOf(const RunView& run, const Lane& lane,
                                          const TimeAxis& axis);

// The rows of Segments or Waits by which agents of a lane are busy at t.
[[nodiscard]] std::vector<std::int32_t> rowsAt(const RunView& run, const Lane& lane, Picoseconds t);

// What a unit does at t in a segment, a row of Segments; null: nothing.
[[nodiscard]] const trace::Mark* markAt(const trace::Trace& trace, std::size_t segment,
                                        std::int32_t unit, Picoseconds t);

// Each device has its lanes: there are several, and not too many rows.
[[nodiscard]] bool hasDeviceLanes(const trace::Trace& trace);
// Busy time of any of the lane's links in [0, t), for times that ascend: what several do at once
// counts once.
[[nodiscard]] std::vector<Picoseconds> deviceBusyBy(const RunView& run, const Lane& lane,
                                                    const std::vector<Picoseconds>& times);

// Level::Run: whole steps, folded; `share` of [begin, end) is the lane busy.
struct Fold
{
    double x0 = 0, x1 = 0;
    std::int64_t begin = 0, end = 0;          // ps
    std::int64_t firstStep = 0, lastStep = 0; // rows of Steps
};

[[nodiscard]] std::vector<Fold> folds(const RunView& run, const TimeAxis& axis,
                                      std::int64_t stepsPerBar);

[[nodiscard]] std::string caption(const RunView& run, const ViewState& state, const Zoom& zoom);

// The unit that computes longest over the run; load, store and scalar only when nothing else does.
[[nodiscard]] std::int32_t mainUnit(const RunView& run);

// Whether a bar is the target or belongs to it: a copy and the wait it causes, a block and its
// copies, a line and its operations.
[[nodiscard]] bool belongs(const trace::Trace& trace, const Target& bar, const Target& target);

} // namespace timeline

} // namespace pallascope::layout
