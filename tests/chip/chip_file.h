// The chip files that tests start from.
#pragma once

#include "core/base/check.h"
#include "resources/chip_files.h"

#include <string>

namespace pallascope::chip {

inline std::string chipText(const std::string& name)
{
    for (const resources::ChipFile& file : resources::chipFiles()) {
        if (file.name == name + ".json") {
            return std::string(file.text);
        }
    }
    PALLASCOPE_CHECK(false && "the chip is built in");
}

inline std::string v5eText()
{
    return chipText("tpu_v5e");
}

} // namespace pallascope::chip
