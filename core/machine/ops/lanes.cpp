#include "core/machine/ops/lanes.h"

#include <cstring>

namespace pallascope::machine::ops {

namespace {

template<class T>
void widenTo(DType dtype, const std::byte* data, std::int64_t begin, std::int64_t count, T* lanes)
{
    for (std::int64_t i = 0; i < count; ++i) {
        lanes[i] = static_cast<T>(readElement(dtype, data, begin + i));
    }
}

} // namespace

void widen(DType dtype, const std::byte* data, std::int64_t begin, std::int64_t count, void* lanes)
{
    if (storedAsLanes(dtype)) {
        const std::int64_t bytes = laneBytes(dtype);
        std::memcpy(lanes, data + begin * bytes, static_cast<std::size_t>(count * bytes));
        return;
    }
    if (dtype == DType::BF16) {
        const auto* from = reinterpret_cast<const std::uint16_t*>(data) + begin;
        for (std::int64_t i = 0; i < count; ++i) {
            static_cast<float*>(lanes)[i] = bf16ToFloat(from[i]);
        }
        return;
    }
    switch (dtypeEntry(dtype).kind) {
    case DTypeKind::Float:
        return widenTo(dtype, data, begin, count, static_cast<float*>(lanes));
    case DTypeKind::Signed:
        return widenTo(dtype, data, begin, count, static_cast<std::int32_t*>(lanes));
    case DTypeKind::Unsigned:
    case DTypeKind::Bool:
        return widenTo(dtype, data, begin, count, static_cast<std::uint32_t*>(lanes));
    }
}

void narrow(DType dtype, const void* lanes, std::byte* data, std::int64_t begin, std::int64_t count)
{
    if (storedAsLanes(dtype)) {
        const std::int64_t bytes = laneBytes(dtype);
        std::memcpy(data + begin * bytes, lanes, static_cast<std::size_t>(count * bytes));
        return;
    }
    if (dtype == DType::BF16) {
        auto* to = reinterpret_cast<std::uint16_t*>(data) + begin;
        for (std::int64_t i = 0; i < count; ++i) {
            to[i] = floatToBf16(static_cast<const float*>(lanes)[i]);
        }
        return;
    }
    const bool isSigned = dtypeEntry(dtype).kind == DTypeKind::Signed;
    for (std::int64_t i = 0; i < count; ++i) {
        double number = 0;
        if (isFloat(dtype)) {
            number = static_cast<double>(static_cast<const float*>(lanes)[i]);
        } else if (isSigned) {
            number = static_cast<double>(static_cast<const std::int32_t*>(lanes)[i]);
        } else {
            number = static_cast<double>(static_cast<const std::uint32_t*>(lanes)[i]);
        }
        writeElement(dtype, data, begin + i, number); // rounds or wraps
    }
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
