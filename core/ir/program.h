// A kernel as data: operations on values and refs in SSA form, with the names and meanings of the
// jaxpr. A program is immutable once it is built and verified; everything downstream (cost,
// machine, views) only reads it.
#pragma once

#include "core/ir/opcodes.h"
#include "core/ir/params.h"
#include "core/ir/pipeline_params.h"
#include "core/ir/type.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pallascope::ir {

using Params =
    std::variant<std::monostate, IndexerParams, DotParams, AxesParams, BroadcastParams, ShapeParams,
                 PermutationParams, IotaParams, DTypeParams, AxisParams, RoundParams,
                 IntegerPowParams, ReciprocalParams, ArgParams, SplitParams, SliceParams, PadParams,
                 TileParams, RollParams, GatherParams, ScatterParams, CumulativeParams, SizesParams,
                 SortParams, UnpackParams, MultipleOfParams, TextParams, KernelParams, FusionParams,
                 DmaParams, SignalParams, SemaphoreWaitParams, MatrixUnitParams, BarrierParams,
                 CoreMapParams, ScopedParams, PredicateParams, LoadCopyParams, StoreCopyParams,
                 GroupWaitParams, WgmmaParams, ProductWaitParams, RegistersParams, AtomicParams,
                 WarpMapParams, ScanParams, PipelineParams>;

constexpr std::size_t kMostValues = 64; // the most operands, and the most results, of one operation

struct Operation;

// A straight list of operations with arguments and results, as an open jaxpr in JAX.
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
    // Assigned by the builder in program order; listings and traces refer to it.
    std::int32_t id = -1;
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
    ValueId ref; // the argument of the body
    // For an output: the index of the input whose array it shares; -1: none.
    std::int32_t aliasOf = -1;
    // For a program on a mesh: for each axis of the array, the mesh axes that cut it into equal
    // parts, the slowest first; `ref` then refers to one device's part. Empty: every device has the
    // whole array.
    std::vector<std::vector<std::string>> partition;
    bool operator==(const Argument&) const = default;
};

// What a kernel asks of JAX's compiler (CompilerParams). The machine uses only the VMEM limit.
struct CompilerParams
{
    std::string kernel;
    std::int64_t vmemLimitBytes = 0; // 0: the chip's default
    std::vector<std::string> dimensionSemantics;
    std::vector<std::int32_t> allowInputFusion; // indices of inputs
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

// "unknown", "yes", "no"; empty for a number past the last enumerator.
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

// Whether JAX's own lowering accepts the program; asked when the program was captured.
struct Lowering
{
    Verdict accepted = Verdict::Unknown;
    std::string reason; // JAX's message where the program is not accepted, or why nobody knows
    bool operator==(const Lowering&) const = default;
};

struct Program
{
    std::string name;
    std::string chip; // the chip for which it was captured, by name; empty: none
    // The devices, numbered in row-major order. All run the body at the same time, each on its own
    // parts of the arrays. Empty: one device.
    std::vector<MeshAxis> mesh;
    std::vector<Argument> arguments;
    Region body; // its arguments are refs in HBM, or in SMEM for scalars that are prefetched
    std::vector<Value> values;
    std::vector<Location> locations;
    std::vector<Source> sources;
    std::vector<CompilerParams> kernels; // of the kernels that set any
    Lowering lowering;
    std::int32_t operationCount = 0;
    bool operator==(const Program&) const = default;

    [[nodiscard]] const Value& value(ValueId id) const
    {
        return values[static_cast<std::size_t>(id.index)];
    }

    [[nodiscard]] const Type& type(ValueId id) const { return value(id).type; }

    // The largest limit that one of its kernels asks for, in bytes; 0: none asks.
    [[nodiscard]] std::int64_t vmemLimitBytes() const;

    // "kernels/name.cpp:42", or "unknown place".
    [[nodiscard]] std::string where(LocationId location) const;
    // Where the function at that location was called: ", called from kernels/name.cpp:57"; empty if
    // unknown.
    [[nodiscard]] std::string callersOf(LocationId location) const;
};

// Calls the function with every operation of a region and of the regions inside it, in program
// order.
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
