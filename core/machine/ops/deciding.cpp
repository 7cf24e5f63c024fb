// If one operand decides the result whatever the others are, as true decides an `or`, the result
// is defined even if the others are not. Kernels rely on it: `first
//
// (old_scratch > x)`.
#include "core/machine/ops/ops.h"

#include <algorithm>

namespace pallascope::machine::ops {

std::optional<double> decidingNumber(ir::OpCode code, DType dtype)
{
    const DTypeKind kind = dtypeEntry(dtype).kind;
    if (kind == DTypeKind::Float) {
        return std::nullopt; // a float 0 does not decide: 0 * NaN is NaN
    }
    switch (code) {
    case ir::OpCode::And:
    case ir::OpCode::ReduceAnd:
    case ir::OpCode::Mul:
        return 0;
    case ir::OpCode::Or:
    case ir::OpCode::ReduceOr: // decided by all bits set
        return kind == DTypeKind::Signed ? -1 : static_cast<double>(highestInteger(dtype));
    default:
        return std::nullopt;
    }
}

Shadow definedness(const Call& call, std::int64_t count)
{
    Shadow both = combined(call.operands, count);
    const DType dtype = call.operand(0).dtype;
    const std::optional<double> deciding =
        both.all() ? std::nullopt : decidingNumber(call.operation.code, dtype);
    const auto decides = [&](const RuntimeValue* operand) { return !operand->shadow.none(); };
    if (!deciding || std::none_of(call.operands.begin(), call.operands.end(), decides)) {
        return both;
    }
    const SharedBytes known = both.expanded(count);
    SharedBytes mask = allocateBytes(count); // a copy, because `known` may belong to an operand
    std::copy_n(known.get(), count, mask.get());
    for (const RuntimeValue* operand : call.operands) {
        if (operand->isScalar()) {
            mask[0] |= static_cast<std::byte>(operand->shadow.all() && operand->scalar == deciding);
            continue;
        }
        const SharedBytes defined = operand->shadow.expanded(count);
        for (std::int64_t i = 0; i < count; ++i) {
            mask[i] |= defined[i]
                       & static_cast<std::byte>(readElement(operand->dtype, operand->data.get(), i)
                                                == deciding);
        }
    }
    return Shadow::fromMask(std::move(mask), count);
}

} // namespace pallascope::machine::ops
