// The lists of elements that the Indirect blocks of one operand are made of. A list has the number
// under which a run first came across it, so that a replay, which comes the same way, has the same.
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
    // Not copied: the numbers point into the map, whose nodes move with it.
    IndexLists(IndexLists&&) = default;
    IndexLists& operator=(IndexLists&&) = default;

    // Nothing when there would be more than ir::kMostIndices indices in all lists together.
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
    std::vector<const List*> m_lists; // by number; a map's keys stay where they are
};

} // namespace pallascope::machine
