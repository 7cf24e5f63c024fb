// The emit_pipeline schedules of JAX 0.9 to 0.12 once more, written from its description alone and
// sharing nothing with core/machine: what the machine's events are held against.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace pallascope::machine_test {

using Index = std::vector<std::int64_t>;

struct OracleOperand
{
    std::string name;
    int inBuffers = 0, outBuffers = 0; // 0: does not copy that way; both: in-out
    bool trivial = false;
    bool lookahead = false;
    int prefetched = 0;         // slots that the caller filled
    std::vector<Index> blockAt; // block index at every step, in lexicographic order of the grid
    bool indirect = false;      // made of listed rows: another block at every step
};

// `phase` is the JAX scope without its number; `step` is -1 in the prologue, the number of steps in
// the epilogue.
struct Event
{
    std::int64_t step = 0;
    std::string phase, event, operand;
    Index block;
    std::int64_t slot = 0;
    bool operator==(const Event&) const = default;
};

[[nodiscard]] std::string toString(const Event& event);
[[nodiscard]] std::string toString(const std::vector<Event>& events);

// `release` is the minor number: 9 to 12.
[[nodiscard]] std::vector<Event>
expectedEvents(std::int64_t steps, const std::vector<OracleOperand>& operands, int release = 12);

} // namespace pallascope::machine_test
