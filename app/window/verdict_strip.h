// The strip below the transport: what bounds the run, in one sentence. An error takes its place
// ("Not run: ..."), progress with Cancel stands at its right end.
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

    // What it says beside the verdict: the error, the progress or a notice; empty: none.
    [[nodiscard]] QString message() const;
    void setTheme(layout::Theme theme);

private:
    class Message;

    void follow();
    void place();
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

    Session& m_session;
    views::SceneView* m_view;
    Message* m_message; // over the view
    HeadButton* m_cancel;
    QTimer m_delay;  // progress is worth a word after 200 ms
    QTimer m_notice; // and a notice for some seconds
    QString m_noticeText;
    layout::Theme m_theme = layout::Theme::Light;
};

} // namespace pallascope::app
