// Operations that take nothing in a segment of a GPU's kernel, because its compiler leaves them
// out.
#pragma once

#include "core/chip/chip.h"
#include "core/cost/operand_sources.h"
#include "core/ir/program.h"

#include <cstdint>
#include <map>
#include <set>

namespace pallascope::cost {

// An addition to a product that nothing else uses: the product adds to the other operand itself. A
// multiplication by one. A load from shared memory that only products use, on chips whose tensor
// core reads its operands there, and what transposes it or puts a number in the place of some of
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

    [[nodiscard]] const OperandSources& sources() const { return m_sources; }

private:
    void note(const ir::Operation& operation);
    // Whether only products use it, be it moved or multiplied by one.
    [[nodiscard]] bool isFactor(ir::ValueId value) const;
    [[nodiscard]] bool isLoneProduct(ir::ValueId value) const;
    void noteFactors(const ir::Operation& operation);

    OperandSources m_sources;
    // For each value its uses, and those by products that read shared memory.
    std::map<ir::ValueId, std::int32_t> m_uses, m_factors;
    std::set<ir::ValueId> m_products; // also those that only zeros were added to
    std::set<ir::ValueId> m_added;    // products that an addition takes
    std::set<ir::ValueId> m_left;     // operands that products read from registers
};

} // namespace pallascope::cost
