// Traces Pallas-style C++ into a program, as JAX traces Python into a jaxpr. Write a kernel with
// refs, values and operators. Nothing is computed: every operation is recorded with its source
// line.
//
//   pl::when(pl::programId(2) == 0, [&] { out[pl::all] = pl::zerosLike(out); });
//   out[pl::all] += pl::dot(x[pl::all], y[pl::all], DType::F32);
//
// The first mistake (say, shapes that do not match) is kept, and pl::kernel returns it as a user
// error with its source line. Tracing goes on after it with values of a guessed type. Each thread
// traces on its own.
#pragma once

#include "core/base/result.h"
#include "core/ir/builder_memory.h"
#include "core/ir/builder_operations.h"
#include "core/ir/builder_pipeline.h"
#include "core/ir/builder_values.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pallascope::pl {

// ---- control

void when(const Operand& condition, const std::function<void()>& body, Here here = Here::current());
[[nodiscard]] std::vector<Value> cond(const Operand& condition,
                                      const std::function<std::vector<Value>()>& ifTrue,
                                      const std::function<std::vector<Value>()>& ifFalse,
                                      Here here = Here::current());
// for (i = 0; i < length; ++i) carry = body(i, carry); returns the last carry.
std::vector<Value>
foriLoop(std::int64_t length, std::vector<Value> carry,
         const std::function<std::vector<Value>(Value, std::vector<Value>)>& body,
         Here here = Here::current());
std::vector<Value> whileLoop(std::vector<Value> carry,
                             const std::function<Value(std::vector<Value>)>& condition,
                             const std::function<std::vector<Value>(std::vector<Value>)>& body,
                             Here here = Here::current());

// ---- kernels

namespace detail {

struct ArgumentSpec
{
    std::string name;
    ir::ArgumentKind kind = ir::ArgumentKind::Input;
    DType dtype = DType::F32;
    Shape shape;
    ir::MemorySpace space = ir::MemorySpace::Hbm;
    std::string aliasOf; // the name of the input whose array an output shares
    std::vector<std::vector<std::string>> partition; // see ir::Argument::partition
};

[[nodiscard]] Result<ir::Program> traceKernel(std::string name, std::vector<ArgumentSpec> arguments,
                                              const Body& body, Here here);

} // namespace detail

// A scalar-prefetch operand: it is in SMEM before the first step; bodies and index maps can read
// it.
[[nodiscard]] inline detail::ArgumentSpec scalarPrefetch(std::string name, DType dtype, Shape shape)
{
    return {std::move(name), ir::ArgumentKind::Input, dtype, std::move(shape),
            ir::MemorySpace::Smem};
}

// An output that shares the array of an earlier input, as with input_output_aliases.
[[nodiscard]] inline detail::ArgumentSpec outAliasing(std::string name, std::string input,
                                                      DType dtype, Shape shape)
{
    return {std::move(name),  ir::ArgumentKind::Output, dtype,
            std::move(shape), ir::MemorySpace::Hbm,     std::move(input)};
}

[[nodiscard]] inline detail::ArgumentSpec in(std::string name, DType dtype, Shape shape)
{
    return {std::move(name), ir::ArgumentKind::Input, dtype, std::move(shape)};
}

// For a program on a mesh: `argument` describes one device's part of the array. `partition` lists,
// for each axis of the array, the mesh axes that cut it, as the specs of shard_map do.
[[nodiscard]] inline detail::ArgumentSpec sharded(detail::ArgumentSpec argument,
                                                  std::vector<std::vector<std::string>> partition)
{
    argument.partition = std::move(partition);
    return argument;
}

[[nodiscard]] inline detail::ArgumentSpec out(std::string name, DType dtype, Shape shape)
{
    return {std::move(name), ir::ArgumentKind::Output, dtype, std::move(shape)};
}

// Traces `body` into a verified program. The body gets one ref for each argument.
template<class F>
[[nodiscard]] Result<ir::Program> kernel(std::string name,
                                         std::vector<detail::ArgumentSpec> arguments, const F& body,
                                         Here here = Here::current())
{
    return detail::traceKernel(
        std::move(name), std::move(arguments),
        [&body](const std::vector<Ref>& refs) { return detail::invokeWithRefs(body, refs); }, here);
}

} // namespace pallascope::pl
