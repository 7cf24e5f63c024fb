// Ctrl+K: every action of the window in one list. Typing filters the list, and Enter runs the
// marked action.
#pragma once

#include <QAction>
#include <QFrame>
#include <QLineEdit>
#include <QListWidget>

#include <vector>

namespace pallascope::app {

class CommandPalette : public QFrame
{
    Q_OBJECT

public:
    explicit CommandPalette(QWidget* parent);

    void open(const std::vector<QAction*>& actions);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter(const QString& words);
    void run();
    void close();

    std::vector<QAction*> m_actions;
    QLineEdit* m_line;
    QListWidget* m_list;
};

} // namespace pallascope::app
