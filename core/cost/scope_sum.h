// Adds up what the refs of a run_scoped take of a GPU's memory.
#pragma once

#include "core/ir/program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

namespace pallascope::cost {

// How many blocks of a cluster share what the scope allocates.
[[nodiscard]] inline std::int64_t sharingBlocks(const ir::ScopedParams* scope)
{
    return scope == nullptr ? 1 : scope->blocks;
}

// Refs of a union's groups share its memory, so of each union its largest group counts. `Amount` is
// a number, or Bytes.
template<class Amount>
class ScopeSum
{
public:
    explicit ScopeSum(const ir::ScopedParams* scope) // may be null; outlives it
        : m_scope(scope)
    {}

    // Adds what the scope's ref with this number takes.
    void add(std::size_t ref, Amount amount)
    {
        const bool isMember =
            m_scope != nullptr && ref < m_scope->unions.size() && m_scope->unions[ref] > 0;
        (isMember ? m_unions[m_scope->unions[ref]][m_scope->groups[ref]] : m_own) += amount;
    }

    [[nodiscard]] Amount total() const
    {
        Amount sum = m_own;
        for (const auto& [number, groups] : m_unions) {
            Amount largest{};
            for (const auto& [group, amount] : groups) {
                largest = std::max(largest, amount);
            }
            sum += largest;
        }
        return sum;
    }

private:
    const ir::ScopedParams* m_scope;
    Amount m_own{};
    std::map<std::int32_t, std::map<std::int32_t, Amount>> m_unions; // by union and group
};

} // namespace pallascope::cost
