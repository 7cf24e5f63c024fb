// Operations that take nothing in a segment of a GPU's kernel, because its compiler leaves them
// out.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace pallascope::cost {

// An addition to a product that nothing else uses: the product adds to the other operand itself. A
// multiplication by one. A load from shared memory that only products use, on chips whose tensor
// core reads its operands there, and what arranges it anew or puts a number in the place of some of
// its elements: Triton's copies into shared memory do the latter.
class LeftOut
{
public:
    // Both outlive it.
    LeftOut(const ir::Program& program, const chip::Chip& chip);

    [[nodiscard]] bool has(const ir::Operation& operation) const;

    // Whether its result takes no registers of its own: it is left out, a product that adds to what
    // there is, or an operand that products read from shared memory. The sum of an addition that is
    // left out takes them.
    [[nodiscard]] bool isNotHeld(const ir::Operation& operation) const;

    // Whether the product reads its left operand from registers: operations beside it make it.
    [[nodiscard]] bool readsRegisters(const ir::Operation& product) const;

    // Whether it is loaded from shared memory.
    [[nodiscard]] bool isLoad(ir::ValueId value) const { return m_loads.contains(value); }

    // Whether the tensor core reads operands of this product from shared memory.
    [[nodiscard]] bool readsShared(const ir::Operation& product) const;
    // Where the elements come from, if they are only arranged anew or masked: otherwise the value
    // itself.
    [[nodiscard]] ir::ValueId moved(ir::ValueId value) const;

private:
    void note(const ir::Region& region, std::vector<const ir::Operation*>& all);
    void note(const ir::Operation& operation);
    void noteSumWithZero(const ir::Operation& sum);
    // Whether only products use it, be it moved or multiplied by one.
    [[nodiscard]] bool isFactor(ir::ValueId value) const;
    [[nodiscard]] bool isLoneProduct(ir::ValueId value) const;
    [[nodiscard]] bool isByOne(const ir::Operation& operation) const;
    [[nodiscard]] bool isMaskedLoad(const ir::Operation& operation) const;
    void noteFactors(const ir::Operation& operation);

    const ir::Program& m_program;
    const chip::Chip& m_chip;
    // For each value its uses, and those by products that read shared memory.
    std::map<ir::ValueId, std::int32_t> m_uses, m_factors;
    std::set<ir::ValueId> m_products, m_ones, m_zeros, m_loads, m_numbers, m_accumulated,
        m_computed, m_leftOperands;
    std::map<ir::ValueId, const ir::Region*> m_regions; // that make them
    std::map<ir::ValueId, ir::ValueId> m_moved;         // by what is arranged anew: from what
};

} // namespace pallascope::cost
