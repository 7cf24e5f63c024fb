#include "core/base/dtype.h"

#include "core/base/check.h"

#include <array>
#include <cmath>
#include <limits>

namespace pallascope {

namespace {

struct DTypeEntry
{
    DType type;
    std::string_view name;
    std::string_view jaxpr;
    int bits;
    bool isFloat;
};

constexpr std::array<DTypeEntry, 4> kTypes{{
    {DType::F32, "f32", "f32", 32, true},
    {DType::BF16, "bf16", "bf16", 16, true},
    {DType::Int32, "int32", "i32", 32, false},
    {DType::Bool, "bool", "bool", 8, false},
}};

const DTypeEntry& entry(DType type)
{
    const auto index = static_cast<std::size_t>(type);
    PALLASCOPE_CHECK(index < kTypes.size());
    return kTypes[index];
}

} // namespace

std::string_view dtypeName(DType type)
{
    return entry(type).name;
}

std::string_view jaxprName(DType type)
{
    return entry(type).jaxpr;
}

std::optional<DType> dtypeFromName(std::string_view name)
{
    for (const DTypeEntry& candidate : kTypes) {
        if (candidate.name == name || candidate.jaxpr == name) {
            return candidate.type;
        }
    }
    return std::nullopt;
}

int dtypeBits(DType type)
{
    return entry(type).bits;
}

int dtypeBytes(DType type)
{
    return entry(type).bits / 8;
}

bool isFloat(DType type)
{
    return entry(type).isFloat;
}

std::int32_t floatToInt32(float value)
{
    if (std::isnan(value)) {
        return 0;
    }
    if (value >= 2147483648.0F) {
        return std::numeric_limits<std::int32_t>::max();
    }
    if (value <= -2147483648.0F) {
        return std::numeric_limits<std::int32_t>::min();
    }
    return static_cast<std::int32_t>(value);
}

} // namespace pallascope
