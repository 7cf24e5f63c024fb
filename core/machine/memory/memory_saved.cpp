// How checkpoints keep large buffers, and how these are restored.
#include "core/base/check.h"
#include "core/machine/memory/memory.h"

#include <utility>

namespace pallascope::machine {

void Buffer::save()
{
    if (m_saved && m_changed.empty()) {
        return;
    }
    closeGaps();
    const auto pages = [&](const SharedBytes& bytes, const Pages* before, std::int64_t size) {
        const std::int64_t count = m_shape.elements() * size;
        if (!bytes) {
            return Pages();
        }
        return before == nullptr || before->count() != count
                   ? Pages(bytes, count)
                   : before->next(bytes.get(), {m_changed.first * size, m_changed.last * size});
    };
    m_saved = std::make_shared<Saved>(
        Saved{pages(m_data, m_saved ? &m_saved->data : nullptr, dtypeBytes(m_dtype)),
              pages(m_shadow.mask, m_saved ? &m_saved->mask : nullptr, 1)});
    m_changed = {};
}

void Buffer::fold()
{
    PALLASCOPE_CHECK(m_saved && m_changed.empty());
    m_data.reset();
    m_shadow.mask.reset();
}

void Buffer::unfold(Buffer&& other)
{
    const bool same = other.m_dtype == m_dtype && other.m_shape == m_shape && other.m_saved;
    const auto restored = [&](const Pages& pages, SharedBytes bytes, const Pages& there,
                              std::int64_t size) -> SharedBytes {
        if (pages.count() == 0 || pages.whole()) {
            return pages.whole();
        }
        const bool reuse = bytes && bytes.use_count() == 1 && there.count() == pages.count();
        bytes = reuse ? std::move(bytes) : allocateBytes(pages.count());
        pages.restore(bytes.get(), reuse ? there : Pages(),
                      {other.m_changed.first * size, other.m_changed.last * size});
        return bytes;
    };
    const Saved none;
    const Saved& there = same ? *other.m_saved : none;
    m_data = restored(m_saved->data, same ? std::move(other.m_data) : nullptr, there.data,
                      dtypeBytes(m_dtype));
    m_shadow.mask =
        restored(m_saved->mask, same ? std::move(other.m_shadow.mask) : nullptr, there.mask, 1);
}

} // namespace pallascope::machine
