// The widget of one view. It shows the scene that a layout function makes of (run, state), or a
// picture that is of no run, repaints only what changed, and hit-tests on that same scene. It reads
// the state and reports what the user points at; it knows no session and no other view.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"
#include "views/scene_frames.h"
#include "views/spoken_caption.h"

#include <QWidget>

#include <functional>
#include <memory>
#include <optional>

namespace pallascope::views {

class Pointing;

class SceneView : public QWidget
{
    Q_OBJECT

public:
    using Layout = std::function<layout::Scene(const layout::RunView&, const layout::ViewState&,
                                               layout::Size)>;

    enum class Use
    {
        Fixed,  // follows the playhead, not the range of the time line
        Ranged, // also follows that range
    };

    SceneView(Layout layout, Use use, QWidget* parent = nullptr);
    ~SceneView() override;

    void setRun(std::shared_ptr<const layout::RunView> run);
    void setState(const layout::ViewState& state);
    void setTheme(layout::Theme theme);
    void setLayoutFunction(Layout layout);

    // What a view shows that is not of a run: its picture, and what tips say about a thing in it.
    struct Picture
    {
        std::function<layout::Scene(layout::Size)> layout;
        std::function<std::vector<std::string>(const layout::Target&)> tip;
    };

    void setPicture(Picture picture);

    struct Options
    {
        // The arrow keys move a cursor between the things of the view while it has the focus.
        bool cursorKeys = false;
        bool leads = false; // a click on a step or a source line leads there, as links do
        layout::Role background = layout::Role::View;
    };

    [[nodiscard]] const Options& options() const { return m_options; }

    void setOptions(const Options& options);

    // The scene for the current run, state and size.
    [[nodiscard]] const layout::Scene& scene();

    // The caption of the scene that was shown last.
    [[nodiscard]] const std::string& caption() const { return m_scene.caption; }

    // What is pointed at, and its tooltip.
    [[nodiscard]] Pointing& pointing() { return *m_pointing; }

    // What is in the picture, each thing once and in reading order; of very many the first ones.
    [[nodiscard]] const std::vector<layout::Hit>& things();

    // What the tip of a thing says, and its name and description for screen readers.
    [[nodiscard]] QStringList tipLines(const layout::Target& target) const;

    [[nodiscard]] const std::shared_ptr<const layout::RunView>& run() const { return m_run; }

    [[nodiscard]] const layout::ViewState& state() const { return m_state; }

    void press(const layout::Target& target); // as a click on it

Q_SIGNALS:
    void sceneChanged();
    void pressed(); // anywhere in the view, by the left button
    void hovered(const layout::Target& target);
    void clicked(const layout::Target& target);
    void doubleClicked(const layout::Target& target);
    // For a menu about a thing, and about a time where the view has an axis of time.
    void menuAsked(const layout::Target& target, const std::optional<Picoseconds>& time,
                   const QPoint& globalPosition);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

    // The time at a place of the view; nullopt where it shows none.
    [[nodiscard]] virtual std::optional<Picoseconds> timeUnder(const QPointF& position);

    // Paints on top of the scene; the base class paints nothing.
    virtual void paintOverlay(QPainter& painter);

    [[nodiscard]] layout::Theme theme() const { return m_theme; }

    [[nodiscard]] layout::Size layoutSize() const;
    [[nodiscard]] layout::Target targetAt(const QPointF& position);

private:
    void invalidate();
    void refresh();

    Layout m_layout;
    Picture m_picture; // empty if the view is of a run
    Use m_use;
    Options m_options;
    bool m_focusedByKey = false; // only then the focus is worth a frame
    std::shared_ptr<const layout::RunView> m_run;
    layout::ViewState m_state;
    layout::Theme m_theme = layout::Theme::Light;
    layout::Scene m_scene;
    std::optional<std::vector<layout::Hit>> m_things; // of m_scene, once somebody has asked
    bool m_dirty = true;
    bool m_queued = false;
    SceneFrames m_frames;
    std::unique_ptr<Pointing> m_pointing;
    SpokenCaption m_spoken;
};

} // namespace pallascope::views
