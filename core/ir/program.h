// A kernel as data: SSA operations on values and refs, with the jaxpr's names and meanings.
// Programs are immutable once built and verified; everything downstream (cost, machine, views) only
// reads them.
#pragma once

#include "core/base/dtype.h"
#include "core/base/shape.h"
#include "core/ir/opcodes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pallascope::ir {

enum class MemorySpace : std::uint8_t
{
    Any,
    Hbm,
    Vmem,
    Smem,
    TileSpmem,       // the vector memory of one subcore
    Spmem,           // shared by the subcores of one core
    Accumulator,     // of the matrix unit: accumulators and right operands, in no memory
    Semaphore,       // SemaphoreType.REGULAR: counts signals
    DmaSemaphore,    // SemaphoreType.DMA: counts the bytes of copies
    BarrierSemaphore // SemaphoreType.BARRIER: one per collective_id
};

// "vmem", "dma_semaphore"; empty past the last one.
[[nodiscard]] constexpr std::string_view memorySpaceName(MemorySpace space)
{
    switch (space) {
    case MemorySpace::Any:
        return "any";
    case MemorySpace::Hbm:
        return "hbm";
    case MemorySpace::Vmem:
        return "vmem";
    case MemorySpace::Smem:
        return "smem";
    case MemorySpace::TileSpmem:
        return "tilespmem";
    case MemorySpace::Spmem:
        return "spmem";
    case MemorySpace::Accumulator:
        return "accumulator";
    case MemorySpace::Semaphore:
        return "semaphore";
    case MemorySpace::DmaSemaphore:
        return "dma_semaphore";
    case MemorySpace::BarrierSemaphore:
        return "barrier_semaphore";
    }
    return {};
}

[[nodiscard]] constexpr bool isSemaphore(MemorySpace space)
{
    return space >= MemorySpace::Semaphore;
}

// Takes bytes of one of the chip's memories.
[[nodiscard]] constexpr bool hasMemory(MemorySpace space)
{
    return space < MemorySpace::Accumulator;
}

// The type of a value (an array; rank 0: a scalar), or of a ref to memory in `space`.
struct Type
{
    DType dtype = DType::F32;
    Shape shape;
    std::optional<MemorySpace> space; // set: a ref

    [[nodiscard]] bool isRef() const { return space.has_value(); }

    [[nodiscard]] bool isScalar() const { return !isRef() && shape.rank() == 0; }

    bool operator==(const Type&) const = default;
};

// "f32[512,512]", "i32[]", "Ref<vmem>{bf16[512,512]}"
[[nodiscard]] std::string toString(const Type& type);

struct ValueId
{
    std::int32_t index = -1;
    auto operator<=>(const ValueId&) const = default;
};

// A scalar constant; exact for every dtype of 32 bits or fewer.
using Literal = double;

struct Value
{
    Type type;
    std::optional<Literal> literal; // a literal has no defining operation
    std::string name;               // of refs: the argument's name; else empty
    bool operator==(const Value&) const = default;
};

// Index into Program::locations.
struct LocationId
{
    std::int32_t index = -1;
    bool operator==(const LocationId&) const = default;
};

struct Location
{
    std::string file;      // as the author's tool names it; the text is in Program::sources
    std::int32_t line = 0; // from 1; 0: none
    std::string function;
    LocationId caller = {}; // where that function is called, an earlier location
    bool operator==(const Location&) const = default;
};

struct Source
{
    std::string file;
    std::string text;
    bool operator==(const Source&) const = default;
};

// ---- parameters of operations, one struct per kind ----------------------------------------------

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

using Params =
    std::variant<std::monostate, IndexerParams, DotParams, AxesParams, BroadcastParams, ShapeParams,
                 PermutationParams, IotaParams, DTypeParams, AxisParams, RoundParams,
                 IntegerPowParams, ReciprocalParams, ArgParams, SplitParams, SliceParams, PadParams,
                 TileParams, RollParams, GatherParams, ScatterParams, CumulativeParams, SizesParams,
                 SortParams, UnpackParams, MultipleOfParams, TextParams, KernelParams, FusionParams,
                 DmaParams, SignalParams, SemaphoreWaitParams, MatrixUnitParams, BarrierParams,
                 CoreMapParams, ScanParams, PipelineParams>;

// -------------------------------------------------------------------------------------------------

constexpr std::size_t kMostValues = 64; // operands of an operation, or results

struct Operation;

// A straight list of operations with arguments and results (the jaxpr's "open jaxpr").
struct Region
{
    std::vector<ValueId> arguments;
    std::vector<Operation> operations;
    std::vector<ValueId> results;
    bool operator==(const Region&) const;
};

struct Operation
{
    OpCode code{};
    std::vector<ValueId> operands;
    std::vector<ValueId> results;
    Params params;
    std::vector<Region> regions;
    LocationId location;
    std::int32_t id =
        -1; // number in program order, set by the builder; indexes listings and traces
    bool operator==(const Operation&) const = default;
};

inline bool Region::operator==(const Region& other) const
{
    return arguments == other.arguments && operations == other.operations
           && results == other.results;
}

enum class ArgumentKind : std::uint8_t
{
    Input,
    Output
};

struct Argument
{
    std::string name;
    ArgumentKind kind = ArgumentKind::Input;
    ValueId ref;               // the body's argument
    std::int32_t aliasOf = -1; // of an output: the input argument whose array it is, -1: its own
    // Of a program on a mesh, per axis of the array: the mesh axes over which it is cut into equal
    // parts, the slowest first; `ref` is of one device's part. Empty: every device has all of it.
    std::vector<std::vector<std::string>> partition;
    bool operator==(const Argument&) const = default;
};

// What a kernel asks of JAX's compiler (CompilerParams); the machine heeds the limit alone.
struct CompilerParams
{
    std::string kernel;
    std::int64_t vmemLimitBytes = 0; // 0: the chip's default
    std::vector<std::string> dimensionSemantics;
    std::vector<std::int32_t> allowInputFusion; // numbers of inputs
    bool hasSideEffects = false;
    std::int32_t collectiveId = -1; // -1: none
    bool operator==(const CompilerParams&) const = default;
};

enum class Verdict : std::uint8_t
{
    Unknown,
    Yes,
    No
};

// "unknown", "yes", "no"; empty past the last one.
[[nodiscard]] constexpr std::string_view verdictName(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Unknown:
        return "unknown";
    case Verdict::Yes:
        return "yes";
    case Verdict::No:
        return "no";
    }
    return {};
}

// Whether JAX's own lowering takes the program for a TPU, asked when it was captured.
struct Lowering
{
    Verdict accepted = Verdict::Unknown;
    std::string reason; // JAX's, where it is not accepted or not known
    bool operator==(const Lowering&) const = default;
};

struct Program
{
    std::string name;
    std::string chip; // that it was captured for, by name; empty: for none
    // Devices, each of which runs the body on its own parts of the arrays, all at once; their
    // numbers are row-major. Empty: one device.
    std::vector<MeshAxis> mesh;
    std::vector<Argument> arguments;
    Region body; // its arguments are refs in HBM, or in SMEM (scalars brought before the run)
    std::vector<Value> values;
    std::vector<Location> locations;
    std::vector<Source> sources;
    std::vector<CompilerParams> kernels; // those that ask for anything
    Lowering lowering;
    std::int32_t operationCount = 0;
    bool operator==(const Program&) const = default;

    [[nodiscard]] const Value& value(ValueId id) const
    {
        return values[static_cast<std::size_t>(id.index)];
    }

    [[nodiscard]] const Type& type(ValueId id) const { return value(id).type; }

    // The most that one of its kernels asks for; 0: none asks.
    [[nodiscard]] std::int64_t vmemLimitBytes() const;

    // "kernels/name.cpp:42", or "unknown place".
    [[nodiscard]] std::string where(LocationId location) const;
    // Who called the function there: ", called from kernels/name.cpp:57", or nothing.
    [[nodiscard]] std::string callersOf(LocationId location) const;
};

// Every operation of a region in program order, regions of regions included.
template<class Function>
void forEachOperation(const Region& region, Function&& function)
{
    for (const Operation& operation : region.operations) {
        function(operation);
        for (const Region& inner : operation.regions) {
            forEachOperation(inner, function);
        }
    }
}

} // namespace pallascope::ir
