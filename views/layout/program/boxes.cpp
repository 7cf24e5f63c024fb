// Divides the width of the strip among the pieces of a program.
#include "views/layout/program/program.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout::program {

namespace {

constexpr double kLeastBox = 24; // px, if there is room for so much
constexpr double kFewestPx = 5;  // px; with less for each piece, only times count
constexpr double kGapOfBoxes = 3;

double timeOf(const trace::Piece& piece)
{
    return static_cast<double>((piece.end - piece.begin).value());
}

// The widths of boxes that share `room` in proportion to their times, none below `least`.
std::vector<double> widths(const trace::Pieces& pieces, double room, double least)
{
    std::vector<double> wide(pieces.all.size(), 0);
    std::vector<bool> isLeast(pieces.all.size(), false);
    for (bool changed = true; changed;) {
        changed = false;
        double left = room, time = 0;
        for (std::size_t i = 0; i < wide.size(); ++i) {
            left -= isLeast[i] ? least : 0;
            time += isLeast[i] ? 0 : timeOf(pieces.all[i]);
        }
        for (std::size_t i = 0; i < wide.size(); ++i) {
            wide[i] = isLeast[i] || time <= 0 ? least : left * timeOf(pieces.all[i]) / time;
            if (!isLeast[i] && wide[i] < least) {
                isLeast[i] = changed = true;
            }
        }
    }
    return wide;
}

} // namespace

std::vector<Box> boxesOf(const trace::Pieces& pieces, double left, double width)
{
    const auto count = static_cast<double>(pieces.all.size());
    const bool isRoomy = width / count >= kFewestPx;
    const double gap = isRoomy ? std::min(kGapOfBoxes, std::floor(width / count / 4)) : 0;
    const double room = width - gap * (count - 1);
    const double least = isRoomy ? std::min(kLeastBox, std::floor(room / count)) : 0;
    std::vector<Box> boxes;
    double x = left;
    for (const double wide : widths(pieces, room, least)) {
        const double from = std::round(x);
        boxes.push_back({from, std::round(x + wide) - from});
        x += wide + gap;
    }
    return boxes;
}

} // namespace pallascope::layout::program
