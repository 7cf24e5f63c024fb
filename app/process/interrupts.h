// Ctrl-C, and what ends a process politely: heard within a moment whatever the program does.
#pragma once

namespace pallascope::app {

// From here on a first signal (SIGINT, SIGTERM) asks what runs to end; where nothing asks
// interrupted() within 150 ms, the process ends by itself, with exit code 130 and without temporary
// files. A second signal ends it at once. May be called again.
void catchInterrupts();

// Whether there was a signal; who asks will end what it does.
[[nodiscard]] bool interrupted();

} // namespace pallascope::app
