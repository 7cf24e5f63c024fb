// The parts of the devices view: the picture of the mesh, the list of what is on the links, and the
// table of the devices.
#pragma once

#include "core/trace/device_times.h"
#include "views/layout/devices/now.h"
#include "views/layout/scene/canvas.h"

#include <vector>

namespace pallascope::layout::devices {

// All that the parts show, found once for a picture.
struct Moment
{
    const RunView& run;
    const ViewState& state;
    std::vector<trace::MeshAxis> mesh;
    std::vector<DeviceNow> devices;
    std::vector<LinkNow> links;

    Moment(const RunView& of, const ViewState& looking);

    [[nodiscard]] std::int64_t moving() const; // links that carry something

    [[nodiscard]] std::int32_t straggler() const { return run.index->devices().straggler(); }

    // "MXU", the unit whose busy shares the view shows; empty if nothing computes.
    [[nodiscard]] std::string unit() const;
    [[nodiscard]] Role unitRole() const;
};

// Each paints into the room and returns the y below what it has painted.
double paintMesh(Canvas& canvas, const Moment& moment, Rect room);
double paintLinks(Canvas& canvas, const Moment& moment, Rect room);
double paintTable(Canvas& canvas, const Moment& moment, Rect room);

// How high the parts are if nothing is left out.
[[nodiscard]] double heightOfLinks(const Moment& moment);
[[nodiscard]] double heightOfTable(const Moment& moment);

} // namespace pallascope::layout::devices
