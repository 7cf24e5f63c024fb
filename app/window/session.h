// Everything that the window looks at, in one place: the runs, the viewpoint on the run that is
// shown, and the theme. Views read the session and report to it; they do not know each other.
#pragma once

#include "app/window/runs.h"
#include "app/window/viewpoint.h"
#include "views/layout/scene/theme.h"

#include <QObject>

namespace pallascope::app {

class Session : public QObject
{
    Q_OBJECT

public:
    explicit Session(QObject* parent = nullptr);

    [[nodiscard]] Runs& runs() { return m_runs; }

    [[nodiscard]] const Runs& runs() const { return m_runs; }

    [[nodiscard]] Viewpoint& viewpoint() { return m_viewpoint; }

    [[nodiscard]] layout::Theme theme() const { return m_theme; }

    void setTheme(layout::Theme theme);
    // For a click: follows links and selects other things.
    void activate(const layout::Target& target);

Q_SIGNALS:
    void themeChanged();

private:
    Runs m_runs;
    Viewpoint m_viewpoint;
    layout::Theme m_theme = layout::Theme::Light;
};

} // namespace pallascope::app
