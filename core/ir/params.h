// The parameters of operations, one struct for each kind, by the names of the jaxpr.
#pragma once

#include "core/base/dtype.h"
#include "core/base/shape.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::ir {

// One axis of a get, a swap or a ref_at: an integer (the axis is dropped) or a slice
// start:start+size*stride:stride. A dynamic start is the operation's operand number `operand`; a
// static one is `start`. Of a ref_at the size may be dynamic too: operand number `sizeOperand`, at
// most `size`.
struct IndexEntry
{
    bool isSlice = true;
    std::int64_t start = 0;
    std::int32_t operand = -1;
    Extent size = 1;
    std::int64_t stride = 1;
    std::int32_t sizeOperand = -1;
    bool operator==(const IndexEntry&) const = default;
};

struct IndexerParams
{
    std::vector<IndexEntry> entries; // one per axis of the ref
    bool operator==(const IndexerParams&) const = default;
};

enum class DotPrecision : std::uint8_t
{
    Default,
    High,
    Highest
};

// dot_general's dimension_numbers; the result is batch..., lhs free..., rhs free... in dtype.
struct DotParams
{
    std::vector<std::int32_t> lhsContracting, rhsContracting, lhsBatch, rhsBatch;
    DType dtype = DType::F32;
    DotPrecision precision = DotPrecision::Default;
    bool operator==(const DotParams&) const = default;
};

struct AxesParams // reductions, squeeze, rev
{
    std::vector<std::int32_t> axes;
    bool operator==(const AxesParams&) const = default;
};

struct BroadcastParams // broadcast_in_dim
{
    Shape shape;
    std::vector<std::int32_t> dimensions; // result axis of each operand axis
    bool operator==(const BroadcastParams&) const = default;
};

struct ShapeParams // reshape, ref_reshape, iota_2x32_shape, prng_random_bits
{
    Shape shape;
    bool operator==(const ShapeParams&) const = default;
};

struct PermutationParams // transpose, ref_transpose
{
    std::vector<std::int32_t> permutation;
    bool operator==(const PermutationParams&) const = default;
};

struct IotaParams
{
    DType dtype = DType::Int32;
    Shape shape;
    std::int32_t dimension = 0;
    bool operator==(const IotaParams&) const = default;
};

struct DTypeParams // convert_element_type, bitcasts, stochastic_round, pack_elementwise
{
    DType dtype = DType::F32;
    bool operator==(const DTypeParams&) const = default;
};

struct AxisParams // program_id, num_programs, concatenate, stack, unstack
{
    std::int32_t axis = 0;
    bool operator==(const AxisParams&) const = default;
};

enum class RoundingMethod : std::uint8_t
{
    AwayFromZero, // ties
    ToNearestEven
};

struct RoundParams
{
    RoundingMethod method = RoundingMethod::AwayFromZero;
    bool operator==(const RoundParams&) const = default;
};

struct IntegerPowParams
{
    std::int32_t exponent = 2;
    bool operator==(const IntegerPowParams&) const = default;
};

struct ReciprocalParams
{
    bool approx = false;
    bool operator==(const ReciprocalParams&) const = default;
};

struct ArgParams // argmax, argmin
{
    std::int32_t axis = 0;
    DType dtype = DType::Int32; // of the index
    bool operator==(const ArgParams&) const = default;
};

struct SplitParams
{
    std::vector<Extent> sizes; // one per result; together the axis
    std::int32_t axis = 0;
    bool operator==(const SplitParams&) const = default;
};

struct SliceParams // one entry per axis each
{
    std::vector<Extent> start, limit;
    std::vector<Extent> strides; // empty: all 1
    bool operator==(const SliceParams&) const = default;
};

struct PadParams // one entry per axis each; a negative low or high cuts off
{
    std::vector<Extent> low, high, interior;
    bool operator==(const PadParams&) const = default;
};

struct TileParams
{
    std::vector<Extent> repetitions; // one per axis
    bool operator==(const TileParams&) const = default;
};

// result[(i + shift) mod n] = operand[i] along `axis`; with a stride, row r of `strideAxis` is
// shifted by shift + r * stride.
struct RollParams
{
    std::int32_t axis = 0;
    std::int32_t stride = 0;
    std::int32_t strideAxis = -1; // -1: no stride
    bool operator==(const RollParams&) const = default;
};

enum class GatherMode : std::uint8_t
{
    FillOrDrop,      // outside: NaN, the smallest integer (the largest of an unsigned type), true
    PromiseInBounds, // outside: nothing is promised; clamped here
    Clip             // outside: the nearest element
};

// gather in the form of take_along_axis: result[..., i, ...] = operand[..., indices[..., i, ...,
// 0],
// ...] along `axis`, every other axis going along.
struct GatherParams
{
    std::int32_t axis = 0;
    GatherMode mode = GatherMode::FillOrDrop;
    bool operator==(const GatherParams&) const = default;
};

enum class Combine : std::uint8_t // of an element with what is scattered on it
{
    Replace,
    Add,
    Mul,
    Min,
    Max
};

// scatter in the form of put_along_axis: result = operand, and then for every i, in order,
// result[..., indices[..., i, ..., 0], ...] is combined with updates[..., i, ...] along `axis`.
struct ScatterParams
{
    std::int32_t axis = 0;
    Combine combine = Combine::Replace;
    GatherMode mode = GatherMode::FillOrDrop; // of an index outside: dropped but by Clip
    bool operator==(const ScatterParams&) const = default;
};

struct CumulativeParams // cumsum and the like
{
    std::int32_t axis = 0;
    bool reverse = false;
    bool operator==(const CumulativeParams&) const = default;
};

struct SizesParams // dynamic_slice: of the result
{
    std::vector<Extent> sizes;
    bool operator==(const SizesParams&) const = default;
};

struct SortParams
{
    std::int32_t axis = 0;
    std::int32_t keys = 1; // operands by which it is sorted, the first before the others
    bool operator==(const SortParams&) const = default;
};

struct UnpackParams // unpack_elementwise: element `index`, from the low bits, of each
{
    std::int32_t index = 0;
    DType packed = DType::BF16;
    DType unpacked = DType::F32;
    bool operator==(const UnpackParams&) const = default;
};

struct MultipleOfParams
{
    std::int64_t multiple = 1;
    bool operator==(const MultipleOfParams&) const = default;
};

struct TextParams // debug_print: its format; debug_check: what is wrong; axis_index: the axis of
                  // cores or devices
{
    std::string text;
    bool operator==(const TextParams&) const = default;
};

struct KernelParams
{
    std::string name;
    bool operator==(const KernelParams&) const = default;
};

struct FusionParams
{
    std::string name;
    bool launches = true; // false: a part of something that is under way, such as a collective
    bool operator==(const FusionParams&) const = default;
};

// Of a copy that a list of numbers goes with: at which end they choose rows of the first axis.
enum class CopyRows : std::uint8_t
{
    All,    // there is no list
    Source, // it gathers
    Target  // it scatters, in order
};

// dma_start: source, target, semaphore; then the source's semaphore, the target's device and a list
// of rows (int32, a value or a ref), where it has them.
struct DmaParams
{
    bool sourceSemaphore = false;
    bool device = false;
    CopyRows rows = CopyRows::All;
    std::int64_t ignored = -1; // of a list: what stands for no row
    bool add = false;          // to what is there, element by element
    std::int32_t priority = 0;
    bool operator==(const DmaParams&) const = default;
};

// semaphore_signal: semaphore, amount; then device and core of the semaphore, where it has them.
struct SignalParams
{
    bool device = false;
    bool core = false;
    bool operator==(const SignalParams&) const = default;
};

struct SemaphoreWaitParams
{
    bool decrement = true;
    bool operator==(const SemaphoreWaitParams&) const = default;
};

struct MatrixUnitParams // matmul_acc_lhs, matmul_lhs_fifo: the instance of the matrix unit
{
    std::int32_t mxu = 0;
    bool operator==(const MatrixUnitParams&) const = default;
};

struct BarrierParams
{
    std::int32_t collectiveId = 0;
    bool operator==(const BarrierParams&) const = default;
};

// One axis of a mesh: of the devices that a program runs on (then a ring), or of the blocks of a
// core_map.
struct MeshAxis
{
    std::string name;
    std::int32_t size = 1;
    bool operator==(const MeshAxis&) const = default;
};

// core_map: its region runs on every core of a mesh at once. With a grid it does so once for each
// of its blocks, of which the chip holds as many at a time as its agents have slots.
struct CoreMapParams
{
    std::string axis = "core";
    std::int32_t cores = 1;
    std::vector<MeshAxis> grid; // blocks are numbered row-major
    std::string agents;         // the kind of the chip's agents that it runs on; empty: the first
    bool operator==(const CoreMapParams&) const = default;
};

struct ScanParams // a counted loop: the body's first argument is the counter, 0 to length - 1
{
    std::int64_t length = 0;
    std::int64_t unroll = 1; // rounds that are written out one after the other
    bool operator==(const ScanParams&) const = default;
};

} // namespace pallascope::ir
