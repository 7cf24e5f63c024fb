// The operations of the IR, made from the one table in operations.inc, which says what a row needs.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace pallascope::ir {

enum class OpCode : std::uint8_t
{
#define OPERATION(code, name, least, most, types, cost, evaluation) code,
#include "core/ir/operations.inc"
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
    Layout,         // broadcast, reshape: free
    Rearrange,      // cuts and joins: free at register borders, else crosslane unit
    Crosslane,      // moves elements between lanes: crosslane unit
    Generate,       // iota, grid indices
    Dot,            // 2*M*N*K FLOPs, matrix unit
    Memory,         // get, swap: load and store units
    View,           // another way to see a ref: free
    Request,        // asks a unit, which works beside the agent: ends a segment
    Sync,           // copies and semaphores by hand: ends a segment, takes no time by itself
    Hint,           // for people and compilers: free, no value
    Control         // ends a segment
};

struct Type;
struct Program;
struct Operation;

// Types of the results of an operation whose number of operands is right (see infer.h).
using TypeRule = Result<std::vector<Type>> (*)(const Program&, const Operation&);

struct OpEntry
{
    OpCode code;
    std::string_view name;
    OpKind kind;
    int minOperands, maxOperands; // maxOperands -1: any number
    TypeRule types;
};

// Takes more than the values of its operands: no function of core/machine/ops evaluates it.
[[nodiscard]] bool isEvaluatedByEngine(OpCode code);

// Runs by itself, between segments.
[[nodiscard]] bool endsSegment(OpCode code);

// Changes the contents of the ref that is its first operand.
[[nodiscard]] bool storesInto(OpCode code);

// Whether it loads or stores elements of a ref that lists name, one index for each axis.
[[nodiscard]] bool listsElements(OpCode code);

[[nodiscard]] std::span<const OpEntry> opTable(); // indexed by OpCode
[[nodiscard]] const OpEntry& opEntry(OpCode code);
[[nodiscard]] std::string_view opName(OpCode code);
[[nodiscard]] std::optional<OpCode> opFromName(std::string_view name);

} // namespace pallascope::ir
