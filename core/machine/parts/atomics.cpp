#include "core/machine/parts/atomics.h"

#include "core/machine/ops/evaluate.h"

#include <array>

namespace pallascope::machine {

using ir::OpCode;

RuntimeValue picked(RuntimeValue& mask, RuntimeValue& ifFalse, RuntimeValue& ifTrue)
{
    const ir::Operation select{.code = OpCode::SelectN, .operands = std::vector<ir::ValueId>(3)};
    std::array<RuntimeValue*, 3> cases{&mask, &ifFalse, &ifTrue};
    return evaluate(select, cases, 0);
}

RuntimeValue changedBy(ir::AtomicType type, RuntimeValue& old, RuntimeValue& given)
{
    // In the order of AtomicType, whose first one only replaces.
    constexpr std::array kCodes{OpCode::Add, OpCode::Add, OpCode::Max, OpCode::Min,
                                OpCode::And, OpCode::Or,  OpCode::Xor};
    if (type == ir::AtomicType::Xchg) {
        return given;
    }
    std::array<RuntimeValue*, 2> terms{&old, &given};
    return evaluate({.code = kCodes[static_cast<std::size_t>(type)]}, terms, 0);
}

RuntimeValue swappedIf(RuntimeValue& old, RuntimeValue& expected, RuntimeValue& given)
{
    std::array<RuntimeValue*, 2> compared{&old, &expected};
    RuntimeValue same = evaluate({.code = OpCode::Eq}, compared, 0);
    return picked(same, old, given);
}

} // namespace pallascope::machine
