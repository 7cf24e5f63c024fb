#include "core/cost/matrix_run.h"

namespace pallascope::cost {

namespace {

// Bits that a float needs to hold all numbers of the dtype.
int bitsOf(DType dtype)
{
    return isFloat(dtype) ? dtypeEntry(dtype).format.mantissaBits + 1 : dtypeBits(dtype);
}

// Whether numbers of one dtype are numbers of another.
bool holds(DType holder, DType dtype)
{
    if (isInteger(holder)) {
        const auto isSigned = [](DType one) { return dtypeEntry(one).kind == DTypeKind::Signed; };
        return isInteger(dtype) && isSigned(holder) == isSigned(dtype)
               && dtypeBits(dtype) <= dtypeBits(holder);
    }
    return bitsOf(dtype) <= bitsOf(holder)
           && (!isFloat(dtype)
               || dtypeEntry(dtype).format.exponentBits <= dtypeEntry(holder).format.exponentBits);
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
    const DType wider = dtypeBits(lhs) >= dtypeBits(rhs) ? lhs : rhs;
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

} // namespace pallascope::cost
