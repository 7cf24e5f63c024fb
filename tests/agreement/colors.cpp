#include "tests/agreement/colors.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace pallascope::test {

namespace {

using layout::Role;

// The number of the array that a place stands for: -1 for scratch that computing fills, nothing
// where it stands for something else.
std::optional<std::int32_t> arrayOf(const layout::RunView& run, const layout::Target& target)
{
    const trace::Arrays& arrays = run.index->arrays();
    if (const auto* block = std::get_if<layout::target::Block>(&target)) {
        return arrays.ofOperand[static_cast<std::size_t>(block->operand)];
    }
    if (const auto* buffer = std::get_if<layout::target::Buffer>(&target)) {
        return arrays.ofBuffer[static_cast<std::size_t>(buffer->buffer)];
    }
    if (const auto* copy = std::get_if<layout::target::Copy>(&target)) {
        const auto row = static_cast<std::size_t>(copy->row);
        return arrays.ofOperand[static_cast<std::size_t>(run.trace->copies().operand[row])];
    }
    return {};
}

bool isOfOperand(Role role)
{
    return role >= Role::Operand1 && role <= Role::Operand6;
}

bool lies(const layout::Rect& inner, const layout::Rect& outer)
{
    constexpr double kEdge = 1;
    return inner.x >= outer.x - kEdge && inner.right() <= outer.right() + kEdge
           && inner.y >= outer.y - kEdge && inner.bottom() <= outer.bottom() + kEdge;
}

} // namespace

std::vector<std::string> wrongColors(const layout::RunView& run, const layout::Scene& scene)
{
    constexpr double kLeast = 2; // px: thinner fills may be whiskers and neighbours
    std::vector<std::string> found;
    for (const layout::Hit& hit : scene.hits) {
        const std::optional<std::int32_t> array = arrayOf(run, hit.target);
        if (!array) {
            continue;
        }
        const bool isCopy = layout::is<layout::target::Copy>(hit.target);
        for (const layout::Item& item : scene.items) {
            const auto* fill = std::get_if<layout::FillItem>(&item);
            if (fill == nullptr || !isOfOperand(fill->color.role) || fill->rect.w < kLeast
                || fill->rect.h < kLeast || !lies(fill->rect, hit.rect)
                || (isCopy && fill->rect.h < hit.rect.h - 2)) {
                continue;
            }
            if (*array < 0 || fill->color.role != layout::hueRole(*array)) {
                found.push_back(fmt::format("array {} has colour {} at ({}, {})", *array,
                                            static_cast<int>(fill->color.role)
                                                - static_cast<int>(Role::Operand1) + 1,
                                            fill->rect.x, fill->rect.y));
            }
        }
    }
    return found;
}

} // namespace pallascope::test
