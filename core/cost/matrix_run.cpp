// Chooses the dtype and the number of passes of a product from the rates of a matrix unit.
#include "core/cost/matrix_run.h"

namespace pallascope::cost {

namespace {

// How many bits of mantissa a float needs to hold all numbers of the dtype.
int bitsOf(DType dtype)
{
    return isFloat(dtype) ? dtypeEntry(dtype).format.mantissaBits + 1 : dtypeBits(dtype);
}

// Whether `holder` represents every number of `dtype`.
bool holds(DType holder, DType dtype)
{
    if (isInteger(holder)) {
        const auto isSigned = [](DType one) { return dtypeEntry(one).kind == DTypeKind::Signed; };
        return isInteger(dtype) && isSigned(holder) == isSigned(dtype)
               && dtypeBits(dtype) <= dtypeBits(holder);
    }
    if (!isFloat(dtype)) {
        return bitsOf(dtype) <= bitsOf(holder);
    }
    const FloatFormat &inner = dtypeEntry(dtype).format, &outer = dtypeEntry(holder).format;
    const auto top = [](const FloatFormat& format) {
        return (1 << format.exponentBits) - format.bias;
    };
    return bitsOf(dtype) <= bitsOf(holder) && inner.bias <= outer.bias && top(inner) <= top(outer);
}

// The wider dtype. If both are as wide, a float before an integer, then the one with more bits for
// its numbers.
DType widerOf(DType lhs, DType rhs)
{
    if (dtypeBits(lhs) != dtypeBits(rhs)) {
        return dtypeBits(lhs) > dtypeBits(rhs) ? lhs : rhs;
    }
    if (isFloat(lhs) != isFloat(rhs)) {
        return isFloat(lhs) ? lhs : rhs;
    }
    return bitsOf(lhs) >= bitsOf(rhs) ? lhs : rhs;
}

std::int32_t passesOf(ir::DotPrecision precision)
{
    switch (precision) {
    case ir::DotPrecision::Default:
        return 1;
    case ir::DotPrecision::High:
        return 3;
    case ir::DotPrecision::Highest:
        return 6;
    }
    return 1;
}

} // namespace

std::optional<MatrixRun> matrixRun(const chip::Unit& unit, DType lhs, DType rhs,
                                   ir::DotPrecision precision)
{
    const DType wider = widerOf(lhs, rhs);
    if (unit.matrixRates.contains(wider)) {
        return MatrixRun{wider, 1};
    }
    if ((!isFloat(wider) && !isInteger(wider)) || bitsOf(wider) > bitsOf(DType::F32)) {
        return std::nullopt;
    }
    for (const DType narrow : {DType::Int4, DType::UInt4, DType::Int8, DType::UInt8,
                               DType::F8E4M3FN, DType::F8E5M2, DType::BF16}) {
        if (unit.matrixRates.contains(narrow) && isInteger(narrow) == isInteger(wider)
            && holds(narrow, wider)) {
            return MatrixRun{narrow, 1};
        }
    }
    if (!unit.matrixRates.contains(DType::BF16)) {
        return std::nullopt;
    }
    return MatrixRun{DType::BF16, holds(DType::BF16, wider) ? 1 : passesOf(precision)};
}

std::optional<MatrixRun> matrixRun(const chip::Unit& unit, const ir::Program& program,
                                   const ir::Operation& operation)
{
    const std::size_t first = ir::opEntry(operation.code).kind == ir::OpKind::Request ? 1 : 0;
    const auto* dot = std::get_if<ir::DotParams>(&operation.params);
    return matrixRun(unit, program.type(operation.operands[first]).dtype,
                     program.type(operation.operands[first + 1]).dtype,
                     dot == nullptr ? ir::DotPrecision::Default : dot->precision);
}

bool isFullPrecision(const chip::Chip& chip, const ir::Program& program,
                     const ir::Operation& operation)
{
    const auto* dot = std::get_if<ir::DotParams>(&operation.params);
    return chip.multiprocessor && operation.code == ir::OpCode::DotGeneral && dot != nullptr
           && dot->precision == ir::DotPrecision::Highest
           && widerOf(program.type(operation.operands[0]).dtype,
                      program.type(operation.operands[1]).dtype)
                  == DType::F32;
}

} // namespace pallascope::cost
