// A file that comes with the program, embedded so that the executable works from anywhere.
#pragma once

#include <string_view>

namespace pallascope::resources {

struct EmbeddedFile
{
    std::string_view name; // "tpu_v5e.json"
    std::string_view text;
};

} // namespace pallascope::resources
