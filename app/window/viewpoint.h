// Where the user looks: the run that the views show, and how one moves in it. The playhead, the
// range of the time line, what is pointed at and selected are its ShownState.
#pragma once

#include "app/window/playback.h"
#include "app/window/shown_state.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/run_view.h"
#include "views/navigation/ranges.h"
#include "views/navigation/stops.h"

#include <functional>
#include <memory>
#include <optional>

namespace pallascope::app {

using navigation::StepUnit;

class Viewpoint : public ShownState
{
    Q_OBJECT

public:
    explicit Viewpoint(QObject* parent = nullptr);

    // Null before the first run.
    [[nodiscard]] const std::shared_ptr<const layout::RunView>& run() const { return m_run; }

    [[nodiscard]] Playback& playback() { return m_playback; }

    [[nodiscard]] const Playback& playback() const { return m_playback; }

    // Changes the run and the state together: the playhead stays at the same share of the run, so
    // that the views of two block sizes can be compared.
    void show(std::shared_ptr<const layout::RunView> run);
    void look(layout::ViewState state); // clamped to the run; `playing` is ignored

    // The playhead.
    void setPlaying(bool playing);
    void setNow(Picoseconds now);
    void step(StepUnit unit, int direction);

    // What Back and Forward move by. It stays from run to run, as long as the run has such stops
    // and the choice was not left to the run: every run has a unit of its own to begin with.
    [[nodiscard]] StepUnit unit() const { return m_unit; }

    [[nodiscard]] std::vector<StepUnit> units() const; // those that this run has
    void setUnit(StepUnit unit);
    // Chooses the loop to whose rounds one moves (row of Info::loops), and moves by rounds; kNone:
    // the outermost loops.
    void markLoop(std::int32_t loop);

    void home() { setNow(Picoseconds(0)); }

    // Stops playing there, and the source view follows.
    void jumpTo(Picoseconds time);
    // Playing stops at the first of these times after the playhead.
    using NextStop = std::function<std::optional<Picoseconds>(Picoseconds now)>;

    void setStops(NextStop next) { m_nextStop = std::move(next); }

    void end();

    // The range of the time line.
    void changeRange(const navigation::NextRange& next);

    // Looking at things.
    void goTo(const layout::Target& target);
    void selectAndGoTo(const layout::Target& target);
    void showLine(const layout::target::SourceLine& line); // in the source view
    bool nextFinding(int direction);                       // false: there is none
    void setDevice(std::int32_t device);                   // of a run of several; clamped
    // Chooses a number of Agents::sms with its device; any other number changes nothing.
    void setSm(std::int32_t sm);

    // What the run is compared with (layout::ViewState::kept), from run to run until it is let go.
    // Null: nothing any more.
    void keep(std::shared_ptr<const layout::RunView> run);
    // By steps or by time, where two time lines are shown.
    void alignBySteps(bool bySteps);

Q_SIGNALS:
    void runChanged();
    void unitChanged(); // or the units of the run, or the marked loop

private:
    enum class Follow
    {
        Jump,
        Scroll
    };

    void setLoop(std::int32_t loop);
    void play(Picoseconds time);
    void moveTo(Picoseconds now, Follow follow);

    [[nodiscard]] const trace::Trace& trace() const { return *m_run->trace; }

    void show(std::shared_ptr<const layout::KeptRun> kept);

    std::shared_ptr<const layout::RunView> m_run;
    std::unique_ptr<navigation::Stops> m_stops;
    Playback m_playback;
    StepUnit m_unit = StepUnit::Step;
    bool m_isUnitChosen = false;
    NextStop m_nextStop;
};

} // namespace pallascope::app
