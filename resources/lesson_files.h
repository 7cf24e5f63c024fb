// The lessons that come with the program (docs/lesson_format.md), in the order in which they are
// offered.
#pragma once

#include "resources/embedded_file.h"

#include <vector>

namespace pallascope::resources {

[[nodiscard]] const std::vector<EmbeddedFile>& lessonFiles();

} // namespace pallascope::resources
