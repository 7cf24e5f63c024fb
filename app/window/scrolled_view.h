// A view in a scroll area: as high as what it must show, and at least as high as the area.
#pragma once

#include "views/scene_view.h"

#include <QScrollArea>

#include <functional>

namespace pallascope::app {

class ScrolledView : public QScrollArea
{
    Q_OBJECT

public:
    // The least height of the view for a run at a width.
    using Height = std::function<double(const layout::RunView&, double width)>;

    ScrolledView(views::SceneView* view, Height height, QWidget* parent = nullptr);

    void setRun(std::shared_ptr<const layout::RunView> run);
    // Scrolls to where the view shows a thing, if it does.
    void show(const layout::Target& target);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();

    views::SceneView* m_view;
    Height m_height;
    std::shared_ptr<const layout::RunView> m_run;
};

} // namespace pallascope::app
