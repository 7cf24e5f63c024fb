#include "app/window/values_history.h"

#include "core/base/format.h"
#include "views/fonts.h"
#include "views/scene_painter.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>

#include <algorithm>

namespace pallascope::app {
namespace {

using namespace layout;
using views::text;

constexpr int kMostRows = 2000; // more are not read, and would take long to list
constexpr int kWidestColumn = 420;

} // namespace

ValuesHistory::ValuesHistory(QWidget* parent)
    : QWidget(parent)
    , m_title(new QLabel(this))
    , m_history(new HeadButton(tr("history"), this))
    , m_nan(new HeadButton(tr("follow NaN"), this))
    , m_cancel(new HeadButton(tr("cancel"), this))
    , m_list(new QTreeWidget(this))
{
    m_title->setObjectName(QStringLiteral("hint"));
    m_title->setFont(views::font(11));
    m_title->setWordWrap(true);
    m_history->setToolTip(tr("Who read and wrote the chosen element"));
    m_nan->setToolTip(
        tr("Back to the operation that made the NaN of the chosen element, or to memory that "
           "nobody wrote"));
    m_cancel->setCheckable(false);
    m_nan->hide();
    auto* head = new QHBoxLayout;
    head->setContentsMargins(10, 2, 10, 2);
    head->addWidget(m_title, 1);
    for (HeadButton* button : {m_cancel, m_history, m_nan}) {
        head->addWidget(button);
    }
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setAllColumnsShowFocus(true);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFont(views::font(11, Weight::Mono));
    m_list->setAccessibleName(tr("History of the element"));
    m_list->header()->setFont(views::font(11));
    m_list->header()->setStretchLastSection(false);
    m_list->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addLayout(head);
    column->addWidget(m_list, 1);
    connect(m_cancel, &QAbstractButton::clicked, this, &ValuesHistory::cancelled);
    connect(m_list, &QTreeWidget::itemClicked, this, &ValuesHistory::choose);
    connect(m_list, &QTreeWidget::itemActivated, this, &ValuesHistory::choose);
    setOpen(false);
}

void ValuesHistory::setOpen(bool open)
{
    m_list->setVisible(open);
    m_cancel->hide();
    setMaximumHeight(QWIDGETSIZE_MAX);
    if (!open) {
        m_title->clear();
    }
    setSizePolicy(QSizePolicy::Preferred, open ? QSizePolicy::Expanding : QSizePolicy::Fixed);
}

void ValuesHistory::setTheme(Theme theme)
{
    m_theme = theme;
    for (HeadButton* button : {m_history, m_nan, m_cancel}) {
        button->setTheme(theme);
    }
    paintRows();
}

void ValuesHistory::await(const QString& element, double share)
{
    m_title->setText(
        tr("looking through the whole run for %1: %2").arg(element, text(percentText(share, 0))));
    m_cancel->show();
}

void ValuesHistory::show(const HistoryTable& table)
{
    m_table = table;
    m_list->clear();
    QStringList columns;
    for (const std::string& name : table.columns) {
        columns << text(name);
    }
    m_list->setColumnCount(static_cast<int>(columns.size()));
    m_list->setHeaderLabels(columns);
    const auto shown = std::min<std::size_t>(table.rows.size(), kMostRows);
    QList<QTreeWidgetItem*> items;
    for (std::size_t row = 0; row < shown; ++row) {
        QStringList cells;
        for (const std::string& cell : table.rows[row].cells) {
            cells << text(cell);
        }
        auto* item = new QTreeWidgetItem(cells);
        for (int column = 0; column < cells.size(); ++column) {
            item->setToolTip(column, cells[column]); // narrow columns cut them
        }
        items << item;
    }
    m_list->addTopLevelItems(items);
    for (int i = 0; i < m_list->columnCount(); ++i) {
        m_list->resizeColumnToContents(i);
        m_list->setColumnWidth(i, std::min(m_list->columnWidth(i), kWidestColumn));
    }
    const auto count = static_cast<std::int64_t>(table.rows.size());
    const QString events = text(countText(table.events));
    m_title->setText(
        table.rows.empty()
            ? tr("%1: nothing in the %2 events of the run").arg(text(table.title), events)
            : tr("%1 · all %2 events looked at").arg(text(table.title), events)
                  + (table.rows.size() > shown ? tr(" · the first %1 of %2 are listed")
                                                     .arg(kMostRows)
                                                     .arg(text(countText(count)))
                                               : QString()));
    m_cancel->hide();
    paintRows();
    // What few rows leave is the picture's.
    constexpr int kHead = 64; // px, with a title of several lines
    setMaximumHeight(kHead + m_list->header()->sizeHint().height()
                     + static_cast<int>(shown + 2) * std::max(16, m_list->sizeHintForRow(0)));
}

void ValuesHistory::fail(const QString& why)
{
    m_table = {};
    m_list->clear();
    m_list->setColumnCount(0);
    m_title->setText(why);
    m_cancel->hide();
}

void ValuesHistory::setNow(Picoseconds now)
{
    m_now = now;
    paintRows();
}

void ValuesHistory::paintRows()
{
    const QColor past = views::color(Color(Role::Text), m_theme);
    const QColor later = views::color(Color(Role::Text3), m_theme);
    for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
        const HistoryRow& row = m_table.rows[static_cast<std::size_t>(i)];
        QTreeWidgetItem* item = m_list->topLevelItem(i);
        const QColor& color = row.time && *row.time > m_now ? later : past;
        for (int column = 0; column < m_list->columnCount(); ++column) {
            item->setForeground(column, color);
        }
    }
}

void ValuesHistory::choose(QTreeWidgetItem* item)
{
    const int index = m_list->indexOfTopLevelItem(item);
    if (index >= 0) {
        Q_EMIT rowChosen(m_table.rows[static_cast<std::size_t>(index)]);
    }
}

} // namespace pallascope::app
