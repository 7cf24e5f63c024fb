// The widget that shows what a ref holds: a scene view of a picture of values. A click chooses an
// element, arrows move the choice, the wheel changes how many elements a cell stands for, and a
// drag moves the part in sight.
#pragma once

#include "views/layout/values/values.h"
#include "views/scene_view.h"

#include <memory>
#include <optional>

namespace pallascope::views {

class ValuesPicture : public SceneView
{
    Q_OBJECT

public:
    explicit ValuesPicture(QWidget* parent = nullptr);

    // Null: nothing is known yet or, if `words` say why, nothing will be.
    void show(std::shared_ptr<const layout::ValuesSight> sight, layout::ValuesScale scale,
              const std::optional<layout::ValuesRange>& held, const std::string& words = {});

    [[nodiscard]] const std::shared_ptr<const layout::ValuesSight>& sight() const
    {
        return m_sight;
    }

    // A newer picture is on its way, with the share of it that is done; nullopt: none is. The
    // present one stays.
    void setAwaited(std::optional<double> share);

    [[nodiscard]] std::optional<double> awaited() const { return m_awaited; }

Q_SIGNALS:
    void elementChosen(std::int64_t element); // its number in the array
    void cursorMoved(int rows, int columns);
    // Cells for fewer elements (1) or for more (-1), with this element under the pointer.
    void zoomed(int direction, std::int64_t element);
    void cornerChosen(std::int64_t row, std::int64_t column);
    void copyWanted();
    void resized();

protected:
    bool event(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintOverlay(QPainter& painter) override;

private:
    std::shared_ptr<const layout::ValuesSight> m_sight;
    std::optional<double> m_awaited;
    std::optional<QPointF> m_pressed;
    bool m_dragged = false;
    layout::values::Region m_atPress; // the part in sight
    double m_notches = 0;             // of a touch pad, that do not add up to one yet
};

} // namespace pallascope::views
