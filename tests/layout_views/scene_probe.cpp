// Answers the questions of scene_probe.h by looking at all items of a scene.
#include "tests/layout_views/scene_probe.h"

#include "views/layout/scene/canvas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::test {

using layout::Align;
using layout::Rect;
using layout::Scene;
using layout::TextItem;

std::vector<TextItem> textsOf(const Scene& scene)
{
    std::vector<TextItem> texts;
    for (const layout::Item& item : scene.items) {
        if (const auto* text = std::get_if<TextItem>(&item)) {
            texts.push_back(*text);
        }
    }
    return texts;
}

std::vector<std::string> textsAt(const Scene& scene, double y, double tolerance)
{
    std::vector<TextItem> found;
    for (const TextItem& text : textsOf(scene)) {
        if (std::abs(text.rect.y + text.rect.h / 2 - y) <= tolerance) {
            found.push_back(text);
        }
    }
    std::sort(found.begin(), found.end(),
              [](const TextItem& a, const TextItem& b) { return inkOf(a).x < inkOf(b).x; });
    std::vector<std::string> result;
    for (const TextItem& text : found) {
        result.push_back(text.text);
    }
    return result;
}

bool hasText(const Scene& scene, const std::string& part)
{
    const std::vector<TextItem> texts = textsOf(scene);
    return std::any_of(texts.begin(), texts.end(), [&part](const TextItem& text) {
        return text.text.find(part) != std::string::npos;
    });
}

TextItem textWith(const Scene& scene, const std::string& part)
{
    for (const TextItem& text : textsOf(scene)) {
        if (text.text.find(part) != std::string::npos) {
            return text;
        }
    }
    ADD_FAILURE() << "no text with " << part;
    return {};
}

Rect inkOf(const TextItem& item)
{
    const double width = layout::textWidth(item.text, item.size, item.weight);
    const double x = item.align == Align::Left    ? item.rect.x
                     : item.align == Align::Right ? item.rect.right() - width
                                                  : item.rect.x + (item.rect.w - width) / 2;
    const double middle = item.rect.y + item.rect.h / 2;
    if (item.angle == -90) { // upwards, around the top left corner of its rectangle
        return {item.rect.x + (item.rect.h - item.size) / 2, item.rect.y - width,
                static_cast<double>(item.size), width};
    }
    return {x, middle - item.size / 2.0, width, static_cast<double>(item.size)};
}

std::vector<std::string> textsOutside(const Scene& scene)
{
    std::vector<std::string> outside;
    for (const TextItem& text : textsOf(scene)) {
        const Rect ink = inkOf(text);
        if (ink.x < -0.5 || ink.right() > scene.width + 1 || ink.y < -0.5
            || ink.bottom() > scene.height + 0.5) {
            outside.push_back(fmt::format("\"{}\" at {:.1f}, {:.1f} to {:.1f}, {:.1f} of {} x {}",
                                          text.text, ink.x, ink.y, ink.right(), ink.bottom(),
                                          scene.width, scene.height));
        }
    }
    return outside;
}

std::vector<std::string> overlaps(const Scene& scene)
{
    std::vector<std::string> found;
    const std::vector<TextItem> texts = textsOf(scene);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const Rect a = inkOf(texts[i]), b = inkOf(texts[j]);
            if (std::min(a.right(), b.right()) - std::max(a.x, b.x) > 1
                && std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y) > 4) {
                found.push_back(texts[i].text + " lies over " + texts[j].text);
            }
        }
    }
    return found;
}

const layout::FillItem* fillAt(const Scene& scene, double x, double y)
{
    const layout::FillItem* found = nullptr;
    for (const layout::Item& item : scene.items) {
        const auto* fill = std::get_if<layout::FillItem>(&item);
        if (fill != nullptr && fill->rect.contains(x, y)) {
            found = fill;
        }
    }
    return found;
}

layout::ViewState at(const layout::RunView& run, double share)
{
    return at(Picoseconds(static_cast<std::int64_t>(
        std::llround(static_cast<double>(run.trace->end().value()) * share))));
}

layout::ViewState at(Picoseconds now)
{
    layout::ViewState state;
    state.now = now;
    return state;
}

layout::Rect aroundAll(const Scene& scene, std::int32_t operand, std::optional<std::int64_t> block)
{
    double left = 1e9, top = 1e9, right = 0, bottom = 0;
    for (const layout::Hit& hit : scene.hits) {
        const auto* at = std::get_if<layout::target::Block>(&hit.target);
        if (at != nullptr && at->operand == operand && at->block == block.value_or(at->block)) {
            left = std::min(left, hit.rect.x);
            top = std::min(top, hit.rect.y);
            right = std::max(right, hit.rect.right());
            bottom = std::max(bottom, hit.rect.bottom());
        }
    }
    return {left, top, right - left, bottom - top};
}

} // namespace pallascope::test
