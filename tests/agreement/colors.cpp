#include "tests/agreement/colors.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <vector>

namespace pallascope::test {

namespace {

using layout::Role;

// The numbers of the arrays that a copy from one to another, "x → y", has at its ends.
std::vector<std::int32_t> arraysOfCopy(const layout::RunView& run, std::size_t row)
{
    constexpr std::string_view kArrow = " \u2192 ";
    const trace::Arrays& arrays = run.index->arrays();
    const auto& operands = run.trace->info().operands;
    const auto operand = static_cast<std::size_t>(run.trace->copies().operand[row]);
    std::vector<std::int32_t> found{arrays.ofOperand[operand]};
    const std::string& name = operands[operand].name;
    const std::size_t arrow = name.find(kArrow);
    for (std::size_t i = 0; arrow != std::string::npos && i < operands.size(); ++i) {
        if (trace::arrayName(operands[i]) == name.substr(arrow + kArrow.size())) {
            found.push_back(arrays.ofOperand[i]);
        }
    }
    return found;
}

// The numbers of the arrays that a place stands for: -1 for scratch that computing fills, none
// where it stands for something else.
std::vector<std::int32_t> arraysOf(const layout::RunView& run, const layout::Target& target)
{
    const trace::Arrays& arrays = run.index->arrays();
    if (const auto* block = std::get_if<layout::target::Block>(&target)) {
        return {arrays.ofOperand[static_cast<std::size_t>(block->operand)]};
    }
    if (const auto* buffer = std::get_if<layout::target::Buffer>(&target)) {
        return {arrays.ofBuffer[static_cast<std::size_t>(buffer->buffer)]};
    }
    if (const auto* copy = std::get_if<layout::target::Copy>(&target)) {
        return arraysOfCopy(run, static_cast<std::size_t>(copy->row));
    }
    return {};
}

// Of a block in a picture that several arrays of one index map share: the arrays whose blocks lie
// in the same place, one of which gives the picture its colour.
std::vector<std::int32_t> arraysOfPicture(const layout::RunView& run, const layout::Scene& scene,
                                          const layout::Hit& hit)
{
    std::vector<std::int32_t> arrays;
    const auto* block = std::get_if<layout::target::Block>(&hit.target);
    if (block == nullptr) {
        return arrays;
    }
    const auto alike =
        run.index->alike(trace::OperandRow::at(static_cast<std::size_t>(block->operand)));
    for (std::size_t i = 0; i < scene.hits.size() && alike.size() > 1; ++i) {
        const auto* its = std::get_if<layout::target::Block>(&scene.hits[i].target);
        if (its != nullptr && its->block == block->block && scene.hits[i].rect == hit.rect
            && std::ranges::binary_search(alike, static_cast<std::int32_t>(its->operand))) {
            arrays.push_back(run.index->arrays().ofOperand[static_cast<std::size_t>(its->operand)]);
        }
    }
    return arrays;
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
        std::vector<std::int32_t> arrays = arraysOf(run, hit.target);
        if (arrays.empty()) {
            continue;
        }
        for (const std::int32_t sharing : arraysOfPicture(run, scene, hit)) {
            arrays.push_back(sharing);
        }
        const auto isColor = [&](std::int32_t array, Role role) {
            return array >= 0 && role == layout::hueRole(array);
        };
        const bool isCopy = layout::is<layout::target::Copy>(hit.target);
        for (const layout::Item& item : scene.items) {
            const auto* fill = std::get_if<layout::FillItem>(&item);
            if (fill == nullptr || !isOfOperand(fill->color.role) || fill->rect.w < kLeast
                || fill->rect.h < kLeast || !lies(fill->rect, hit.rect)
                || (isCopy && fill->rect.h < hit.rect.h - 2)) {
                continue;
            }
            if (std::none_of(arrays.begin(), arrays.end(), [&](std::int32_t array) {
                    return isColor(array, fill->color.role);
                })) {
                found.push_back(fmt::format("array {} has colour {} at ({}, {})", arrays.front(),
                                            static_cast<int>(fill->color.role)
                                                - static_cast<int>(Role::Operand1) + 1,
                                            fill->rect.x, fill->rect.y));
            }
        }
    }
    return found;
}

} // namespace pallascope::test
