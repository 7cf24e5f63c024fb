// The form of the kernel dock: the kernel, the chip and the kernel's parameters as fields, made
// from what app::kernels() says. An error stands below the field that it is about.
#pragma once

#include "app/run_job/run_job.h"
#include "app/window/fields.h"

#include <QLabel>
#include <QWidget>

#include <map>
#include <optional>
#include <vector>

namespace pallascope::app {

class KernelForm : public QWidget
{
    Q_OBJECT

public:
    explicit KernelForm(QWidget* parent = nullptr);

    // `fields` has the parameters of a trace whose kernel this program does not have. They are
    // shown but cannot be edited.
    void show(const RunRequest& request, const std::vector<layout::Field>& fields);
    // Frames the fields and puts the sentence below the last of them.
    void setError(const QStringList& fields, const QString& sentence);
    void setTheme(layout::Theme theme);

    [[nodiscard]] QWidget* field(const QString& parameter) const; // null if there is no such field
    [[nodiscard]] QString errorText() const;

Q_SIGNALS:
    void kernelChosen(const QString& kernel);
    void chipChosen(const QString& chip);
    void parameterChosen(const QString& name, const QString& value);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Cell
    {
        QString name;
        QLabel* label = nullptr;
        QWidget* field = nullptr;
    };

    void build(const std::string& kernel, const std::vector<ParameterInfo>& parameters,
               bool editable);
    Cell makeCell(const ParameterInfo& parameter, bool editable);
    Cell makeChoice(const QString& name, const std::vector<std::pair<QString, QString>>& items);
    void setValue(const QString& name, const QString& value);
    void place();
    [[nodiscard]] int placeRow(const std::vector<Cell>& row, int y) const;
    [[nodiscard]] static int leastWidth(const Cell& cell); // of its field, px
    [[nodiscard]] int labelWidth(const std::vector<Cell>& row, std::size_t column) const;
    void applyLook();

    std::string m_kernel;
    std::vector<std::vector<Cell>> m_rows; // the first two rows are the kernel and the chip
    std::map<QString, Cell> m_cells;
    QLabel* m_error;
    QStringList m_badFields;
    layout::Theme m_theme = layout::Theme::Light;
};

} // namespace pallascope::app
