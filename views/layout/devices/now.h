// What devices and the links between them do at a moment.
#pragma once

#include "core/trace/mesh.h"
#include "views/layout/run/run_view.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout::devices {

struct DeviceNow
{
    std::string words; // what its first agent does: "dot", "waits for x(2)", "done"
    bool waits = false;
    double busy = 0;    // the share of the time so far in which its unit was busy
    Picoseconds waited; // for other devices so far
    Picoseconds ends;   // when it is done
    std::string step;   // "3 of 8"; empty: it has not begun one
};

[[nodiscard]] DeviceNow deviceNow(const RunView& run, std::int32_t device, Picoseconds now);

// A link from a device to one of its neighbours.
struct LinkNow
{
    std::size_t link = 0; // row of Info::links
    std::int32_t from = 0;
    trace::Neighbour to;
    trace::OptionalRow<trace::CopyRow> copy; // that moves now
    double fraction = 0;                     // of it that has been sent
    std::size_t queued = 0;                  // copies that wait behind it
};

// All of them, by device and link.
[[nodiscard]] std::vector<LinkNow>
linksNow(const RunView& run, const std::vector<trace::MeshAxis>& mesh, Picoseconds now);

// "x+": the part of a link's name that says where it leads.
[[nodiscard]] std::string directionOf(const trace::Link& link);

} // namespace pallascope::layout::devices
