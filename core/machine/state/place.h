// Where accesses of a buffer lie, and whether two of them may meet.
#pragma once

#include "core/machine/memory/refs.h"
#include "core/machine/prepare/pipeline_operand.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace pallascope::machine {

// A part of a buffer, whose elements are worked out only if they may conflict. By default all of
// the buffer.
struct Place
{
    struct Located
    {
        RefBinding ref;
        Shape memory;                                // the shape of the whole buffer
        std::optional<std::vector<RefBinding>> rows; // if set: only these parts
    };

    std::shared_ptr<const Located> located;
    // If set: only its block number `block`, in what is located.
    const OperandPlan* operand = nullptr;
    std::int64_t block = 0;
    mutable std::shared_ptr<const Reach> reach; // set once it has been worked out
};

// The elements of a place, worked out when it is first asked for.
[[nodiscard]] const Reach& reachOf(const Place& place);

// Where elements begin and end on the first axis.
[[nodiscard]] std::int64_t startOf(const Reach& reach);
[[nodiscard]] std::int64_t stopOf(const Reach& reach);

// Whether it is the whole buffer.
[[nodiscard]] bool isAll(const Place& place);

// Whether two places in one buffer may have elements in common.
[[nodiscard]] bool mayMeet(const Place& a, const Place& b);

} // namespace pallascope::machine
