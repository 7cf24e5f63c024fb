#include "views/layout/scene/font_metrics.h"

#include "views/layout/scene/canvas.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace pallascope::layout {

namespace {

constexpr std::size_t kFaces = 5;

struct Glyph
{
    char32_t codePoint;
    std::array<std::int16_t, kFaces> advance; // in the order of Weight
};

constexpr Glyph kGlyphs[] = {
// The table is in ascending order of code points.
#include "views/layout/scene/font_metrics_table.inc"
};

constexpr char32_t kReplacement = 0xFFFD;
constexpr std::string_view kEllipsis = "…";

} // namespace

int advance(char32_t codePoint, Weight weight)
{
    const auto face = static_cast<std::size_t>(weight);
    const auto* const found = std::lower_bound(
        std::begin(kGlyphs), std::end(kGlyphs), codePoint,
        [](const Glyph& glyph, char32_t wanted) { return glyph.codePoint < wanted; });
    if (found != std::end(kGlyphs) && found->codePoint == codePoint) {
        return found->advance[face];
    }
    return codePoint == U'n' ? 0 : advance(U'n', weight);
}

char32_t nextCodePoint(std::string_view text, std::size_t& at)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at++);
    if (first < 0x80) {
        return first;
    }
    const std::size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    if (more == 0) {
        return kReplacement;
    }
    char32_t code = first & (0x3FU >> more);
    for (std::size_t i = 0; i < more; ++i) {
        if (at >= text.size() || (byte(at) & 0xC0U) != 0x80U) {
            return kReplacement;
        }
        code = (code << 6U) | (byte(at++) & 0x3FU);
    }
    return code;
}

double textWidth(std::string_view text, int size, Weight weight)
{
    std::int64_t sum = 0;
    for (std::size_t at = 0; at < text.size();) {
        sum += advance(nextCodePoint(text, at), weight);
    }
    return static_cast<double>(sum) * size / 1000.0;
}

std::string elided(std::string_view text, double width, int size, Weight weight)
{
    // Half a pixel is allowed, because widths are sums of rounded advances.
    const double room = width + 0.5;
    if (textWidth(text, size, weight) <= room) {
        return std::string(text);
    }
    const double left = room - textWidth(kEllipsis, size, weight);
    if (left < 0) {
        return {};
    }
    std::size_t kept = 0;
    double sum = 0;
    for (std::size_t at = 0; at < text.size();) {
        sum += advance(nextCodePoint(text, at), weight) * size / 1000.0;
        if (sum > left) {
            break;
        }
        kept = at;
    }
    while (kept > 0 && text[kept - 1] == ' ') {
        --kept;
    }
    return std::string(text.substr(0, kept)) + std::string(kEllipsis);
}

} // namespace pallascope::layout
