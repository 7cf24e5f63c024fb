// Which operation makes each value of a program.
#pragma once

#include "core/ir/program.h"

#include <vector>

namespace pallascope::ir {

class Makers
{
public:
    explicit Makers(const Program& program) // which outlives this
        : m_makers(program.values.size())
    {
        forEachOperation(program.body, [this](const Operation& operation) {
            for (const ValueId result : operation.results) {
                m_makers[static_cast<std::size_t>(result.index)] = &operation;
            }
        });
    }

    // Null for what no operation makes: parameters of regions.
    [[nodiscard]] const Operation* of(ValueId value) const
    {
        return value.index < 0 ? nullptr : m_makers[static_cast<std::size_t>(value.index)];
    }

    // The operation that makes a ref as a view of another one, its first operand; null if none
    // does.
    [[nodiscard]] const Operation* viewOf(ValueId ref) const
    {
        const Operation* const maker = of(ref);
        const bool isView = maker != nullptr && opEntry(maker->code).kind == OpKind::View
                            && !maker->operands.empty();
        return isView ? maker : nullptr;
    }

    // The ref that is no view, of which this one is a view or a view of a view.
    [[nodiscard]] ValueId rootOf(ValueId ref) const
    {
        while (const Operation* const view = viewOf(ref)) {
            ref = view->operands[0];
        }
        return ref;
    }

private:
    std::vector<const Operation*> m_makers; // by ValueId
};

} // namespace pallascope::ir
