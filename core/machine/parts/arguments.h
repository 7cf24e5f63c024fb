// The arrays of a program's arguments. Each device holds its part of them; the caller holds them
// whole.
#pragma once

#include "core/machine/parts/agents.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/findings.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pallascope::machine {

class Arguments
{
public:
    // `aliased` belongs to the run's state: the buffers that an input and an output share.
    Arguments(const Context& context, std::set<std::int32_t>& aliased, Agents& agents,
              Findings& findings);

    // The error names an input that is missing although its values are needed.
    [[nodiscard]] Status bind(const std::vector<Array>& inputs);

    [[nodiscard]] std::vector<Array> outputs();
    // The first output that has a defined element that is NaN or Inf.
    [[nodiscard]] std::optional<std::string> nonFiniteOutput();
    void reportUndefinedResults();

private:
    [[nodiscard]] Status bindHere(const ir::Argument& argument, const Array* input);
    [[nodiscard]] Buffer partOf(const ir::Argument& argument, const Array& array) const;
    [[nodiscard]] Buffer whole(const ir::Argument& argument);

    [[nodiscard]] bool isWritten(ir::ValueId ref) const // by anything in the program
    {
        return m_prepared.uses.written[static_cast<std::size_t>(m_prepared.needed.root(ref).index)];
    }

    const Prepared& m_prepared;
    Turn& m_turn;
    Slab<Memory>& m_memory;
    std::set<std::int32_t>& m_aliased;
    Agents& m_agents;
    Findings& m_findings;
};

} // namespace pallascope::machine
