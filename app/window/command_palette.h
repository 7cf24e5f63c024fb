// Ctrl+K: one list of all that can be done and gone to. Typing filters the list, and Enter does
// what is marked.
#pragma once

#include <QFrame>
#include <QLineEdit>
#include <QListWidget>

#include <functional>
#include <vector>

namespace pallascope::app {

struct PaletteEntry
{
    QString name; // one line
    std::function<void()> act;
};

// Whether every word occurs in the name, in any order.
[[nodiscard]] bool hasWords(const QString& name, const QString& words);

class CommandPalette : public QFrame
{
    Q_OBJECT

public:
    // What the list has for the words typed so far, which may be none.
    using Entries = std::function<std::vector<PaletteEntry>(const QString& words)>;

    explicit CommandPalette(QWidget* parent);

    void open(Entries entries);

    // The names in the list.
    [[nodiscard]] QStringList shown() const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter(const QString& words);
    void run();
    void close();

    Entries m_entriesOf;
    std::vector<PaletteEntry> m_entries; // those in the list
    QLineEdit* m_line;
    QListWidget* m_list;
};

} // namespace pallascope::app
