#include "core/ir/loop_facts.h"

#include "core/ir/opcodes.h"

#include <algorithm>
#include <string_view>

namespace pallascope::ir {

namespace {

bool isLoop(const Operation& operation)
{
    return operation.code == OpCode::Scan || operation.code == OpCode::While;
}

// Whether a region copies or waits, or runs a pipeline, which does both.
bool copiesOrWaits(const Region& region)
{
    bool does = false;
    forEachOperation(region, [&](const Operation& operation) {
        does = does || startsCopy(operation.code) || operation.code == OpCode::DmaWait
               || operation.code == OpCode::SemaphoreWait || operation.code == OpCode::BarrierWait
               || operation.code == OpCode::WaitSmemToGmem
               || operation.code == OpCode::WaitGmemToSmem || operation.code == OpCode::Pipeline;
    });
    return does;
}

const Location* locationOf(const Program& program, LocationId id)
{
    return id.index < 0 ? nullptr : &program.locations[static_cast<std::size_t>(id.index)];
}

// Of "kernel.<locals>.body.<locals>.when", which is defined within "kernel": "body". Empty for a
// function that is not defined there, and for one whose author gave it no name.
std::string_view functionWithin(std::string_view around, std::string_view function)
{
    constexpr std::string_view kLocals = ".<locals>.";
    if (!function.starts_with(around) || !function.substr(around.size()).starts_with(kLocals)) {
        return {};
    }
    function.remove_prefix(around.size() + kLocals.size());
    function = function.substr(0, function.find(kLocals));
    return function == "_" || function == "<lambda>" ? std::string_view() : function;
}

// The innermost place of a loop in the file of what it is in: a helper of another file is not where
// its author looks for it.
LocationId placeOf(const Program& program, const Operation& loop, const std::string& file)
{
    for (LocationId id = loop.location; id.index >= 0; id = locationOf(program, id)->caller) {
        if (locationOf(program, id)->file == file) {
            return id;
        }
    }
    return loop.location;
}

// The name of the function that is a loop's body. JAX keeps no names of loops, but the operations
// of the body know in which function they stand.
std::string_view nameOfBody(const Program& program, const Operation& loop, LocationId where)
{
    const Location* const place = locationOf(program, where);
    if (place == nullptr || place->function.empty()) {
        return {};
    }
    for (const Operation& operation : loop.regions.back().operations) {
        // The body may call other functions that stand beside it; it is the outermost one.
        std::string_view name;
        for (const Location* at = locationOf(program, operation.location); at != nullptr;
             at = locationOf(program, at->caller)) {
            const std::string_view found = functionWithin(place->function, at->function);
            name = found.empty() ? name : found;
        }
        if (!name.empty()) {
            return name;
        }
    }
    return {};
}

std::string nameOfLoop(const Program& program, const Operation& loop, LocationId where)
{
    if (const std::string_view name = nameOfBody(program, loop, where); !name.empty()) {
        return std::string(name);
    }
    const Location* const place = locationOf(program, where);
    return place == nullptr || place->line <= 0 ? "loop"
                                                : "loop at line " + std::to_string(place->line);
}

// `file` is that of the kernel around the region; empty: of none.
void collectLoops(const Program& program, const Region& region, int parent, const std::string& file,
                  std::vector<LoopFacts>& loops)
{
    for (const Operation& operation : region.operations) {
        int around = parent;
        const Location* const place = locationOf(program, operation.location);
        const bool isKernel = operation.code == OpCode::Kernel || operation.code == OpCode::CoreMap
                              || operation.code == OpCode::Pipeline
                              || operation.code == OpCode::RunScoped;
        const std::string& within =
            isKernel && place != nullptr && file.empty() ? place->file : file;
        if (isLoop(operation)
            && std::any_of(operation.regions.begin(), operation.regions.end(), copiesOrWaits)) {
            around = static_cast<int>(loops.size());
            const LocationId where = placeOf(program, operation, within);
            loops.push_back({&operation, nameOfLoop(program, operation, where), where, parent});
        }
        for (const Region& inner : operation.regions) {
            collectLoops(program, inner, around, within, loops);
        }
    }
}

} // namespace

std::vector<LoopFacts> loopsThatCopy(const Program& program)
{
    std::vector<LoopFacts> loops;
    collectLoops(program, program.body, -1, {}, loops);
    return loops;
}

} // namespace pallascope::ir
