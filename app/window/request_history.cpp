#include "app/window/request_history.h"

namespace pallascope::app {
namespace {

constexpr std::size_t kMost = 200; // requests are small; nobody undoes more

// Whether `later` is what `request` asked for, with the chip that a run found for it.
bool isAnswerTo(RunRequest request, const RunRequest& later)
{
    if (request.chip.empty()) {
        request.chip = later.chip;
    }
    return request == later;
}

} // namespace

void RequestHistory::add(const RunRequest& request)
{
    if (m_made > 0 && m_requests[m_made - 1] == request) {
        return;
    }
    m_requests.resize(m_made);
    if (m_requests.size() == kMost) {
        m_requests.erase(m_requests.begin());
    }
    m_requests.push_back(request);
    m_made = m_requests.size();
}

void RequestHistory::adopt(const RunRequest& request)
{
    if (m_made > 0 && isAnswerTo(m_requests[m_made - 1], request)) {
        m_requests[m_made - 1] = request;
    } else {
        add(request);
    }
}

std::optional<RunRequest> RequestHistory::undo()
{
    if (m_made < 2) {
        return std::nullopt;
    }
    --m_made;
    return m_requests[m_made - 1];
}

std::optional<RunRequest> RequestHistory::redo()
{
    if (m_made == m_requests.size()) {
        return std::nullopt;
    }
    ++m_made;
    return m_requests[m_made - 1];
}

} // namespace pallascope::app
