// The chip files that come with the program, embedded so that the executable works from anywhere.
#pragma once

#include <string_view>
#include <vector>

namespace pallascope::resources {

struct ChipFile
{
    std::string_view name; // "tpu_v5e.json"
    std::string_view text;
};

[[nodiscard]] const std::vector<ChipFile>& chipFiles();

} // namespace pallascope::resources
