// The JSON names of everything in a kernel file, listed once for the writer and the reader. An
// archive is called with each key and member, in the order of the file. The writer passes const
// objects, the reader mutable ones. `required` members are always in the file. Any other member is
// left out if it has its default. So a default is part of the format, and a new member needs a
// default that means what files without it meant.
#pragma once

#include "core/ir/program.h"
#include "core/kernel_file/document.h"

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>

namespace pallascope::kernel_file {

template<class T, class Of>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Of>;

// ---- names of enumerators; the empty name ends the list -----------------------------------------

constexpr std::string_view enumName(ir::MemorySpace space)
{
    return ir::memorySpaceName(space);
}

constexpr std::string_view enumName(ir::BlockDirection direction)
{
    switch (direction) {
    case ir::BlockDirection::In:
        return "in";
    case ir::BlockDirection::Out:
        return "out";
    case ir::BlockDirection::InOut:
        return "inout";
    }
    return {};
}

constexpr std::string_view enumName(ir::CopyRows rows)
{
    switch (rows) {
    case ir::CopyRows::All:
        return "all";
    case ir::CopyRows::Source:
        return "source";
    case ir::CopyRows::Target:
        return "target";
    }
    return {};
}

constexpr std::string_view enumName(ir::BlockKind kind)
{
    switch (kind) {
    case ir::BlockKind::Blocked:
        return "blocked";
    case ir::BlockKind::Squeezed:
        return "squeezed";
    case ir::BlockKind::Element:
        return "element";
    case ir::BlockKind::BoundedSlice:
        return "bounded_slice";
    case ir::BlockKind::Indirect:
        return "indirect";
    }
    return {};
}

constexpr std::string_view enumName(ir::PipelineOrigin origin)
{
    switch (origin) {
    case ir::PipelineOrigin::EmitPipeline:
        return "emit_pipeline";
    case ir::PipelineOrigin::PallasCall:
        return "pallas_call";
    }
    return {};
}

constexpr std::string_view enumName(ir::ArgumentKind kind)
{
    switch (kind) {
    case ir::ArgumentKind::Input:
        return "input";
    case ir::ArgumentKind::Output:
        return "output";
    }
    return {};
}

constexpr std::string_view enumName(ir::DotPrecision precision)
{
    switch (precision) {
    case ir::DotPrecision::Default:
        return "default";
    case ir::DotPrecision::High:
        return "high";
    case ir::DotPrecision::Highest:
        return "highest";
    }
    return {};
}

constexpr std::string_view enumName(ir::RoundingMethod method)
{
    switch (method) {
    case ir::RoundingMethod::AwayFromZero:
        return "away_from_zero";
    case ir::RoundingMethod::ToNearestEven:
        return "to_nearest_even";
    }
    return {};
}

constexpr std::string_view enumName(ir::GatherMode mode)
{
    switch (mode) {
    case ir::GatherMode::FillOrDrop:
        return "fill_or_drop";
    case ir::GatherMode::PromiseInBounds:
        return "promise_in_bounds";
    case ir::GatherMode::Clip:
        return "clip";
    }
    return {};
}

constexpr std::string_view enumName(ir::Combine combine)
{
    switch (combine) {
    case ir::Combine::Replace:
        return "replace";
    case ir::Combine::Add:
        return "add";
    case ir::Combine::Mul:
        return "mul";
    case ir::Combine::Min:
        return "min";
    case ir::Combine::Max:
        return "max";
    }
    return {};
}

constexpr std::string_view enumName(ir::Verdict verdict)
{
    return ir::verdictName(verdict);
}

// ---- parameters of operations: the members, and the operations that have them -------------------

template<class Params>
inline constexpr std::array<std::string_view, 0> kOperationsWith{};

template<>
inline constexpr std::array<std::string_view, 3> kOperationsWith<ir::IndexerParams>{"get", "swap",
                                                                                    "ref_at"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::DotParams>{"dot_general"};
template<>
inline constexpr std::array<std::string_view, 8> kOperationsWith<ir::AxesParams>{
    "reduce_sum", "reduce_max",  "reduce_min", "reduce_and",
    "reduce_or",  "reduce_prod", "squeeze",    "rev"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::BroadcastParams>{
    "broadcast_in_dim"};
template<>
inline constexpr std::array<std::string_view, 4> kOperationsWith<ir::ShapeParams>{
    "reshape", "iota_2x32_shape", "prng_random_bits", "ref_reshape"};
template<>
inline constexpr std::array<std::string_view, 2> kOperationsWith<ir::PermutationParams>{
    "transpose", "ref_transpose"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::IotaParams>{"iota"};
template<>
inline constexpr std::array<std::string_view, 6> kOperationsWith<ir::DTypeParams>{
    "convert_element_type", "bitcast_convert_type", "bitcast",
    "stochastic_round",     "pack_elementwise",     "ref_bitcast"};
template<>
inline constexpr std::array<std::string_view, 5> kOperationsWith<ir::AxisParams>{
    "program_id", "num_programs", "concatenate", "stack", "unstack"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::RoundParams>{"round"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::IntegerPowParams>{
    "integer_pow"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::ReciprocalParams>{
    "reciprocal"};
template<>
inline constexpr std::array<std::string_view, 2> kOperationsWith<ir::ArgParams>{"argmax", "argmin"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SplitParams>{"split"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SliceParams>{"slice"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::PadParams>{"pad"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::TileParams>{"tile"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::RollParams>{"roll"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::GatherParams>{"gather"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::ScatterParams>{"scatter"};
template<>
inline constexpr std::array<std::string_view, 4> kOperationsWith<ir::CumulativeParams>{
    "cumsum", "cumprod", "cummax", "cummin"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SizesParams>{"dynamic_slice"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SortParams>{"sort"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::UnpackParams>{
    "unpack_elementwise"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::MultipleOfParams>{
    "multiple_of"};
template<>
inline constexpr std::array<std::string_view, 3> kOperationsWith<ir::TextParams>{
    "debug_print", "debug_check", "axis_index"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::KernelParams>{"kernel"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::FusionParams>{"fusion"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::DmaParams>{"dma_start"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SignalParams>{
    "semaphore_signal"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SemaphoreWaitParams>{
    "semaphore_wait"};
template<>
inline constexpr std::array<std::string_view, 2> kOperationsWith<ir::MatrixUnitParams>{
    "matmul_acc_lhs", "matmul_lhs_fifo"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::BarrierParams>{
    "get_barrier_semaphore"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::CoreMapParams>{"core_map"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::ScanParams>{"scan"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::PipelineParams>{"pipeline"};

template<class A, MaybeConst<ir::IndexEntry> T>
void fields(A& a, T& entry)
{
    a("slice", entry.isSlice);
    a("start", entry.start);
    a("operand", entry.operand);
    a("size", entry.size);
    a("stride", entry.stride);
    a("size_operand", entry.sizeOperand);
}

template<class A, MaybeConst<ir::IndexerParams> T>
void fields(A& a, T& params)
{
    a("entries", params.entries);
}

template<class A, MaybeConst<ir::DotParams> T>
void fields(A& a, T& params)
{
    a("lhs_contracting", params.lhsContracting);
    a("rhs_contracting", params.rhsContracting);
    a("lhs_batch", params.lhsBatch);
    a("rhs_batch", params.rhsBatch);
    a("dtype", params.dtype);
    a("precision", params.precision);
}

template<class A, MaybeConst<ir::AxesParams> T>
void fields(A& a, T& params)
{
    a("axes", params.axes);
}

template<class A, MaybeConst<ir::BroadcastParams> T>
void fields(A& a, T& params)
{
    a("shape", params.shape);
    a("dimensions", params.dimensions);
}

template<class A, MaybeConst<ir::ShapeParams> T>
void fields(A& a, T& params)
{
    a("shape", params.shape);
}

template<class A, MaybeConst<ir::PermutationParams> T>
void fields(A& a, T& params)
{
    a("permutation", params.permutation);
}

template<class A, MaybeConst<ir::IotaParams> T>
void fields(A& a, T& params)
{
    a("dtype", params.dtype);
    a("shape", params.shape);
    a("dimension", params.dimension);
}

template<class A, MaybeConst<ir::DTypeParams> T>
void fields(A& a, T& params)
{
    a.required("dtype", params.dtype);
}

template<class A, MaybeConst<ir::AxisParams> T>
void fields(A& a, T& params)
{
    a("axis", params.axis);
}

template<class A, MaybeConst<ir::RoundParams> T>
void fields(A& a, T& params)
{
    a.required("method", params.method);
}

template<class A, MaybeConst<ir::IntegerPowParams> T>
void fields(A& a, T& params)
{
    a.required("exponent", params.exponent);
}

template<class A, MaybeConst<ir::ReciprocalParams> T>
void fields(A& a, T& params)
{
    a("approx", params.approx);
}

template<class A, MaybeConst<ir::ArgParams> T>
void fields(A& a, T& params)
{
    a("axis", params.axis);
    a("dtype", params.dtype);
}

template<class A, MaybeConst<ir::SplitParams> T>
void fields(A& a, T& params)
{
    a.required("sizes", params.sizes);
    a("axis", params.axis);
}

template<class A, MaybeConst<ir::SliceParams> T>
void fields(A& a, T& params)
{
    a.required("start", params.start);
    a.required("limit", params.limit);
    a("strides", params.strides);
}

template<class A, MaybeConst<ir::PadParams> T>
void fields(A& a, T& params)
{
    a.required("low", params.low);
    a.required("high", params.high);
    a.required("interior", params.interior);
}

template<class A, MaybeConst<ir::TileParams> T>
void fields(A& a, T& params)
{
    a.required("repetitions", params.repetitions);
}

template<class A, MaybeConst<ir::RollParams> T>
void fields(A& a, T& params)
{
    a("axis", params.axis);
    a("stride", params.stride);
    a("stride_axis", params.strideAxis);
}

template<class A, MaybeConst<ir::GatherParams> T>
void fields(A& a, T& params)
{
    a("axis", params.axis);
    a("mode", params.mode);
}

template<class A, MaybeConst<ir::ScatterParams> T>
void fields(A& a, T& params)
{
    a("axis", params.axis);
    a("combine", params.combine);
    a("mode", params.mode);
}

template<class A, MaybeConst<ir::CumulativeParams> T>
void fields(A& a, T& params)
{
    a("axis", params.axis);
    a("reverse", params.reverse);
}

template<class A, MaybeConst<ir::SizesParams> T>
void fields(A& a, T& params)
{
    a.required("sizes", params.sizes);
}

template<class A, MaybeConst<ir::SortParams> T>
void fields(A& a, T& params)
{
    a("axis", params.axis);
    a("keys", params.keys);
}

template<class A, MaybeConst<ir::UnpackParams> T>
void fields(A& a, T& params)
{
    a("index", params.index);
    a.required("packed", params.packed);
    a.required("unpacked", params.unpacked);
}

template<class A, MaybeConst<ir::MultipleOfParams> T>
void fields(A& a, T& params)
{
    a.required("multiple", params.multiple);
}

template<class A, MaybeConst<ir::TextParams> T>
void fields(A& a, T& params)
{
    a("text", params.text);
}

template<class A, MaybeConst<ir::KernelParams> T>
void fields(A& a, T& params)
{
    a("name", params.name);
}

template<class A, MaybeConst<ir::FusionParams> T>
void fields(A& a, T& params)
{
    a("name", params.name);
    a("launches", params.launches);
}

template<class A, MaybeConst<ir::DmaParams> T>
void fields(A& a, T& params)
{
    a("source_semaphore", params.sourceSemaphore);
    a("device", params.device);
    a("priority", params.priority);
    a("rows", params.rows);
    a("ignored", params.ignored);
    a("add", params.add);
}

template<class A, MaybeConst<ir::SignalParams> T>
void fields(A& a, T& params)
{
    a("device", params.device);
    a("core", params.core);
}

template<class A, MaybeConst<ir::SemaphoreWaitParams> T>
void fields(A& a, T& params)
{
    a("decrement", params.decrement);
}

template<class A, MaybeConst<ir::MatrixUnitParams> T>
void fields(A& a, T& params)
{
    a("mxu", params.mxu);
}

template<class A, MaybeConst<ir::BarrierParams> T>
void fields(A& a, T& params)
{
    a("collective_id", params.collectiveId);
}

template<class A, MaybeConst<ir::MeshAxis> T>
void fields(A& a, T& axis)
{
    a.required("name", axis.name);
    a.required("size", axis.size);
}

template<class A, MaybeConst<ir::CoreMapParams> T>
void fields(A& a, T& params)
{
    a("axis", params.axis);
    a("cores", params.cores);
    a("grid", params.grid);
    a("agents", params.agents);
}

template<class A, MaybeConst<ir::ScanParams> T>
void fields(A& a, T& params)
{
    a.required("length", params.length);
    a("unroll", params.unroll);
}

template<class A, MaybeConst<ir::BlockDim> T>
void fields(A& a, T& dim)
{
    a("size", dim.size);
    a("kind", dim.kind);
    a("pad_low", dim.padLow);
    a("pad_high", dim.padHigh);
}

template<class A, MaybeConst<ir::BlockSpec> T>
void fields(A& a, T& spec)
{
    a("name", spec.name);
    a.required("block", spec.block);
    a("direction", spec.direction);
    a("in_buffers", spec.inBuffers);
    a("out_buffers", spec.outBuffers);
    a("lookahead", spec.lookahead);
    a("prefetched", spec.prefetched);
    a("restores", spec.restores);
    a("location", spec.location);
}

template<class A, MaybeConst<ir::PipelineParams> T>
void fields(A& a, T& params)
{
    a("origin", params.origin);
    a("schedule", params.schedule);
    a("no_pipelining", params.noPipelining);
    a.required("grid", params.grid);
    a("axis_names", params.axisNames);
    a.required("specs", params.specs);
    a("scratch_names", params.scratchNames);
    a("core_axis", params.coreAxis);
    a("block_axes", params.blockAxes);
    a("parallel", params.parallel);
}

// ---- the program --------------------------------------------------------------------------------

template<class A, MaybeConst<ir::Type> T>
void fields(A& a, T& type)
{
    a.required("dtype", type.dtype);
    a("shape", type.shape);
    a("space", type.space);
}

template<class A, MaybeConst<ir::Value> T>
void fields(A& a, T& value)
{
    a("name", value.name);
    fields(a, value.type);
    a("literal", value.literal);
}

template<class A, MaybeConst<ir::Location> T>
void fields(A& a, T& location)
{
    a.required("file", location.file);
    a.required("line", location.line);
    a("function", location.function);
    a("caller", location.caller.index);
}

template<class A, MaybeConst<ir::Argument> T>
void fields(A& a, T& argument)
{
    a.required("name", argument.name);
    a("kind", argument.kind);
    a.required("ref", argument.ref);
    a("alias_of", argument.aliasOf);
    a("partition", argument.partition);
}

template<class A, MaybeConst<ir::CompilerParams> T>
void fields(A& a, T& kernel)
{
    a.required("kernel", kernel.kernel);
    a("vmem_limit_bytes", kernel.vmemLimitBytes);
    a("dimension_semantics", kernel.dimensionSemantics);
    a("allow_input_fusion", kernel.allowInputFusion);
    a("has_side_effects", kernel.hasSideEffects);
    a("collective_id", kernel.collectiveId);
}

template<class A, MaybeConst<ir::Lowering> T>
void fields(A& a, T& lowering)
{
    a("accepted", lowering.accepted);
    a("reason", lowering.reason);
}

template<class A, MaybeConst<ir::Operation> T>
void fields(A& a, T& operation)
{
    a.required("op", operation.code);
    a("operands", operation.operands);
    a("results", operation.results);
    a.params("params", operation.code, operation.params);
    a("regions", operation.regions);
    a("location", operation.location);
}

template<class A, MaybeConst<ir::Region> T>
void fields(A& a, T& region)
{
    a("arguments", region.arguments);
    a("operations", region.operations);
    a("results", region.results);
}

// ---- what a file has besides --------------------------------------------------------------------

template<class A, MaybeConst<NormalRecipe> T>
void fields(A& a, T& recipe)
{
    a.required("seed", recipe.seed);
}

template<class A, MaybeConst<ZerosRecipe> T>
void fields(A&, T&)
{}

template<class A, MaybeConst<FillRecipe> T>
void fields(A& a, T& recipe)
{
    a.required("value", recipe.value);
}

template<class A, MaybeConst<IotaRecipe> T>
void fields(A& a, T& recipe)
{
    a("start", recipe.start);
    a.required("steps", recipe.steps);
}

template<class A, MaybeConst<MaskRecipe> T>
void fields(A& a, T& recipe)
{
    a.required("steps", recipe.steps);
    a("low", recipe.low);
    a("high", recipe.high);
    a("inside", recipe.inside);
    a("outside", recipe.outside);
}

template<class A, MaybeConst<InputEntry> T>
void fields(A& a, T& input)
{
    a("normal", input.normal);
    a("zeros", input.zeros);
    a("fill", input.fill);
    a("iota", input.iota);
    a("mask", input.mask);
    a("npy", input.npy);
    a("repeats", input.repeats);
}

template<class A, MaybeConst<SourceEntry> T>
void fields(A& a, T& source)
{
    a.required("file", source.file);
    a("text", source.text);
    a("member", source.member);
}

template<class A, MaybeConst<Document> T>
void fields(A& a, T& document)
{
    a.required("format", document.format);
    a.required("version", document.version);
    a.required("name", document.program.name);
    a("producer", document.producer);
    a("chip", document.program.chip);
    a("mesh", document.program.mesh);
    a("arguments", document.program.arguments);
    a("inputs", document.inputs);
    a.required("values", document.program.values);
    a.required("body", document.program.body);
    a("locations", document.program.locations);
    a("sources", document.sources);
    a("compiler_params", document.program.kernels);
    a("lowering", document.program.lowering);
}

} // namespace pallascope::kernel_file
