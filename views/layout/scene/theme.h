// Colours by role, in a light and a dark theme. This is the only place with colour values
// (CONTRIBUTING.md has the rules for drawing).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pallascope::layout {

enum class Theme : std::uint8_t
{
    Light,
    Dark
};

enum class Role : std::uint8_t
{
    Chrome,
    View,
    Panel,
    Line,
    Grid,
    Edge,
    Text,
    Text2,
    Text3,
    Focus,
    Select,
    SelectBackground,
    Operand1,
    Operand2,
    Operand3,
    Operand4,
    Operand5,
    Operand6,
    Mxu,
    Vpu,
    Eup,
    Scalar,
    Wait,
    CopyIn,
    CopyOut,
    Hbm,
    Vmem,
    Smem,
    Prologue,
    Playhead,
    Poison,
    Error,
    Warning,
    Ok
};

struct Rgb
{
    std::uint8_t r = 0, g = 0, b = 0;
    auto operator<=>(const Rgb&) const = default;
};

// A role, or a mix of it with the role `over`; at share 1 it is the role alone. It is resolved to
// an opaque colour for each theme, so that painting need not blend.
struct Color
{
    Role role = Role::Text;
    float share = 1.0F;
    Role over = Role::View;
    bool operator==(const Color&) const = default;

    constexpr Color() = default;

    constexpr Color(Role of)
        : role(of)
    {} // NOLINT(google-explicit-constructor): a role is a colour

    constexpr Color(Role of, float part, Role below)
        : role(of)
        , share(part)
        , over(below)
    {}
};

[[nodiscard]] constexpr Color mix(Role role, double share, Role over = Role::View)
{
    return {role, static_cast<float>(share), over};
}

[[nodiscard]] Rgb resolve(Color color, Theme theme);
// Black (#101316) or white for text on a fill, whichever has the higher contrast by WCAG.
[[nodiscard]] Rgb inkOn(Color fill, Theme theme);
[[nodiscard]] double contrast(Rgb a, Rgb b);

// Operand1 to Operand6 in turn, from 0: the seventh repeats the first. Of operands ask
// run/operand_color.h.
[[nodiscard]] Role hueRole(std::int32_t number);

} // namespace pallascope::layout
