// The chip files from which tests start.
#pragma once

#include "core/base/check.h"
#include "resources/chip_files.h"
#include "tests/chip/plain_chip.h"

#include <string>

namespace pallascope::chip {

inline std::string chipText(const std::string& name)
{
    for (const resources::EmbeddedFile& file : resources::chipFiles()) {
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

inline std::string plainText(const std::string& name)
{
    return plain(chipText(name));
}

} // namespace pallascope::chip
