#include "app/run_job/sweep_picture.h"

#include "core/base/format.h"
#include "core/study/fastest.h"
#include "core/study/sweep_file.h"

#include <fmt/format.h>
#include <map>

namespace pallascope::app {

namespace {

layout::SweepStanding standingOf(study::Standing standing)
{
    switch (standing) {
    case study::Standing::None:
    case study::Standing::Slower:
        return layout::SweepStanding::Other;
    case study::Standing::Perhaps:
        return layout::SweepStanding::Perhaps;
    case study::Standing::Shortest:
    case study::Standing::Best:
        return layout::SweepStanding::Fastest;
    }
    return layout::SweepStanding::Other;
}

// Where each value of an axis is found; there may be many thousand.
using Numbers = std::map<std::string, std::size_t>;

std::vector<Numbers> numbersOf(const std::vector<layout::SweepAxis>& axes)
{
    std::vector<Numbers> all;
    for (const layout::SweepAxis& axis : axes) {
        Numbers& numbers = all.emplace_back();
        for (std::size_t i = 0; i < axis.values.size(); ++i) {
            numbers.emplace(axis.values[i], i);
        }
    }
    return all;
}

// What the table says about a row besides its time, each with the name of its column.
std::vector<std::string> linesOf(const study::SweepPlan& plan, const study::SweepRow& row)
{
    const std::string memory = *(study::tableHead(plan).end() - 2);
    std::vector<std::string> lines;
    if (row.ran()) {
        lines.push_back(percentText(row.utilization, 1) + " of peak · bound by " + row.boundBy);
        lines.push_back(memory + " " + bytesText(row.vmem) + " · re-fetched "
                        + bytesText(row.refetched));
    } else if (row.error.empty()) {
        lines.push_back(memory + " " + bytesText(row.vmem));
    }
    return lines;
}

} // namespace

layout::SweepPicture sweepPicture(const std::string& kernel, const study::SweepPlan& plan,
                                  const std::vector<study::SweepRow>& rows)
{
    layout::SweepPicture picture;
    picture.title = "Sweep of " + kernel;
    for (const study::Axis& axis : plan.axes) {
        picture.axes.push_back({axis.name, axis.values});
    }
    picture.axes.push_back({"chip", {}});
    for (const chip::Chip& chip : plan.chips) {
        picture.axes.back().values.push_back(chip.name);
    }
    const std::vector<Numbers> numbers = numbersOf(picture.axes);
    const std::vector<study::Standing> standing = study::standings(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const study::SweepRow& row = rows[i];
        layout::SweepPoint point;
        for (std::size_t axis = 0; axis < numbers.size(); ++axis) {
            const bool isChip = axis + 1 == numbers.size();
            point.at.push_back(
                numbers[axis].at(isChip ? row.chip : row.parameters.at(picture.axes[axis].name)));
            point.row = point.row * static_cast<std::int64_t>(numbers[axis].size())
                        + static_cast<std::int64_t>(point.at.back());
        }
        if (row.ran()) {
            point.time = row.time;
        } else {
            point.reason = row.error.empty() ? "does not fit" : row.error;
        }
        if (row.band) {
            point.band = layout::TimeRange{row.band->low, row.band->high};
        }
        point.findings = fmt::format("{}", fmt::join(row.findings, ", "));
        point.standing = standingOf(standing[i]);
        point.more = linesOf(plan, row);
        picture.points.push_back(std::move(point));
    }
    return picture;
}

} // namespace pallascope::app
