// Lays out the time line. Its parts (lanes, bars, folding, the caption) are declared here as well,
// so that each can be tested alone.
#pragma once

#include "core/trace/row.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/timeline/time_axis.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pallascope::layout {

// The scene has two layers: one for everything that stands still, and one for the playhead and what
// moves with it. The first may be cached by run, range and size; it changes with `now` only while a
// copy is under way.
[[nodiscard]] Scene layoutTimeline(const RunView& run, const ViewState& state, Size size);

namespace timeline {

inline constexpr double kHead = 112;     // px left of the plot
inline constexpr double kRight = 12;     // px right of it
inline constexpr double kRuler = 18;     // the time ruler
inline constexpr double kStepRuler = 18; // the band with the names of the steps
inline constexpr double kLaneGap = 4;
inline constexpr double kPlotTop = kRuler + kStepRuler; // without rounds; see round_bands.h

// How much detail is drawn. It depends on the mean width of a step: over 400 px, 40 to 400 px,
// 6 to 40 px, or less.
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
    Device,     // all that one device does, in a strip; of the chosen one, its head alone
    DeviceCopy, // of the chosen device, the copies over one link
    DeviceUnit,
    DeviceWait,
    Sms,      // how busy each SM of a device is, as a strip
    Sm,       // the head of the chosen one
    SmCopies, // of the chosen one: its copies, a unit, and a warpgroup
    SmUnit,
    Agent
};

struct Lane
{
    LaneKind kind = LaneKind::Unit;
    std::int32_t unit = -1;
    std::string name;
    Role role = Role::Scalar;
    std::int32_t device = -1;
    // The agents that own the unit or that wait; empty in a run of one agent. The lane's busy share
    // is their average.
    std::vector<std::int32_t> agents;
    std::vector<std::int32_t> links; // whose copies it shows: of its direction or device
    bool used = true;                // ever busy during the run; if not, only its head is shown
    bool isOpen = false;  // the head of the chosen device or SM, whose lanes lie below it
    std::int32_t sm = -1; // that it is of; -1: of none
    double y = 0, h = 0;
};

inline constexpr double kLeastHead = 8; // px; lower lanes have no name

// The lanes from top to bottom. Their heights fill `height` as far as lanes may grow or shrink. If
// they still do not fit, the waits of many agents share one lane for each kind of agent, and units
// without work are left out. Of several devices the chosen one has lanes, and each other one a
// strip; where there is no room for all, the chosen one stays, and the one for which the others
// wait. Of the SMs of a GPU the chosen one has lanes, and all of a device share a strip. `sm` is
// its number among those of the device.
[[nodiscard]] std::vector<Lane> lanesOf(const RunView& run, Level level, double height,
                                        std::int32_t device = 0, std::int32_t sm = 0);
[[nodiscard]] LaneId idOf(const Lane& lane);
[[nodiscard]] std::optional<Lane> laneOf(const RunView& run, const LaneId& id);

// The busy time of a lane in [0, t), averaged over its agents. busyBy gives it for every one of
// several ascending times.
[[nodiscard]] Picoseconds busy(const RunView& run, const Lane& lane, Picoseconds t);
[[nodiscard]] std::vector<Picoseconds> busyBy(const RunView& run, const Lane& lane,
                                              const std::vector<Picoseconds>& times);

// The target of a part of a row of Segments. `operation` is the one operation in that part, if
// there is exactly one.
[[nodiscard]] Target partOfSegment(std::int64_t segment,
                                   trace::OptionalRow<trace::OperationRow> operation);

struct Bar
{
    double x0 = 0, x1 = 0;           // whole px
    std::int64_t begin = 0, end = 0; // ps
    Target target;
    Color color;
    std::int64_t count = 1; // events that the bar stands for; over 1 if several share its pixels
    std::vector<std::string> labels; // longest first; the first that fits is drawn
};

// All these functions give at most one bar per pixel, ascending and without overlaps.
// The copies of a lane that go over `links`, which are usually the links of one of its tracks.
[[nodiscard]] std::vector<Bar> copyBars(const RunView& run, const Lane& lane,
                                        const std::vector<std::int32_t>& links,
                                        const TimeAxis& axis, Level level);
// In a run of several agents, `agent` says whose unit is meant and must be given.
[[nodiscard]] std::vector<Bar> unitBars(const RunView& run, trace::UnitRow unit,
                                        const TimeAxis& axis, Level level,
                                        trace::OptionalRow<trace::AgentRow> agent = {});
// All that an agent does on units other than matrix units.
[[nodiscard]] std::vector<Bar> agentBars(const RunView& run, trace::AgentRow agent,
                                         const TimeAxis& axis, Level level);
[[nodiscard]] std::vector<Bar> waitBars(const RunView& run, const TimeAxis& axis,
                                        trace::OptionalRow<trace::AgentRow> agent = {});

// A lane of several agents has one track for each agent, the first on top, if it is high enough to
// tell them apart: the filled part of its height is then the share of agents that is busy. A lower
// lane is drawn as shares.
struct Track
{
    std::int32_t agent = 0;
    double y = 0, h = 0;
};

[[nodiscard]] std::vector<Track> tracksOf(const Lane& lane);

// A lane of copies has one track for each of its links, because links work at the same time. The
// first is on top. In a lane that is too low, some links share a track.
struct LinkTrack
{
    std::vector<std::int32_t> links;
    double y = 0, h = 0;
};

[[nodiscard]] std::vector<LinkTrack> linkTracksOf(const Lane& lane);

// One pixel of a lane that is drawn as shares: the share of its agents that is busy, or waits,
// averaged over the pixel's time.
struct Share
{
    double share = 0;                 // 0 to 1
    std::int64_t rows = 0;            // how many rows of Segments or Waits reach into the pixel
    std::int64_t row = -1;            // the row if there is only one, else -1
    std::uint64_t which = 0;          // a hash of those rows
    std::optional<Picoseconds> begin; // when the first row that begins in the pixel begins
};

// One share per pixel, from the plot's left edge on.
[[nodiscard]] std::vector<Share> sharesOf(const RunView& run, const Lane& lane,
                                          const TimeAxis& axis);

// The rows of Segments or Waits that keep agents of a lane busy at t.
using RowAt = std::variant<trace::SegmentRow, trace::WaitRow>;
[[nodiscard]] std::vector<RowAt> rowsAt(const RunView& run, const Lane& lane, Picoseconds t);

// What a unit does at t in `segment`; null if it does nothing.
[[nodiscard]] const trace::Mark* markAt(const trace::Trace& trace, trace::SegmentRow segment,
                                        trace::UnitRow unit, Picoseconds t);

// Whether each device gets lanes of its own: there must be several, and not too many rows.
[[nodiscard]] bool hasDeviceLanes(const trace::Trace& trace);
// The lanes of all devices, the chosen one open. `sm`: its SM that has lanes; kNone: it has none.
[[nodiscard]] std::vector<Lane> deviceLanes(const RunView& run, std::int32_t chosen,
                                            std::int32_t sm);
// The lane of a device that an id names; it need not be the chosen one's.
[[nodiscard]] std::optional<Lane> deviceLaneOf(const RunView& run, const LaneId& id);
// The time in [0, t) during which the lane has a copy over any of its links, for ascending times.
// Time during which it has several counts once.
[[nodiscard]] std::vector<Picoseconds> linksBusyBy(const RunView& run, const Lane& lane,
                                                   const std::vector<Picoseconds>& times);

// Whole steps that one bar stands for at Level::Run.
struct Fold
{
    double x0 = 0, x1 = 0;
    std::int64_t begin = 0, end = 0;          // ps
    std::int64_t firstStep = 0, lastStep = 0; // rows of Steps
};

[[nodiscard]] std::vector<Fold> folds(const RunView& run, const TimeAxis& axis,
                                      std::int64_t stepsPerBar);

// From the end of the last step until the last blocks have left; empty at the end of a run without.
[[nodiscard]] TimeRange epilogueOf(const RunView& run);

[[nodiscard]] std::string caption(Canvas& canvas, const RunView& run, const ViewState& state,
                                  const Zoom& zoom);

// The unit that computes longest over the run. Load, store and scalar units count only if no other
// unit computes.
[[nodiscard]] std::optional<std::int32_t> mainUnit(const RunView& run);

// Whether a bar is the target or belongs to it: a wait belongs to the copy that causes it, copies
// belong to their block, and operations to their line.
[[nodiscard]] bool belongs(const trace::Trace& trace, const Target& bar, const Target& target);

} // namespace timeline

} // namespace pallascope::layout
