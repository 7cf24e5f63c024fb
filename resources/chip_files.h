// The chip files that come with the program.
#pragma once

#include "resources/embedded_file.h"

#include <vector>

namespace pallascope::resources {

[[nodiscard]] const std::vector<EmbeddedFile>& chipFiles();

} // namespace pallascope::resources
