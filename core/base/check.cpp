#include "core/base/check.h"

#include <stdexcept>
#include <string>

namespace pallascope {

void checkFailed(std::string_view condition, std::string_view file, int line)
{
    throw std::logic_error("internal error: " + std::string(condition) + " does not hold ("
                           + std::string(file) + ":" + std::to_string(line) + ")");
}

} // namespace pallascope
