// The strip below the transport bar. It says in one sentence what bounds the run. An error ("Not
// run: ...") takes the place of the sentence; progress with a Cancel button stands at its right
// end.
#pragma once

#include "app/window/session.h"
#include "views/scene_view.h"

#include <QAbstractButton>
#include <QTimer>
#include <QWidget>

namespace pallascope::app {

class HeadButton;

class VerdictStrip : public QWidget
{
    Q_OBJECT

public:
    explicit VerdictStrip(Session& session, QWidget* parent = nullptr);

    [[nodiscard]] views::SceneView* view() const { return m_view; }

    // What the strip says besides the verdict: the error, the progress or a notice. Empty if there
    // is nothing.
    [[nodiscard]] QString message() const;
    void setTheme(layout::Theme theme);

private:
    class Message;

    void follow();
    void place();
    // Puts what belongs to a kept run to the left of x, if it is wanted; returns where it begins.
    int placeKept(int x, bool wanted);
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

    Session& m_session;
    views::SceneView* m_view;
    Message* m_message; // on top of the view
    HeadButton* m_cancel;
    HeadButton* m_bySteps; // how a kept run is aligned with the present one
    HeadButton* m_letGo;   // of it
    QTimer m_delay;        // progress is shown only after 200 ms
    QTimer m_notice;       // a notice is shown for some seconds
    QString m_noticeText;
    layout::Theme m_theme = layout::Theme::Light;
};

} // namespace pallascope::app
