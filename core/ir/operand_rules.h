// The words of operations.inc for the roles of operands, and the rules of operations whose
// parameters decide what becomes of an operand.
#pragma once

#include "core/ir/operand_roles.h"

#include <concepts>

namespace pallascope::ir::operand_rules {

using enum OperandRole;

inline constexpr OperandRoles none{};

[[nodiscard]] constexpr OperandRoles roles(OperandRole first,
                                           std::same_as<OperandRole> auto... others)
{
    const std::array row{first, others...};
    static_assert(std::size(row) <= OperandRoles::kMost);
    OperandRoles made;
    made.inOrder.fill(row.back());
    std::copy(row.begin(), row.end(), made.inOrder.begin());
    return made;
}

[[nodiscard]] constexpr OperandRoles rolesBy(OperandRoles::Rule rule)
{
    return {.rule = rule};
}

[[nodiscard]] OperandRole copied(const Operation&, std::size_t operand);        // dma_start
[[nodiscard]] OperandRole accumulated(const Operation&, std::size_t operand);   // matmul_acc_lhs
[[nodiscard]] OperandRole queued(const Operation&, std::size_t operand);        // matmul_lhs_fifo
[[nodiscard]] OperandRole multiplied(const Operation&, std::size_t operand);    // wgmma
[[nodiscard]] OperandRole tensorProduct(const Operation&, std::size_t operand); // tcgen05_mma
[[nodiscard]] OperandRole claimed(const Operation&, std::size_t operand);   // try_cluster_cancel
[[nodiscard]] OperandRole pipelined(const Operation&, std::size_t operand); // by block specs

} // namespace pallascope::ir::operand_rules
