// Bytes kept for later, in pages: versions of the same bytes share the pages in which they do not
// differ.
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
    Pages() = default; // of nothing

    // All of `bytes`, shared.
    Pages(SharedBytes bytes, std::int64_t count);

    // The next version: within `changed` as in `bytes`, else as here; of as many bytes.
    [[nodiscard]] Pages next(const std::byte* bytes, Span changed) const;

    // Writes this version to `bytes`, which hold version `there`, but for what changed since.
    void restore(std::byte* bytes, const Pages& there, Span changed) const;

    // These bytes, where one piece holds them all; else null.
    [[nodiscard]] const SharedBytes& whole() const { return m_whole; }

    [[nodiscard]] std::int64_t count() const { return m_count; }

    // Calls visit(const std::byte* piece, std::int64_t bytes) for each piece of memory held.
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
    SharedBytes m_whole;              // or:
    std::vector<SharedBytes> m_pages; // null: as in m_base
    SharedBytes m_base;
};

} // namespace pallascope::machine
