#include "core/machine/prepare/unknown_figures.h"

#include "core/chip/stand_in.h"
#include "core/cost/segment.h"
#include "core/ir/mesh.h"
#include "core/trace/findings.h"

#include <algorithm>
#include <set>

namespace pallascope::machine {

namespace {

// The parts of the chip file that the program uses, as JSON pointers that end with "/".
std::set<std::string> usedParts(const ir::Program& program, const chip::Chip& chip,
                                const Plan& plan, const std::vector<std::int32_t>& memories)
{
    std::set<std::string> parts{"/agents/0/", "/constants/", "/devices/"};
    for (const std::int32_t memory : memories) {
        parts.insert("/memories/" + std::to_string(memory) + "/");
    }
    const auto used = [&](std::int32_t memory) {
        return std::find(memories.begin(), memories.end(), memory) != memories.end();
    };
    for (std::size_t link = 0; link < chip.links.size(); ++link) {
        if (used(chip.links[link].from) && used(chip.links[link].to)) {
            parts.insert("/links/" + std::to_string(link) + "/");
        }
    }
    for (const trace::SegmentTemplate& segment : plan.templates) {
        for (const trace::Mark& mark : segment.marks) {
            parts.insert("/units/" + std::to_string(mark.unit) + "/");
        }
    }
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (const auto* mesh = std::get_if<ir::CoreMapParams>(&operation.params)) {
            parts.insert("/agents/" + std::to_string(*chip.agentNamed(mesh->agents)) + "/");
        }
        const chip::Unit* matrix = chip.unitOf(UnitKind::Matrix);
        const ir::OpKind kind = ir::opEntry(operation.code).kind;
        if ((kind == ir::OpKind::Dot || kind == ir::OpKind::Request) && matrix != nullptr) {
            if (const auto run = cost::matrixRun(*matrix, program, operation)) {
                parts.insert("rates/" + std::string(dtypeName(run->dtype)) + "/");
            }
        }
        if (ir::reachesDevices(operation)) {
            parts.insert("/interconnect/");
        }
    });
    return parts;
}

bool uses(const std::set<std::string>& parts, const std::string& pointer)
{
    const std::size_t rates = pointer.find("/rates/");
    // The figure of one dtype, which counts only if that dtype is used.
    if (rates != std::string::npos) {
        const std::string dtype = pointer.substr(rates + 1, pointer.find('/', rates + 7) - rates);
        return parts.contains(pointer.substr(0, rates + 1)) && parts.contains(dtype);
    }
    return std::any_of(parts.begin(), parts.end(),
                       [&](const std::string& part) { return pointer.rfind(part, 0) == 0; });
}

} // namespace

std::optional<trace::Finding> unknownFigures(const ir::Program& program, const chip::Chip& chip,
                                             const Plan& plan,
                                             const std::vector<std::int32_t>& memories)
{
    if (chip.unknown.empty()) {
        return std::nullopt;
    }
    const std::set<std::string> parts = usedParts(program, chip, plan, memories);
    std::string named;
    std::int64_t count = 0;
    for (const chip::UnknownFigure& figure : chip.unknown) {
        if (uses(parts, figure.pointer + "/")) {
            named += (count > 0 ? ", " : "") + chip::standInText(chip, figure) + " for "
                     + figure.name + " (" + figure.why + ")";
            ++count;
        }
    }
    if (count == 0) {
        return std::nullopt;
    }
    return trace::found(trace::FindingKind::UnknownFigure,
                        chip.title + " has no known figure for what the run needs; it takes "
                            + named + ".",
                        "", {}, {}, {}, count);
}

} // namespace pallascope::machine
