#include "views/scene_pointer.h"

#include "views/fonts.h"
#include "views/layout/tooltip/tooltip.h"
#include "views/to_qt.h"

#include <QRectF>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pallascope::views {

using namespace layout;

bool isThing(const Target& target)
{
    const auto* kept = std::get_if<target::Kept>(&target);
    return kept != nullptr
               ? isThing(ofKept(*kept))
               : !isNothing(target) && !is<target::Lane>(target) && !is<target::Time>(target);
}

std::vector<Hit> thingsOf(const Scene& scene)
{
    constexpr std::size_t kMost = 1000; // nobody walks over more, and each is compared with all
    std::vector<Hit> things;
    for (const Hit& hit : scene.hits) {
        const bool isNew = std::none_of(things.begin(), things.end(),
                                        [&](const Hit& one) { return one.target == hit.target; });
        if (isThing(hit.target) && isNew && things.size() < kMost) {
            things.push_back(hit);
        }
    }
    std::stable_sort(things.begin(), things.end(), [](const Hit& a, const Hit& b) {
        return std::pair(a.rect.y, a.rect.x) < std::pair(b.rect.y, b.rect.x);
    });
    return things;
}

// The nearest thing in that direction. Sideways distance counts double, so that the cursor walks
// along a row of blocks.
const Hit* neighbour(const Scene& scene, const Target& from, int dx, int dy)
{
    const std::vector<Rect> now = framesOf(scene, from);
    const QPointF start = toQt(now.empty() ? Rect{} : now.front()).center();
    const Hit* best = nullptr;
    double least = std::numeric_limits<double>::max();
    for (const Hit& hit : scene.hits) {
        if (!isThing(hit.target) || hit.target == from) {
            continue;
        }
        const QPointF way = toQt(hit.rect).center() - start;
        const double along = way.x() * dx + way.y() * dy;
        const double across = std::abs(way.x() * dy) + std::abs(way.y() * dx);
        const double distance = along + 2 * across;
        if ((now.empty() || along > 0.5) && distance < least) {
            least = distance;
            best = &hit;
        }
    }
    return best;
}

QStringList asLines(const std::vector<std::string>& lines)
{
    QStringList result;
    for (const std::string& line : lines) {
        result.append(text(line).remove(QLatin1Char('|')));
    }
    return result;
}

QStringList tipLines(const RunView* run, const ViewState& state, const Target& target)
{
    return run != nullptr && !isNothing(target) ? asLines(tooltip(*run, state, target))
                                                : QStringList();
}

} // namespace pallascope::views
