// The manual page and the completions of shells, made of the command line itself, so that they name
// what it takes.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace pallascope::app {

// groff source of pallascope(1).
[[nodiscard]] std::string manualPage(const CLI::App& app, const std::string& version);

// A completion file; `shell` is bash, zsh or fish. Empty for others.
[[nodiscard]] std::string completions(const CLI::App& app, const std::string& shell);

} // namespace pallascope::app
