#include "core/ir/opcodes.h"

#include "core/base/check.h"

#include <array>

namespace pallascope::ir {

namespace {

using enum OpKind;

constexpr std::array kTable{
    OpEntry{OpCode::Neg, "neg", Elementwise, 1, 1},
    OpEntry{OpCode::Abs, "abs", Elementwise, 1, 1},
    OpEntry{OpCode::Sign, "sign", Elementwise, 1, 1},
    OpEntry{OpCode::Floor, "floor", Elementwise, 1, 1},
    OpEntry{OpCode::Ceil, "ceil", Elementwise, 1, 1},
    OpEntry{OpCode::Not, "not", Elementwise, 1, 1},
    OpEntry{OpCode::IsFinite, "is_finite", Comparison, 1, 1},
    OpEntry{OpCode::Square, "square", Elementwise, 1, 1},
    OpEntry{OpCode::Exp, "exp", Transcendental, 1, 1},
    OpEntry{OpCode::Exp2, "exp2", Transcendental, 1, 1},
    OpEntry{OpCode::Log, "log", Transcendental, 1, 1},
    OpEntry{OpCode::Log1p, "log1p", Transcendental, 1, 1},
    OpEntry{OpCode::Tanh, "tanh", Transcendental, 1, 1},
    OpEntry{OpCode::Logistic, "logistic", Transcendental, 1, 1},
    OpEntry{OpCode::Sqrt, "sqrt", Transcendental, 1, 1},
    OpEntry{OpCode::Rsqrt, "rsqrt", Transcendental, 1, 1},
    OpEntry{OpCode::Sin, "sin", Transcendental, 1, 1},
    OpEntry{OpCode::Cos, "cos", Transcendental, 1, 1},
    OpEntry{OpCode::Add, "add", Elementwise, 2, 2},
    OpEntry{OpCode::Sub, "sub", Elementwise, 2, 2},
    OpEntry{OpCode::Mul, "mul", Elementwise, 2, 2},
    OpEntry{OpCode::Div, "div", Elementwise, 2, 2},
    OpEntry{OpCode::Rem, "rem", Elementwise, 2, 2},
    OpEntry{OpCode::Max, "max", Elementwise, 2, 2},
    OpEntry{OpCode::Min, "min", Elementwise, 2, 2},
    OpEntry{OpCode::Pow, "pow", Transcendental, 2, 2},
    OpEntry{OpCode::And, "and", Elementwise, 2, 2},
    OpEntry{OpCode::Or, "or", Elementwise, 2, 2},
    OpEntry{OpCode::Xor, "xor", Elementwise, 2, 2},
    OpEntry{OpCode::Eq, "eq", Comparison, 2, 2},
    OpEntry{OpCode::Ne, "ne", Comparison, 2, 2},
    OpEntry{OpCode::Lt, "lt", Comparison, 2, 2},
    OpEntry{OpCode::Le, "le", Comparison, 2, 2},
    OpEntry{OpCode::Gt, "gt", Comparison, 2, 2},
    OpEntry{OpCode::Ge, "ge", Comparison, 2, 2},
    OpEntry{OpCode::SelectN, "select_n", Select, 3, 3},
    OpEntry{OpCode::Clamp, "clamp", Elementwise, 3, 3},
    OpEntry{OpCode::ConvertElementType, "convert_element_type", Convert, 1, 1},
    OpEntry{OpCode::ReduceSum, "reduce_sum", Reduction, 1, 1},
    OpEntry{OpCode::ReduceMax, "reduce_max", Reduction, 1, 1},
    OpEntry{OpCode::ReduceMin, "reduce_min", Reduction, 1, 1},
    OpEntry{OpCode::ReduceAnd, "reduce_and", Reduction, 1, 1},
    OpEntry{OpCode::ReduceOr, "reduce_or", Reduction, 1, 1},
    OpEntry{OpCode::BroadcastInDim, "broadcast_in_dim", Layout, 1, 1},
    OpEntry{OpCode::Reshape, "reshape", Layout, 1, 1},
    OpEntry{OpCode::Squeeze, "squeeze", Layout, 1, 1},
    OpEntry{OpCode::Transpose, "transpose", Layout, 1, 1},
    OpEntry{OpCode::Iota, "iota", Generate, 0, 0},
    OpEntry{OpCode::DotGeneral, "dot_general", Dot, 2, 2},
    OpEntry{OpCode::ProgramId, "program_id", Generate, 0, 0},
    OpEntry{OpCode::NumPrograms, "num_programs", Generate, 0, 0},
    OpEntry{OpCode::Get, "get", Memory, 1, -1},
    OpEntry{OpCode::Swap, "swap", Memory, 2, -1},
    OpEntry{OpCode::Cond, "cond", Control, 1, -1},
    OpEntry{OpCode::While, "while", Control, 0, -1},
    OpEntry{OpCode::Scan, "scan", Control, 0, -1},
    OpEntry{OpCode::Pipeline, "pipeline", Control, 0, -1},
    OpEntry{OpCode::RunScoped, "run_scoped", Control, 0, 0},
};

constexpr bool tableIsInOrder()
{
    for (std::size_t i = 0; i < kTable.size(); ++i) {
        if (static_cast<std::size_t>(kTable[i].code) != i) {
            return false;
        }
    }
    return kTable.size() == static_cast<std::size_t>(OpCode::RunScoped) + 1;
}

static_assert(tableIsInOrder(), "the table is indexed by OpCode");

} // namespace

std::span<const OpEntry> opTable()
{
    return kTable;
}

const OpEntry& opEntry(OpCode code)
{
    const auto index = static_cast<std::size_t>(code);
    PALLASCOPE_CHECK(index < kTable.size());
    return kTable[index];
}

std::string_view opName(OpCode code)
{
    return opEntry(code).name;
}

std::optional<OpCode> opFromName(std::string_view name)
{
    for (const OpEntry& entry : kTable) {
        if (entry.name == name) {
            return entry.code;
        }
    }
    return std::nullopt;
}

} // namespace pallascope::ir
