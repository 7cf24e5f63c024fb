// Ctrl-C, and what ends a process politely: heard within a moment whatever the program does.
#pragma once

#include <functional>
#include <string>

namespace pallascope::app {

// From here on a first signal (SIGINT, SIGTERM) asks what runs to end; where nothing asks
// interrupted() within 150 ms, the process ends by itself, with exit code 130 and without temporary
// files. A second signal ends it at once. May be called again.
void catchInterrupts();

// Whether there was a signal; who asks will end what it does.
[[nodiscard]] bool interrupted();

// While it lives: what the process does, from another thread, before it ends by itself, such as to
// save what it has. It gives the line that is said then. One at a time.
class BeforeEnding
{
public:
    explicit BeforeEnding(std::function<std::string()> last);
    ~BeforeEnding();
    BeforeEnding(const BeforeEnding&) = delete;
    BeforeEnding& operator=(const BeforeEnding&) = delete;
};

} // namespace pallascope::app
