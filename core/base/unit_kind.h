// The kinds of units that a core has. Chip files, the cost model and traces share them, and files
// call them by these names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pallascope {

enum class UnitKind : std::uint8_t
{
    Matrix,
    Vector,
    Transcendental,
    Crosslane,
    Load,
    Store,
    Scalar
};

// In the order of the enumerators.
inline constexpr std::array<std::string_view, 7> kUnitKindNames{
    "matrix", "vector", "transcendental", "crosslane", "load", "store", "scalar"};

[[nodiscard]] constexpr std::string_view unitKindName(UnitKind kind)
{
    return kUnitKindNames[static_cast<std::size_t>(kind)];
}

[[nodiscard]] constexpr std::optional<UnitKind> unitKindFromName(std::string_view name)
{
    for (std::size_t i = 0; i < kUnitKindNames.size(); ++i) {
        if (kUnitKindNames[i] == name) {
            return static_cast<UnitKind>(i);
        }
    }
    return std::nullopt;
}

} // namespace pallascope
