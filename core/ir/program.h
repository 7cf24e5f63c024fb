// A kernel as data: SSA operations on values and refs, with the jaxpr's names and meanings.
// Programs are immutable once built and verified; everything downstream (cost, machine, views) only
// reads them.
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
                 CoreMapParams, ScanParams, PipelineParams>;

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
