// The operations of the IR in one table: the jaxpr's name, how many operands, what kind of work.
// A new operation is a row here, a type rule in infer.cpp and an evaluation in machine/evaluate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace pallascope::ir {

enum class OpCode : std::uint8_t
{
    // one value in
    Neg,
    Abs,
    Sign,
    Floor,
    Ceil,
    Not,
    IsFinite,
    Square,
    Exp,
    Exp2,
    Log,
    Log1p,
    Tanh,
    Logistic,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    // two values in
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Max,
    Min,
    Pow,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    // more
    SelectN,
    Clamp,
    ConvertElementType,
    ReduceSum,
    ReduceMax,
    ReduceMin,
    ReduceAnd,
    ReduceOr,
    BroadcastInDim,
    Reshape,
    Squeeze,
    Transpose,
    Iota,
    DotGeneral,
    ProgramId,
    NumPrograms,
    Get,
    Swap,
    Cond,
    While,
    Scan,
    Pipeline,
    RunScoped
};

// What kind of work an operation is: what units it uses and whether it counts FLOPs.
enum class OpKind : std::uint8_t
{
    Elementwise,    // one FLOP per element, vector unit
    Transcendental, // counted apart, transcendental unit
    Comparison,     // one FLOP per element, yields bool
    Convert,        // moves bits through the vector unit, no FLOPs
    Select,         // likewise
    Reduction,      // one FLOP per input element
    Layout,         // broadcast, reshape: free; transpose: crosslane unit
    Generate,       // iota, grid indices
    Dot,            // 2*M*N*K FLOPs, matrix unit
    Memory,         // get, swap: load and store units
    Control         // ends a segment
};

struct OpEntry
{
    OpCode code;
    std::string_view name;
    OpKind kind;
    int minOperands, maxOperands; // maxOperands -1: any number
};

[[nodiscard]] std::span<const OpEntry> opTable(); // indexed by OpCode
[[nodiscard]] const OpEntry& opEntry(OpCode code);
[[nodiscard]] std::string_view opName(OpCode code);
[[nodiscard]] std::optional<OpCode> opFromName(std::string_view name);

} // namespace pallascope::ir
