#include "core/ir/builder_tensor.h"

#include "core/ir/builder.h"
#include "core/ir/tracer.h"

#include <utility>

namespace pallascope::pl::gpu {

using detail::Tracer;
using ir::OpCode;

Allocation tmem(std::string name, Shape shape, DType dtype)
{
    return {{std::move(name), dtype, std::move(shape), ir::MemorySpace::Tmem}};
}

void tensorMultiply(const TensorFactors& factors, const Value& accumulate, Here here)
{
    Tracer::current().append(
        OpCode::Tcgen05Mma, {factors.sum.id(), factors.lhs.id(), factors.rhs.id(), accumulate.id()},
        {}, here);
}

void tensorMultiply(const TensorFactors& first, const TensorFactors& second,
                    const Value& accumulate, Here here)
{
    Tracer::current().append(OpCode::Tcgen05Mma,
                             {first.sum.id(), first.lhs.id(), first.rhs.id(), accumulate.id(),
                              second.sum.id(), second.lhs.id(), second.rhs.id()},
                             {}, here);
}

void tensorMultiply(const TensorFactors& factors, const TensorScales& scales,
                    const Value& accumulate, Here here)
{
    Tracer::current().append(OpCode::Tcgen05Mma,
                             {factors.sum.id(), factors.lhs.id(), factors.rhs.id(), accumulate.id(),
                              scales.lhs.id(), scales.rhs.id()},
                             {}, here);
}

void tensorCommitArrive(const Ref& barrier, Here here)
{
    Tracer::current().append(OpCode::Tcgen05CommitArrive, {barrier.id()}, ir::PredicateParams{},
                             here);
}

void copySmemToTmem(const Ref& source, const Ref& target, Here here)
{
    Tracer::current().append(OpCode::AsyncCopySmemToTmem, {source.id(), target.id()}, {}, here);
}

void waitLoadTmem(Here here)
{
    Tracer::current().append(OpCode::WaitLoadTmem, {}, {}, here);
}

void commitTmem(Here here)
{
    Tracer::current().append(OpCode::CommitTmem, {}, {}, here);
}

void tryClusterCancel(const Ref& answer, const Ref& barrier, Here here)
{
    tryClusterCancel(std::vector{answer}, std::vector{barrier}, here);
}

void tryClusterCancel(const std::vector<Ref>& answers, const std::vector<Ref>& barriers, Here here)
{
    std::vector<ir::ValueId> operands;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        operands.push_back(answers[i].id());
        operands.push_back(barriers[i].id());
    }
    Tracer::current().append(OpCode::TryClusterCancel, std::move(operands), {}, here);
}

void warpMap(const std::vector<std::int32_t>& warps,
             const std::vector<std::function<void()>>& bodies, Here here)
{
    Tracer& tracer = Tracer::current();
    ir::Operation operation{.code = OpCode::WarpMap, .params = ir::WarpMapParams{warps}};
    for (const std::function<void()>& body : bodies) {
        operation.regions.push_back(tracer.region({}, [&] {
            body();
            return std::vector<ir::ValueId>();
        }));
    }
    tracer.append(std::move(operation), here);
}

} // namespace pallascope::pl::gpu
