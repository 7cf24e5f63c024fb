// Widens elements to lanes and narrows them again, with the conversions of core/machine/arith.
#include "core/machine/ops/lanes.h"

#include "core/machine/arith/convert.h"

#include <cstring>

namespace pallascope::machine::ops {

namespace {

// The dtype whose arrays are lanes of the same kind.
DType laneDType(DType dtype)
{
    switch (dtypeEntry(dtype).kind) {
    case DTypeKind::Float:
        return DType::F32;
    case DTypeKind::Signed:
        return DType::Int32;
    case DTypeKind::Unsigned:
        return DType::UInt32;
    case DTypeKind::Bool:
        break;
    }
    return DType::Bool;
}

} // namespace

void widen(DType dtype, const std::byte* data, std::int64_t begin, std::int64_t count, void* lanes)
{
    const std::byte* from = data + begin * dtypeBytes(dtype);
    if (storedAsLanes(dtype)) {
        std::memcpy(lanes, from, static_cast<std::size_t>(count * laneBytes(dtype)));
        return;
    }
    arith::convert(dtype, from, laneDType(dtype), static_cast<std::byte*>(lanes), count);
}

void narrow(DType dtype, const void* lanes, std::byte* data, std::int64_t begin, std::int64_t count)
{
    std::byte* to = data + begin * dtypeBytes(dtype);
    if (storedAsLanes(dtype)) {
        std::memcpy(to, lanes, static_cast<std::size_t>(count * laneBytes(dtype)));
        return;
    }
    arith::convert(laneDType(dtype), static_cast<const std::byte*>(lanes), dtype, to, count);
}

Lane scalarLane(DType dtype, double scalar)
{
    Lane lane{};
    switch (dtypeEntry(dtype).kind) {
    case DTypeKind::Float:
        lane.real = static_cast<float>(scalar);
        break;
    case DTypeKind::Signed:
        lane.whole = static_cast<std::int32_t>(scalar);
        break;
    case DTypeKind::Unsigned:
        lane.natural = static_cast<std::uint32_t>(scalar);
        break;
    case DTypeKind::Bool:
        lane.truth = scalar != 0 ? 1 : 0;
        break;
    }
    return lane;
}

double laneScalar(DType dtype, Lane lane)
{
    switch (dtypeEntry(dtype).kind) {
    case DTypeKind::Float:
        return dtype == DType::F32 ? static_cast<double>(lane.real)
                                   : roundTo(dtype, static_cast<double>(lane.real));
    case DTypeKind::Signed:
        return static_cast<double>(wrapInteger(dtype, lane.whole));
    case DTypeKind::Unsigned:
        return static_cast<double>(wrapInteger(dtype, lane.natural));
    case DTypeKind::Bool:
        break;
    }
    return lane.truth != 0 ? 1 : 0;
}

} // namespace pallascope::machine::ops
