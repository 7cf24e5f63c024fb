#include "core/machine/evaluate.h"

#include "core/base/check.h"
#include "core/machine/ops/ops.h"

namespace pallascope::machine {

namespace ops {

RuntimeValue engine(const Call&)
{
    PALLASCOPE_CHECK(false && "the engine evaluates the grid, memory and control");
}

} // namespace ops

namespace {

using Evaluate = RuntimeValue (*)(const ops::Call&);

constexpr Evaluate kEvaluations[] = {
#define OPERATION(code, name, least, most, types, cost, evaluation) ops::evaluation,
#include "core/ir/operations.inc"
};

} // namespace

RuntimeValue evaluate(const ir::Operation& operation, std::span<RuntimeValue* const> operands,
                      std::uint32_t dying, std::size_t result)
{
    for (const RuntimeValue* operand : operands) {
        PALLASCOPE_CHECK(operand->pitch == 0 || operation.code == ir::OpCode::DotGeneral);
    }
    return kEvaluations[static_cast<std::size_t>(operation.code)](
        {operation, operands, dying, result});
}

} // namespace pallascope::machine
