// Long grids of a GPU, in runs that keep only sums and compute only needed values. Once waves of
// blocks take as long as the waves before them, blocks after them are passed over: they do not
// run, and what they would have taken and moved is that of the waves on both sides of them.
#pragma once

#include "core/machine/parts/context.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::machine {

// In a run of fewer turns than these every block runs, unless the settings say otherwise.
inline constexpr std::int64_t kTurnsOfShortRuns = 2'000'000;

class LongGrids
{
public:
    // `turns` is how many turns the run has taken.
    LongGrids(const Context& context, const std::int64_t& turns)
        : m_prepared(context.prepared)
        , m_recorder(context.recorder)
        , m_setting(context.settings.longGrids)
        , m_turns(turns)
    {}

    // A core_map begins, of whose clusters (without clusters: blocks) this many run at a time.
    void begin(const ir::Operation& coreMap, std::int32_t atATime);
    // Which cluster begins instead of `next`, now: the same, or one after it.
    [[nodiscard]] std::int32_t pass(std::int32_t next, Picoseconds now);
    // All clusters that were not passed over have ended: the time of the others.
    [[nodiscard]] Picoseconds end();

private:
    struct Wave // begins
    {
        Picoseconds time;
        Recorder::SumsSoFar sums;
        std::int64_t segments = 0; // so far
    };

    // Waves that follow each other.
    struct Stretch
    {
        std::size_t waves = 0;
        const Wave &from, &to;

        [[nodiscard]] Picoseconds time() const { return to.time - from.time; }

        [[nodiscard]] std::int64_t segments() const { return to.segments - from.segments; }

        [[nodiscard]] bool isLike(const Stretch& other) const;
    };

    void note(Picoseconds now);
    void compare(const Stretch& stretch, std::int32_t since);
    [[nodiscard]] Stretch last(std::size_t waves, std::size_t earlier = 0) const;
    [[nodiscard]] bool areAlike(std::size_t waves) const;
    [[nodiscard]] std::int64_t passable(std::size_t waves, std::int32_t next) const;
    void settle(const Stretch& after);
    void add(std::int64_t waves, const Stretch& like);

    const Prepared& m_prepared;
    Recorder& m_recorder;
    LongGrid m_setting;
    const std::int64_t& m_turns;

    // Of the core_map under way.
    std::int32_t m_all = 0, m_atATime = 0; // clusters; m_atATime 0: every one of them runs
    std::int64_t m_blocks = 1;             // of a cluster
    std::int32_t m_first = 0;              // since which all have run
    // Since which waves have been alike, whether they ran or were passed over; and how long one of
    // them lasts, and how many segments it has.
    std::int32_t m_alikeSince = 0;
    double m_waveTime = 0, m_waveSegments = 0;
    // How many clusters go by until all axes but the first ones of the grid begin anew.
    std::vector<std::int64_t> m_periods;
    std::vector<std::size_t> m_lengths; // of stretches that may repeat, in waves
    std::vector<Wave> m_waves;          // since m_first

    // Passed over last, and not yet counted.
    struct Passed
    {
        std::int64_t waves;
        std::size_t length; // of what repeats in them, in waves
        std::size_t before; // the waves before, from the begin of `from` to that of `to`
        Wave from, to;
    };

    std::optional<Passed> m_passed;
    Picoseconds m_time; // of what was passed over and is counted
};

} // namespace pallascope::machine
