// The transport bar: buttons, the unit of steps, the speed, the strip of the whole run, and the
// position.
#pragma once

#include "app/window/session.h"
#include "views/timeline_view.h"

#include <QAbstractButton>
#include <QWidget>

namespace pallascope::app {

class ChoiceField;

enum class TransportIcon
{
    Home,
    Back,
    Play,
    Pause,
    Forward,
    End
};

class TransportButton : public QAbstractButton
{
    Q_OBJECT

public:
    TransportButton(TransportIcon icon, const QString& name, QWidget* parent);
    void setIcon(TransportIcon icon);

    [[nodiscard]] TransportIcon icon() const { return m_icon; }

    void setTheme(layout::Theme theme);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    TransportIcon m_icon;
    layout::Theme m_theme = layout::Theme::Light;
};

class TransportBar : public QWidget
{
    Q_OBJECT

public:
    explicit TransportBar(Session& session, QWidget* parent = nullptr);

    [[nodiscard]] views::OverviewView* overview() const { return m_overview; }

    [[nodiscard]] QString positionText() const { return m_position; }

    [[nodiscard]] TransportButton* playButton() const { return m_play; }

    void setTheme(layout::Theme theme);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    TransportButton* add(TransportIcon icon, const QString& name, std::function<void()> act);
    void place();
    void showPosition();
    void showSpeed();
    void showUnits();
    void chooseUnit(int index);

    Session& m_session;
    std::vector<TransportButton*> m_buttons;
    TransportButton* m_play = nullptr;
    ChoiceField* m_unit;
    ChoiceField* m_speed;
    views::OverviewView* m_overview;
    QString m_position; // rich text; see views::paintRich
    int m_positionX = 0, m_positionWidth = 0;
    layout::Theme m_theme = layout::Theme::Light;
};

} // namespace pallascope::app
