// The published timings that come with the program (docs/validation.md): "published.csv", what the
// model is expected to be off, "expected.json", and the kernel files that the table names.
#pragma once

#include "resources/embedded_file.h"

#include <vector>

namespace pallascope::resources {

[[nodiscard]] const std::vector<EmbeddedFile>& validationFiles();

} // namespace pallascope::resources
