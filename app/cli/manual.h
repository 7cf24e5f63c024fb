// Makes the manual page and the completions of shells. Both are derived from the command line
// itself, so they name exactly what it accepts.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace pallascope::app {

// The groff source of pallascope(1).
[[nodiscard]] std::string manualPage(const CLI::App& app, const std::string& version);

// A completion file; `shell` is bash, zsh or fish. Empty for any other shell.
[[nodiscard]] std::string completions(const CLI::App& app, const std::string& shell);

} // namespace pallascope::app
