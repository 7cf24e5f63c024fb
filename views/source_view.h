// Shows the source and the printed program: a scene view that scrolls by lines. It follows the
// current line until the reader scrolls. It follows again once playing has moved the current line
// out of the view. Breakpoints are tags around the numbers of their lines.
#pragma once

#include "views/layout/source/source.h"
#include "views/scene_view.h"

#include <optional>
#include <vector>

namespace pallascope::views {

class SourceView : public SceneView
{
    Q_OBJECT

public:
    explicit SourceView(QWidget* parent = nullptr);

    void setTab(layout::SourceTab tab);

    [[nodiscard]] layout::SourceTab tab() const { return m_tab; }

    struct BreakMark
    {
        layout::target::SourceLine line;
        bool isOn = true; // else the tag is an outline
        bool operator==(const BreakMark&) const = default;
    };

    void setBreakMarks(std::vector<BreakMark> marks);
    // The lines at which there may be one.
    void setBreakLines(std::vector<layout::target::SourceLine> lines);

    // The line beside whose code this is, if it may have a breakpoint.
    [[nodiscard]] std::optional<layout::target::SourceLine> breakLineAt(const QPointF& position);

Q_SIGNALS:
    // The line to show first; 0 means to follow the current line.
    void scrolled(std::int64_t firstLine);
    void breakAsked(const pallascope::layout::target::SourceLine& line); // beside its code

protected:
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void paintOverlay(QPainter& painter) override;

private:
    [[nodiscard]] std::int64_t firstShown();

    layout::SourceTab m_tab = layout::SourceTab::Source;
    std::vector<BreakMark> m_marks;
    std::vector<layout::target::SourceLine> m_lines;
    double m_notches = 0; // notches from a touch pad that do not add up to a line yet
};

} // namespace pallascope::views
