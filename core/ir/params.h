// The parameters of operations, one struct for each kind. Fields are named as in the jaxpr, so that
// a captured kernel and one written with the builder carry the same ones.
#pragma once

#include "core/base/dtype.h"
#include "core/base/shape.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::ir {

// How get, swap or ref_at index one axis: by an integer (the result lacks the axis) or by a slice
// start:start+size*stride:stride. If `operand` is not -1, that operand of the operation holds the
// start, otherwise `start` does. In a ref_at the size may be dynamic too: operand number
// `sizeOperand` then holds it, and `size` is the largest value that it may have.
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

// dot_general's dimension_numbers. The axes of the result are batch..., lhs free..., rhs free...,
// and its elements are of `dtype`.
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
    std::vector<std::int32_t> dimensions; // the axis of the result for each axis of the operand
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
    // Of convert_element_type to floats of 8 bits: what is too large becomes the largest number.
    bool saturates = false;
    bool operator==(const DTypeParams&) const = default;
};

struct AxisParams // program_id, num_programs, concatenate, stack, unstack
{
    std::int32_t axis = 0;
    bool operator==(const AxisParams&) const = default;
};

enum class RoundingMethod : std::uint8_t
{
    AwayFromZero, // concerns ties
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
    DType dtype = DType::Int32; // of the index that it returns
    bool operator==(const ArgParams&) const = default;
};

struct SplitParams
{
    std::vector<Extent> sizes; // one for each result; their sum is the extent of the axis
    std::int32_t axis = 0;
    bool operator==(const SplitParams&) const = default;
};

struct SliceParams // start, limit and strides have one entry for each axis
{
    std::vector<Extent> start, limit;
    std::vector<Extent> strides; // empty: all 1
    bool operator==(const SliceParams&) const = default;
};

struct PadParams // one entry for each axis; a negative low or high removes elements
{
    std::vector<Extent> low, high, interior;
    bool operator==(const PadParams&) const = default;
};

struct TileParams
{
    std::vector<Extent> repetitions; // one for each axis
    bool operator==(const TileParams&) const = default;
};

// result[(i + shift) mod n] = operand[i] along `axis`. With a stride, row r of `strideAxis` is
// shifted by shift + r * stride.
struct RollParams
{
    std::int32_t axis = 0;
    std::int32_t stride = 0;
    std::int32_t strideAxis = -1; // -1: no stride
    bool operator==(const RollParams&) const = default;
};

// What a gather returns for an index outside of the array.
enum class GatherMode : std::uint8_t
{
    FillOrDrop,      // NaN, the smallest integer (the largest for unsigned types) or true
    PromiseInBounds, // JAX promises nothing; this machine takes the nearest element
    Clip             // the nearest element
};

// gather in the form of take_along_axis. Along `axis`, result[..., i, ...] = operand[...,
// indices[..., i, ..., 0], ...]; the indices of all other axes are equal on both sides.
struct GatherParams
{
    std::int32_t axis = 0;
    GatherMode mode = GatherMode::FillOrDrop;
    bool operator==(const GatherParams&) const = default;
};

enum class Combine : std::uint8_t // how an element and the update scattered to it are combined
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
    // Clip takes the nearest element; the other modes drop an update outside.
    GatherMode mode = GatherMode::FillOrDrop;
    bool operator==(const ScatterParams&) const = default;
};

struct CumulativeParams // cumsum and the like
{
    std::int32_t axis = 0;
    bool reverse = false;
    bool operator==(const CumulativeParams&) const = default;
};

struct SizesParams // dynamic_slice: the extents of the result
{
    std::vector<Extent> sizes;
    bool operator==(const SizesParams&) const = default;
};

struct SortParams
{
    std::int32_t axis = 0;
    std::int32_t keys = 1; // number of operands that are sort keys, the most significant first
    bool operator==(const SortParams&) const = default;
};

// unpack_elementwise: takes part `index` of each element, counted from the low bits.
struct UnpackParams
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

// debug_print: the format; debug_check: the message when the check fails; axis_index: the mesh axis
// (cores or devices).
struct TextParams
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
    // False: it is a part of something already under way, such as a collective.
    bool launches = true;
    bool operator==(const FusionParams&) const = default;
};

// Some copies carry a list of row numbers of the first axis. This says to which end it applies.
enum class CopyRows : std::uint8_t
{
    All,    // there is no list
    Source, // a gather: the list chooses rows of the source
    Target  // a scatter: the list chooses rows of the target, in order
};

// dma_start. The operands are source, target and semaphore, then, where the copy has them, the
// semaphore of the source, the device of the target, and a list of rows (int32, a value or a ref).
struct DmaParams
{
    bool sourceSemaphore = false;
    bool device = false;
    CopyRows rows = CopyRows::All;
    std::int64_t ignored = -1; // an entry of the list with this value names no row
    bool add = false;          // adds to the target's elements instead of replacing them
    std::int32_t priority = 0;
    bool operator==(const DmaParams&) const = default;
};

// semaphore_signal. The operands are semaphore and amount, then, where it has them, the device and
// the core whose semaphore it is.
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

struct MatrixUnitParams // matmul_acc_lhs, matmul_lhs_fifo: which instance of the matrix unit
{
    std::int32_t mxu = 0;
    bool operator==(const MatrixUnitParams&) const = default;
};

struct BarrierParams
{
    std::int32_t collectiveId = 0;
    bool operator==(const BarrierParams&) const = default;
};

// One axis of a mesh: of the devices that a program runs on, which form a ring along it, or of the
// blocks of a core_map.
struct MeshAxis
{
    std::string name;
    std::int32_t size = 1;
    bool operator==(const MeshAxis&) const = default;
};

// The compiler of a core_map that JAX gives to Triton.
inline constexpr std::string_view kTriton = "triton";

// core_map: all cores of a mesh run its region at the same time. With a grid they run it once for
// each block of the grid; a slot of the chip's agents has room for one block, an SM for several.
struct CoreMapParams
{
    std::string axis = "core";
    std::int32_t cores = 1;
    std::vector<MeshAxis> grid; // its blocks are numbered in row-major order
    std::string agents;         // the kind of agent that runs it; empty: the first kind of the chip
    // Whether its agents load from HBM and store to it, as those of a GPU do; others only copy.
    bool directAccess = false;
    // How many threads one agent stands for where agents are made of threads, as on a GPU: a
    // multiple of 32 up to 1024. It decides what a block takes of a multiprocessor, not what its
    // operations cost.
    std::int32_t threads = 128;
    // The axes of a thread block cluster: so many blocks run for each point of the grid at the same
    // time, each with `cores` agents, on multiprocessors of their own.
    std::vector<MeshAxis> cluster;
    // Who makes instructions of it, where that decides what operations cost: kTriton, or empty.
    std::string compiler;
    bool operator==(const CoreMapParams&) const = default;
};

// run_scoped in a kernel whose agents share a block's memory.
struct ScopedParams
{
    // Whether all agents of the block share what it allocates; otherwise each has its own.
    bool collective = false;
    // For each argument of the region: how many arrivals complete a phase of these barriers, 0 for
    // what is no barrier. Empty: there is no barrier.
    std::vector<std::int32_t> arrivals;
    // Whether its barriers are the hardware's own, which `bar` of the PTX ISA names by numbers:
    // they take no memory, and what has arrived on them when the block ends is dropped.
    bool named = false;
    // For each argument of the region: the number of its plgpu.RefUnion, from 1 on, 0 for memory of
    // its own; and which of the union's groups it belongs to. Groups of a union share its memory.
    // Empty: there is no union.
    std::vector<std::int32_t> unions, groups;
    // How many blocks of a cluster share it; the first axis of each ref then says whose it is.
    std::int32_t blocks = 1;
    bool operator==(const ScopedParams&) const = default;
};

struct PredicateParams // barrier_arrive: whether the last operand is a bool without which it does
{                      // nothing
    bool predicate = false;
    bool operator==(const PredicateParams&) const = default;
};

// What a copy into SMEM brings of what lies outside of its array.
enum class OutsideMode : std::uint8_t
{
    Zeros,
    Undefined,      // anything
    PromiseInBounds // nothing lies outside
};

// copy_gmem_to_smem. Without a barrier it is a copy of cp.async, which wait_gmem_to_smem waits for.
struct LoadCopyParams
{
    bool predicate = false;  // as in PredicateParams
    std::int32_t blocks = 1; // of a cluster, each of which fetches its share for all (multicast)
    // The axes of the cluster along which these blocks lie; empty: all of the cluster's.
    std::vector<std::string> along;
    std::int32_t parts = 1; // how many such copies make one arrival together
    OutsideMode outside = OutsideMode::Zeros;
    bool operator==(const LoadCopyParams&) const = default;
};

enum class AtomicType : std::uint8_t
{
    Xchg, // replaces
    Add,
    Max,
    Min,
    And,
    Or,
    Xor
};

struct StoreCopyParams // copy_smem_to_gmem
{
    bool predicate = false;                  // as in PredicateParams
    bool commit = true;                      // closes the agent's open group of copies after it
    AtomicType reduction = AtomicType::Xchg; // what becomes of the elements that are there
    bool operator==(const StoreCopyParams&) const = default;
};

// wait_smem_to_gmem: waits until at most `n` of the groups that the agent closed last are under way
// or, if `readOnly`, may still read SMEM. wait_gmem_to_smem: the same for copies of cp.async, each
// of which is a group.
struct GroupWaitParams
{
    std::int32_t n = 0;
    bool readOnly = false;
    bool operator==(const GroupWaitParams&) const = default;
};

struct WgmmaParams
{
    bool lhsInRegisters = false; // the left operand is a value, otherwise a ref in SMEM
    bool operator==(const WgmmaParams&) const = default;
};

struct ProductWaitParams // wgmma_wait: until at most `n` of the agent's products are under way
{
    std::int32_t n = 0;
    bool operator==(const ProductWaitParams&) const = default;
};

struct RegistersParams // set_max_registers: what a thread may use from then on
{
    std::int32_t n = 0;
    bool increase = false;
    bool operator==(const RegistersParams&) const = default;
};

// atomic_rmw. The operands are ref and new elements, then, if it is `listed`, one index list for
// each axis of the ref, and last a mask if it has one.
struct AtomicParams
{
    AtomicType atomicType = AtomicType::Add;
    bool listed = false;
    bool operator==(const AtomicParams&) const = default;
};

struct WarpMapParams // which warps of its warpgroup run a region each, at the same time
{
    std::vector<std::int32_t> warps; // ascending; the agent of the warpgroup stands for the first
    bool operator==(const WarpMapParams&) const = default;
};

struct ScanParams // a counted loop: the body's first argument is the counter, 0 to length - 1
{
    std::int64_t length = 0;
    std::int64_t unroll = 1; // how many rounds the compiler writes out one after the other
    bool operator==(const ScanParams&) const = default;
};

} // namespace pallascope::ir
