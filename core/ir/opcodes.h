// The operations of the IR, generated from the one table in operations.inc, which explains its
// columns.
#pragma once

#include "core/base/result.h"
#include "core/ir/operand_roles.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace pallascope::ir {

enum class OpCode : std::uint8_t
{
#define OPERATION(code, name, least, most, roles, types, cost, evaluation) code,
#include "core/ir/operations.inc"
};

// The kind of work that an operation is: it decides which units it uses and whether it counts
// FLOPs.
enum class OpKind : std::uint8_t
{
    Elementwise,    // one FLOP per element, vector unit
    Transcendental, // counted apart from other FLOPs, transcendental unit
    Comparison,     // one FLOP per element, yields bool
    Convert,        // moves bits through the vector unit, no FLOPs
    Select,         // moves bits through the vector unit, no FLOPs
    Reduction,      // one FLOP per input element
    Layout,         // broadcast, reshape: free
    Rearrange,      // cuts and joins: free at register boundaries, otherwise crosslane unit
    Crosslane,      // moves elements between lanes: crosslane unit
    Generate,       // iota, grid indices
    Dot,            // 2*M*N*K FLOPs, matrix unit
    Memory,         // get, swap: load and store units
    View,           // a ref to the same memory: free
    Request,        // asks a unit that works beside the agent: ends a segment
    Sync,           // manual DMA and semaphores: ends a segment, takes no time by itself
    Hint,           // for people and compilers: free, has no value
    Control         // ends a segment
};

struct Type;
struct Program;

// The types of an operation's results. The caller has checked the number of operands (see infer.h).
using TypeRule = Result<std::vector<Type>> (*)(const Program&, const Operation&);

struct OpEntry
{
    OpCode code;
    std::string_view name;
    OpKind kind;
    int minOperands, maxOperands; // maxOperands -1: any number
    OperandRoles roles;
    TypeRule types;
};

// Whether the operation needs more than the values of its operands. Then the engine evaluates it
// and core/machine/ops has no function for it.
[[nodiscard]] bool isEvaluatedByEngine(OpCode code);

// Whether the operation runs by itself, between two segments.
[[nodiscard]] bool endsSegment(OpCode code);

// Whether it is a store: one that changes the contents of the ref that is its first operand.
[[nodiscard]] bool storesInto(OpCode code);

// Whether it loads or stores elements of a ref at listed indices, with one list for each axis.
[[nodiscard]] bool listsElements(OpCode code);
// Whether it reads and writes elements in one go, so that others may do so at the same time.
[[nodiscard]] bool isAtomic(OpCode code);
// Whether a mask may say which elements it accesses.
[[nodiscard]] bool isMasked(OpCode code);

// Whether it starts a copy between two refs that runs beside the agent.
[[nodiscard]] bool startsCopy(OpCode code);

[[nodiscard]] std::span<const OpEntry> opTable(); // indexed by OpCode
[[nodiscard]] const OpEntry& opEntry(OpCode code);
[[nodiscard]] std::string_view opName(OpCode code);
[[nodiscard]] std::optional<OpCode> opFromName(std::string_view name);

} // namespace pallascope::ir
