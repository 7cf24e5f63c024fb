// What the fields of the form mean in a request: where each value goes, and which field an error of
// a run is about.
#pragma once

#include "app/run_job/run_job.h"

#include <QString>
#include <QStringList>

#include <string>

namespace pallascope::app {

// Sets a parameter. Requests hold only what differs from the defaults, so that equal runs have
// equal requests.
void putParameter(RunRequest& request, const std::string& name, const std::string& value);

// The field that an error of `asked` is about; if possible, one in which `asked` differs from the
// request of the run that is shown. `shown` is null before the first run. Empty if there is no such
// field.
[[nodiscard]] QString fieldOfError(const Error& error, const RunRequest& asked,
                                   const RunRequest* shown);

// All fields that an error names.
[[nodiscard]] QStringList fieldsOfError(const Error& error);

} // namespace pallascope::app
