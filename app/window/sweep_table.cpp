#include "app/window/sweep_table.h"

#include "core/study/sweep_file.h"
#include "views/fonts.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QSortFilterProxyModel>

#include <algorithm>

namespace pallascope::app {
namespace {

constexpr int kSortRole = Qt::UserRole;
constexpr int kRowHeight = 20;
constexpr int kWidestCell = 320; // px; sentences about what is wrong are long

// The columns behind those of the axes, in the order of study::tableHead.
enum class Column
{
    Chip,
    Time,
    Band,
    Utilization,
    BoundBy,
    Refetched,
    Memory,
    Remarks
};

bool isBefore(const SweepRuns::Numbered& row, std::size_t number)
{
    return row.first < number;
}

// Rows that did not run stand behind the others, whichever way one sorts.
class RowOrder : public QSortFilterProxyModel
{
public:
    explicit RowOrder(SweepModel& model)
        : QSortFilterProxyModel(&model)
        , m_model(model)
    {
        setSourceModel(&model);
        setSortRole(kSortRole);
    }

protected:
    [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override
    {
        const bool leftRan = m_model.ran(left.row());
        return leftRan == m_model.ran(right.row()) ? QSortFilterProxyModel::lessThan(left, right)
                                                   : (sortOrder() == Qt::AscendingOrder) == leftRan;
    }

private:
    SweepModel& m_model;
};

} // namespace

void SweepModel::begin(std::shared_ptr<const SweepJob> job)
{
    beginResetModel();
    m_job = std::move(job);
    m_rows.clear();
    endResetModel();
}

void SweepModel::add(const std::vector<SweepRuns::Numbered>& rows)
{
    for (const SweepRuns::Numbered& row : rows) {
        const auto at = std::lower_bound(m_rows.begin(), m_rows.end(), row.first, isBefore);
        const int place = static_cast<int>(at - m_rows.begin());
        beginInsertRows({}, place, place);
        m_rows.insert(at, row);
        endInsertRows();
    }
}

std::vector<study::SweepRow> SweepModel::rows() const
{
    std::vector<study::SweepRow> rows;
    for (const auto& [number, row] : m_rows) {
        rows.push_back(row);
    }
    return rows;
}

std::optional<int> SweepModel::placeOf(std::size_t number) const
{
    const auto at = std::lower_bound(m_rows.begin(), m_rows.end(), number, isBefore);
    return at == m_rows.end() || at->first != number
               ? std::nullopt
               : std::optional(static_cast<int>(at - m_rows.begin()));
}

const study::SweepRow* SweepModel::find(std::size_t number) const
{
    const std::optional<int> place = placeOf(number);
    return place ? &m_rows[static_cast<std::size_t>(*place)].second : nullptr;
}

bool SweepModel::ran(int place) const
{
    return m_rows[static_cast<std::size_t>(place)].second.ran();
}

std::size_t SweepModel::numberAt(int place) const
{
    return m_rows[static_cast<std::size_t>(place)].first;
}

int SweepModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int SweepModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || m_job == nullptr
               ? 0
               : static_cast<int>(study::tableHead(m_job->plan).size());
}

QVariant SweepModel::data(const QModelIndex& index, int role) const
{
    const study::SweepRow& row = m_rows[static_cast<std::size_t>(index.row())].second;
    const auto column = static_cast<std::size_t>(index.column());
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        return views::text(study::tableCells(m_job->plan, row)[column]);
    case kSortRole:
        return sortKey(row, column);
    case Qt::TextAlignmentRole: {
        const bool isWord = sortKey(row, column).typeId() == QMetaType::QString;
        return static_cast<int>((isWord ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    default:
        return {};
    }
}

QVariant SweepModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || m_job == nullptr) {
        return {};
    }
    if (role == Qt::TextAlignmentRole && !m_rows.empty()) { // above what it heads
        return data(index(0, section), role);
    }
    return role == Qt::DisplayRole ? QVariant(
               views::text(study::tableHead(m_job->plan)[static_cast<std::size_t>(section)]))
                                   : QVariant();
}

QVariant SweepModel::sortKey(const study::SweepRow& row, std::size_t column) const
{
    const std::vector<study::Axis>& axes = m_job->plan.axes;
    if (column < axes.size()) {
        const QString value = views::text(row.parameters.at(axes[column].name));
        bool isNumber = false;
        const qlonglong number = value.toLongLong(&isNumber);
        return isNumber ? QVariant(number) : QVariant(value);
    }
    switch (static_cast<Column>(column - axes.size())) {
    case Column::Chip:
        return views::text(row.chip);
    case Column::Time:
        return QVariant(static_cast<qlonglong>(row.time.value()));
    case Column::Band:
        return QVariant(
            static_cast<qlonglong>(row.band ? row.band->low.value() : row.time.value()));
    case Column::Utilization:
        return row.utilization;
    case Column::BoundBy:
        return views::text(row.boundBy);
    case Column::Refetched:
        return QVariant(static_cast<qlonglong>(row.refetched.value()));
    case Column::Memory:
        return QVariant(static_cast<qlonglong>(row.vmem.value()));
    case Column::Remarks:
        break;
    }
    return views::text(study::tableCells(m_job->plan, row).back());
}

SweepTable::SweepTable(QWidget* parent)
    : QTableView(parent)
    , m_model(new SweepModel(this))
    , m_sorted(new RowOrder(*m_model))
{
    setModel(m_sorted);
    setSortingEnabled(true);
    sortByColumn(-1, Qt::AscendingOrder); // at first in the order of the sweep
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setTabKeyNavigation(false);
    setShowGrid(false);
    setWordWrap(false);
    setFont(views::font(11, layout::Weight::Mono));
    horizontalHeader()->setFont(views::font(11));
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    horizontalHeader()->setStretchLastSection(true);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(kRowHeight);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    connect(selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &SweepTable::chosenChanged);
    connect(this, &QAbstractItemView::doubleClicked, this, &SweepTable::opened);
}

void SweepTable::fitColumns()
{
    for (int column = 0; column + 1 < m_model->columnCount(); ++column) { // the last one stretches
        resizeColumnToContents(column);
        setColumnWidth(column, std::min(columnWidth(column), kWidestCell));
    }
}

void SweepTable::choose(std::optional<std::size_t> number)
{
    const std::optional<int> place = number ? m_model->placeOf(*number) : std::nullopt;
    if (!place) {
        clearSelection();
        return;
    }
    const QModelIndex index = m_sorted->mapFromSource(m_model->index(*place, 0));
    setCurrentIndex(index);
    scrollTo(index);
}

std::optional<std::size_t> SweepTable::chosen() const
{
    const QModelIndexList chosen = selectionModel()->selectedRows();
    return chosen.isEmpty()
               ? std::nullopt
               : std::optional(m_model->numberAt(m_sorted->mapToSource(chosen.front()).row()));
}

// Enter would otherwise press the default button of the dialog.
void SweepTable::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        Q_EMIT opened();
        return;
    }
    QTableView::keyPressEvent(event);
}

} // namespace pallascope::app
