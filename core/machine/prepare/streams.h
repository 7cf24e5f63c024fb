// What fusions copy from HBM and to it while they work. Where the rules are from: docs/xla.md.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/machine/prepare/plan.h"

#include <map>
#include <span>
#include <vector>

namespace pallascope::machine {

class Streams
{
public:
    // `uses`: of each value in the whole program, by ValueId.
    Streams(const ir::Program& program, const chip::Chip& chip,
            const std::vector<std::int32_t>& uses);

    // Of a stretch of a fusion's operations, in their order; `parts` are its shares.
    [[nodiscard]] std::vector<PlanStream> of(std::span<const ir::Operation* const> stretch,
                                             const std::map<std::int32_t, double>& parts) const;

    // Whether a fusion's region copies anything.
    [[nodiscard]] bool copies(const ir::Region& region) const;

    // Of loads that only slices and gathers use, the share of the array that these take, by
    // operation.
    [[nodiscard]] std::map<std::int32_t, double>
    shares(std::span<const ir::Operation* const> stretch) const;

private:
    [[nodiscard]] bool isCopied(const ir::Operation& operation) const;
    [[nodiscard]] std::vector<Extent> tileOf(ir::ValueId value) const;
    [[nodiscard]] Bytes bytesOf(const ir::Type& type, ir::ValueId array) const;
    void findViews();

    const ir::Program& m_program;
    const std::vector<std::int64_t>& m_tile;
    // By ValueId: arrays that only fusions touch. XLA lays them out as pads least, since no kernel,
    // argument or result says how they lie.
    std::vector<bool> m_free;
    std::map<ir::ValueId, ir::ValueId> m_viewed; // by a view of all of it, the array
    std::vector<bool> m_kept;                    // by ValueId: those that stay in VMEM
    const std::vector<std::int32_t>& m_uses;
};

} // namespace pallascope::machine
