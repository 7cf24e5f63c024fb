// The chip file that tests start from.
#pragma once

#include "core/base/check.h"
#include "resources/chip_files.h"

#include <string>

namespace pallascope::chip {

inline std::string v5eText()
{
    for (const resources::ChipFile& file : resources::chipFiles()) {
        if (file.name == "tpu_v5e.json") {
            return std::string(file.text);
        }
    }
    PALLASCOPE_CHECK(false && "tpu_v5e is built in");
}

} // namespace pallascope::chip
