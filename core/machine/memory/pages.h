// Keeps versions of a buffer's bytes for checkpoints, in pages. Versions share the pages in which
// they are equal.
#pragma once

#include "core/base/array.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pallascope::machine {

// Elements [first, last).
struct Span
{
    std::int64_t first = 0, last = 0;

    [[nodiscard]] bool empty() const { return first >= last; }

    void include(const Span& other)
    {
        if (!other.empty()) {
            *this =
                empty() ? other : Span{std::min(first, other.first), std::max(last, other.last)};
        }
    }
};

class Pages
{
public:
    Pages() = default; // no bytes

    // Shares all of `bytes`.
    Pages(SharedBytes bytes, std::int64_t count);

    // The next version, of the same size: the same as `bytes` within `changed`, and as this
    // version elsewhere.
    [[nodiscard]] Pages next(const std::byte* bytes, Span changed) const;

    // Turns `bytes` into this version. They hold version `there`, except within `changed`.
    void restore(std::byte* bytes, const Pages& there, Span changed) const;

    // The bytes, if one piece holds them all; otherwise null.
    [[nodiscard]] const SharedBytes& whole() const { return m_whole; }

    [[nodiscard]] std::int64_t count() const { return m_count; }

    // Calls visit(const std::byte* piece, std::int64_t bytes) for each piece of memory that it
    // holds.
    template<class F>
    void forEachPiece(F visit) const
    {
        for (const SharedBytes& all : {m_whole, m_base}) {
            if (all) {
                visit(all.get(), m_count);
            }
        }
        for (const SharedBytes& page : m_pages) {
            if (page) {
                visit(page.get(), kPage);
            }
        }
    }

private:
    static constexpr std::int64_t kPage = 1 << 16; // bytes

    [[nodiscard]] std::size_t pageCount() const
    {
        return static_cast<std::size_t>((m_count + kPage - 1) / kPage);
    }

    [[nodiscard]] const std::byte* page(std::size_t index) const;

    std::int64_t m_count = 0;
    SharedBytes m_whole;              // either this, or:
    std::vector<SharedBytes> m_pages; // null: the same as in m_base
    SharedBytes m_base;
};

} // namespace pallascope::machine
