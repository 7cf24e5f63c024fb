// The parameters of `pipeline`, the one structured operation: its grid, and how each operand is cut
// into blocks.
#pragma once

#include "core/base/shape.h"
#include "core/ir/type.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::ir {

// What the number i that an index map returns for an axis means, and whether the block's ref has
// the axis.
enum class BlockKind : std::uint8_t
{
    Blocked,      // i is a block number: [i * size, i * size + size)
    Squeezed,     // element i alone; the ref lacks the axis
    Element,      // i is the first element in the padded array: [i - low, i - low + size)
    BoundedSlice, // the map returns a start and an extent of at most size: [start, start + extent)
    Indirect      // the map returns an array of at most `size` element numbers in any order
};

// How one axis of an operand is cut into blocks.
struct BlockDim
{
    BlockKind kind = BlockKind::Blocked;
    Extent size = 1;
    Extent padLow = 0, padHigh = 0; // Element only: undefined elements around the axis
    bool operator==(const BlockDim&) const = default;
};

enum class BlockDirection : std::uint8_t
{
    In,
    Out,
    InOut
};

// The block spec of one operand of a pipeline. The index map of operand n is region 1 + n of the
// operation. It takes one int32 for each grid axis and returns one int32 for each array axis; two
// for a BoundedSlice; for an Indirect axis an array of shape (size), or a shorter one, and the rest
// of the block is then not copied. If the block's ref lies in the same memory as the array, the
// operand is unbuffered: the body sees the array itself and nothing is copied.
struct BlockSpec
{
    std::string name;
    std::vector<BlockDim> block;
    BlockDirection direction = BlockDirection::In;
    std::int32_t inBuffers = 2;  // used by In and InOut
    std::int32_t outBuffers = 2; // used by Out and InOut
    // In and InOut: fetches the next block that differs as soon as a slot is free.
    bool lookahead = false;
    std::int32_t prefetched = 0; // slots that the caller has filled before the pipeline begins
    // RevisitMode.ANY: an output block is read back when the pipeline enters it.
    bool restores = false;
    LocationId location;
    bool operator==(const BlockSpec&) const = default;
};

enum class PipelineOrigin : std::uint8_t
{
    EmitPipeline,
    PallasCall
};

// As the extent of a grid axis: an operand of the operation holds the extent (a dynamic bound).
inline constexpr Extent kDynamicExtent = -1;

// The structured software pipeline. Operands: one array ref for each block spec, then one int32
// scalar for each dynamic grid extent. Region 0 is the body; its arguments are one block ref for
// each spec, then one ref for each scratch. The other regions are the index maps, which may load
// from SMEM refs.
struct PipelineParams
{
    std::vector<Extent> grid;           // empty: one step; kDynamicExtent: see there
    std::vector<std::string> axisNames; // one for each grid axis, for display
    std::vector<BlockSpec> specs;       // inputs first, then outputs
    std::vector<std::string> scratchNames;
    std::string schedule = "0.12"; // the JAX version whose rules it follows
    PipelineOrigin origin = PipelineOrigin::EmitPipeline;
    // Every step makes all of its copies, even of a block that stays the same.
    bool noPipelining = false;
    std::string coreAxis; // the axis of an enclosing core_map whose cores share the grid
    // The axes of that core_map's grid whose blocks share the pipeline's grid too, outermost first.
    std::vector<std::string> blockAxes;
    std::vector<std::int32_t> parallel; // grid axes with PARALLEL semantics, in ascending order
    bool operator==(const PipelineParams&) const = default;
};

} // namespace pallascope::ir
