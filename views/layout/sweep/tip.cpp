// What a tip says about a row of a sweep.
#include "core/base/format.h"
#include "views/layout/sweep/arrange.h"
#include "views/layout/sweep/sweep.h"

#include <algorithm>

namespace pallascope::layout {

namespace {

constexpr std::size_t kMostInALine = 90; // bytes

// Sentences about what is wrong are long, and tips do not break lines themselves.
void addBroken(const std::string& sentence, std::vector<std::string>& lines)
{
    std::size_t begin = 0;
    while (sentence.size() - begin > kMostInALine) {
        const std::size_t space = sentence.rfind(' ', begin + kMostInALine);
        if (space == std::string::npos || space <= begin) {
            break;
        }
        lines.push_back(sentence.substr(begin, space - begin));
        begin = space + 1;
    }
    lines.push_back(sentence.substr(begin));
}

std::string timeLine(const SweepPoint& point)
{
    std::string line = timeText(*point.time);
    if (point.band) {
        line += " (" + timeText(point.band->begin) + " to " + timeText(point.band->end) + ")";
    }
    switch (point.standing) {
    case SweepStanding::Fastest:
        return line + " · " + sweep::wordFor(point);
    case SweepStanding::Perhaps:
        return line + " · perhaps as fast as the fastest";
    case SweepStanding::Other:
        return line;
    }
    return line;
}

} // namespace

std::vector<std::string> sweepTip(const SweepPicture& picture, const Target& target)
{
    const auto* row = std::get_if<target::SweepRow>(&target);
    const auto found =
        std::find_if(picture.points.begin(), picture.points.end(), [&](const SweepPoint& point) {
            return row != nullptr && point.row == row->row;
        });
    if (found == picture.points.end()) {
        return {};
    }
    std::vector<std::string> lines{sweep::nameOf(picture, *found)};
    if (found->time) {
        lines.push_back(timeLine(*found));
    } else {
        addBroken(found->reason, lines);
    }
    if (!found->findings.empty()) {
        addBroken("has findings, so it is not ranked: " + found->findings, lines);
    }
    lines.insert(lines.end(), found->more.begin(), found->more.end());
    if (found->time) {
        lines.push_back(countText(found->time->value()) + " ps");
    }
    return lines;
}

} // namespace pallascope::layout
