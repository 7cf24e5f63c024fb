// Type rules of operations on refs: loads and stores, and views.
#include "core/ir/type_rules.h"

namespace pallascope::ir::type_rules {

bool isInt32(const Type& type)
{
    return type == Type{DType::Int32, Shape{}, {}};
}

Status checkRef(const Operation& operation, const Type& ref)
{
    return ref.isRef() ? Status(Done{})
                       : Status(error(operation, "takes a ref, not " + toString(ref) + "."));
}

namespace {

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

namespace {

// Checks the index lists, one for each axis of the ref, from the operand number `first` on, and the
// mask behind them if there is one. Yields the type of the elements that they name.
Result<Type> listed(const Program& program, const Operation& operation, std::size_t first)
{
    const Type& ref = operand(program, operation, 0);
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
    return Type{ref.dtype, list.shape, {}};
}

Status checkStored(const Program& program, const Operation& operation, const Type& value)
{
    if (operand(program, operation, 1) == value) {
        return Done{};
    }
    return error(operation, "stores " + toString(operand(program, operation, 1)) + " where "
                                + toString(value) + " is listed.");
}

} // namespace

// The operands are the ref, the value to store (if any), an index list for each axis of the ref,
// and an optional mask.
Result<Types> listedElements(const Program& program, const Operation& operation)
{
    const Type& ref = operand(program, operation, 0);
    if (Status status = checkLoadable(operation, ref); !status) {
        return status.error();
    }
    const std::size_t first = storesInto(operation.code) ? 2 : 1;
    const Result<Type> value = listed(program, operation, first);
    if (!value) {
        return value.error();
    }
    if (first == 1) {
        return Types{*value};
    }
    if (Status status = checkStored(program, operation, *value); !status) {
        return status.error();
    }
    if (operation.code == OpCode::AddupdateScatter && ref.dtype == DType::Bool) {
        return error(operation, "adds to " + toString(ref) + "; expected numbers.");
    }
    return Types{};
}

namespace {

// What atomic_rmw and atomic_cas can change: numbers of 32 bits, and sums of halves.
Status checkAtomic(const Operation& operation, const Type& ref, bool adds, bool usesBits)
{
    if (Status status = checkLoadable(operation, ref); !status) {
        return status;
    }
    const bool halves = ref.dtype == DType::F16 || ref.dtype == DType::BF16;
    const bool whole = ref.dtype == DType::Int32 || ref.dtype == DType::UInt32;
    if (whole || (ref.dtype == DType::F32 && !usesBits) || (halves && adds)) {
        return Done{};
    }
    return error(operation, "changes " + toString(ref)
                                + "; expected int32 or uint32, f32 unless it works on bits, or f16 "
                                  "or bf16 if it adds.");
}

} // namespace

// The operands are the ref, the new elements, then index lists (if it is listed) and a mask (if it
// has one). Yields the old elements.
Result<Types> atomicRmw(const Program& program, const Operation& operation)
{
    const auto& [type, isListed] = params<AtomicParams>(operation);
    const Type& ref = operand(program, operation, 0);
    const bool usesBits =
        type == AtomicType::And || type == AtomicType::Or || type == AtomicType::Xor;
    if (Status status = checkAtomic(operation, ref, type == AtomicType::Add, usesBits); !status) {
        return status.error();
    }
    Result<Type> value = Type{ref.dtype, ref.shape, {}};
    if (isListed) {
        value = listed(program, operation, 2);
    } else if (operation.operands.size() > 3) {
        return error(operation, "takes a ref, new elements and a mask.");
    } else if (operation.operands.size() == 3) {
        if (Status status = checkMask(operation, operand(program, operation, 2), ref); !status) {
            return status.error();
        }
    }
    if (!value) {
        return value.error();
    }
    if (Status status = checkStored(program, operation, *value); !status) {
        return status.error();
    }
    return Types{*value};
}

// The operands are the ref of one element, what is expected there, and what replaces it then.
// Yields the old element.
Result<Types> atomicCas(const Program& program, const Operation& operation)
{
    const Type& ref = operand(program, operation, 0);
    if (Status status = checkAtomic(operation, ref, false, false); !status) {
        return status.error();
    }
    const Type value{ref.dtype, Shape(), {}};
    if (ref.shape.rank() > 0 || operand(program, operation, 1) != value
        || operand(program, operation, 2) != value) {
        return error(operation, "compares " + toString(ref) + " with "
                                    + toString(operand(program, operation, 1))
                                    + "; expected one element, and two values like it.");
    }
    return Types{value};
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

Result<Types> remoteRef(const Program& program, const Operation& operation)
{
    const Type& ref = operand(program, operation, 0);
    if (Status status = checkRef(operation, ref); !status) {
        return status.error();
    }
    if (*ref.space != MemorySpace::Hbm || !isInt32(operand(program, operation, 1))) {
        return error(operation, "takes " + toString(ref) + " and "
                                    + toString(operand(program, operation, 1))
                                    + "; expected a ref in HBM, and a device as an int32 scalar.");
    }
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

} // namespace pallascope::ir::type_rules
