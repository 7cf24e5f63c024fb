// The parameters of the one structured operation, pipeline: its grid and the blocks of its
// operands.
#pragma once

#include "core/base/shape.h"
#include "core/ir/type.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::ir {

// What the value i of an index map means on one axis, and whether the ref has the axis.
enum class BlockKind : std::uint8_t
{
    Blocked,      // block number: [i * size, i * size + size)
    Squeezed,     // element i alone; the ref does not have the axis
    Element,      // element i of the padded array is the first: [i - low, i - low + size)
    BoundedSlice, // the map returns start and extent, at most size: [start, start + extent)
    Indirect      // the map returns an array of at most `size` element numbers, in any order
};

// How one axis of an operand is cut into blocks.
struct BlockDim
{
    BlockKind kind = BlockKind::Blocked;
    Extent size = 1;
    Extent padLow = 0, padHigh = 0; // Element only: virtual, undefined elements around the axis
    bool operator==(const BlockDim&) const = default;
};

enum class BlockDirection : std::uint8_t
{
    In,
    Out,
    InOut
};

// The block spec of one pipeline operand. Its index map is the operation's region 1 + operand
// number: one int32 argument per grid axis, one int32 result per array axis (a BoundedSlice: two;
// an Indirect: one of shape (size), or shorter: the rest of the block is not copied). A block ref
// in the array's own memory is unbuffered: the body sees the array, nothing is copied.
struct BlockSpec
{
    std::string name;
    std::vector<BlockDim> block;
    BlockDirection direction = BlockDirection::In;
    std::int32_t inBuffers = 2;  // used by In and InOut
    std::int32_t outBuffers = 2; // used by Out and InOut
    bool lookahead = false;      // In and InOut: fetches the next changed block as soon as it can
    std::int32_t prefetched = 0; // slots that the caller filled before the pipeline
    bool restores = false;       // RevisitMode.ANY: an output block is read back when it is entered
    LocationId location;
    bool operator==(const BlockSpec&) const = default;
};

enum class PipelineOrigin : std::uint8_t
{
    EmitPipeline,
    PallasCall
};

// An axis of a grid whose extent is an operand of the operation, as pipelines with dynamic bounds.
inline constexpr Extent kDynamicExtent = -1;

// The structured software pipeline. Operands: one array ref per block spec, then one int32 scalar
// per dynamic grid extent. Region 0: the body, whose arguments are one block ref per spec and then
// one ref per scratch; regions 1...: the index maps, which may load from SMEM refs.
struct PipelineParams
{
    std::vector<Extent> grid;           // empty: one step; kDynamicExtent: an operand
    std::vector<std::string> axisNames; // for people; one per grid axis
    std::vector<BlockSpec> specs;       // inputs first, then outputs
    std::vector<std::string> scratchNames;
    std::string schedule = "0.12"; // the JAX version whose rules it follows
    PipelineOrigin origin = PipelineOrigin::EmitPipeline;
    bool noPipelining =
        false;            // every copy of every step by itself, whether or not the block changes
    std::string coreAxis; // of a core_map around it, whose cores share the grid
    std::vector<std::string> blockAxes; // of its grid, whose blocks share it too, outermost first
    std::vector<std::int32_t> parallel; // grid axes with PARALLEL semantics, rising
    bool operator==(const PipelineParams&) const = default;
};

} // namespace pallascope::ir
