// One operand of a running pipeline: which block it needs when, its slot counters, and the region
// of its array that a block covers. Plain values, so that the state of a run can be copied.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/pipeline_facts.h"
#include "core/ir/program.h"
#include "core/machine/memory/memory.h"
#include "core/machine/memory/refs.h"
#include "core/machine/prepare/index_lists.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pallascope::machine {

// Gives what a `get` of an index map loads; `indices` are the values of its operands.
using IndexLoader =
    std::function<RuntimeValue(const ir::Operation& get, std::span<const std::int64_t> indices)>;

// Gives a value from around the pipeline.
using ValueAround = std::function<const RuntimeValue&(ir::ValueId)>;

// What writes to what a ref names, beside copies that are on their way when the pipeline begins.
enum class Writes : std::uint8_t
{
    Never,
    Before, // and after the pipeline
    During
};

using WritesTo = std::function<Writes(ir::ValueId ref)>;

// An index map as straight integer code; that of an Indirect block computes with arrays too.
class BlockMap
{
public:
    BlockMap(const ir::Program& program, const ir::Operation& pipeline, std::size_t operand,
             const ir::OperandFacts& facts, const WritesTo& writesTo);

    // Room for what a look-up computes on its way: any map may use it.
    struct Scratch
    {
        std::vector<std::int64_t> values;   // of the operations
        std::vector<RuntimeValue> operands; // of one of them
    };

    // Row-major block number at a grid point; -1 when no element of the block lies in the array, or
    // its list of elements is one too many.
    [[nodiscard]] std::int64_t block(std::span<const std::int64_t> gridPoint,
                                     const IndexLoader& load, const ValueAround& around,
                                     Scratch& scratch) const;

    // Of an Indirect block: a run has lists of its own, in a plan of its own.
    void beginLists() { m_lists = std::make_shared<IndexLists>(); }

    // Those that block() came across.
    [[nodiscard]] const IndexLists& lists() const { return *m_lists; }

    [[nodiscard]] bool isOverfull() const { return m_overfull; }

    // Every block index is a grid index or a constant, as in most maps: block() by itself.
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

    // What it yielded for the last block() or plainBlock(), of that grid point and with that room.
    [[nodiscard]] std::vector<std::int64_t> yielded(std::span<const std::int64_t> gridPoint,
                                                    const ValueAround& around,
                                                    const Scratch& scratch) const;

    // Loads from memory that something writes meanwhile: its results do not last.
    [[nodiscard]] bool isLive() const { return m_live; }

    // What it loads from that was written before: its results last unless a copy is on its way.
    [[nodiscard]] const std::vector<ir::ValueId>& filled() const { return m_filled; }

private:
    struct Source // a result or operand: argument, literal, earlier operation or value from around
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
        std::vector<DType> dtypes; // of the operands
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
    std::size_t m_mostOperands = 0; // of a step
    bool m_live = false, m_plain = false, m_indirect = false;
    std::vector<ir::ValueId> m_filled;
    // Of an Indirect block:
    mutable std::vector<RuntimeValue> m_arrays; // of the steps
    std::shared_ptr<IndexLists> m_lists;
    mutable bool m_overfull = false;
};

// What no run of the pipeline changes, but for the lists of an Indirect block.
struct OperandPlan
{
    OperandPlan(const ir::Program& program, const ir::Operation& pipeline, std::size_t operand,
                const WritesTo& writesTo)
        : facts(ir::operandFacts(program, pipeline, operand))
        , map(program, pipeline, operand, facts, writesTo)
    {}

    ir::OperandFacts facts;
    const ir::BlockSpec* spec = nullptr;
    std::int32_t linkIn = 0, linkOut = 0; // of the chip, for blocks on their way in and out
    ir::ValueId blockRef;
    Shape array, blockShape;  // block without squeezed axes
    std::vector<Extent> tile; // of the array, per axis
    DType dtype = DType::F32;
    bool exactSlices = false; // a slice inside the array is copied as asked, not in whole tiles
    std::optional<Bytes> everyCopy; // bytes of any block, where they do not differ
    std::int64_t blocks = 0;        // of an output: how many the array has
    bool tiles = false;             // blocks do not overlap: Blocked and Squeezed axes alone
    BlockMap map;

    // The part of the array that a block covers, without what overhangs, and where it lies in the
    // block. It refers to the list of an Indirect block.
    [[nodiscard]] Box box(std::int64_t block) const;
    // That part, of the array or, where it is `located`, of the memory that the array is a view of.
    [[nodiscard]] Reach reach(std::int64_t block) const;
    [[nodiscard]] Reach reach(std::int64_t block, const RefBinding& located,
                              const Shape& memory) const;
    // Elements of an Indirect block; of others none.
    [[nodiscard]] std::span<const std::int32_t> indices(std::int64_t block) const;
    // Bytes that its copy moves: the last block of an axis is cut to a whole number of tiles.
    [[nodiscard]] Bytes copyBytes(std::int64_t block) const;
    [[nodiscard]] std::string blockName(std::int64_t block) const;
};

// The error: an overhanging block that is no multiple of the tile, or more blocks than the model
// keeps track of.
[[nodiscard]] Result<std::shared_ptr<const OperandPlan>>
planOperand(const ir::Program& program, const ir::Operation& pipeline, std::size_t operand,
            const chip::Chip& chip, const WritesTo& writesTo);

// The last copy of a slot: row of trace::Copies, -1: none.
struct SlotCopy
{
    std::int32_t row = -1;
    Picoseconds end;
    std::int64_t block = 0;
};

struct PipelineOperand
{
    const OperandPlan* plan = nullptr;
    std::int32_t traceOperand = 0;
    RefBinding array;
    std::int32_t firstSlot = 0; // engine buffer of slot 0
    bool contents = false;      // data moves too
    bool isLive = false;        // the results of its map do not last

    // Cumulative counters; the physical slot is counter mod slots.
    std::int64_t copyIn = 0, waitIn = 0, copyOut = 0, waitOut = 0;
    std::int64_t nextFetch = 0; // step up to which lookahead has looked
    std::vector<SlotCopy> inCopyOfSlot, outCopyOfSlot;
    std::vector<std::int32_t> lastVisitOfBlock; // step row of the last visit's end, outputs only

    // Of a cumulative counter.
    [[nodiscard]] std::int32_t slotOf(std::int64_t counter) const
    {
        const std::int32_t slots = plan->facts.slots;
        const bool even = (slots & (slots - 1)) == 0; // a power of two, mostly: no division
        return static_cast<std::int32_t>(even ? counter & (slots - 1) : counter % slots);
    }
};

} // namespace pallascope::machine
