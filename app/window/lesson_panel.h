// A lesson in its dock: what a step says, its task and how far one is with it. Without a lesson,
// those that there are.
#pragma once

#include "app/window/dock.h"
#include "app/window/lesson_guide.h"

#include <QBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QStackedWidget>
#include <QWidget>

namespace pallascope::app {

class LessonPanel : public QWidget
{
    Q_OBJECT

public:
    explicit LessonPanel(LessonGuide& guide, QWidget* parent = nullptr);

    void setTheme(layout::Theme theme);

    [[nodiscard]] QString caption() const; // of the dock

    [[nodiscard]] QLabel* stepText() const { return m_text; }

    [[nodiscard]] QLabel* task() const { return m_task; }

    [[nodiscard]] HeadButton* next() const { return m_next; }

    [[nodiscard]] HeadButton* back() const { return m_back; }

    [[nodiscard]] HeadButton* answer() const { return m_answer; }

    [[nodiscard]] HeadButton* again() const { return m_again; }

    [[nodiscard]] HeadButton* leave() const { return m_leave; }

    // Of the lesson in this place of those that are offered.
    [[nodiscard]] HeadButton* offer(std::size_t index) const { return m_offers[index]; }

    [[nodiscard]] QSize sizeHint() const override;

Q_SIGNALS:
    void captionChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] QWidget* makeList();
    [[nodiscard]] QWidget* makeStep();
    HeadButton* addButton(const QString& label, QBoxLayout* into);
    void refresh();
    [[nodiscard]] QString taskText() const;
    [[nodiscard]] QString richText(const std::string& text) const;

    LessonGuide& m_guide;
    QStackedWidget* m_pages;
    QBoxLayout *m_columns = nullptr, *m_moves = nullptr;
    QScrollArea* m_scroll = nullptr;
    QLabel *m_text = nullptr, *m_task = nullptr;
    HeadButton *m_back = nullptr, *m_next = nullptr, *m_answer = nullptr, *m_again = nullptr,
               *m_leave = nullptr;
    std::vector<HeadButton*> m_offers, m_buttons;
    layout::Theme m_theme = layout::Theme::Light;
};

} // namespace pallascope::app
