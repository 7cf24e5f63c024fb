// What a screen reader is told of a view: its title and its caption, at most twice a second while
// it plays.
#pragma once

#include "views/layout/scene/scene.h"

#include <QElapsedTimer>

class QWidget;

namespace pallascope::views {

class SpokenCaption
{
public:
    void tell(QWidget& view, const layout::Scene& scene, bool playing);

private:
    QElapsedTimer m_since; // the last one
};

} // namespace pallascope::views
