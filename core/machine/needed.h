// The least set of values that decides what happens and when: operands of branches, trip counts,
// index maps and slices, what those use, and, through memory, every store or copy into a ref that a
// needed load may alias. Values outside it need not be computed to get the same events and times.
#pragma once

#include "core/ir/program.h"

#include <vector>

namespace pallascope::machine {

class NeededSet
{
public:
    // Everything: values full.
    [[nodiscard]] static NeededSet everything(const ir::Program& program);
    [[nodiscard]] static NeededSet of(const ir::Program& program);

    [[nodiscard]] bool needs(ir::ValueId value) const
    {
        return m_values[static_cast<std::size_t>(value.index)];
    }

    // Must this operation be executed? (It defines a needed value, or stores into needed memory.)
    [[nodiscard]] bool needs(const ir::Operation& operation) const;

    // The contents of the memory behind a ref.
    [[nodiscard]] bool needsContents(ir::ValueId ref) const
    {
        return m_contents[static_cast<std::size_t>(root(ref).index)];
    }

    // True when any array element is needed at all.
    [[nodiscard]] bool anyContents() const;

    // Refs that may alias, of views, blocks and aliased arrays, have one root.
    [[nodiscard]] ir::ValueId root(ir::ValueId ref) const;

private:
    explicit NeededSet(const ir::Program& program);
    void close(const ir::Program& program);

    std::vector<bool> m_values, m_contents;
    std::vector<ir::ValueId> m_root; // by ValueId, one step towards it
};

} // namespace pallascope::machine
