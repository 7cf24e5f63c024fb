// The rows of a sweep as a table, with the columns that the command line prints. Columns sort by
// what they mean, not by their texts; rows that did not run come last.
#pragma once

#include "app/window/sweep_runs.h"

#include <QAbstractTableModel>
#include <QTableView>

#include <memory>
#include <optional>
#include <vector>

class QSortFilterProxyModel;

namespace pallascope::app {

class SweepModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void begin(std::shared_ptr<const SweepJob> job); // of a new sweep, without rows
    void add(const std::vector<SweepRuns::Numbered>& rows);

    [[nodiscard]] const std::shared_ptr<const SweepJob>& job() const { return m_job; }

    // In the order of the sweep.
    [[nodiscard]] std::vector<study::SweepRow> rows() const;
    // By its number among all combinations; null if it has not come.
    [[nodiscard]] const study::SweepRow* find(std::size_t number) const;
    [[nodiscard]] std::optional<int> placeOf(std::size_t number) const;
    [[nodiscard]] std::size_t numberAt(int place) const;
    [[nodiscard]] bool ran(int place) const; // not so if it does not fit or cannot run

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role) const override;

private:
    [[nodiscard]] QVariant sortKey(const study::SweepRow& row, std::size_t column) const;

    std::shared_ptr<const SweepJob> m_job;
    std::vector<SweepRuns::Numbered> m_rows; // in the order of the sweep
};

class SweepTable : public QTableView
{
    Q_OBJECT

public:
    explicit SweepTable(QWidget* parent = nullptr);

    [[nodiscard]] SweepModel& rows() { return *m_model; }

    void fitColumns();
    // Selects a row by its number, and shows it; nullopt: none.
    void choose(std::optional<std::size_t> number);
    [[nodiscard]] std::optional<std::size_t> chosen() const;

Q_SIGNALS:
    void chosenChanged();
    void opened(); // the chosen row, by Enter or a double click

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    SweepModel* m_model;
    QSortFilterProxyModel* m_sorted;
};

} // namespace pallascope::app
