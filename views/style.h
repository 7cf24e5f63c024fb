// The look of ordinary widgets: Fusion with a palette and a short style sheet. Both come from the
// theme table, so that fields and menus share the colours of the views.
#pragma once

#include "views/layout/scene/theme.h"

#include <QPalette>
#include <QProxyStyle>
#include <QString>

namespace pallascope::views {

// Fusion, but the letters of menus are underlined only while Alt is held.
class Style : public QProxyStyle
{
public:
    Style();
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* data) const override;
};

// Sets the style and the font of the application. The colours follow the theme, not this function.
void dressApplication();

[[nodiscard]] QPalette palette(layout::Theme theme);
[[nodiscard]] QString styleSheet(layout::Theme theme);

} // namespace pallascope::views
