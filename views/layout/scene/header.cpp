// Paints the head of a view in a picture: its title and caption, as a dock shows them.
#include "views/layout/scene/header.h"

#include "views/layout/scene/canvas.h"

#include <utility>

namespace pallascope::layout {

namespace {

constexpr double kWide = 900; // px; from this width on, title and caption share a row
constexpr double kHeaderPadding = 10;

} // namespace

double headerHeight(double width)
{
    return width > kWide ? 26 : 42;
}

Scene withHeader(const Scene& content)
{
    const double head = headerHeight(content.width);
    const bool wide = content.width > kWide;
    Canvas canvas(content.width, content.height + head);
    const double w = content.width - 2 * kHeaderPadding;
    canvas.text(kHeaderPadding, 4, w, 18, content.title,
                {12, Role::Text, Weight::SemiBold, Align::Left});
    if (wide) {
        const double x = kHeaderPadding + textWidth(content.title, 12, Weight::SemiBold) + 12;
        canvas.rich(x, 5, content.width - kHeaderPadding - x, 17, content.caption);
    } else {
        canvas.rich(kHeaderPadding, 22, w, 16, content.caption);
    }
    Scene scene = std::move(canvas).finish(content.title, content.caption);
    scene.items.reserve(scene.items.size() + content.items.size());
    for (const Item& item : content.items) {
        scene.items.push_back(movedDown(item, head));
    }
    for (Hit hit : content.hits) {
        hit.rect.y += head;
        scene.hits.push_back(hit);
    }
    scene.facts = content.facts;
    return scene;
}

} // namespace pallascope::layout
