// Writes what a tooltip says about what devices run.
#include "views/layout/run/pieces.h"

#include "core/base/format.h"
#include "core/trace/device_times.h"
#include "views/layout/devices/now.h"
#include "views/layout/program/program.h"
#include "views/layout/tooltip/parts.h"

namespace pallascope::layout::tips {

Lines pieceLines(const RunView& run, std::int32_t device, std::size_t index)
{
    const trace::Pieces& pieces = run.index->pieces(device);
    const trace::Piece& piece = pieces.all[index];
    const Picoseconds time = piece.end - piece.begin;
    const Picoseconds whole = run.trace->end();
    Lines lines = {piece.name, pieceKindText(pieces, piece)};
    if (run.trace->info().deviceCount() > 1) {
        lines.back() += " on device " + countText(device);
    }
    const double share = whole > Picoseconds(0) ? ratio(time, whole) : 0;
    lines.push_back(timeText(time) + ", " + percentText(share, 1) + " of the run, from "
                    + timeText(piece.begin));
    if (const auto bound = boundOf(run, device, piece)) {
        lines.push_back("bound by " + toString(bound->by) + ", busy " + percentText(bound->share, 1)
                        + " of it");
    }
    if (const auto point = analysis::windowPoint(*run.index, piece.end, time)) {
        lines.push_back(flopRateText(point->flopsPerSecond) + " at "
                        + intensityText(point->intensity) + " FLOP/B");
    }
    if (piece.launch > Picoseconds(0)) {
        lines.push_back("launch " + timeText(piece.launch)
                        + (piece.overhead > Picoseconds(0)
                               ? ", step overhead " + timeText(piece.overhead)
                               : ""));
    }
    if (piece.operation != trace::kNone) {
        const std::string source = sourceText(
            run.trace->info(), run.trace->info().operations[row(piece.operation)].source);
        if (!source.empty()) {
            lines.push_back(source);
        }
    }
    lines.push_back(countText(piece.begin.value()) + " – " + countText(piece.end.value()) + " ps");
    return lines;
}

namespace {

// ", a 1, b 3": its place on each axis of the mesh.
std::string placeText(const trace::Info& info, std::int32_t device)
{
    const std::vector<trace::MeshAxis> mesh = trace::meshOf(info);
    const std::vector<std::int32_t> place = trace::placeInMesh(mesh, device);
    std::string text;
    for (std::size_t axis = 0; axis < mesh.size() && mesh.size() > 1; ++axis) {
        text += ", " + mesh[axis].name + " " + countText(place[axis]);
    }
    return text;
}

} // namespace

Lines deviceLines(const RunView& run, const ViewState& state, std::int32_t device)
{
    const trace::Info& info = run.trace->info();
    const trace::DeviceTimes& times = run.index->devices();
    const devices::DeviceNow now = devices::deviceNow(run, device, state.now);
    Lines lines = {"device " + countText(device) + placeText(info, device),
                   now.words + (now.step.empty() ? "" : ", step " + now.step)};
    if (isProgram(run)) {
        const trace::Pieces& pieces = run.index->pieces(device);
        const trace::Piece& piece = pieces.all[pieces.at(state.now)];
        lines.push_back(pieceKindText(pieces, piece) + ": " + piece.name);
    }
    if (const trace::OptionalRow<trace::UnitRow> unit = times.unit()) {
        lines.push_back(info.units[unit->index()].name + " busy " + percentText(now.busy, 1)
                        + " so far");
    }
    lines.push_back("has waited " + timeText(now.waited) + " for other devices");
    if (device == times.straggler()) {
        lines.push_back("the straggler: the others wait " + timeText(times.lead())
                        + " more on average");
    }
    lines.push_back("ends at " + countText(now.ends.value()) + " ps");
    return lines;
}

} // namespace pallascope::layout::tips
