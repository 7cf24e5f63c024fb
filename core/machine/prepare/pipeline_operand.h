// One operand of a running pipeline: which block it needs at which step, its slot counters, and the
// part of the array that a block covers. Its state consists of plain values, so that the state of a
// run can be copied.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/pipeline_facts.h"
#include "core/ir/program.h"
#include "core/machine/memory/memory.h"
#include "core/machine/memory/refs.h"
#include "core/machine/prepare/index_lists.h"
#include "core/trace/row.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pallascope::machine {

// Performs a `get` of an index map. `indices` are the values of the get's operands after the ref.
using IndexLoader =
    std::function<RuntimeValue(const ir::Operation& get, std::span<const std::int64_t> indices)>;

// Returns a value that is defined outside of the pipeline.
using ValueAround = std::function<const RuntimeValue&(ir::ValueId)>;

// When something may write to a ref, apart from copies that are under way when the pipeline begins.
enum class Writes : std::uint8_t
{
    Never,
    Before, // before or after the pipeline, but not during it
    During
};

using WritesTo = std::function<Writes(ir::ValueId ref)>;

// An index map, compiled to straight-line integer code. That of an Indirect block also computes
// with arrays.
class BlockMap
{
public:
    BlockMap(const ir::Program& program, const ir::Operation& pipeline, std::size_t operand,
             const ir::OperandFacts& facts, const WritesTo& writesTo);

    // Space for what a look-up computes on the way. Any map may use it.
    struct Scratch
    {
        std::vector<std::int64_t> values;   // of the map's operations
        std::vector<RuntimeValue> operands; // of one operation
    };

    // The row-major block number at a grid point. -1 if no element of the block lies in the array,
    // or if its list would exceed the limit on lists.
    [[nodiscard]] std::int64_t block(std::span<const std::int64_t> gridPoint,
                                     const IndexLoader& load, const ValueAround& around,
                                     Scratch& scratch) const;

    // For an Indirect block: gives this run empty lists. Each run has a plan of its own for that.
    void beginLists() { m_lists = std::make_shared<IndexLists>(); }

    // The lists that block() has come across.
    [[nodiscard]] const IndexLists& lists() const { return *m_lists; }

    [[nodiscard]] bool isOverfull() const { return m_overfull; }

    // Whether every block index is a grid index or a constant, as in most maps. Then plainBlock()
    // may be used.
    [[nodiscard]] bool isPlain() const { return m_plain; }

    [[nodiscard]] std::int64_t plainBlock(std::span<const std::int64_t> gridPoint) const
    {
        std::int64_t block = 0;
        for (std::size_t axis = 0; axis < m_results.size(); ++axis) {
            const Source& source = m_results[axis];
            const std::int64_t index = source.kind == Source::Kind::Argument
                                           ? gridPoint[static_cast<std::size_t>(source.value)]
                                           : source.value;
            if (index < 0 || index >= m_counts[axis]) {
                return -1;
            }
            block = block * m_counts[axis] + index;
        }
        return block;
    }

    // Of a plain map in a grid whose first point is `offset` (empty: zeros): every how many steps
    // it needs another block than the step before, also around the end of the grid; 0: never.
    // Nothing if some block lies outside of the array.
    [[nodiscard]] std::optional<std::int64_t>
    changesEvery(std::span<const Extent> grid, std::span<const std::int64_t> offset) const;

    // What the map returned for the last block() or plainBlock() at this grid point with this
    // scratch.
    [[nodiscard]] std::vector<std::int64_t> yielded(std::span<const std::int64_t> gridPoint,
                                                    const ValueAround& around,
                                                    const Scratch& scratch) const;

    // Whether it loads from memory that is written while the pipeline runs, so that its results may
    // change.
    [[nodiscard]] bool isLive() const { return m_live; }

    // The memory it loads from that was written before the pipeline. Its results stay valid unless
    // a copy to that memory is under way.
    [[nodiscard]] const std::vector<ir::ValueId>& filled() const { return m_filled; }

private:
    struct Source // where a result or operand comes from
    {
        enum class Kind : std::uint8_t
        {
            Argument,
            Literal,
            Operation,
            Around
        } kind = Kind::Literal;
        std::int64_t value = 0;
    };

    struct Step
    {
        const ir::Operation* operation = nullptr;
        std::vector<Source> operands;
        std::vector<DType> dtypes; // for each operand
    };

    [[nodiscard]] std::int64_t read(const Source& source, std::span<const std::int64_t> gridPoint,
                                    const ValueAround& around, const Scratch& scratch) const;
    [[nodiscard]] RuntimeValue readArray(const Source& source, DType dtype,
                                         std::span<const std::int64_t> gridPoint,
                                         const ValueAround& around, const Scratch& scratch) const;
    [[nodiscard]] std::optional<Extent>
    positionOfList(const Source& source, const ValueAround& around, const Scratch& scratch) const;
    void compute(std::span<const std::int64_t> gridPoint, const IndexLoader& load,
                 const ValueAround& around, Scratch& scratch) const;

    std::vector<Step> m_steps;
    std::vector<Source> m_results;
    std::vector<ir::BlockDim> m_dims;
    std::vector<Extent> m_counts;
    Shape m_array;
    std::size_t m_mostOperands = 0; // of one step
    bool m_live = false, m_plain = false, m_indirect = false;
    std::vector<ir::ValueId> m_filled;
    // For Indirect blocks only:
    mutable std::vector<RuntimeValue> m_arrays; // for each step
    std::shared_ptr<IndexLists> m_lists;
    mutable bool m_overfull = false;
};

// What stays the same in every run of the pipeline, except for the lists of an Indirect block.
struct OperandPlan
{
    OperandPlan(const ir::Program& program, const ir::Operation& pipeline, std::size_t operand,
                const WritesTo& writesTo)
        : facts(ir::operandFacts(program, pipeline, operand))
        , map(program, pipeline, operand, facts, writesTo)
    {}

    ir::OperandFacts facts;
    const ir::BlockSpec* spec = nullptr;
    std::int32_t linkIn = 0, linkOut = 0; // links of the chip for copies in and out
    ir::ValueId blockRef;
    Shape array, blockShape;  // the block has no squeezed axes
    std::vector<Extent> tile; // of the array, for each axis
    DType dtype = DType::F32;
    bool exactSlices = false; // a slice inside of the array is copied exactly, not in whole tiles
    std::optional<Bytes> everyCopy; // of any block, if all have the same size
    std::int64_t blocks = 0;        // of an output: number of blocks in the array
    bool tiles = false; // whether blocks do not overlap: all axes are Blocked or Squeezed
    BlockMap map;

    // The part of the array that a block covers, without its overhang, and where that part lies in
    // the block. It refers to the list of an Indirect block.
    [[nodiscard]] Box box(std::int64_t block) const;
    // The same part as elements of the array or, in the second form, of the memory of which the
    // array is a view.
    [[nodiscard]] Reach reach(std::int64_t block) const;
    [[nodiscard]] Reach reach(std::int64_t block, const RefBinding& located,
                              const Shape& memory) const;
    // The elements of an Indirect block; empty for other blocks.
    [[nodiscard]] std::span<const std::int32_t> indices(std::int64_t block) const;
    // The bytes that its copy moves. The last block along an axis is cut to a whole number of
    // tiles, and an axis of which the block is all is moved with the padding of its tiles.
    [[nodiscard]] Bytes copyBytes(std::int64_t block) const;
    [[nodiscard]] std::string blockName(std::int64_t block) const;
};

// It is an error if an overhanging block is not a multiple of the tile, or if there are more blocks
// than the model can track.
[[nodiscard]] Result<std::shared_ptr<const OperandPlan>>
planOperand(const ir::Program& program, const ir::Operation& pipeline, std::size_t operand,
            const chip::Chip& chip, const WritesTo& writesTo);

// The last copy of a slot, if there was one.
struct SlotCopy
{
    trace::OptionalRow<trace::CopyRow> row;
    Picoseconds end;
    std::int64_t block = 0;
};

struct PipelineOperand
{
    const OperandPlan* plan = nullptr;
    std::int32_t traceOperand = 0;
    RefBinding array;
    std::int32_t firstSlot = 0; // the engine's buffer that is slot 0
    bool contents = false;      // whether data moves too, not only time
    bool isLive = false;        // whether the results of its index map may change

    // Cumulative counters; the physical slot is the counter mod the number of slots.
    std::int64_t copyIn = 0, waitIn = 0, copyOut = 0, waitOut = 0;
    std::int64_t nextFetch = 0; // the step up to which lookahead has looked
    std::vector<SlotCopy> inCopyOfSlot, outCopyOfSlot;
    // Outputs only: row of the step at which the block's last visit ended.
    std::vector<std::int32_t> lastVisitOfBlock;

    // The slot that a cumulative counter means.
    [[nodiscard]] std::int32_t slotOf(std::int64_t counter) const
    {
        const std::int32_t slots = plan->facts.slots;
        // Usually it is, and then no division is needed.
        const bool even = (slots & (slots - 1)) == 0;
        return static_cast<std::int32_t>(even ? counter & (slots - 1) : counter % slots);
    }
};

} // namespace pallascope::machine
