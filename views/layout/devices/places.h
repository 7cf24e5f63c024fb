// Where the devices stand in the picture: by their coordinates in the mesh, a ring of devices in
// two rows that close it.
#pragma once

#include "core/trace/mesh.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <cstdint>
#include <vector>

namespace pallascope::layout::devices {

struct Place
{
    std::int32_t row = 0, column = 0;
    bool operator==(const Place&) const = default;
};

struct Places
{
    std::vector<Place> all; // by device
    std::int32_t rows = 1, columns = 1;
    bool closes = false; // a ring that ends beside where it begins
};

[[nodiscard]] Places placesOf(const std::vector<trace::MeshAxis>& mesh);

// The boxes of the devices, and how far apart they stand. The links between them lie in the gaps;
// those that lead round a ring and not to a box beside it lie at the sides.
struct Picture
{
    Places places;
    double left = 0, top = 0;
    double boxWidth = 0, boxHeight = 0, gapX = 0, gapY = 0;
    double side = 0, aboveAndBelow = 0; // room for links that lead round

    [[nodiscard]] Rect box(std::int32_t device) const;
    [[nodiscard]] double height() const;

    // The room for the links from a device to its neighbour, two of which share a gap: that which
    // leads right or down is the upper or the left one of them.
    struct Gap
    {
        Rect rect;
        bool isVertical = false;
        bool forwards = true; // to the right, or down
        bool isRound = false; // it leads round, so that the other end is elsewhere
    };

    [[nodiscard]] Gap gap(std::int32_t from, const trace::Neighbour& to, std::size_t axes) const;
};

[[nodiscard]] Picture pictureOf(const std::vector<trace::MeshAxis>& mesh, bool hasLinks, Size room);

} // namespace pallascope::layout::devices
