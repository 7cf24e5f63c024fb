// The three standard streams of the command line. What is said on standard error is said if it can
// be: a full disk or a closed descriptor there changes neither the exit code nor a file. A report
// on standard output that did not arrive is an output that cannot be written.
#pragma once

#include <string_view>

namespace pallascope::app {

// Before anything is opened: a closed standard stream would be the next file that is. In its place
// comes nothing to read, and for standard output something that cannot be written. What fails to be
// written is then said by who writes it, and no signal ends the process.
void holdStandardStreams();

// A line on standard error.
void say(std::string_view line);

// In the place of the line that the terminal shows; empty: clears it. Silent without a terminal.
void showOnTerminal(std::string_view text);

// Whether all of the report arrived; else it is said, with the system's reason: that of the last
// write, or `fault` where that is known.
[[nodiscard]] bool flushOutput(int fault = 0);

} // namespace pallascope::app
