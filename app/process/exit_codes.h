// What every command ends with; docs/exit_codes.md says it to people.
#pragma once

namespace pallascope::app {

inline constexpr int kFine = 0, kFindings = 1, kWrongInput = 2, kInternalError = 3,
                     kInterrupted = 130;

} // namespace pallascope::app
