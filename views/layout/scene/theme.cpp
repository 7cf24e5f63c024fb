#include "views/layout/scene/theme.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace pallascope::layout {

namespace {

constexpr std::size_t kRoles = static_cast<std::size_t>(Role::Ok) + 1;

constexpr Rgb rgb(std::uint32_t hex)
{
    return {static_cast<std::uint8_t>(hex >> 16U), static_cast<std::uint8_t>((hex >> 8U) & 0xFFU),
            static_cast<std::uint8_t>(hex & 0xFFU)};
}

// In the order of Role.
constexpr std::array<Rgb, kRoles> kLight = {
    rgb(0xEEF0F3), rgb(0xFFFFFF), rgb(0xF7F8FA), rgb(0xDDE1E6),
    rgb(0xECEEF1),                                              // chrome view panel line grid
    rgb(0xB9C0C8), rgb(0x1A1E23), rgb(0x56606B), rgb(0x646D78), // edge text text2 text3
    rgb(0x1F5FD0), rgb(0x1F5FD0), rgb(0xDCE8FB),                // focus select selectBackground
    rgb(0x134EC1), rgb(0xC97A18), rgb(0x008764), rgb(0x9E3A73),
    rgb(0x2A9ECD), rgb(0x5F6005), // operands
    rgb(0x362E63), rgb(0x7552B4), rgb(0xC876C7), rgb(0x8C9196),
    rgb(0xB62521), // mxu vpu eup scalar wait
    rgb(0x2A6FA8), rgb(0xA08C3C), rgb(0x3F5166), rgb(0x2F8596),
    rgb(0x9A7B3A),                               // copies hbm vmem smem
    rgb(0xE6E9EE), rgb(0xD4006A), rgb(0xA0207A), // prologue playhead poison
    rgb(0x8E0B1C), rgb(0x946000), rgb(0x12715E), // error warning ok
};

constexpr std::array<Rgb, kRoles> kDark = {
    rgb(0x1C1F24), rgb(0x14171B), rgb(0x191C21), rgb(0x2D3238), rgb(0x22262B),                //
    rgb(0x4A525B), rgb(0xE7EAEE), rgb(0xA3ACB6), rgb(0x8A939D),                               //
    rgb(0x6FA8FF), rgb(0x6FA8FF), rgb(0x1E3350),                                              //
    rgb(0x4B7DC8), rgb(0xF6A72C), rgb(0x4BD1AE), rgb(0xCB6590), rgb(0xB7E6FF), rgb(0x78792E), //
    rgb(0xC5C4FC), rgb(0x7F54C5), rgb(0xE28BB9), rgb(0x6D7480), rgb(0xE54533),                //
    rgb(0x4AA0B8), rgb(0xD9B860), rgb(0x77889C), rgb(0x6CC3D5), rgb(0xC9B27A),                //
    rgb(0x262B31), rgb(0xFF4D9D), rgb(0xE27AC6),                                              //
    rgb(0xFF7066), rgb(0xF2B13C), rgb(0x3FC7A0),                                              //
};

Rgb ofRole(Role role, Theme theme)
{
    return (theme == Theme::Light ? kLight : kDark)[static_cast<std::size_t>(role)];
}

std::uint8_t blend(std::uint8_t top, std::uint8_t below, float share)
{
    const double value =
        static_cast<double>(share) * top + (1.0 - static_cast<double>(share)) * below;
    return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

double linear(std::uint8_t channel)
{
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double luminance(Rgb c)
{
    return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

} // namespace

Rgb resolve(Color color, Theme theme)
{
    const Rgb top = ofRole(color.role, theme);
    if (color.share >= 1.0F) {
        return top;
    }
    const Rgb below = ofRole(color.over, theme);
    return {blend(top.r, below.r, color.share), blend(top.g, below.g, color.share),
            blend(top.b, below.b, color.share)};
}

double contrast(Rgb a, Rgb b)
{
    const double x = luminance(a);
    const double y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

Rgb inkOn(Color fill, Theme theme)
{
    constexpr Rgb kBlack = rgb(0x101316);
    constexpr Rgb kWhite = rgb(0xFFFFFF);
    const Rgb background = resolve(fill, theme);
    return contrast(background, kWhite) >= contrast(background, kBlack) ? kWhite : kBlack;
}

Role hueRole(std::int32_t number)
{
    constexpr std::int32_t kOperandRoles = 6;
    const std::int32_t index = std::max<std::int32_t>(number, 0) % kOperandRoles;
    return static_cast<Role>(static_cast<std::int32_t>(Role::Operand1) + index);
}

} // namespace pallascope::layout
