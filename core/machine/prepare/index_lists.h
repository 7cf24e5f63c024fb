// The lists of elements of which the Indirect blocks of one operand consist. A list is numbered in
// the order in which a run first comes across it. A replay goes the same way and so gives it the
// same number.
#pragma once

#include "core/base/extents.h"
#include "core/ir/pipeline_facts.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace pallascope::machine {

class IndexLists
{
public:
    using List = std::vector<std::int32_t>;

    IndexLists() = default;
    // It must not be copied: m_lists points to keys in m_numbers. Moving keeps the nodes of a map,
    // so it is safe.
    IndexLists(IndexLists&&) = default;
    IndexLists& operator=(IndexLists&&) = default;

    // The number of the list. Empty if all lists together would have more than ir::kMostIndices
    // indices.
    [[nodiscard]] std::optional<Extent> numberOf(List list)
    {
        const auto found = m_numbers.find(list);
        if (found != m_numbers.end()) {
            return found->second;
        }
        const auto most = static_cast<std::size_t>(ir::kMostIndices);
        if ((m_lists.size() + 1) * list.size() > most) {
            return std::nullopt;
        }
        const auto number = static_cast<Extent>(m_lists.size());
        m_lists.push_back(&m_numbers.emplace(std::move(list), number).first->first);
        return number;
    }

    [[nodiscard]] const List& operator[](Extent number) const
    {
        return *m_lists[static_cast<std::size_t>(number)];
    }

    [[nodiscard]] Extent count() const { return static_cast<Extent>(m_lists.size()); }

private:
    std::map<List, Extent> m_numbers;
    std::vector<const List*> m_lists; // by number; the keys of a map never move
};

} // namespace pallascope::machine
