// What is wrong with the words of a command line, and what would be right.
#pragma once

#include "app/cli/command_line.h"

#include <string>

namespace pallascope::app {

// One sentence, for an error with which `line` has refused the words that it was given.
[[nodiscard]] std::string complaintAbout(const CommandLine& line, const CLI::ParseError& error);

} // namespace pallascope::app
