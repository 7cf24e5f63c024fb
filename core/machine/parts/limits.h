// The limits on how long a run may become, and whether its caller wants it to go on.
#pragma once

#include "core/machine/parts/ending.h"
#include "core/machine/record/recorder.h"
#include "core/machine/run.h"

#include <chrono>
#include <string>

namespace pallascope::machine {

class Limits
{
public:
    // All of these outlive it.
    Limits(const std::string& program, const Options& options, const Recorder& recorder,
           Ending& ending)
        : m_program(program)
        , m_options(options)
        , m_recorder(recorder)
        , m_ending(ending)
    {}

    // Whether a run that has taken this many turns may go on: it is within the limits and has not
    // been cancelled.
    [[nodiscard]] bool mayGoOn(std::int64_t turns);

    // Called when a step of the outermost pipeline begins, which shows how much of the run is done.
    // Returns false if the run is cancelled.
    [[nodiscard]] bool passStep(std::int64_t step, std::int64_t steps)
    {
        return !m_options.progress || tell(step, steps);
    }

private:
    [[nodiscard]] Error tooLong(const std::string& what) const;
    [[nodiscard]] bool tell(std::int64_t step, std::int64_t steps);

    const std::string& m_program;
    const Options& m_options;
    const Recorder& m_recorder;
    Ending& m_ending;
    double m_share = 0; // the share that was done when progress was last reported
    // When the caller was last asked whether to go on.
    std::chrono::steady_clock::time_point m_lastAsked;
};

} // namespace pallascope::machine
