#include "core/ir/program.h"

#include <algorithm>

namespace pallascope::ir {

std::string toString(const Type& type)
{
    const std::string array = std::string(jaxprName(type.dtype)) + toString(type.shape);
    return type.isRef() ? "Ref<" + std::string(memorySpaceName(*type.space)) + ">{" + array + "}"
                        : array;
}

std::int64_t Program::vmemLimitBytes() const
{
    std::int64_t most = 0;
    for (const CompilerParams& kernel : kernels) {
        most = std::max(most, kernel.vmemLimitBytes);
    }
    return most;
}

std::string Program::where(LocationId location) const
{
    if (location.index < 0) {
        return "unknown place";
    }
    const Location& place = locations[static_cast<std::size_t>(location.index)];
    return place.line > 0 ? place.file + ":" + std::to_string(place.line) : place.file;
}

std::string Program::callersOf(LocationId location) const
{
    std::string text;
    if (location.index < 0) {
        return text;
    }
    for (LocationId at = locations[static_cast<std::size_t>(location.index)].caller; at.index >= 0;
         at = locations[static_cast<std::size_t>(at.index)].caller) {
        text += ", called from " + where(at);
    }
    return text;
}

} // namespace pallascope::ir
