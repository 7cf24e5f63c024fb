// The right end of the menu bar: kernel, sizes and chip. It is elided, and hidden if nothing fits.
#pragma once

#include "views/layout/scene/theme.h"

#include <QWidget>

namespace pallascope::app {

class RunTitle : public QWidget
{
    Q_OBJECT

public:
    using QWidget::QWidget;
    void setText(const QString& text);
    void setTheme(layout::Theme theme);

    [[nodiscard]] const QString& text() const { return m_text; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_text;
    layout::Theme m_theme = layout::Theme::Light;
};

} // namespace pallascope::app
