// Operations that take nothing in a segment of a GPU's kernel, because its compiler leaves them
// out.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <map>
#include <set>
#include <span>

namespace pallascope::cost {

// An addition to a product that nothing else uses: the product adds to the other operand itself. A
// multiplication by one. A load from shared memory that only products use, on chips whose tensor
// core reads its operands there.
class LeftOut
{
public:
    LeftOut(const ir::Program& program, std::span<const ir::Operation* const> operations,
            const chip::Chip& chip);

    [[nodiscard]] bool has(const ir::Operation& operation) const;

private:
    // Whether only products use it, be it moved or multiplied by one.
    [[nodiscard]] bool isFactor(ir::ValueId value) const;
    [[nodiscard]] bool isLoneProduct(ir::ValueId value) const;
    [[nodiscard]] bool isByOne(const ir::Operation& operation) const;
    void noteFactors(const ir::Operation& operation);

    const ir::Program& m_program;
    bool m_readsShared; // the tensor core reads operands from shared memory
    std::map<ir::ValueId, std::int32_t> m_uses, m_factors; // uses; those by products
    std::set<ir::ValueId> m_products, m_ones;
};

} // namespace pallascope::cost
