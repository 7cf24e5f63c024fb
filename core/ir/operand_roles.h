// What an operation does with each of its operands: which refs it reads and which it writes, which
// operands say where, and which are values. Its row in operations.inc says so; whoever asks what an
// operation touches reads the roles and knows no opcode.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pallascope::ir {

enum class OperandRole : std::uint8_t
{
    Value,   // it is computed with, or stored
    Address, // it says which, where, when or how much: an index, a semaphore, an amount, a device
    Read,    // a ref whose contents are read
    Written, // a ref whose contents change, whatever they were
    Updated, // a ref whose contents are read and change
    Viewed,  // a ref that the result is a view of
    Sized    // a ref of which only the size matters
};

[[nodiscard]] constexpr bool isRead(OperandRole role)
{
    return role == OperandRole::Read || role == OperandRole::Updated;
}

[[nodiscard]] constexpr bool isWritten(OperandRole role)
{
    return role == OperandRole::Written || role == OperandRole::Updated;
}

struct Operation;

// The column of the table.
struct OperandRoles
{
    using Rule = OperandRole (*)(const Operation&, std::size_t operand);

    static constexpr std::size_t kMost = 4;

    std::array<OperandRole, kMost> inOrder{}; // the last of a row fills what is left
    Rule rule = nullptr;                      // where parameters decide
};

[[nodiscard]] constexpr OperandRole roleAt(const OperandRoles& roles, std::size_t operand)
{
    return roles.inOrder[std::min(operand, OperandRoles::kMost - 1)];
}

[[nodiscard]] OperandRole roleOf(const Operation& operation, std::size_t operand);

// Whether it changes the contents of this operand, a ref.
[[nodiscard]] inline bool writes(const Operation& operation, std::size_t operand)
{
    return isWritten(roleOf(operation, operand));
}

} // namespace pallascope::ir
