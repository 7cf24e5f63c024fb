// How the Values dock colours its map: which scale, and the range that the scale keeps from picture
// to picture while it is locked.
#pragma once

#include "app/window/dock.h"
#include "views/layout/values/values.h"

#include <QWidget>

#include <optional>

namespace pallascope::app {

class ValuesColours : public QWidget
{
    Q_OBJECT

public:
    explicit ValuesColours(QWidget* parent);

    void setTheme(layout::Theme theme);

    [[nodiscard]] layout::ValuesScale scale() const { return m_scale; }

    // What the colours of a picture span: more than before, never less, while the scale is locked.
    [[nodiscard]] const std::optional<layout::ValuesRange>&
    rangeOf(const layout::ValuesSight& sight);

    [[nodiscard]] const std::optional<layout::ValuesRange>& range() const { return m_held; }

    void forgetRange() { m_held.reset(); }

    // What another window's colours need to be the same.
    struct State
    {
        layout::ValuesScale scale = layout::ValuesScale::Range;
        bool isLocked = true;
        std::optional<layout::ValuesRange> held;
    };

    [[nodiscard]] State state() const { return {m_scale, m_isLocked, m_held}; }

    void goOn(const State& state);

Q_SIGNALS:
    void changed();

private:
    void choose(layout::ValuesScale scale);

    HeadButton *m_range, *m_log, *m_lock;
    layout::ValuesScale m_scale = layout::ValuesScale::Range;
    bool m_isLocked = true;
    std::optional<layout::ValuesRange> m_held; // the range that the colours keep
};

} // namespace pallascope::app
