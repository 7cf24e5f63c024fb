// What is pointed at in a view, by the pointer or by the arrow keys, with its tooltip.
#pragma once

#include "views/layout/scene/scene.h"
#include "views/tip.h"

#include <QObject>
#include <QPoint>
#include <QPointF>
#include <QStringList>

#include <optional>

namespace pallascope::views {

class SceneView;

class Pointing : public QObject
{
    Q_OBJECT

public:
    explicit Pointing(SceneView& view); // of which it is a part

    [[nodiscard]] const layout::Target& target() const { return m_target; }

    [[nodiscard]] const QStringList& tipLines() const { return m_tip.lines(); }

    void setTheme(layout::Theme theme) { m_tip.setTheme(theme); }

    // The pointer is here now, in the coordinates of the view.
    void movePointer(const QPointF& position);

    // It is no longer over the view, or moves the picture along with it.
    void forgetPointer() { m_pointer.reset(); }

    void pointAt(const layout::Target& target, const QPoint& globalPosition);
    // To the next thing in this direction.
    void moveCursor(int dx, int dy);
    // Another run is shown.
    void forget();
    // The picture has changed, and maybe what lies under the pointer.
    void followPicture();

private:
    void pointAgain();
    void askForTip(const QPoint& globalPosition);

    SceneView& m_view;
    std::optional<QPointF> m_pointer; // while it is over the view and no button is down
    layout::Target m_target;
    Tip m_tip;
};

} // namespace pallascope::views
