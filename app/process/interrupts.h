// Handles Ctrl-C and other polite requests to end the process. The program reacts within a moment,
// whatever it does.
#pragma once

#include <functional>
#include <string>

namespace pallascope::app {

// From here on, a first signal (SIGINT, SIGTERM) asks what runs to end. If nothing calls
// interrupted() within 150 ms, the process ends by itself with exit code 130 and leaves no
// temporary files. A second signal ends it at once. Calling this again does nothing.
void catchInterrupts();

// Whether there was a signal. A caller that gets true must end what it does.
[[nodiscard]] bool interrupted();

// While an object lives, its function is called before the process ends by itself, for instance to
// save results. The function runs in another thread and returns the line to print. Only one object
// may live at a time.
class BeforeEnding
{
public:
    explicit BeforeEnding(std::function<std::string()> last);
    ~BeforeEnding();
    BeforeEnding(const BeforeEnding&) = delete;
    BeforeEnding& operator=(const BeforeEnding&) = delete;
};

} // namespace pallascope::app
