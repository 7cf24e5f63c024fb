#include "views/layout/devices/devices.h"

#include "core/base/format.h"
#include "views/layout/devices/parts.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace devices {

namespace {

constexpr double kLeastMesh = 70, kMostMesh = 230; // px high
constexpr double kPartGap = 10;
constexpr double kLeastLinks = 60; // with less room, the list goes

std::string captionOf(const Moment& moment)
{
    std::string text = fmt::format("device |{}| of {}", moment.state.device, moment.devices.size());
    if (!moment.links.empty()) {
        text += fmt::format(" · |{}| of {} links carry something", moment.moving(),
                            moment.links.size());
    }
    if (const std::int32_t device = moment.straggler(); device != trace::kNone) {
        text += fmt::format(" · the others wait |{}| more than device |{}|",
                            timeText(moment.run.index->devices().lead()), device);
    }
    return text;
}

void states(Canvas& canvas, const Moment& moment)
{
    canvas.state({FactKind::Device, -1, static_cast<double>(moment.state.device),
                  countText(moment.state.device)});
    if (!moment.links.empty()) {
        canvas.state({FactKind::LinksMoving, -1, static_cast<double>(moment.moving()),
                      countText(moment.moving())});
    }
}

// One below the other: the mesh, the list, the table. The list goes first.
void stack(Canvas& canvas, const Moment& moment, Rect room)
{
    const double table = heightOfTable(moment);
    const double links = moment.links.empty() ? 0 : heightOfLinks(moment) + kPartGap;
    const double forMesh = std::clamp(room.h - table - kPartGap - links, kLeastMesh, kMostMesh);
    double y =
        paintMesh(canvas, moment, {room.x, room.y, room.w, std::min(forMesh, room.h)}) + kPartGap;
    const double left = room.bottom() - y;
    const double forTable = std::min(table, std::max(left * 0.5, left - links));
    const double forLinks = left - forTable - kPartGap;
    if (links > 0 && forLinks >= std::min(kLeastLinks, links - kPartGap)) {
        y = paintLinks(canvas, moment, {room.x, y, room.w, std::min(forLinks, links - kPartGap)})
            + kPartGap;
    }
    if (room.bottom() - y >= kLeastLinks) {
        paintTable(canvas, moment, {room.x, y, room.w, room.bottom() - y});
    }
}

} // namespace

Moment::Moment(const RunView& of, const ViewState& looking)
    : run(of)
    , state(looking)
    , mesh(trace::meshOf(of.trace->info()))
    , links(linksNow(of, mesh, looking.now))
{
    for (std::int32_t device = 0; device < of.trace->info().deviceCount(); ++device) {
        devices.push_back(deviceNow(of, device, looking.now));
    }
}

std::int64_t Moment::moving() const
{
    return std::count_if(links.begin(), links.end(),
                         [](const LinkNow& link) { return link.copy.has_value(); });
}

std::string Moment::unit() const
{
    const trace::OptionalRow<trace::UnitRow> unit = run.index->devices().unit();
    return unit ? run.trace->info().units[unit->index()].name : "";
}

Role Moment::unitRole() const
{
    const trace::OptionalRow<trace::UnitRow> unit = run.index->devices().unit();
    return unit ? parts::unitRole(run.trace->info().units[unit->index()].kind) : Role::Scalar;
}

} // namespace devices

Scene layoutDevices(const RunView& run, const ViewState& state, Size size)
{
    if (run.trace->info().deviceCount() == 1) {
        return parts::nothing("Devices", parts::captionOrNotRun(run, "one device"),
                              "This program runs on one device. Programs under shard_map run on "
                              "all devices of their mesh, and this view shows them.",
                              size);
    }
    const devices::Moment moment(run, state);
    Canvas canvas(size.width, size.height);
    devices::stack(canvas, moment,
                   {parts::kPadding, 4, std::max(1.0, size.width - 2 * parts::kPadding),
                    std::max(1.0, size.height - 8)});
    devices::states(canvas, moment);
    std::string caption =
        parts::captionOrNotRun(run, withKept(canvas, state, "time_s", devices::captionOf(moment)));
    return parts::finished(std::move(canvas), "Devices", std::move(caption), run, state);
}

} // namespace pallascope::layout
