// One operand of a running pipeline: which block it needs when, its slot counters, and the region
// of its array that a block covers. Plain values, so that the state of a run can be copied.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/pipeline_facts.h"
#include "core/ir/program.h"
#include "core/machine/memory.h"
#include "core/machine/needed.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::machine {

// An index map without refs as straight integer code: evaluated once per step ahead of its use.
class BlockMap
{
public:
    BlockMap(const ir::Program& program, const ir::Operation& pipeline, std::size_t operand);

    // Row-major block number at a grid point; -1 when an index leaves the array.
    [[nodiscard]] std::int64_t block(const std::vector<std::int64_t>& gridPoint);

private:
    struct Source // a result or operand: argument, literal or earlier operation
    {
        enum class Kind : std::uint8_t
        {
            Argument,
            Literal,
            Operation
        } kind = Kind::Literal;
        std::int64_t value = 0;
    };

    struct Step
    {
        const ir::Operation* operation = nullptr;
        std::vector<Source> operands;
    };

    [[nodiscard]] std::int64_t read(const Source& source,
                                    const std::vector<std::int64_t>& gridPoint) const;

    std::vector<Step> m_steps;
    std::vector<Source> m_results;
    std::vector<Extent> m_counts;
    std::vector<std::int64_t> m_values; // of the steps
};

struct PipelineOperand
{
    ir::OperandFacts facts;
    const ir::BlockSpec* spec = nullptr;
    std::int32_t traceOperand = 0;
    std::int32_t link = 0;
    std::int32_t arrayBuffer = 0; // engine buffer of the HBM array
    std::int32_t firstSlot = 0;   // engine buffer of slot 0
    ir::ValueId blockRef;
    bool contents = false;    // data moves too
    Shape array, blockShape;  // block without squeezed axes
    std::vector<Extent> tile; // of the array, per axis
    DType dtype = DType::F32;
    std::optional<Bytes> everyCopy; // bytes of any block, where they do not differ

    // Cumulative counters; the physical slot is counter mod slots.
    std::int64_t copyIn = 0, waitIn = 0, copyOut = 0, waitOut = 0;
    std::vector<std::int32_t> inCopyOfSlot, outCopyOfSlot; // rows of trace::Copies
    std::vector<std::int32_t> lastVisitOfBlock; // step row of the last visit's end, outputs only

    // The part of the array that a block covers, without what overhangs.
    [[nodiscard]] Box box(std::int64_t block) const;
    // Bytes that its copy moves: the last block of an axis is cut to a whole number of tiles.
    [[nodiscard]] Bytes copyBytes(std::int64_t block) const;
    [[nodiscard]] std::string blockName(std::int64_t block) const;
};

// The error: an overhanging block that is no multiple of the tile, or more blocks than the model
// keeps.
[[nodiscard]] Result<PipelineOperand> makeOperand(const ir::Program& program,
                                                  const ir::Operation& pipeline,
                                                  std::size_t operand, const chip::Chip& chip);

} // namespace pallascope::machine
