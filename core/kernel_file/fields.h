// The JSON names of everything in a kernel file, listed once for the writer and the reader. An
// archive is called with each key and member, in the order of the file. The writer passes const
// objects, the reader mutable ones. `required` members are always in the file. Any other member is
// left out if it has its default. So a default is part of the format, and a new member needs a
// default that means what files without it meant.
#pragma once

#include "core/ir/program.h"
#include "core/kernel_file/document.h"
#include "core/kernel_file/params_fields.h"

namespace pallascope::kernel_file {

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
