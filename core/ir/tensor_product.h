// Where the operands of a tcgen05_mma stand: the sum, both factors, and whether the product adds to
// the sum; for a pair of blocks the sum and the factors of the second one; then, if the factors
// have scales, those of the left and of the right factor, block by block.
#pragma once

#include "core/ir/program.h"

#include <cstddef>
#include <optional>

namespace pallascope::ir::tensor_product {

inline constexpr std::size_t kSum = 0, kLhs = 1, kRhs = 2, kAccumulates = 3, kSecond = 4;
inline constexpr std::size_t kOfOne = 4, kOfPair = 7, kScalesOfBlock = 2;

[[nodiscard]] inline bool isOfPair(const Operation& product)
{
    return product.operands.size() >= kOfPair;
}

// Whether it has as many operands as one of these products.
[[nodiscard]] inline bool hasOperands(const Operation& product)
{
    const std::size_t count = product.operands.size();
    return count == kOfOne || count == kOfOne + kScalesOfBlock || count == kOfPair
           || count == kOfPair + 2 * kScalesOfBlock;
}

// The first operand that is a scale; none if the factors have no scales.
[[nodiscard]] inline std::optional<std::size_t> firstScale(const Operation& product)
{
    const std::size_t factors = isOfPair(product) ? kOfPair : kOfOne;
    return product.operands.size() > factors ? std::optional(factors) : std::nullopt;
}

} // namespace pallascope::ir::tensor_product
