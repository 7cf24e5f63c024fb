// The list below a picture of values: what touched the chosen element, or the way of its NaN. A row
// is gone to with a click or Enter.
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

    // A list of this is on its way; the share of it that is done.
    void await(const QString& element, double share);
    void show(const HistoryTable& table);
    void fail(const QString& why);
    // Rows after the playhead are paler.
    void setNow(Picoseconds now);

    [[nodiscard]] const HistoryTable& table() const { return m_table; }

    [[nodiscard]] QString title() const { return m_title->text(); }

    [[nodiscard]] QTreeWidget* list() const { return m_list; }

    [[nodiscard]] HeadButton* closeButton() const { return m_close; }

Q_SIGNALS:
    void rowChosen(const pallascope::app::HistoryRow& row);
    void closed(); // or, while the list is on its way, no longer wanted

private:
    void choose(QTreeWidgetItem* item);
    void paintRows();

    HistoryTable m_table;
    QLabel* m_title;
    HeadButton* m_close;
    QTreeWidget* m_list;
    layout::Theme m_theme = layout::Theme::Light;
    Picoseconds m_now;
};

} // namespace pallascope::app
