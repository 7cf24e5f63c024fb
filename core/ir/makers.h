// Which operation makes each value of a program.
#pragma once

#include "core/ir/program.h"

#include <map>

namespace pallascope::ir {

class Makers
{
public:
    explicit Makers(const Program& program) // which outlives this
    {
        forEachOperation(program.body, [this](const Operation& operation) {
            for (const ValueId result : operation.results) {
                m_makers[result] = &operation;
            }
        });
    }

    // Null for what no operation makes: parameters of regions.
    [[nodiscard]] const Operation* of(ValueId value) const
    {
        const auto maker = m_makers.find(value);
        return maker == m_makers.end() ? nullptr : maker->second;
    }

private:
    std::map<ValueId, const Operation*> m_makers;
};

} // namespace pallascope::ir
