// Implements builder_memory.h, and the views of refs.
#include "core/ir/builder.h"
#include "core/ir/tracer.h"

namespace pallascope::pl {

using detail::Tracer;
using ir::OpCode;

namespace {

Ref viewOf(ir::Operation operation, Here here)
{
    const std::vector<Value> results = Tracer::current().append(std::move(operation), here);
    return Ref(results.front().id());
}

ir::ValueId idOf(const Operand& operand, DType dtype)
{
    return operand.isNumber() ? Tracer::current().literal(operand.number(), dtype, operand.here())
                              : operand.value().id();
}

} // namespace

Ref Ref::reshape(Shape shape, Here here) const
{
    return viewOf({.code = OpCode::RefReshape,
                   .operands = {m_id},
                   .params = ir::ShapeParams{std::move(shape)}},
                  here);
}

Ref Ref::bitcast(DType dtype, Here here) const
{
    return viewOf(
        {.code = OpCode::RefBitcast, .operands = {m_id}, .params = ir::DTypeParams{dtype}}, here);
}

Ref Ref::transpose(std::vector<std::int32_t> permutation, Here here) const
{
    return viewOf({.code = OpCode::RefTranspose,
                   .operands = {m_id},
                   .params = ir::PermutationParams{std::move(permutation)}},
                  here);
}

void dmaStart(const Ref& source, const Ref& target, const Ref& semaphore, Here here)
{
    Tracer::current().append({.code = OpCode::DmaStart,
                              .operands = {source.id(), target.id(), semaphore.id()},
                              .params = ir::DmaParams{}},
                             here);
}

void dmaStart(const Ref& source, const Ref& target, const Ref& semaphore, const Ref& rows,
              ir::DmaParams params, Here here)
{
    Tracer::current().append({.code = OpCode::DmaStart,
                              .operands = {source.id(), target.id(), semaphore.id(), rows.id()},
                              .params = params},
                             here);
}

void remoteDmaStart(const Ref& source, const Ref& target, const Ref& sent, const Ref& received,
                    const Operand& device, Here here)
{
    Tracer::current().append({.code = OpCode::DmaStart,
                              .operands = {source.id(), target.id(), received.id(), sent.id(),
                                           idOf(device, DType::Int32)},
                              .params = ir::DmaParams{.sourceSemaphore = true, .device = true}},
                             here);
}

Ref remoteRef(const Ref& ref, const Operand& device, Here here)
{
    return viewOf({.code = OpCode::RemoteRef, .operands = {ref.id(), idOf(device, DType::Int32)}},
                  here);
}

void dmaWait(const Ref& target, const Ref& semaphore, Here here)
{
    Tracer::current().append({.code = OpCode::DmaWait, .operands = {target.id(), semaphore.id()}},
                             here);
}

void semaphoreSignal(const Ref& semaphore, const Operand& amount, Here here)
{
    Tracer::current().append({.code = OpCode::SemaphoreSignal,
                              .operands = {semaphore.id(), idOf(amount, DType::Int32)},
                              .params = ir::SignalParams{}},
                             here);
}

void semaphoreSignal(const Ref& semaphore, const Operand& amount, const Operand& core, Here here)
{
    Tracer::current().append(
        {.code = OpCode::SemaphoreSignal,
         .operands = {semaphore.id(), idOf(amount, DType::Int32), idOf(core, DType::Int32)},
         .params = ir::SignalParams{.core = true}},
        here);
}

void semaphoreSignalDevice(const Ref& semaphore, const Operand& amount, const Operand& device,
                           Here here)
{
    Tracer::current().append(
        {.code = OpCode::SemaphoreSignal,
         .operands = {semaphore.id(), idOf(amount, DType::Int32), idOf(device, DType::Int32)},
         .params = ir::SignalParams{.device = true}},
        here);
}

void semaphoreWait(const Ref& semaphore, const Operand& amount, bool decrement, Here here)
{
    Tracer::current().append({.code = OpCode::SemaphoreWait,
                              .operands = {semaphore.id(), idOf(amount, DType::Int32)},
                              .params = ir::SemaphoreWaitParams{decrement}},
                             here);
}

Value semaphoreRead(const Ref& semaphore, Here here)
{
    return Tracer::current()
        .append({.code = OpCode::SemaphoreRead, .operands = {semaphore.id()}}, here)
        .front();
}

Ref getBarrierSemaphore(std::int32_t collectiveId, Here here)
{
    return viewOf({.code = OpCode::GetBarrierSemaphore, .params = ir::BarrierParams{collectiveId}},
                  here);
}

void delay(const Operand& nanoseconds, Here here)
{
    Tracer::current().append({.code = OpCode::Delay, .operands = {idOf(nanoseconds, DType::Int32)}},
                             here);
}

void matmulPushRhs(const Ref& staged, const Operand& rhs, Here here)
{
    Tracer::current().append(
        {.code = OpCode::MatmulPushRhs, .operands = {staged.id(), idOf(rhs, staged.dtype())}},
        here);
}

namespace {

void request(OpCode code, const Ref& sum, const Operand& lhs, const Ref& weights,
             const std::optional<Ref>& staged, std::int32_t mxu, Here here)
{
    ir::Operation operation{.code = code,
                            .operands = {sum.id(), idOf(lhs, weights.dtype()), weights.id()},
                            .params = ir::MatrixUnitParams{mxu}};
    if (staged) {
        operation.operands.push_back(staged->id());
    }
    Tracer::current().append(std::move(operation), here);
}

} // namespace

void matmulAccLhs(const Ref& sum, const Operand& lhs, const Ref& weights, std::optional<Ref> staged,
                  std::int32_t mxu, Here here)
{
    request(OpCode::MatmulAccLhs, sum, lhs, weights, staged, mxu, here);
}

Value matmulPop(const Ref& sum, Here here)
{
    return Tracer::current()
        .append({.code = OpCode::MatmulPop, .operands = {sum.id()}}, here)
        .front();
}

void matmulLhsFifo(const Ref& fifo, const Operand& lhs, const Ref& weights,
                   std::optional<Ref> staged, std::int32_t mxu, Here here)
{
    request(OpCode::MatmulLhsFifo, fifo, lhs, weights, staged, mxu, here);
}

Value matmulPopFifo(const Ref& fifo, Here here)
{
    return Tracer::current()
        .append({.code = OpCode::MatmulPopFifo, .operands = {fifo.id()}}, here)
        .front();
}

Value maskedLoad(const Ref& ref, const Operand& mask, const Operand& other, Here here)
{
    const ir::ValueId filler = other.isNumber()
                                   ? full(ref.shape(), other.number(), ref.dtype(), here).id()
                                   : other.value().id();
    return Tracer::current()
        .append(
            {.code = OpCode::MaskedLoad, .operands = {ref.id(), idOf(mask, DType::Bool), filler}},
            here)
        .front();
}

void maskedStore(const Ref& ref, const Operand& value, const Operand& mask, Here here)
{
    Tracer::current().append(
        {.code = OpCode::MaskedSwap,
         .operands = {ref.id(), idOf(value, ref.dtype()), idOf(mask, DType::Bool)}},
        here);
}

namespace {

// `operands` are those before the index lists and the mask.
std::vector<Value> appendListed(OpCode code, std::vector<ir::ValueId> operands,
                                const std::vector<Value>& indices, const std::optional<Value>& mask,
                                Here here)
{
    for (const Value& index : indices) {
        operands.push_back(index.id());
    }
    if (mask) {
        operands.push_back(mask->id());
    }
    return Tracer::current().append({.code = code, .operands = std::move(operands)}, here);
}

} // namespace

Value loadGather(const Ref& ref, const std::vector<Value>& indices,
                 const std::optional<Value>& mask, Here here)
{
    return appendListed(OpCode::LoadGather, {ref.id()}, indices, mask, here).front();
}

void storeScatter(const Ref& ref, const std::vector<Value>& indices, const Value& value,
                  const std::optional<Value>& mask, Here here)
{
    appendListed(OpCode::StoreScatter, {ref.id(), value.id()}, indices, mask, here);
}

void addupdateScatter(const Ref& ref, const std::vector<Value>& indices, const Value& value,
                      const std::optional<Value>& mask, Here here)
{
    appendListed(OpCode::AddupdateScatter, {ref.id(), value.id()}, indices, mask, here);
}

void coreMap(std::string axis, std::int32_t cores, const std::function<void()>& body, Here here)
{
    coreMap(ir::CoreMapParams{std::move(axis), cores, {}}, body, here);
}

void coreMap(ir::CoreMapParams mesh, const std::function<void()>& body, Here here)
{
    Tracer& tracer = Tracer::current();
    ir::Operation operation{.code = OpCode::CoreMap, .params = std::move(mesh)};
    operation.regions.push_back(tracer.region({}, [&] {
        body();
        return std::vector<ir::ValueId>();
    }));
    tracer.append(std::move(operation), here);
}

void onMesh(std::vector<ir::MeshAxis> axes)
{
    Tracer::current().program().mesh = std::move(axes);
}

Value axisIndex(std::string axis, Here here)
{
    return apply(OpCode::AxisIndex, {}, ir::TextParams{std::move(axis)}, here);
}

} // namespace pallascope::pl
