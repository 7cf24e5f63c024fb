#include "core/ir/program.h"

#include "core/base/check.h"

namespace pallascope::ir {

std::string_view memorySpaceName(MemorySpace space)
{
    switch (space) {
    case MemorySpace::Any:
        return "any";
    case MemorySpace::Hbm:
        return "hbm";
    case MemorySpace::Vmem:
        return "vmem";
    case MemorySpace::Smem:
        return "smem";
    case MemorySpace::Semaphore:
        return "semaphore";
    case MemorySpace::DmaSemaphore:
        return "dma_semaphore";
    case MemorySpace::BarrierSemaphore:
        return "barrier_semaphore";
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

std::string toString(const Type& type)
{
    const std::string array = std::string(jaxprName(type.dtype)) + toString(type.shape);
    return type.isRef() ? "Ref<" + std::string(memorySpaceName(*type.space)) + ">{" + array + "}"
                        : array;
}

std::string Program::where(LocationId location) const
{
    if (location.index < 0) {
        return "unknown place";
    }
    const Location& place = locations[static_cast<std::size_t>(location.index)];
    return place.line > 0 ? place.file + ":" + std::to_string(place.line) : place.file;
}

} // namespace pallascope::ir
