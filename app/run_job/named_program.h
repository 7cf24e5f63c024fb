// What people call the operations, elements and agents of a replay, which have numbers there.
#pragma once

#include "core/base/format.h"
#include "core/machine/replay.h"

#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

namespace pallascope::app {

struct NamedProgram
{
    explicit NamedProgram(const machine::Replay& replay)
        : program(replay.program())
        , places(replay.places())
    {
        ir::forEachOperation(program.body, [this](const ir::Operation& operation) {
            operations[operation.id] = &operation;
        });
    }

    // "swap at kernels/matmul.cpp:42"
    [[nodiscard]] std::string operation(std::int32_t id) const
    {
        const auto found = operations.find(id);
        return found == operations.end() ? "the kernel"
                                         : fmt::format("{} at {}", ir::opName(found->second->code),
                                                       program.where(found->second->location));
    }

    [[nodiscard]] std::string spot(const machine::Spot& spot) const
    {
        return spot.ref.index < 0
                   ? "memory that nothing names"
                   : fmt::format("{}[{}]", program.value(spot.ref).name, join(spot.index, ","));
    }

    [[nodiscard]] std::string memory(const machine::Spot& spot) const
    {
        return spot.ref.index < 0 ? ""
                                  : std::string(ir::memorySpaceName(*program.type(spot.ref).space));
    }

    // The other end of a copy. An array and a block of it often have one name.
    [[nodiscard]] std::string otherEnd(const machine::Spot& other, const machine::Spot& here) const
    {
        const bool isTold = other.ref.index < 0 || here.ref.index < 0
                            || program.value(other.ref).name != program.value(here.ref).name;
        return spot(other) + (isTold ? "" : " in " + memory(other));
    }

    [[nodiscard]] std::string agent(std::int32_t id) const
    {
        return id < 0 ? "" : places[static_cast<std::size_t>(id)].agent;
    }

    const ir::Program& program;
    std::vector<machine::Replay::AgentPlace> places;
    std::map<std::int32_t, const ir::Operation*> operations;
};

} // namespace pallascope::app
