// The three standard streams of the command line. A message on standard error is written if it can
// be: a full disk or a closed descriptor there changes neither the exit code nor a file. A report
// on standard output that did not arrive counts as an output that cannot be written.
#pragma once

#include <string_view>

namespace pallascope::app {

// Must be called before anything is opened: if a standard stream were closed, the next file opened
// would take its place. A closed standard stream is replaced: standard input by one with nothing to
// read, standard output by one that cannot be written. After that no signal ends the process when a
// write fails; whoever writes reports it.
void holdStandardStreams();

// Writes a line on standard error.
void say(std::string_view line);

// Replaces the line that the terminal shows; an empty text clears it. Silent if standard error is
// not a terminal.
void showOnTerminal(std::string_view text);

// Returns whether the whole report arrived. If not, it says so with the system's reason: that of
// the last write, or `fault` if that is known.
[[nodiscard]] bool flushOutput(int fault = 0);

} // namespace pallascope::app
