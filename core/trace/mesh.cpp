#include "core/trace/mesh.h"

#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>

namespace pallascope::trace {

namespace {

// The axes in "... mesh=(a:2, b:4) {"; empty if it says nothing of the kind.
std::vector<MeshAxis> parsed(std::string_view head)
{
    constexpr std::string_view kMesh = " mesh=(";
    const std::size_t from = head.rfind(kMesh);
    if (from == std::string_view::npos) {
        return {};
    }
    std::vector<MeshAxis> axes;
    std::string_view rest = head.substr(from + kMesh.size());
    rest = rest.substr(0, rest.find(')'));
    while (!rest.empty()) {
        const std::size_t comma = rest.find(", ");
        const std::string_view axis = rest.substr(0, comma);
        const std::size_t colon = axis.rfind(':');
        MeshAxis& added = axes.emplace_back();
        if (colon == std::string_view::npos
            || std::from_chars(axis.data() + colon + 1, axis.data() + axis.size(), added.size).ec
                   != std::errc()) {
            return {};
        }
        added.name = axis.substr(0, colon);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 2);
    }
    return axes;
}

std::int32_t deviceAt(const std::vector<MeshAxis>& mesh, const std::vector<std::int32_t>& place)
{
    std::int32_t device = 0;
    for (std::size_t axis = 0; axis < mesh.size(); ++axis) {
        device = device * mesh[axis].size + place[axis];
    }
    return device;
}

// The device whose semaphore is signalled when a copy lands.
std::int32_t signalledDevice(const Trace& trace, const std::vector<MeshAxis>& mesh, CopyRow copy)
{
    const Info& info = trace.info();
    const Signals& signals = trace.signals();
    const std::size_t link = at(trace.copies().link[copy.index()]);
    const std::size_t agents = info.agentsPerDevice();
    const auto sender = static_cast<std::int32_t>(link / info.linksPerDevice());
    const std::optional<Neighbour> first = neighbourOver(info, mesh, link);
    std::int32_t found = kNone;
    const std::int64_t end = trace.copies().end[copy.index()];
    for (std::size_t row = begunBy(signals.time, end - 1);
         row < signals.size() && signals.time[row] == end; ++row) {
        const Semaphore& semaphore = info.semaphores[at(signals.semaphore[row])];
        const auto device = static_cast<std::int32_t>(at(semaphore.agent) / agents);
        if (signals.amount[row] <= 0 || semaphore.kind != "dma_semaphore" || device == sender) {
            continue;
        }
        if (first && device == first->device) {
            return device;
        }
        found = found == kNone ? device : found;
    }
    return found != kNone ? found : first ? first->device : sender;
}

} // namespace

std::vector<MeshAxis> meshOf(const Info& info)
{
    const std::int32_t devices = info.deviceCount();
    std::vector<MeshAxis> axes =
        info.listing.empty() ? std::vector<MeshAxis>() : parsed(info.listing[0].text);
    const bool fits = std::all_of(axes.begin(), axes.end(), [&](const MeshAxis& axis) {
        return axis.size > 0 && axis.size <= devices;
    });
    const std::int64_t count =
        std::accumulate(axes.begin(), axes.end(), std::int64_t{fits ? 1 : 0},
                        [&](std::int64_t product, const MeshAxis& axis) {
                            return std::min<std::int64_t>(product * axis.size, devices + 1);
                        });
    return count == devices && !axes.empty() ? axes : std::vector<MeshAxis>{{"", devices}};
}

std::vector<std::int32_t> placeInMesh(const std::vector<MeshAxis>& mesh, std::int32_t device)
{
    std::vector<std::int32_t> place(mesh.size());
    for (std::size_t axis = mesh.size(); axis-- > 0;) {
        place[axis] = device % mesh[axis].size;
        device /= mesh[axis].size;
    }
    return place;
}

std::optional<Neighbour> neighbourOver(const Info& info, const std::vector<MeshAxis>& mesh,
                                       std::size_t link)
{
    const Link& of = info.links[link];
    const std::size_t each = info.linksPerDevice();
    const char sign = of.name.empty() ? ' ' : of.name.back();
    if (!info.joinsDevices(link) || (sign != '+' && sign != '-')) {
        return std::nullopt;
    }
    const std::string_view name = std::string_view(of.name).substr(0, of.name.size() - 1);
    for (std::size_t axis = 0; axis < mesh.size(); ++axis) {
        if (!name.ends_with(" " + mesh[axis].name)) {
            continue;
        }
        std::vector<std::int32_t> place = placeInMesh(mesh, static_cast<std::int32_t>(link / each));
        const std::int32_t size = mesh[axis].size;
        place[axis] = (place[axis] + (sign == '+' ? 1 : size - 1)) % size;
        return Neighbour{deviceAt(mesh, place), static_cast<std::int32_t>(axis), sign == '+'};
    }
    return std::nullopt;
}

std::int32_t receiverOf(const Trace& trace, const std::vector<MeshAxis>& mesh, CopyRow copy)
{
    if (const OptionalRow<EndRow> source = sourceOf(trace, copy)) {
        const std::size_t target = otherEnd(*source).index();
        return trace.info().deviceOf(trace.copyEnds().agent[target]);
    }
    return signalledDevice(trace, mesh, copy);
}

} // namespace pallascope::trace
