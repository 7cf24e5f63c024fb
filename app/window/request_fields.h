// What the form's fields mean in a request: which value goes where, and which field an error of a
// run is about.
#pragma once

#include "app/run_job/run_job.h"

#include <QString>

#include <string>

namespace pallascope::app {

// Sets a parameter. Requests hold only what differs from the defaults, so that equal runs have
// equal requests.
void putParameter(RunRequest& request, const std::string& name, const std::string& value);

// The field that an error of `asked` is about: one that differs from the request of the run that
// is shown, if there is any. `shown` is null before the first run. Empty: no field.
[[nodiscard]] QString fieldOfError(const Error& error, const RunRequest& asked,
                                   const RunRequest* shown);

} // namespace pallascope::app
