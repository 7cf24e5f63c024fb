#include "tests/agreement/texts.h"

#include "views/layout/overview/overview.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/views.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace pallascope::test {

namespace {

using layout::Rect;

// Where the letters of a text are, within what clips it.
struct Ink
{
    const layout::TextItem* item = nullptr;
    Rect rect;
};

Rect lettersOf(const layout::TextItem& item)
{
    constexpr double kHigh = 0.75; // of the size: capitals
    const double width = layout::textWidth(item.text, item.size, item.weight);
    const double x = item.align == layout::Align::Left    ? item.rect.x
                     : item.align == layout::Align::Right ? item.rect.right() - width
                                                          : item.rect.x + (item.rect.w - width) / 2;
    const double middle = item.rect.y + item.rect.h / 2;
    return {x, middle - item.size * kHigh / 2, width, item.size * kHigh};
}

Rect common(const Rect& a, const Rect& b)
{
    const double x = std::max(a.x, b.x), y = std::max(a.y, b.y);
    return {x, y, std::min(a.right(), b.right()) - x, std::min(a.bottom(), b.bottom()) - y};
}

// What later fills cover is not seen.
std::vector<Ink> inksOf(const layout::Scene& scene)
{
    std::vector<Ink> inks;
    std::vector<Rect> clips{{0, 0, scene.width, scene.height}};
    for (const layout::Item& item : scene.items) {
        if (const auto* clip = std::get_if<layout::ClipItem>(&item)) {
            if (clip->pop) {
                clips.pop_back();
            } else {
                clips.push_back(common(clips.back(), clip->rect));
            }
        } else if (const auto* fill = std::get_if<layout::FillItem>(&item)) {
            std::erase_if(inks, [&](const Ink& ink) {
                const Rect covered = common(ink.rect, fill->rect);
                return covered.w > ink.rect.w / 2 && covered.h > ink.rect.h / 2;
            });
        } else if (const auto* text = std::get_if<layout::TextItem>(&item);
                   text != nullptr && text->angle == 0 && !text->text.empty()) {
            const Rect letters = lettersOf(*text);
            const bool isFree = clips.size() == 1;
            const Rect seen = isFree ? letters : common(letters, clips.back());
            if (seen.w > 0 && seen.h > 0) {
                inks.push_back({text, seen});
            }
        }
    }
    return inks;
}

// Whether some slot of the memory view says what it is or holds.
bool hasNamedSlot(const layout::Scene& scene)
{
    return std::any_of(scene.hits.begin(), scene.hits.end(), [&](const layout::Hit& hit) {
        return layout::is<layout::target::Buffer>(hit.target)
               && std::any_of(scene.items.begin(), scene.items.end(), [&](const auto& item) {
                      const auto* text = std::get_if<layout::TextItem>(&item);
                      return text != nullptr && hit.rect.w > 0
                             && common(hit.rect, lettersOf(*text)).w > 0
                             && common(hit.rect, lettersOf(*text)).h > 0;
                  });
    });
}

bool hasSlots(const layout::Scene& scene)
{
    return std::any_of(scene.hits.begin(), scene.hits.end(), [](const layout::Hit& hit) {
        return layout::is<layout::target::Buffer>(hit.target);
    });
}

} // namespace

std::vector<std::string> misplacedTexts(const layout::Scene& scene)
{
    constexpr double kTouching = 1.5; // px
    std::vector<std::string> found;
    const std::vector<Ink> inks = inksOf(scene);
    for (std::size_t i = 0; i < inks.size(); ++i) {
        const Rect& rect = inks[i].rect;
        if (rect.x < -1 || rect.y < -1 || rect.right() > scene.width + 1
            || rect.bottom() > scene.height + 1) {
            found.push_back(fmt::format("\"{}\" leaves the view", inks[i].item->text));
        }
        for (std::size_t j = 0; j < i; ++j) {
            const Rect both = common(rect, inks[j].rect);
            if (both.w > kTouching && both.h > kTouching) {
                found.push_back(fmt::format("\"{}\" lies on \"{}\" at ({:.0f}, {:.0f})",
                                            inks[i].item->text, inks[j].item->text, both.x,
                                            both.y));
            }
        }
    }
    return found;
}

std::vector<std::string> misplacedTexts(const layout::RunView& run,
                                        const std::shared_ptr<const layout::RunView>& kept)
{
    const auto pair = kept == nullptr ? nullptr : layout::keptBeside(kept, run);
    const std::int64_t end = run.trace->end().value();
    std::set<std::string> found;
    for (const std::int64_t share : {0, 7, 31, 50, 74, 96, 100}) {
        layout::ViewState state;
        state.now = Picoseconds(end / 100 * share);
        state.kept = pair;
        state.isKeptBySteps = share > 50;
        state.visible =
            share % 2 == 0
                ? layout::TimeRange{Picoseconds(0), Picoseconds(std::max<std::int64_t>(1, end))}
                : layout::frameAround(*run.trace, state.now);
        const auto look = [&](std::string_view view, const layout::Scene& scene) {
            for (const std::string& sentence : misplacedTexts(scene)) {
                found.insert(
                    fmt::format("{} of {} x {}: {}", view, scene.width, scene.height, sentence));
            }
        };
        for (const layout::View& view : layout::allViews()) {
            for (layout::Size size : {view.dock.small, view.dock.large, view.pictureSize}) {
                size.width = size.width > 0 ? size.width : 1280;
                if (size.height > 0) {
                    look(view.name, view.layout(run, state, size));
                }
            }
            // With large texts a view is laid out as a smaller one and magnified; but the dock of
            // the kernel scrolls, and keeps room for its fields.
            for (const double scale : {1.25, 1.5}) {
                constexpr double kLeastKernel = 200; // px
                const bool scrolls = view.name == "kernel";
                const layout::Size small = view.dock.small;
                const layout::Size size{std::max((small.width > 0 ? small.width : 1280) / scale,
                                                 scrolls ? kLeastKernel : 0.0),
                                        scrolls ? small.height : small.height / scale};
                if (size.height > 0) {
                    look(view.name, view.layout(run, state, size));
                }
                if (view.name == "memory" && hasNamedSlot(view.layout(run, state, small))
                    && !hasSlots(view.layout(run, state, size))) {
                    found.insert(fmt::format("memory of {} x {}: no slot is in sight", size.width,
                                             size.height));
                }
            }
        }
        look("verdict strip", layout::layoutVerdictStrip(run, state, {1280, 26}));
        look("verdict strip", layout::layoutVerdictStrip(run, state, {960, 26}));
    }
    return {found.begin(), found.end()};
}

} // namespace pallascope::test
