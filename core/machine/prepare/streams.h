// What fusions copy from and to HBM while they work. docs/xla.md gives the source of the rules.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/makers.h"
#include "core/ir/program.h"
#include "core/machine/prepare/plan.h"

#include <map>
#include <span>
#include <vector>

namespace pallascope::machine {

// By ValueId: arrays that only fusions use. XLA lays them out with the least padding, because no
// kernel, argument or result fixes their layout.
[[nodiscard]] std::vector<bool> arraysOfFusions(const ir::Program& program);

// The bytes that an array of this type, or a part of one, takes in HBM.
[[nodiscard]] Bytes bytesInHbm(const ir::Type& type, bool isOfFusions,
                               const std::vector<std::int64_t>& tile);

class Streams
{
public:
    // `uses` has the number of uses of each value in the whole program, by ValueId.
    Streams(const ir::Program& program, const chip::Chip& chip,
            const std::vector<std::int32_t>& uses);

    // The copies of a stretch of a fusion's operations, in their order. `parts` are its shares().
    [[nodiscard]] std::vector<PlanStream> of(std::span<const ir::Operation* const> stretch,
                                             const std::map<std::int32_t, double>& parts) const;

    // Whether anything is copied in a fusion's region.
    [[nodiscard]] bool copies(const ir::Region& region) const;

    // For loads that only slices and gathers use: the share of the array that these take, by
    // Operation::id.
    [[nodiscard]] std::map<std::int32_t, double>
    shares(std::span<const ir::Operation* const> stretch) const;

private:
    [[nodiscard]] bool isCopied(const ir::Operation& operation) const;
    [[nodiscard]] std::vector<Extent> tileOf(ir::ValueId value) const;
    [[nodiscard]] Bytes bytesOf(const ir::Type& type, ir::ValueId array) const;
    [[nodiscard]] double leastBytes(ir::ValueId ref) const;
    [[nodiscard]] double paddedBytes(ir::ValueId ref) const;

    const ir::Program& m_program;
    const std::vector<std::int64_t>& m_tile;
    ir::Makers m_makers;
    std::vector<bool> m_free; // arraysOfFusions()
    std::vector<bool> m_kept; // by ValueId: arrays that stay in VMEM
    const std::vector<std::int32_t>& m_uses;
};

} // namespace pallascope::machine
