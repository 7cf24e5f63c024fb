// The exit codes of all commands. docs/exit_codes.md explains them to users.
#pragma once

namespace pallascope::app {

inline constexpr int kFine = 0, kFindings = 1, kWrongInput = 2, kInternalError = 3,
                     kInterrupted = 130;

} // namespace pallascope::app
