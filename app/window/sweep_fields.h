// The left half of the sweep dialog: for each parameter of the kernel, and for the chips, a field
// with the values to try. What is wrong with a field stands below it, in the words of the command
// line.
#pragma once

#include "app/run_job/run_job.h"
#include "app/run_job/sweep_job.h"

#include <QLabel>
#include <QLineEdit>
#include <QWidget>

#include <map>
#include <optional>
#include <vector>

class QGridLayout;

namespace pallascope::app {

class SweepFields : public QWidget
{
    Q_OBJECT

public:
    explicit SweepFields(QWidget* parent = nullptr);

    // Makes the fields for the kernel of the request. What was typed stays, if it is the same one.
    void show(const RunRequest& request);

    // The values are separated from the names, as in a request of a sweep.
    [[nodiscard]] std::vector<std::string> over() const;
    [[nodiscard]] std::string chips() const; // without spaces around commas

    // How many runs they make; nullopt if a field is wrong. Then, if `loudly`, the fields say so,
    // and the first wrong one gets the keyboard.
    [[nodiscard]] std::optional<std::size_t> count(bool loudly);
    // Puts an error below the field that it is about. False: it is about none of them.
    bool take(const Error& error);

    [[nodiscard]] QList<QWidget*> inOrder() const;             // the fields
    [[nodiscard]] QLineEdit* field(const QString& name) const; // null if there is no such field
    [[nodiscard]] QString errorOf(const QString& name) const;  // empty if there is none

Q_SIGNALS:
    void changed();

private:
    struct Row
    {
        QString name;
        QLabel* label = nullptr;
        QLineEdit* field = nullptr;
        QLabel* error = nullptr;
    };

    void rebuild(const RunRequest& request);
    void addRow(const QString& name, const QString& help);
    void say(const Row& row, const QString& sentence);
    // What is wrong in a field; of the values that it had last it is known.
    [[nodiscard]] std::optional<Error> errorIn(const Row& row);
    [[nodiscard]] std::optional<Error> checked(const Row& row) const;
    [[nodiscard]] const Row* find(const QString& name) const;

    std::string m_kernel;
    std::vector<Row> m_rows; // that of the chips is the last one

    struct Known
    {
        QString values;
        std::optional<Error> error;
    };

    std::map<QString, Known> m_known; // by the names of rows of this kernel
    QGridLayout* m_grid;
};

} // namespace pallascope::app
