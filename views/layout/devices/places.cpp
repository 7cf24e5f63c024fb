#include "views/layout/devices/places.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace pallascope::layout::devices {

namespace {

constexpr std::int32_t kMostInARow = 16; // devices of a ring; more of them stand in several rows

std::int32_t columnsOfMany(std::int32_t devices)
{
    return std::min(devices, kMostInARow);
}

} // namespace

Places placesOf(const std::vector<trace::MeshAxis>& mesh)
{
    Places places;
    std::int32_t devices = 1;
    for (const trace::MeshAxis& axis : mesh) {
        devices *= axis.size;
    }
    const std::int32_t last = mesh.back().size;
    const bool isRing = last == devices; // the other axes have one place each
    places.closes = isRing && devices >= 4 && devices % 2 == 0 && devices <= 2 * kMostInARow;
    places.columns = places.closes ? devices / 2 : isRing ? columnsOfMany(devices) : last;
    places.rows = (devices + places.columns - 1) / places.columns;
    for (std::int32_t device = 0; device < devices; ++device) {
        Place place{device / places.columns, device % places.columns};
        if (places.closes && place.row == 1) { // back again below
            place.column = places.columns - 1 - place.column;
        }
        places.all.push_back(place);
    }
    return places;
}

Rect Picture::box(std::int32_t device) const
{
    const Place& place = places.all[static_cast<std::size_t>(device)];
    return {std::round(left + side + place.column * (boxWidth + gapX)),
            std::round(top + aboveAndBelow + place.row * (boxHeight + gapY)), boxWidth, boxHeight};
}

double Picture::height() const
{
    return 2 * aboveAndBelow + places.rows * boxHeight + (places.rows - 1) * gapY;
}

Picture::Gap Picture::gap(std::int32_t from, const trace::Neighbour& to, std::size_t axes) const
{
    const Place& a = places.all[static_cast<std::size_t>(from)];
    const Place& b = places.all[static_cast<std::size_t>(to.device)];
    const Rect here = box(from), there = box(to.device);
    Gap gap;
    if (a.row == b.row && std::abs(a.column - b.column) == 1) {
        gap.forwards = b.column > a.column;
        const double x = std::min(here.right(), there.right());
        gap.rect = {x, here.y, gapX, boxHeight};
        return gap;
    }
    if (a.column == b.column && std::abs(a.row - b.row) == 1) {
        gap.isVertical = true;
        gap.forwards = b.row > a.row;
        gap.rect = {here.x, std::min(here.bottom(), there.bottom()), boxWidth, gapY};
        return gap;
    }
    gap.isRound = true;
    gap.isVertical = static_cast<std::size_t>(to.axis) + 1 < axes && a.column == b.column;
    gap.forwards = to.forwards;
    if (gap.isVertical) {
        gap.rect = gap.forwards ? Rect{here.x, here.bottom(), boxWidth, aboveAndBelow}
                                : Rect{here.x, here.y - aboveAndBelow, boxWidth, aboveAndBelow};
    } else {
        gap.rect = gap.forwards ? Rect{here.right(), here.y, side, boxHeight}
                                : Rect{here.x - side, here.y, side, boxHeight};
    }
    return gap;
}

Picture pictureOf(const std::vector<trace::MeshAxis>& mesh, bool hasLinks, Size room)
{
    constexpr double kLeastBox = 14, kMostBox = 150, kMostHigh = 58, kBetween = 6;
    Picture picture;
    picture.places = placesOf(mesh);
    const auto columns = static_cast<double>(picture.places.columns);
    const auto rows = static_cast<double>(picture.places.rows);
    // Links need a third of the room; where boxes would become too small, they get less.
    const double wide = room.width / columns;
    picture.gapX = hasLinks ? std::clamp(std::floor(wide * 0.4), kBetween, 84.0) : kBetween;
    if (wide - picture.gapX < 4 * kLeastBox) {
        picture.gapX = std::min(picture.gapX, std::floor(wide / 3));
    }
    const bool leadsRound = hasLinks && !picture.places.closes && mesh.back().size > 2;
    picture.side = leadsRound ? std::min(26.0, picture.gapX) : 0;
    picture.boxWidth = std::clamp(
        std::floor((room.width - 2 * picture.side - (columns - 1) * picture.gapX) / columns), 3.0,
        kMostBox);
    const double high = room.height / rows;
    picture.gapY = hasLinks ? std::clamp(std::floor(high * 0.42), kBetween, 44.0) : kBetween;
    const bool leadsOver =
        hasLinks && std::any_of(mesh.begin(), mesh.end() - 1, [](const trace::MeshAxis& axis) {
            return axis.size > 2;
        });
    picture.aboveAndBelow = leadsOver ? std::min(20.0, picture.gapY) : 0;
    picture.boxHeight = std::clamp(
        std::floor((room.height - 2 * picture.aboveAndBelow - (rows - 1) * picture.gapY) / rows),
        3.0, kMostHigh);
    return picture;
}

} // namespace pallascope::layout::devices
