// A second implementation of the emit_pipeline schedules of JAX 0.9 to 0.12, written only from
// their description and without using core/machine. The machine's events are compared with it.
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
    // 0: it does not copy in that direction; both above 0: read and written.
    int inBuffers = 0, outBuffers = 0;
    bool trivial = false;
    bool lookahead = false;
    int prefetched = 0;         // slots that the caller has filled
    std::vector<Index> blockAt; // the block index at every step, in lexicographic order of the grid
    bool indirect = false;      // listed rows: the block changes at every step
};

// `phase` is the scope in JAX without its number. `step` is -1 in the prologue and the number of
// steps in the epilogue.
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

// `release` is the minor version of JAX: 9 to 12.
[[nodiscard]] std::vector<Event>
expectedEvents(std::int64_t steps, const std::vector<OracleOperand>& operands, int release = 12);

} // namespace pallascope::machine_test
