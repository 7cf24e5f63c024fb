// The JSON names of everything in Info, listed once for the writer and the reader. An archive is
// called with each key and member, in the order of the file. The writer passes const objects, the
// reader mutable ones. An optional member is always written, and may be missing in files of older
// versions. A list of which the file has no key while it is empty is written `unlessEmpty`.
#pragma once

#include "core/trace/info.h"

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>

namespace pallascope::trace_file {

template<class T, class Of>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Of>;

// The names of enumerators in files, in the order of their values.
template<class E>
inline constexpr std::array<std::string_view, 0> kEnumNames{};
template<>
inline constexpr auto kEnumNames<UnitKind> = kUnitKindNames;
template<>
inline constexpr std::array<std::string_view, 3> kEnumNames<trace::Direction>{"in", "out", "inout"};
template<>
inline constexpr std::array<std::string_view, 4> kEnumNames<trace::SegmentKind>{
    "body", "step_overhead", "launch", "fusion"};
template<>
inline constexpr std::array<std::string_view, 2> kEnumNames<trace::FindingClass>{"structural",
                                                                                 "value"};

template<class A, MaybeConst<trace::SourceFile> T>
void describe(A& a, T& file)
{
    a("path", file.path);
    a("text", file.text);
}

template<class A, MaybeConst<trace::SourceLine> T>
void describe(A& a, T& line)
{
    a("file", line.file);
    a("line", line.line);
}

template<class A, MaybeConst<trace::Operation> T>
void describe(A& a, T& operation)
{
    a("name", operation.name);
    a("label", operation.label);
    a("listing_line", operation.listingLine);
    a("source", operation.source);
}

template<class A, MaybeConst<trace::ListingLine> T>
void describe(A& a, T& line)
{
    a("text", line.text);
    a("operation", line.operation);
}

template<class A, MaybeConst<trace::Unit> T>
void describe(A& a, T& unit)
{
    a("name", unit.name);
    a("kind", unit.kind);
}

template<class A, MaybeConst<trace::Memory> T>
void describe(A& a, T& memory)
{
    a("name", memory.name);
    a("capacity_bytes", memory.capacity);
    a("scoped_limit_bytes", memory.scopedLimit);
}

template<class A, MaybeConst<trace::Link> T>
void describe(A& a, T& link)
{
    a("name", link.name);
    a("from", link.from);
    a("to", link.to);
    a("datasheet_bytes_per_s", link.datasheet);
    a("achieved_bytes_per_s", link.achieved);
    a.optional("kind", link.kind);
}

template<class A, MaybeConst<trace::Pipeline> T>
void describe(A& a, T& pipeline)
{
    a("name", pipeline.name);
    a("origin", pipeline.origin);
    a("schedule", pipeline.schedule);
    a("grid", pipeline.grid);
    a("axis_names", pipeline.axisNames);
    a("first_operand", pipeline.firstOperand);
    a("operand_count", pipeline.operandCount);
    a("steps", pipeline.steps);
    a.optional("agent", pipeline.agent);
    a("source", pipeline.source);
    a.optional("entries", pipeline.entries);
    a.optional("temporaries_bytes", pipeline.temporaries);
}

template<class A, MaybeConst<trace::Semaphore> T>
void describe(A& a, T& semaphore)
{
    a("name", semaphore.name);
    a("kind", semaphore.kind);
    a("agent", semaphore.agent);
}

template<class A, MaybeConst<trace::Loop> T>
void describe(A& a, T& loop)
{
    a("name", loop.name);
    a("source", loop.source);
    a("operation", loop.operation);
    a("parent", loop.parent);
    a("rounds_beyond", loop.roundsBeyond);
}

template<class A, MaybeConst<trace::Operand> T>
void describe(A& a, T& operand)
{
    a("name", operand.name);
    a("dtype", operand.dtype);
    a("direction", operand.direction);
    a("array", operand.array);
    a("block", operand.block);
    a("block_counts", operand.blockCounts);
    a("grid_axes", operand.gridAxes);
    a("pipeline", operand.pipeline);
    a("first_buffer", operand.firstBuffer);
    a("slots", operand.slots);
    a("array_bytes", operand.arrayBytes);
    a("block_bytes", operand.blockBytes);
    a("slot_bytes", operand.slotBytes);
    a("source", operand.source);
    a.optional("indirect_axis", operand.indirectAxis);
    a.optional("indices", operand.indices);
    a.optional("element_axes", operand.elementAxes);
    a.optional("element_pads", operand.elementPads);
    a.optional("slice_axes", operand.sliceAxes);
    a.optional("around_kernels", operand.isAround);
    a.optional("on_chip", operand.isOnChip);
    a.optional("padded_bytes", operand.paddedBytes);
    a.optional("array_number", operand.arrayNumber);
    a.optional("sliced_bytes", operand.slicedBytes);
    a.optional("kernel", operand.kernel);
    a.optional("launches", operand.launches);
}

template<class A, MaybeConst<trace::Buffer> T>
void describe(A& a, T& buffer)
{
    a("name", buffer.name);
    a("operand", buffer.operand);
    a("slot", buffer.slot);
    a("memory", buffer.memory);
    a("address_bytes", buffer.address);
    a("bytes", buffer.bytes);
    a("dtype", buffer.dtype);
    a("shape", buffer.shape);
}

template<class A, MaybeConst<trace::Mark> T>
void describe(A& a, T& mark)
{
    a("unit", mark.unit);
    a("operation", mark.operation);
    a("offset_cycles", mark.offset);
    a("length_cycles", mark.length);
}

template<class A, MaybeConst<trace::Products> T>
void describe(A& a, T& products)
{
    a("dtype", products.dtype);
    a("passes", products.passes);
    a("flops", products.flops);
}

template<class A, MaybeConst<trace::SegmentTemplate> T>
void describe(A& a, T& segment)
{
    a("kind", segment.kind);
    a("cycles", segment.cycles);
    a("duration_ps", segment.duration);
    a("clock_hz", segment.clock);
    a("operations", segment.operations);
    a("retire_cycles", segment.retire);
    a("marks", segment.marks);
    a("flops_by_unit", segment.flopsByUnit);
    a("executed_flops_by_unit", segment.executedFlopsByUnit);
    a("transcendentals", segment.transcendentals);
    a.optional("products", segment.products);
}

template<class A, MaybeConst<trace::Finding> T>
void describe(A& a, T& finding)
{
    a("kind", finding.kind);
    a("class", finding.category);
    a("message", finding.message);
    a("operand", finding.operand);
    a("step", finding.step);
    a("related_step", finding.relatedStep);
    a("source", finding.source);
    a("count", finding.count);
    a.optional("time_ps", finding.time);
    a.optional("copy_time_ps", finding.copyTime);
}

template<class A, MaybeConst<trace::Print> T>
void describe(A& a, T& print)
{
    a("text", print.text);
    a("step", print.step);
    a("agent", print.agent);
    a("time_ps", print.time);
    a("source", print.source);
}

template<class A, MaybeConst<trace::Check> T>
void describe(A& a, T& check)
{
    a("checked", check.checked);
    a("passed", check.passed);
    a("max_abs_error", check.maxAbsError);
    a("max_rel_error", check.maxRelError);
    a("method", check.method);
}

template<class A, MaybeConst<trace::BlockLimit> T>
void describe(A& a, T& limit)
{
    a("name", limit.name);
    a("blocks", limit.blocks);
}

template<class A, MaybeConst<trace::BlockGrid> T>
void describe(A& a, T& grid)
{
    a("source", grid.source);
    a("threads", grid.threads);
    a("agents", grid.agents);
    a("shared_bytes", grid.shared);
    a("array_bytes", grid.arrays);
    a("barriers", grid.barriers);
    a("has_reductions", grid.hasReductions);
    a("registers_per_thread", grid.registers);
    a("registers_assumed", grid.assumesRegisters);
    a("blocks_per_sm", grid.blocksPerSm);
    a("warps_per_sm", grid.warpsPerSm);
    a("most_warps_per_sm", grid.warpsAtMost);
    a("allowed_blocks", grid.allowed);
    a("blocks", grid.blocks);
    a("blocks_at_a_time", grid.atATime);
    a("waves", grid.waves);
    a("last_wave_blocks", grid.last);
    a.unlessEmpty("grid", grid.extents);
    a.optional("cluster_blocks", grid.cluster);
}

template<class A, MaybeConst<trace::Info> T>
void describe(A& a, T& info)
{
    a("kernel", info.kernel);
    a("parameters", info.parameters);
    a("parameter_order", info.parameterOrder);
    a("chip", info.chip);
    a("chip_name", info.chipName);
    a("chip_json", info.chipJson);
    a("values", info.values);
    a.optional("settings", info.settings);
    a("seed", info.seed);
    a("program", info.program);
    a("sources", info.sources);
    a("listing", info.listing);
    a("operations", info.operations);
    a("units", info.units);
    a("memories", info.memories);
    a("links", info.links);
    a("agents", info.agents);
    a("pipelines", info.pipelines);
    a("operands", info.operands);
    a("buffers", info.buffers);
    a.optional("semaphores", info.semaphores);
    a.unlessEmpty("block_grids", info.blockGrids);
    a.unlessEmpty("loops", info.loops);
    a.unlessEmpty("copied_shapes", info.copiedShapes);
    a("templates", info.templates);
    a("findings", info.findings);
    a.unlessEmpty("stopped_by", info.stoppedBy);
    a.optional("prints", info.prints);
    a.optional("prints_beyond", info.printsBeyond);
    a.optional("jax_accepts", info.jaxAccepts);
    a.optional("jax_reason", info.jaxReason);
    a("check", info.check);
    a("temporaries_estimate_bytes", info.temporariesEstimate);
    a.optional("from_l1_bytes", info.fromL1);
    a("events", info.events);
}

} // namespace pallascope::trace_file
