// The smallest set of values that decides what happens and when: operands of branches, trip counts,
// index maps and slices; what these use; and, through memory, every store or copy into a ref that a
// needed load may alias. Values outside of it need not be computed to get the same events and
// times.
#pragma once

#include "core/ir/program.h"

#include <vector>

namespace pallascope::machine {

class NeededSet
{
public:
    // The set of all values, for values `full`.
    [[nodiscard]] static NeededSet everything(const ir::Program& program);
    [[nodiscard]] static NeededSet of(const ir::Program& program);
    // And what the contents of a ref come from.
    [[nodiscard]] static NeededSet ofContents(const ir::Program& program, ir::ValueId ref);

    [[nodiscard]] bool needs(ir::ValueId value) const
    {
        return m_values[static_cast<std::size_t>(value.index)];
    }

    // Whether the operation must be evaluated: it defines a needed value, or stores to needed
    // memory.
    [[nodiscard]] bool needs(const ir::Operation& operation) const;

    // Whether the contents of the memory behind a ref are needed.
    [[nodiscard]] bool needsContents(ir::ValueId ref) const
    {
        return m_contents[static_cast<std::size_t>(root(ref).index)];
    }

    // Whether any array element is needed at all.
    [[nodiscard]] bool anyContents() const;

    // Refs that may alias (views, blocks and aliased arrays) have the same root.
    [[nodiscard]] ir::ValueId root(ir::ValueId ref) const;

private:
    explicit NeededSet(const ir::Program& program);
    void close(const ir::Program& program);

    std::vector<bool> m_values, m_contents;
    std::vector<ir::ValueId> m_root; // by ValueId: the next ref on the way to the root
};

} // namespace pallascope::machine
