#include "views/spoken_caption.h"

#include "views/fonts.h"

#include <QWidget>

namespace pallascope::views {

namespace {

constexpr qint64 kEveryMs = 500;

} // namespace

void SpokenCaption::tell(QWidget& view, const layout::Scene& scene, bool playing)
{
    if (playing && m_since.isValid() && m_since.elapsed() < kEveryMs) {
        return;
    }
    m_since.start();
    if (!scene.title.empty()) {
        view.setAccessibleName(text(scene.title));
    }
    view.setAccessibleDescription(text(scene.caption).remove(QLatin1Char('|')));
}

} // namespace pallascope::views
