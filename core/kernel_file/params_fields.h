// The JSON names of the parameters of operations (fields.h).
#pragma once

#include "core/ir/program.h"
#include "core/kernel_file/enum_names.h"

#include <concepts>
#include <string_view>
#include <type_traits>

namespace pallascope::kernel_file {

template<class T, class Of>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Of>;

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
    a("saturate", params.saturates);
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
    a("direct_access", params.directAccess);
    a("threads", params.threads);
    a("cluster", params.cluster);
    a("compiler", params.compiler);
}

template<class A, MaybeConst<ir::AtomicParams> T>
void fields(A& a, T& params)
{
    a.required("atomic_type", params.atomicType);
    a("listed", params.listed);
}

template<class A, MaybeConst<ir::ScopedParams> T>
void fields(A& a, T& params)
{
    a("collective", params.collective);
    a("arrivals", params.arrivals);
    a("named", params.named);
    a("unions", params.unions);
    a("groups", params.groups);
    a("blocks", params.blocks);
}

template<class A, MaybeConst<ir::PredicateParams> T>
void fields(A& a, T& params)
{
    a("predicate", params.predicate);
}

template<class A, MaybeConst<ir::LoadCopyParams> T>
void fields(A& a, T& params)
{
    a("predicate", params.predicate);
    a("blocks", params.blocks);
    a("along", params.along);
    a("parts", params.parts);
    a("oob_mode", params.outside);
}

template<class A, MaybeConst<ir::StoreCopyParams> T>
void fields(A& a, T& params)
{
    a("predicate", params.predicate);
    a("commit", params.commit);
    a("reduction", params.reduction);
}

template<class A, MaybeConst<ir::GroupWaitParams> T>
void fields(A& a, T& params)
{
    a("n", params.n);
    a("read_only", params.readOnly);
}

template<class A, MaybeConst<ir::WgmmaParams> T>
void fields(A& a, T& params)
{
    a("lhs_in_registers", params.lhsInRegisters);
}

template<class A, MaybeConst<ir::ProductWaitParams> T>
void fields(A& a, T& params)
{
    a("n", params.n);
}

template<class A, MaybeConst<ir::RegistersParams> T>
void fields(A& a, T& params)
{
    a.required("n", params.n);
    a("increase", params.increase);
}

template<class A, MaybeConst<ir::WarpMapParams> T>
void fields(A& a, T& params)
{
    a.required("warps", params.warps);
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

} // namespace pallascope::kernel_file
