// How the devices of a run are joined: the axes of their mesh, and who is whose neighbour.
#pragma once

#include "core/trace/row.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::trace {

struct MeshAxis
{
    std::string name;
    std::int32_t size = 1;
    bool operator==(const MeshAxis&) const = default;
};

// The axes, outermost first, read off the head of the printed program. Of a trace without its
// program: one axis without a name. Their sizes multiply to the number of devices.
[[nodiscard]] std::vector<MeshAxis> meshOf(const Info& info);

// The place of a device on each axis. Devices are numbered row-major.
[[nodiscard]] std::vector<std::int32_t> placeInMesh(const std::vector<MeshAxis>& mesh,
                                                    std::int32_t device);

// A link between neighbours: "device 3 ICI x+" leads to the next device on axis x.
struct Neighbour
{
    std::int32_t device = 0; // to which it leads
    std::int32_t axis = 0;   // of the mesh
    bool forwards = true;
};

// The device that a link (row of Info::links) leads to; none for a link to a device's own memory.
[[nodiscard]] std::optional<Neighbour>
neighbourOver(const Info& info, const std::vector<MeshAxis>& mesh, std::size_t link);

// The device on which a copy between devices lands: that of the agent at the end to which it
// writes. In a trace without the ends of copies, of those whose semaphore is signalled then, the
// neighbour that its link leads to comes first. Copies that go over several hops leave over the
// link to the first of them.
[[nodiscard]] std::int32_t receiverOf(const Trace& trace, const std::vector<MeshAxis>& mesh,
                                      CopyRow copy);

} // namespace pallascope::trace
