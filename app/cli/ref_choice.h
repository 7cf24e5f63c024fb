// Which ref, and which of its elements, `state` looks at; and the picture of its values.
#pragma once

#include "app/cli/commands.h"
#include "core/machine/replay.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::app {

struct RefChoice
{
    std::string name;
    std::optional<std::vector<std::int64_t>> element; // its index
};

// Reads "out" or "out[3,5]" at the moment of the replay. A ref may itself have a name such as
// "args[5]", which goes first. The error says what is expected.
[[nodiscard]] Result<RefChoice> chooseRef(const machine::Replay& replay, const std::string& text);

struct FoundRef
{
    std::size_t agent = 0; // an index into Replay::places()
    ir::ValueId id;
};

// The refs of this name at the moment of the replay, those of the innermost region last, in the
// memory called `space` and of the agent called `agent`. What is empty may be any.
[[nodiscard]] std::vector<FoundRef> findRefs(const machine::Replay& replay, const std::string& name,
                                             const std::string& space, const std::string& agent);

// The error where none is found. It says what there is in that memory of that agent instead.
[[nodiscard]] Error noSuchRef(const machine::Replay& replay, const std::string& name,
                              const std::string& space, const std::string& agent);

// An error if the element does not exist.
[[nodiscard]] Status checkElement(const machine::Replay& replay, const FoundRef& ref,
                                  const RefChoice& choice);

// Writes the heat map of a ref.
[[nodiscard]] Status writeHeat(machine::Replay& replay, const FoundRef& ref,
                               const RefChoice& choice, const StateCommand& command);

} // namespace pallascope::app
