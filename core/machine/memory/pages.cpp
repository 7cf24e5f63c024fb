// Makes versions of a buffer's bytes and restores them, page by page.
#include "core/machine/memory/pages.h"

#include "core/base/check.h"

#include <cstring>

namespace pallascope::machine {

Pages::Pages(SharedBytes bytes, std::int64_t count)
    : m_count(count)
    , m_whole(std::move(bytes))
{}

const std::byte* Pages::page(std::size_t index) const
{
    const std::int64_t offset = static_cast<std::int64_t>(index) * kPage;
    if (m_whole) {
        return m_whole.get() + offset;
    }
    return m_pages[index] ? m_pages[index].get() : m_base.get() + offset;
}

Pages Pages::next(const std::byte* bytes, Span changed) const
{
    PALLASCOPE_CHECK(m_count > 0);
    Pages version = *this;
    if (version.m_whole) {
        version.m_base = std::move(version.m_whole);
        version.m_whole = nullptr;
        version.m_pages.resize(pageCount());
    }
    for (std::int64_t at = changed.first / kPage * kPage; at < changed.last; at += kPage) {
        const std::int64_t size = std::min(kPage, m_count - at);
        SharedBytes& page = version.m_pages[static_cast<std::size_t>(at / kPage)];
        page = allocateBytes(size);
        std::memcpy(page.get(), bytes + at, static_cast<std::size_t>(size));
    }
    return version;
}

void Pages::restore(std::byte* bytes, const Pages& there, Span changed) const
{
    const bool known = there.m_count == m_count;
    for (std::size_t i = 0; i < pageCount(); ++i) {
        const std::int64_t at = static_cast<std::int64_t>(i) * kPage;
        const std::int64_t size = std::min(kPage, m_count - at);
        const bool touched = changed.first < at + size && at < changed.last;
        if (!known || touched || page(i) != there.page(i)) {
            std::memcpy(bytes + at, page(i), static_cast<std::size_t>(size));
        }
    }
}

} // namespace pallascope::machine
