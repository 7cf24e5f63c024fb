// Type rules of operations on refs: loads and stores, views, copies and semaphores.
#include "core/ir/type_rules.h"

namespace pallascope::ir::type_rules {

namespace {

bool isInt32(const Type& type)
{
    return type == Type{DType::Int32, Shape{}, {}};
}

Status checkRef(const Operation& operation, const Type& ref)
{
    return ref.isRef() ? Status(Done{})
                       : Status(error(operation, "takes a ref, not " + toString(ref) + "."));
}

Status checkLoadable(const Operation& operation, const Type& ref)
{
    if (Status status = checkRef(operation, ref); !status) {
        return status;
    }
    if (!isLoadable(*ref.space) && !isFar(*ref.space)) { // the verifier checks accesses of HBM
        return error(operation, "reaches " + toString(ref) + kNotLoadable);
    }
    return Done{};
}

Status checkDynamic(const Program& program, const Operation& operation, const Type& ref,
                    std::int32_t index)
{
    const auto at = static_cast<std::size_t>(index);
    const bool exists = at < operation.operands.size();
    const Type type = exists ? operand(program, operation, at) : Type{};
    if (exists && isInt32(type)) {
        return Done{};
    }
    return error(operation, "indexes " + toString(ref) + " with "
                                + (exists ? toString(type) : "an operand that it lacks")
                                + "; expected an int32 scalar.");
}

Status checkIndexer(const Program& program, const Operation& operation, const Type& ref)
{
    const auto& entries = params<IndexerParams>(operation).entries;
    if (entries.size() != ref.shape.rank()) {
        return error(operation, "indexes " + toString(ref) + " with "
                                    + std::to_string(entries.size()) + " indices.");
    }
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
        const IndexEntry& entry = entries[axis];
        const Extent last = entry.start + (entry.size - 1) * entry.stride;
        // A dynamic start is checked when it runs.
        const bool leaves = entry.operand < 0 && last >= ref.shape[axis];
        if (entry.size < 1 || entry.stride < 0 || entry.start < 0 || leaves) {
            return error(operation, "reaches outside " + toString(ref) + ": axis "
                                        + std::to_string(axis) + " from "
                                        + std::to_string(entry.start) + " to "
                                        + std::to_string(last) + " of "
                                        + std::to_string(ref.shape[axis]) + ".");
        }
        for (const std::int32_t dynamic : {entry.operand, entry.sizeOperand}) {
            if (dynamic < 0) {
                continue;
            }
            if (Status status = checkDynamic(program, operation, ref, dynamic); !status) {
                return status;
            }
        }
        if (entry.sizeOperand >= 0 && (operation.code != OpCode::RefAt || !entry.isSlice)) {
            return error(operation, "has a slice of dynamic size, which a ref_at alone can have.");
        }
    }
    return Done{};
}

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

Status checkMask(const Operation& operation, const Type& mask, const Type& ref)
{
    if (mask == Type{DType::Bool, ref.shape, {}}) {
        return Done{};
    }
    return error(operation, "masks " + toString(ref) + " with " + toString(mask) + "; expected "
                                + toString(Type{DType::Bool, ref.shape, {}}) + ".");
}

} // namespace

Result<Types> memory(const Program& program, const Operation& operation)
{
    const Type& ref = operand(program, operation, 0);
    if (Status status = checkLoadable(operation, ref); !status) {
        return status.error();
    }
    if (Status status = checkIndexer(program, operation, ref); !status) {
        return status.error();
    }
    const Type value{ref.dtype, indexedShape(params<IndexerParams>(operation)), {}};
    if (operation.code == OpCode::Swap && operand(program, operation, 1) != value) {
        return error(operation, "stores " + toString(operand(program, operation, 1))
                                    + " where the ref holds " + toString(value) + ".");
    }
    return Types{value};
}

Result<Types> maskedLoad(const Program& program, const Operation& operation)
{
    const Type& ref = operand(program, operation, 0);
    if (Status status = checkLoadable(operation, ref); !status) {
        return status.error();
    }
    const Type value{ref.dtype, ref.shape, {}};
    if (Status status = checkMask(operation, operand(program, operation, 1), ref); !status) {
        return status.error();
    }
    if (operation.operands.size() > 2 && operand(program, operation, 2) != value) {
        return error(operation, "fills " + toString(value) + " with "
                                    + toString(operand(program, operation, 2)) + ".");
    }
    return Types{value};
}

Result<Types> maskedSwap(const Program& program, const Operation& operation)
{
    const Type& ref = operand(program, operation, 0);
    if (Status status = checkLoadable(operation, ref); !status) {
        return status.error();
    }
    const Type value{ref.dtype, ref.shape, {}};
    if (operand(program, operation, 1) != value) {
        return error(operation, "stores " + toString(operand(program, operation, 1))
                                    + " where the ref holds " + toString(value) + ".");
    }
    if (Status status = checkMask(operation, operand(program, operation, 2), ref); !status) {
        return status.error();
    }
    return Types{value};
}

// The operands are the ref, the value to store (if any), an index list for each axis of the ref,
// and an optional mask.
Result<Types> listedElements(const Program& program, const Operation& operation)
{
    const Type& ref = operand(program, operation, 0);
    if (Status status = checkLoadable(operation, ref); !status) {
        return status.error();
    }
    const std::size_t first = storesInto(operation.code) ? 2 : 1;
    const std::size_t end = first + ref.shape.rank(), count = operation.operands.size();
    const Type list = count > first ? operand(program, operation, first) : Type{};
    bool sound = ref.shape.rank() > 0 && (count == end || count == end + 1)
                 && list == Type{DType::Int32, Shape({list.shape.elements()}), {}};
    for (std::size_t i = first; sound && i < end; ++i) {
        sound = operand(program, operation, i) == list;
    }
    if (!sound) {
        return error(operation,
                     "lists elements of " + toString(ref)
                         + "; expected one int32 list for each of its axes, all of one length.");
    }
    if (count > end) {
        if (Status status = checkMask(operation, operand(program, operation, end), list); !status) {
            return status.error();
        }
    }
    const Type value{ref.dtype, list.shape, {}};
    if (first == 1) {
        return Types{value};
    }
    if (operand(program, operation, 1) != value) {
        return error(operation, "stores " + toString(operand(program, operation, 1)) + " where "
                                    + toString(value) + " is listed.");
    }
    if (operation.code == OpCode::AddupdateScatter && ref.dtype == DType::Bool) {
        return error(operation, "adds to " + toString(ref) + "; expected numbers.");
    }
    return Types{};
}

Result<Types> refAt(const Program& program, const Operation& operation)
{
    Type ref = operand(program, operation, 0);
    if (Status status = checkRef(operation, ref); !status) {
        return status.error();
    }
    if (Status status = checkIndexer(program, operation, ref); !status) {
        return status.error();
    }
    ref.shape = indexedShape(params<IndexerParams>(operation));
    return Types{ref};
}

Result<Types> refReshape(const Program& program, const Operation& operation)
{
    Type ref = operand(program, operation, 0);
    if (Status status = checkRef(operation, ref); !status) {
        return status.error();
    }
    const Shape& shape = params<ShapeParams>(operation).shape;
    const Result<std::int64_t> elements = checkedElements(shape);
    if (!elements || *elements != ref.shape.elements()) {
        return error(operation, "cannot see " + toString(ref) + " as " + toString(shape)
                                    + ": another number "
                                      "of elements.");
    }
    ref.shape = shape;
    return Types{ref};
}

Result<Types> refBitcast(const Program& program, const Operation& operation)
{
    if (Status status = checkRef(operation, operand(program, operation, 0)); !status) {
        return status.error();
    }
    return packedRows(program, operation);
}

Result<Types> refTranspose(const Program& program, const Operation& operation)
{
    const Type& ref = operand(program, operation, 0);
    if (Status status = checkRef(operation, ref); !status) {
        return status.error();
    }
    Result<Types> types = transpose(program, operation);
    if (types) {
        types->front().space = ref.space;
    }
    return types;
}

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
