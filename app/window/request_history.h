// What was asked for, one request after the other, for undo and redo.
#pragma once

#include "app/run_job/run_job.h"

#include <optional>
#include <vector>

namespace pallascope::app {

class RequestHistory
{
public:
    // A request that was just made. What had been undone is forgotten, unless this is the current
    // request once more.
    void add(const RunRequest& request);
    // The request of the run that is shown now: the current one, with the chip that the run found
    // for it, or that of a file which was opened.
    void adopt(const RunRequest& request);
    // The request before or after the current one, which it becomes; nullopt if there is none.
    [[nodiscard]] std::optional<RunRequest> undo();
    [[nodiscard]] std::optional<RunRequest> redo();

private:
    std::vector<RunRequest> m_requests;
    std::size_t m_made = 0; // those up to here are made, the others undone
};

} // namespace pallascope::app
