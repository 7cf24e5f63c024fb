// Where the operands of products come from in kernels that JAX gives to Triton, and so where the
// tensor core reads them.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace pallascope::cost {

class OperandSources
{
public:
    // Both outlive it.
    OperandSources(const ir::Program& program, const chip::Chip& chip);

    // Whether Triton makes wgmma or tcgen05 of this product, whose operands the tensor core reads
    // from shared memory by itself.
    [[nodiscard]] bool readsShared(const ir::Operation& product) const;
    // Whether such a product reads its left operand from registers: operations beside it make it.
    [[nodiscard]] bool readsRegisters(const ir::Operation& product) const;

    enum class Chained : std::uint8_t
    {
        No,
        Rows,
        Columns
    };

    // If other products of the same region depend on this one, or it on them, or all on the same,
    // Triton gives each warp rows of its own of all their results; or columns, if the first of
    // these results has more columns than rows.
    [[nodiscard]] Chained chained(const ir::Operation& product) const
    {
        const auto found = m_chained.find(product.results[0]);
        return found == m_chained.end() ? Chained::No : found->second;
    }

    // From which value the elements come, if they are only reshaped, transposed, masked or
    // multiplied by one.
    [[nodiscard]] std::optional<ir::ValueId> movedFrom(ir::ValueId value) const;
    // The first of the values that they come from; the value itself if there is none.
    [[nodiscard]] ir::ValueId moved(ir::ValueId value) const;

    // Whether a transpose is among what its elements go through from there.
    [[nodiscard]] bool isTransposed(ir::ValueId value) const;

    // Whether it is loaded from GMEM, and a product of Triton's reads it from registers, moved or
    // as it is.
    [[nodiscard]] bool isLoadedFactor(ir::ValueId value) const
    {
        return m_farLoads.contains(value) && m_factors.contains(value);
    }

    // Whether it is loaded from shared memory.
    [[nodiscard]] bool isLoad(ir::ValueId value) const { return m_loads.contains(value); }

    // Whether arithmetic makes it, from values in registers.
    [[nodiscard]] bool isComputed(ir::ValueId value) const { return m_computed.contains(value); }

    // Whether an operation of the region itself makes it.
    [[nodiscard]] bool isMadeIn(ir::ValueId value, const ir::Region& region) const;

    // Whether each element is the number 0.
    [[nodiscard]] bool isZero(ir::ValueId value) const { return isNumber(value, 0); }

    // Whether it multiplies by the number 1.
    [[nodiscard]] bool isByOne(const ir::Operation& operation) const;
    // Whether a number takes the place of some elements of a load from shared memory.
    [[nodiscard]] bool isMaskedLoad(const ir::Operation& operation) const;

private:
    // `tritonWarps` of the core_map around it; 0 if Triton does not compile it.
    void note(const ir::Region& region, std::int64_t tritonWarps);
    void note(const ir::Operation& operation);
    void noteChained(const ir::Region& region);
    void noteFactors(const ir::Region& region);
    [[nodiscard]] bool mayReadShared(const ir::Operation& operation) const;
    void noteMoved(const ir::Operation& operation);
    [[nodiscard]] bool repeatsNumber(const ir::Operation& operation) const;
    [[nodiscard]] bool isNumber(ir::ValueId value, double number) const;

    const ir::Program& m_program;
    const chip::Chip& m_chip;
    std::set<ir::ValueId> m_loads, m_farLoads, m_computed;
    std::set<ir::ValueId> m_factors;                    // from where operands of products are moved
    std::set<ir::ValueId> m_fromShared;                 // products that read shared memory
    std::map<ir::ValueId, Chained> m_chained;           // products; others are not
    std::set<ir::ValueId> m_transposed;                 // results of transposes
    std::map<ir::ValueId, double> m_numbers;            // what each element is
    std::map<ir::ValueId, ir::ValueId> m_moved;         // from which value
    std::map<ir::ValueId, const ir::Region*> m_regions; // that make them
};

} // namespace pallascope::cost
