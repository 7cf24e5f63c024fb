// How long a run may become, and whether somebody wants it to go on.
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
    // All of them outlive it.
    Limits(const std::string& program, const Options& options, const Recorder& recorder,
           Ending& ending)
        : m_program(program)
        , m_options(options)
        , m_recorder(recorder)
        , m_ending(ending)
    {}

    // Whether a run that has taken so many turns goes on: it is within the limits, and not
    // cancelled.
    [[nodiscard]] bool mayGoOn(std::int64_t turns);

    // A step of the outermost pipeline begins, which tells how much of the run is done; false where
    // the run is cancelled.
    [[nodiscard]] bool passStep(std::int64_t step, std::int64_t steps)
    {
        return !m_options.progress || tell(step, steps);
    }

private:
    [[nodiscard]] bool tell(std::int64_t step, std::int64_t steps);

    const std::string& m_program;
    const Options& m_options;
    const Recorder& m_recorder;
    Ending& m_ending;
    double m_share = 0;                                // done, as progress was told last
    std::chrono::steady_clock::time_point m_lastAsked; // whether to go on
};

} // namespace pallascope::machine
