// Shows the source and the printed program: a scene view that scrolls by lines. It follows the
// current line until the reader scrolls. It follows again once playing has moved the current line
// out of the view.
#pragma once

#include "views/layout/source/source.h"
#include "views/scene_view.h"

namespace pallascope::views {

class SourceView : public SceneView
{
    Q_OBJECT

public:
    explicit SourceView(QWidget* parent = nullptr);

    void setTab(layout::SourceTab tab);

    [[nodiscard]] layout::SourceTab tab() const { return m_tab; }

Q_SIGNALS:
    // The line to show first; 0 means to follow the current line.
    void scrolled(std::int64_t firstLine);

protected:
    void wheelEvent(QWheelEvent* event) override;

private:
    [[nodiscard]] std::int64_t firstShown();

    layout::SourceTab m_tab = layout::SourceTab::Source;
    double m_notches = 0; // notches from a touch pad that do not add up to a line yet
};

} // namespace pallascope::views
