#include "core/ir/builder_gpu.h"

#include "core/ir/builder.h"
#include "core/ir/tracer.h"

#include <utility>

namespace pallascope::pl::gpu {

using detail::Tracer;
using ir::OpCode;

void launch(Launch launch, const std::function<void()>& body, Here here)
{
    ir::CoreMapParams mesh{std::move(launch.threadAxis), launch.threads, std::move(launch.grid)};
    mesh.directAccess = true;
    mesh.cluster = std::move(launch.cluster);
    coreMap(std::move(mesh), body, here);
}

Allocation smem(std::string name, DType dtype, Shape shape)
{
    return {{std::move(name), dtype, std::move(shape), ir::MemorySpace::Smem}};
}

Allocation barrier(std::string name, std::int32_t arrivals, Shape shape)
{
    return {{std::move(name), DType::Int32, std::move(shape), ir::MemorySpace::Barrier}, arrivals};
}

Allocation accumulator(std::string name, Shape shape, DType dtype)
{
    return {{std::move(name), dtype, std::move(shape), ir::MemorySpace::Accumulator}};
}

namespace {

void scoped(const std::vector<Allocation>& allocations, ir::ScopedParams params,
            const std::function<void(const std::vector<Ref>&)>& body, const Here& here)
{
    Tracer& tracer = Tracer::current();
    std::vector<Ref> refs;
    std::vector<ir::ValueId> arguments;
    bool hasBarrier = false;
    for (const Allocation& one : allocations) {
        const Scratch& scratch = one.scratch;
        arguments.push_back(
            tracer.newValue({scratch.dtype, scratch.shape, scratch.space}, scratch.name));
        refs.emplace_back(arguments.back());
        params.arrivals.push_back(one.arrivals);
        hasBarrier = hasBarrier || one.arrivals > 0;
    }
    if (!hasBarrier) {
        params.arrivals.clear();
    }
    ir::Operation operation{.code = OpCode::RunScoped, .params = std::move(params)};
    operation.regions.push_back(tracer.region(std::move(arguments), [&] {
        body(refs);
        return std::vector<ir::ValueId>();
    }));
    tracer.append(std::move(operation), here);
}

} // namespace

void runScoped(const std::vector<Allocation>& allocations, bool collective,
               const std::function<void(const std::vector<Ref>&)>& body, Here here)
{
    scoped(allocations, {.collective = collective}, body, here);
}

void runScopedOfCluster(const std::vector<Allocation>& allocations, std::int32_t blocks,
                        const std::function<void(const std::vector<Ref>&)>& body, Here here)
{
    scoped(allocations, {.collective = true, .blocks = blocks}, body, here);
}

Ref partOf(const Ref& ref, const std::vector<Value>& indices, Here here)
{
    ir::IndexerParams indexer;
    ir::Operation operation{.code = OpCode::RefAt, .operands = {ref.id()}};
    for (std::size_t axis = 0; axis < ref.shape().rank(); ++axis) {
        ir::IndexEntry entry{.size = ref.shape()[axis]};
        if (axis < indices.size()) {
            entry = {.isSlice = false,
                     .operand = static_cast<std::int32_t>(operation.operands.size())};
            operation.operands.push_back(indices[axis].id());
        }
        indexer.entries.push_back(entry);
    }
    operation.params = std::move(indexer);
    return Ref(Tracer::current().append(std::move(operation), here).front().id());
}

void copyGmemToSmem(const Ref& source, const Ref& target, const Ref& barrier,
                    ir::LoadCopyParams params, Here here)
{
    Tracer::current().append(OpCode::CopyGmemToSmem, {source.id(), target.id(), barrier.id()},
                             params, here);
}

void copyGmemToSmem(const Ref& source, const Ref& target, Here here)
{
    Tracer::current().append(OpCode::CopyGmemToSmem, {source.id(), target.id()},
                             ir::LoadCopyParams{}, here);
}

void waitGmemToSmem(std::int32_t n, Here here)
{
    Tracer::current().append(OpCode::WaitGmemToSmem, {}, ir::GroupWaitParams{n, false}, here);
}

void copySmemToGmem(const Ref& source, const Ref& target, bool commit, Here here)
{
    copySmemToGmem(source, target, ir::StoreCopyParams{.commit = commit}, here);
}

void copySmemToGmem(const Ref& source, const Ref& target, ir::StoreCopyParams params, Here here)
{
    Tracer::current().append(OpCode::CopySmemToGmem, {source.id(), target.id()}, params, here);
}

void commitGroup(Here here)
{
    Tracer::current().append(OpCode::CommitGroup, {}, {}, here);
}

void waitSmemToGmem(std::int32_t n, bool readOnly, Here here)
{
    Tracer::current().append(OpCode::WaitSmemToGmem, {}, ir::GroupWaitParams{n, readOnly}, here);
}

void commitSmem(Here here)
{
    Tracer::current().append(OpCode::CommitSmem, {}, {}, here);
}

void barrierArrive(const Ref& barrier, Here here)
{
    Tracer::current().append(OpCode::BarrierArrive, {barrier.id()}, ir::PredicateParams{}, here);
}

void barrierWait(const Ref& barrier, Here here)
{
    Tracer::current().append(OpCode::BarrierWait, {barrier.id()}, {}, here);
}

Value barrierTest(const Ref& barrier, Here here)
{
    return Tracer::current()
        .append({.code = OpCode::BarrierTest, .operands = {barrier.id()}}, here)
        .front();
}

void setMaxRegisters(std::int32_t n, bool increase, Here here)
{
    Tracer::current().append(OpCode::SetMaxRegisters, {}, ir::RegistersParams{n, increase}, here);
}

namespace {

Value atomicWith(ir::AtomicParams params, const Ref& ref, const Value& value,
                 const std::vector<Value>& indices, const std::optional<Value>& mask, Here here)
{
    ir::Operation operation{.code = OpCode::AtomicRmw, .operands = {ref.id(), value.id()}};
    for (const Value& index : indices) {
        operation.operands.push_back(index.id());
    }
    if (mask) {
        operation.operands.push_back(mask->id());
    }
    operation.params = params;
    return Tracer::current().append(std::move(operation), here).front();
}

} // namespace

Value atomicRmw(ir::AtomicType type, const Ref& ref, const Value& value,
                const std::optional<Value>& mask, Here here)
{
    return atomicWith({type, false}, ref, value, {}, mask, here);
}

Value atomicRmwListed(ir::AtomicType type, const Ref& ref, const std::vector<Value>& indices,
                      const Value& value, const std::optional<Value>& mask, Here here)
{
    return atomicWith({type, true}, ref, value, indices, mask, here);
}

Value atomicCas(const Ref& ref, const Value& expected, const Value& value, Here here)
{
    return Tracer::current()
        .append({.code = OpCode::AtomicCas, .operands = {ref.id(), expected.id(), value.id()}},
                here)
        .front();
}

void wgmma(const Ref& accumulator, const Ref& lhs, const Ref& rhs, Here here)
{
    Tracer::current().append(OpCode::Wgmma, {accumulator.id(), lhs.id(), rhs.id()},
                             ir::WgmmaParams{}, here);
}

void wgmma(const Ref& accumulator, const Value& lhs, const Ref& rhs, Here here)
{
    Tracer::current().append(OpCode::Wgmma, {accumulator.id(), lhs.id(), rhs.id()},
                             ir::WgmmaParams{true}, here);
}

void wgmmaWait(std::int32_t n, Here here)
{
    Tracer::current().append(OpCode::WgmmaWait, {}, ir::ProductWaitParams{n}, here);
}

Value load(const Ref& accumulator, Here here)
{
    return Tracer::current()
        .append({.code = OpCode::WgmmaAccumulatorDeref, .operands = {accumulator.id()}}, here)
        .front();
}

void store(const Ref& accumulator, const Value& value, Here here)
{
    Tracer::current().append(OpCode::WgmmaAccumulatorStore, {accumulator.id(), value.id()}, {},
                             here);
}

} // namespace pallascope::pl::gpu
