// Type rules of manual DMA, semaphores, and requests to the matrix unit.
#include "core/ir/type_rules.h"

namespace pallascope::ir::type_rules {

namespace {

// Checks that the ref is a single semaphore, and whether it is a DMA semaphore as `dma` says.
Status checkSemaphore(const Operation& operation, const Type& type, bool dma)
{
    const bool sound = type.isRef() && type.shape.rank() == 0 && isSemaphore(*type.space)
                       && dma == (*type.space == MemorySpace::DmaSemaphore);
    if (sound) {
        return Done{};
    }
    return error(operation, std::string("takes one ") + (dma ? "DMA" : "regular or barrier")
                                + " semaphore, not " + toString(type) + ".");
}

} // namespace

Result<Types> dmaStart(const Program& program, const Operation& operation)
{
    const auto& dma = params<DmaParams>(operation);
    const bool listed = dma.rows != CopyRows::All;
    const std::size_t before = 3U + (dma.sourceSemaphore ? 1 : 0) + (dma.device ? 1 : 0);
    if (operation.operands.size() != before + (listed ? 1 : 0)) {
        return error(operation, "takes a source, a target and a semaphore, and what its "
                                "parameters add.");
    }
    const Type &source = operand(program, operation, 0), &target = operand(program, operation, 1);
    const bool refs =
        source.isRef() && target.isRef() && hasMemory(*source.space) && hasMemory(*target.space);
    // Slices of dynamic size are compared when the copy runs; the verifier compares all others.
    if (!refs || source.dtype != target.dtype || source.shape.rank() != target.shape.rank()) {
        return error(operation, "copies " + toString(source) + " to " + toString(target)
                                    + "; expected two refs of one dtype and shape.");
    }
    for (std::size_t i = 2; i < (dma.sourceSemaphore ? 4U : 3U); ++i) {
        const Type& semaphore = operand(program, operation, i);
        const bool counts = semaphore.isRef() && *semaphore.space == MemorySpace::Semaphore;
        if (Status status = checkSemaphore(operation, semaphore, !counts); !status) {
            return status.error();
        }
    }
    if (dma.device && !isInt32(operand(program, operation, before - 1))) {
        return error(operation, "names its device by "
                                    + toString(operand(program, operation, before - 1))
                                    + "; expected an int32 scalar.");
    }
    if (dma.device && (listed || dma.add)) {
        return error(operation,
                     "copies listed rows, or adds, to another device; use the memory of this one.");
    }
    if (dma.add && source.dtype == DType::Bool) {
        return error(operation, "adds " + toString(source) + "; expected numbers.");
    }
    if (listed) {
        constexpr Extent kMostRows = 1 << 16; // a copy under way keeps each row separately
        const Type& list = operand(program, operation, before);
        const Type& few = dma.rows == CopyRows::Source ? target : source;
        const bool isNear = !list.isRef() || isLoadable(*list.space);
        if (list.dtype != DType::Int32 || list.shape.rank() != 1 || !isNear || few.shape.rank() == 0
            || few.shape[0] != list.shape[0]) {
            return error(operation, "lists its rows by " + toString(list)
                                        + "; expected one int32 for each " + "row of "
                                        + toString(few)
                                        + ", as a value or a ref to on-chip memory.");
        }
        if (list.shape[0] > kMostRows) {
            return error(operation, "lists " + std::to_string(list.shape[0]) + " rows; "
                                        + std::to_string(kMostRows) + " are the most.");
        }
    }
    return Types{};
}

Result<Types> dmaWait(const Program& program, const Operation& operation)
{
    if (Status status = checkRef(operation, operand(program, operation, 0)); !status) {
        return status.error();
    }
    if (Status status = checkSemaphore(operation, operand(program, operation, 1), true); !status) {
        return status.error();
    }
    return Types{};
}

Result<Types> semaphoreSignal(const Program& program, const Operation& operation)
{
    const auto& signal = params<SignalParams>(operation);
    if (operation.operands.size() != 2U + (signal.device ? 1 : 0) + (signal.core ? 1 : 0)) {
        return error(operation, "takes a semaphore and an amount, and what its parameters add.");
    }
    if (Status status = checkSemaphore(operation, operand(program, operation, 0), false); !status) {
        return status.error();
    }
    for (std::size_t i = 1; i < operation.operands.size(); ++i) {
        if (!isInt32(operand(program, operation, i))) {
            return error(operation, "counts in int32 scalars, not "
                                        + toString(operand(program, operation, i)) + ".");
        }
    }
    return Types{};
}

Result<Types> semaphoreWait(const Program& program, const Operation& operation)
{
    (void)params<SemaphoreWaitParams>(operation);
    if (Status status = checkSemaphore(operation, operand(program, operation, 0), false); !status) {
        return status.error();
    }
    if (!isInt32(operand(program, operation, 1))) {
        return error(operation, "counts in int32 scalars, not "
                                    + toString(operand(program, operation, 1)) + ".");
    }
    return Types{};
}

Result<Types> semaphoreRead(const Program& program, const Operation& operation)
{
    const Type& semaphore = operand(program, operation, 0);
    if (!semaphore.isRef() || !isSemaphore(*semaphore.space) || semaphore.shape.rank() != 0) {
        return error(operation, "takes one semaphore, not " + toString(semaphore) + ".");
    }
    return Types{{DType::Int32, Shape{}, {}}};
}

Result<Types> barrierSemaphore(const Program&, const Operation& operation)
{
    if (params<BarrierParams>(operation).collectiveId < 0) {
        return error(operation, "has a negative collective_id.");
    }
    return Types{{DType::Int32, Shape{}, MemorySpace::BarrierSemaphore}};
}

Result<Types> delay(const Program& program, const Operation& operation)
{
    if (!isInt32(operand(program, operation, 0))) {
        return error(operation, "counts nanoseconds in an int32 scalar, not "
                                    + toString(operand(program, operation, 0)) + ".");
    }
    return Types{};
}

namespace {

bool isAccumulator(const Type& type)
{
    return type.space == MemorySpace::Accumulator && type.shape.rank() == 2;
}

} // namespace

Result<Types> matmulPushRhs(const Program& program, const Operation& operation)
{
    const Type &target = operand(program, operation, 0), &rhs = operand(program, operation, 1);
    if (!isAccumulator(target) || rhs.isRef() || rhs.dtype != target.dtype
        || rhs.shape != target.shape) {
        return error(operation,
                     "puts " + toString(rhs) + " into " + toString(target)
                         + "; expected a ref in accumulator and a value of its dtype and shape.");
    }
    return Types{};
}

Result<Types> matmulAccLhs(const Program& program, const Operation& operation)
{
    const Type &sum = operand(program, operation, 0), &lhs = operand(program, operation, 1),
               &rhs = operand(program, operation, 2);
    const bool sound =
        isAccumulator(sum) && isAccumulator(rhs) && !lhs.isRef() && lhs.shape.rank() == 2
        && lhs.shape[0] == sum.shape[0] && lhs.shape[1] == rhs.shape[0]
        && rhs.shape[1] == sum.shape[1]
        && sum.dtype == (isFloat(lhs.dtype) || isFloat(rhs.dtype) ? DType::F32 : DType::Int32)
        && (operation.operands.size() == 3 || operand(program, operation, 3) == rhs)
        && params<MatrixUnitParams>(operation).mxu >= 0;
    if (!sound) {
        return error(operation, "adds " + toString(lhs) + " times " + toString(rhs) + " to "
                                    + toString(sum)
                                    + "; expected [m,k] times [k,n] to [m,n], both refs in "
                                      "accumulator, the sum in f32, or of integers in int32.");
    }
    return Types{};
}

Result<Types> matmulPop(const Program& program, const Operation& operation)
{
    const Type& sum = operand(program, operation, 0);
    if (!isAccumulator(sum)) {
        return error(operation, "takes a ref in accumulator, not " + toString(sum) + ".");
    }
    return Types{{sum.dtype, sum.shape, {}}};
}

} // namespace pallascope::ir::type_rules
