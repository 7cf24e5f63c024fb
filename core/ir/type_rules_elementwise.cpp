#include "core/base/check.h"
#include "core/ir/type_rules.h"

#include <algorithm>

namespace pallascope::ir::type_rules {

namespace {

using Accepts = bool (*)(DType);

bool any(DType)
{
    return true;
}

bool isNumber(DType dtype)
{
    return dtype != DType::Bool;
}

bool isBits(DType dtype)
{
    return !isFloat(dtype);
}

Result<Types> elementwise(const Program& program, const Operation& operation, Accepts accepts,
                          const std::string& what)
{
    const Type& first = operand(program, operation, 0);
    for (std::size_t i = 0; i < operation.operands.size(); ++i) {
        const Type& type = operand(program, operation, i);
        if (type != first) {
            return error(operation, "takes operands of one type, not " + toString(first) + " and "
                                        + toString(type) + ".");
        }
    }
    if (first.isRef() || !accepts(first.dtype)) {
        return error(operation, "takes " + what + ", not " + toString(first) + ".");
    }
    Type result = first;
    if (opEntry(operation.code).kind == OpKind::Comparison) {
        result.dtype = DType::Bool;
    }
    return Types{result};
}

Status checkUnsigned32(const Operation& operation, const Type& type)
{
    return type.dtype == DType::UInt32
               ? Status(Done{})
               : Status(error(operation, "takes bits as uint32, not " + toString(type) + "."));
}

// How many elements of `narrow` fit into one of `wide`; 0 if that is not a whole number.
int packing(DType wide, DType narrow)
{
    return dtypeBits(wide) % dtypeBits(narrow) == 0 ? dtypeBits(wide) / dtypeBits(narrow) : 0;
}

std::string named(DType dtype)
{
    return std::string(dtypeName(dtype));
}

DType unsignedOfWidth(DType dtype)
{
    for (const DType candidate : {DType::UInt2, DType::UInt4, DType::UInt8, DType::UInt16}) {
        if (dtypeBits(candidate) == dtypeBits(dtype)) {
            return candidate;
        }
    }
    return DType::UInt32;
}

} // namespace

Result<Types> anything(const Program& program, const Operation& operation)
{
    return elementwise(program, operation, any, "values");
}

Result<Types> numbers(const Program& program, const Operation& operation)
{
    return elementwise(program, operation, isNumber, "numbers");
}

Result<Types> floats(const Program& program, const Operation& operation)
{
    return elementwise(program, operation, isFloat, "floating-point values");
}

Result<Types> integers(const Program& program, const Operation& operation)
{
    return elementwise(program, operation, isInteger, "integers");
}

Result<Types> bits(const Program& program, const Operation& operation)
{
    return elementwise(program, operation, isBits, "integers or bools");
}

Result<Types> rounding(const Program& program, const Operation& operation)
{
    (void)params<RoundParams>(operation);
    return floats(program, operation);
}

Result<Types> integerPower(const Program& program, const Operation& operation)
{
    (void)params<IntegerPowParams>(operation);
    return numbers(program, operation);
}

Result<Types> reciprocal(const Program& program, const Operation& operation)
{
    (void)params<ReciprocalParams>(operation);
    return floats(program, operation);
}

Result<Types> power(const Program& program, const Operation& operation)
{
    const Type &base = operand(program, operation, 0), &exponent = operand(program, operation, 1);
    const bool typed = exponent.dtype == base.dtype || exponent.dtype == DType::Int32;
    if (!isFloat(base.dtype) || !typed || base.shape != exponent.shape) {
        return error(operation, "takes floating-point values, and as exponents such values or "
                                "int32 of the same shape, not "
                                    + toString(base) + " and " + toString(exponent) + ".");
    }
    return Types{base};
}

Result<Types> select(const Program& program, const Operation& operation)
{
    if (operation.operands.size() < 2) {
        return error(operation, "takes a mask and one or two cases.");
    }
    const Type &mask = operand(program, operation, 0), &first = operand(program, operation, 1);
    const bool chooses = mask.dtype == DType::Bool || mask.dtype == DType::Int32;
    if (!chooses || mask.isRef() || (mask.shape != first.shape && !mask.isScalar())) {
        return error(operation, "takes a bool mask of shape " + toString(first.shape) + ", not "
                                    + toString(mask) + ".");
    }
    if (operand(program, operation, operation.operands.size() - 1) != first) {
        return error(operation, "takes operands of one type, not " + toString(first) + " and "
                                    + toString(operand(program, operation, 2)) + ".");
    }
    return Types{first};
}

Result<Types> clamp(const Program& program, const Operation& operation)
{
    const Type& value = operand(program, operation, 1);
    for (const std::size_t bound : {std::size_t{0}, std::size_t{2}}) {
        const Type& type = operand(program, operation, bound);
        if (type != value && (type.dtype != value.dtype || !type.isScalar())) {
            return error(operation, "takes bounds of its value's type, or scalars: not "
                                        + toString(type) + " for " + toString(value) + ".");
        }
    }
    return Types{value};
}

Result<Types> multipleOf(const Program& program, const Operation& operation)
{
    if (params<MultipleOfParams>(operation).multiple < 1) {
        return error(operation, "promises a multiple of "
                                    + std::to_string(params<MultipleOfParams>(operation).multiple)
                                    + "; expected 1 or more.");
    }
    return elementwise(program, operation, isInteger, "integers");
}

Result<Types> threefry(const Program& program, const Operation& operation)
{
    if (const Status checked = checkUnsigned32(operation, operand(program, operation, 0));
        !checked) {
        return checked.error();
    }
    Result<Types> one = elementwise(program, operation, any, "values");
    if (!one) {
        return one;
    }
    return Types{one->front(), one->front()};
}

Result<Types> randomBits(const Program& program, const Operation& operation)
{
    for (std::size_t i = 0; i < operation.operands.size(); ++i) {
        const Type& word = operand(program, operation, i);
        if (word != Type{DType::UInt32, Shape{}, {}}) {
            return error(operation, "takes a key of two words and how many bits were drawn, each "
                                    "u32[], not "
                                        + toString(word) + ".");
        }
    }
    const Shape& shape = params<ShapeParams>(operation).shape;
    return Types{{DType::UInt32, shape, {}}};
}

Result<Types> newDType(const Program& program, const Operation& operation)
{
    Type result = operand(program, operation, 0);
    const auto& [dtype, saturates] = params<DTypeParams>(operation);
    if (saturates && !(isFloat(dtype) && dtypeBits(dtype) == 8)) {
        return error(operation, "saturates as " + named(dtype) + "; expected a float of 8 bits.");
    }
    result.dtype = dtype;
    return Types{result};
}

Result<Types> sameWidth(const Program& program, const Operation& operation)
{
    Type result = operand(program, operation, 0);
    const DType dtype = params<DTypeParams>(operation).dtype;
    const bool isBool = dtype == DType::Bool || result.dtype == DType::Bool;
    if (isBool != (dtype == result.dtype) && isBool) {
        return error(operation, "does not reinterpret bools (" + toString(result) + " as "
                                    + named(dtype) + ").");
    }
    if (dtypeBits(dtype) != dtypeBits(result.dtype)) {
        return error(operation, "keeps the width of an element: " + toString(result) + " as "
                                    + named(dtype) + " is another.");
    }
    result.dtype = dtype;
    return Types{result};
}

Result<Types> packedRows(const Program& program, const Operation& operation)
{
    Type result = operand(program, operation, 0);
    const DType dtype = params<DTypeParams>(operation).dtype;
    const std::size_t rank = result.shape.rank();
    if (rank < 2 || dtype == DType::Bool || result.dtype == DType::Bool) {
        return error(operation, "takes numbers of two axes or more, not " + toString(result)
                                    + " as " + named(dtype) + ".");
    }
    const Extent rowBits = result.shape[rank - 2] * dtypeBits(result.dtype);
    if (rowBits % dtypeBits(dtype) != 0) {
        return error(operation, "cannot make whole rows of " + named(dtype) + " from "
                                    + toString(result) + ".");
    }
    result.shape[rank - 2] = rowBits / dtypeBits(dtype);
    result.dtype = dtype;
    return Types{result};
}

Result<Types> stochasticRound(const Program& program, const Operation& operation)
{
    const Type &value = operand(program, operation, 0), &random = operand(program, operation, 1);
    if (const Status checked = checkUnsigned32(operation, random); !checked) {
        return checked.error();
    }
    const DType dtype = params<DTypeParams>(operation).dtype;
    const bool known = dtype == DType::BF16 || dtype == DType::F8E5M2 || dtype == DType::F8E4M3FN
                       || dtype == DType::F8E4M3B11FNUZ;
    if (value.dtype != DType::F32 || value.shape != random.shape || !known) {
        return error(operation, "rounds f32 to bf16, f8e5m2, f8e4m3fn or f8e4m3b11fnuz, with one "
                                "uint32 per element; not "
                                    + toString(value) + " to " + named(dtype) + " with "
                                    + toString(random) + ".");
    }
    return Types{{dtype, value.shape, {}}};
}

Result<Types> pack(const Program& program, const Operation& operation)
{
    const Type& first = operand(program, operation, 0);
    const DType packed = params<DTypeParams>(operation).dtype;
    const bool pair = (first.dtype == DType::F32 && packed == DType::BF16)
                      || (isInteger(first.dtype) && isInteger(packed));
    if (!pair || packing(first.dtype, packed) != static_cast<int>(operation.operands.size())) {
        return error(operation, "packs two f32 as bf16, or as many integers as fit their own "
                                "width; not "
                                    + std::to_string(operation.operands.size()) + " "
                                    + toString(first) + " as " + named(packed) + ".");
    }
    Result<Types> one = elementwise(program, operation, any, "values");
    if (one) {
        one->front().dtype = unsignedOfWidth(first.dtype);
    }
    return one;
}

Result<Types> unpack(const Program& program, const Operation& operation)
{
    const auto& [index, packed, unpacked] = params<UnpackParams>(operation);
    const Type& value = operand(program, operation, 0);
    const int count = packing(unpacked, packed);
    if (dtypeBits(value.dtype) != dtypeBits(unpacked) || isFloat(value.dtype)
        || isFloat(packed) != isFloat(unpacked) || index < 0 || index >= count) {
        return error(operation, "cannot take " + named(packed) + " number " + std::to_string(index)
                                    + " out of " + toString(value) + " as " + named(unpacked)
                                    + ".");
    }
    return Types{{unpacked, value.shape, {}}};
}

} // namespace pallascope::ir::type_rules
