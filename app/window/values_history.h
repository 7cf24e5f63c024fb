// Below a picture of values: buttons for the history of the chosen element and the way of its NaN,
// and the list of either. A row is gone to with a click or Enter.
#pragma once

#include "app/run_job/history_table.h"
#include "app/window/dock.h"

#include <QLabel>
#include <QTreeWidget>
#include <QWidget>

namespace pallascope::app {

class ValuesHistory : public QWidget
{
    Q_OBJECT

public:
    explicit ValuesHistory(QWidget* parent);

    void setTheme(layout::Theme theme);

    // Without the list there are only the buttons.
    void setOpen(bool open);

    [[nodiscard]] bool isOpen() const { return !m_list->isHidden(); }

    // A list of this is on its way; the share of it that is done.
    void await(const QString& element, double share);
    void show(const HistoryTable& table);
    void fail(const QString& why);
    // Rows after the playhead are paler.
    void setNow(Picoseconds now);

    [[nodiscard]] const HistoryTable& table() const { return m_table; }

    [[nodiscard]] QString title() const { return m_title->text(); }

    [[nodiscard]] QTreeWidget* list() const { return m_list; }

    [[nodiscard]] HeadButton* historyButton() const { return m_history; }

    [[nodiscard]] HeadButton* nanButton() const { return m_nan; }

    [[nodiscard]] HeadButton* cancelButton() const { return m_cancel; }

Q_SIGNALS:
    void rowChosen(const pallascope::app::HistoryRow& row);
    void cancelled();

private:
    void choose(QTreeWidgetItem* item);
    void paintRows();

    HistoryTable m_table;
    QLabel* m_title;
    HeadButton *m_history, *m_nan, *m_cancel;
    QTreeWidget* m_list;
    layout::Theme m_theme = layout::Theme::Light;
    Picoseconds m_now;
};

} // namespace pallascope::app
