// The breakpoints, a page of the source's dock: each can be turned off and removed, and another be
// typed.
#pragma once

#include "app/window/dock.h"
#include "app/window/session.h"

#include <QAbstractButton>
#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>
#include <QWidget>

#include <vector>

namespace pallascope::app {

// The tag of a breakpoint, an outline while it is off.
class BreakTag : public QAbstractButton
{
    Q_OBJECT

public:
    explicit BreakTag(QWidget* parent);
    void setTheme(layout::Theme theme);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    layout::Theme m_theme = layout::Theme::Light;
};

class BreakList : public QWidget
{
    Q_OBJECT

public:
    explicit BreakList(Session& session, QWidget* parent = nullptr);

    void setTheme(layout::Theme theme);
    // Gives the keyboard to the field for another one, which then holds `text`.
    void ask(const QString& text = {});

    [[nodiscard]] QLineEdit* field() const { return m_field; }

    [[nodiscard]] QString noteText() const { return m_note->text(); }

    [[nodiscard]] QString caption() const; // of the dock

    // "18 stops", "never", "looking, 40 %" or "not in this run".
    [[nodiscard]] QString statusText(std::size_t index) const;

    [[nodiscard]] BreakTag* tag(std::size_t index) const { return m_rows[index].tag; }

    [[nodiscard]] HeadButton* remover(std::size_t index) const { return m_rows[index].remove; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    struct Row
    {
        QWidget* widget = nullptr;
        BreakTag* tag = nullptr;
        QLabel *name = nullptr, *status = nullptr;
        HeadButton* remove = nullptr;
    };

    void addTyped();
    void fill();
    [[nodiscard]] Row makeRow(std::size_t index);
    void showStates();
    void showNote();
    void say(const QString& sentence);

    Session& m_session;
    QLabel* m_note;
    HeadButton* m_cancel;
    QVBoxLayout* m_list;
    QLineEdit* m_field;
    std::vector<Row> m_rows;
    layout::Theme m_theme = layout::Theme::Light;
    QString m_said; // about what was done last
};

} // namespace pallascope::app
