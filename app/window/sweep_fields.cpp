#include "app/window/sweep_fields.h"

#include "app/window/fields.h"
#include "app/window/request_fields.h"
#include "core/study/sweep.h"
#include "views/fonts.h"

#include <QGridLayout>

#include <algorithm>

namespace pallascope::app {
namespace {

using namespace Qt::StringLiterals;
using views::text;

const QString kChipRow = u"chip"_s;

// Of the kernel with this name; none if it is not built in.
std::vector<ParameterInfo> parametersOf(const std::string& name)
{
    const std::vector<KernelInfo> all = kernels();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const KernelInfo& kernel) { return kernel.name == name; });
    return found == all.end() ? std::vector<ParameterInfo>() : found->parameters;
}

} // namespace

SweepFields::SweepFields(QWidget* parent)
    : QWidget(parent)
    , m_grid(new QGridLayout(this))
{
    m_grid->setContentsMargins(0, 0, 8, 0);
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(5);
    m_grid->setColumnStretch(1, 1);
}

void SweepFields::show(const RunRequest& request)
{
    if (request.kernel != m_kernel || m_rows.empty()) {
        rebuild(request);
    }
    for (const ParameterInfo& parameter : parametersOf(request.kernel)) {
        const auto given = request.parameters.find(parameter.name);
        const std::string& value =
            given == request.parameters.end() ? parameter.defaultValue : given->second;
        find(text(parameter.name))->field->setPlaceholderText(text(value));
    }
    m_rows.back().field->setPlaceholderText(request.chip.empty() ? tr("that of the kernel")
                                                                 : text(request.chip));
    for (const Row& row : m_rows) {
        say(row, {});
    }
    Q_EMIT changed();
}

void SweepFields::rebuild(const RunRequest& request)
{
    for (const Row& row : m_rows) {
        for (QWidget* widget : std::initializer_list<QWidget*>{row.label, row.field, row.error}) {
            widget->hide();
            widget->deleteLater();
        }
    }
    m_grid->setRowStretch(2 * static_cast<int>(m_rows.size()), 0);
    m_rows.clear();
    m_known.clear();
    m_kernel = request.kernel;
    for (const ParameterInfo& parameter : parametersOf(m_kernel)) {
        addRow(text(parameter.name), text(parameter.help));
    }
    addRow(kChipRow, tr("Names or files of chips, separated by commas"));
    for (const auto& [name, values] : proposedValues(m_kernel, request.parameters)) {
        find(text(name))->field->setText(text(values));
    }
    m_grid->setRowStretch(2 * static_cast<int>(m_rows.size()), 1);
}

void SweepFields::addRow(const QString& name, const QString& help)
{
    const Row row{name, new QLabel(name, this), new QLineEdit(this), new QLabel(this)};
    row.label->setObjectName(u"hint"_s);
    row.label->setBuddy(row.field);
    row.label->setToolTip(help);
    row.field->setObjectName(name);
    row.field->setFixedHeight(kFieldHeight);
    row.field->setToolTip(help);
    row.field->setAccessibleName(tr("Values of %1").arg(name));
    row.field->setAccessibleDescription(help);
    row.error->setObjectName(u"error"_s);
    row.error->setWordWrap(true);
    row.error->setTextFormat(Qt::PlainText);
    row.error->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row.error->hide();
    const int line = 2 * static_cast<int>(m_rows.size());
    m_grid->addWidget(row.label, line, 0);
    m_grid->addWidget(row.field, line, 1);
    m_grid->addWidget(row.error, line + 1, 0, 1, 2);
    m_rows.push_back(row);
    connect(row.field, &QLineEdit::textChanged, this, [this, row] {
        if (!errorIn(row)) {
            say(row, {});
        }
        Q_EMIT changed();
    });
    // Not at each key: what is being typed is wrong until it is complete.
    connect(row.field, &QLineEdit::editingFinished, this, [this, row] {
        const std::optional<Error> error = errorIn(row);
        say(row, error ? text(error->message) : QString());
    });
}

void SweepFields::say(const Row& row, const QString& sentence)
{
    row.error->setText(sentence);
    row.error->setVisible(!sentence.isEmpty());
    row.field->setAccessibleDescription(sentence.isEmpty() ? row.field->toolTip() : sentence);
}

// Many values take a while, and each key in any field asks for all fields.
std::optional<Error> SweepFields::errorIn(const Row& row)
{
    const QString values = row.field->text();
    const auto known = m_known.find(row.name);
    if (known == m_known.end() || known->second.values != values) {
        m_known[row.name] = {values, checked(row)};
    }
    return m_known[row.name].error;
}

std::optional<Error> SweepFields::checked(const Row& row) const
{
    const std::string values = row.field->text().trimmed().toStdString();
    if (values.empty()) {
        return std::nullopt;
    }
    if (row.name == kChipRow) {
        const auto named = chipsNamed(chips());
        return named ? std::nullopt : std::optional(named.error());
    }
    const Status right = checkRange(m_kernel, row.name.toStdString() + "=" + values);
    return right ? std::nullopt : std::optional(right.error());
}

std::vector<std::string> SweepFields::over() const
{
    std::vector<std::string> over;
    for (const Row& row : m_rows) {
        const QString values = row.field->text().trimmed();
        if (row.name != kChipRow && !values.isEmpty()) {
            over.push_back((row.name + u'=' + values).toStdString());
        }
    }
    return over;
}

std::string SweepFields::chips() const
{
    QStringList names;
    for (const QString& name : m_rows.back().field->text().trimmed().split(u',')) {
        names.append(name.trimmed());
    }
    return names.join(u',').toStdString();
}

std::optional<std::size_t> SweepFields::count(bool loudly)
{
    const Row* wrong = nullptr;
    std::vector<study::Axis> axes;
    for (const Row& row : m_rows) {
        const std::optional<Error> error = errorIn(row);
        wrong = wrong == nullptr && error ? &row : wrong;
        if (loudly) {
            say(row, error ? text(error->message) : QString());
        }
    }
    if (wrong != nullptr) {
        if (loudly) {
            wrong->field->setFocus();
        }
        return std::nullopt;
    }
    for (const std::string& range : over()) {
        axes.push_back(*study::parseAxis(range));
    }
    const Result<std::size_t> count =
        study::combinations(axes, chips().empty() ? 1 : splitAtCommas(chips()).size());
    if (!count && loudly) {
        say(m_rows.back(), text(count.error().message));
    }
    return count ? std::optional(*count) : std::nullopt;
}

bool SweepFields::take(const Error& error)
{
    for (const QString& name : fieldsOfError(error)) {
        if (const Row* row = find(name)) {
            say(*row, text(error.message));
            row->field->setFocus();
            return true;
        }
    }
    return false;
}

const SweepFields::Row* SweepFields::find(const QString& name) const
{
    const auto found = std::find_if(m_rows.begin(), m_rows.end(),
                                    [&](const Row& row) { return row.name == name; });
    return found == m_rows.end() ? nullptr : &*found;
}

QList<QWidget*> SweepFields::inOrder() const
{
    QList<QWidget*> fields;
    for (const Row& row : m_rows) {
        fields.append(row.field);
    }
    return fields;
}

QLineEdit* SweepFields::field(const QString& name) const
{
    const Row* row = find(name);
    return row == nullptr ? nullptr : row->field;
}

QString SweepFields::errorOf(const QString& name) const
{
    const Row* row = find(name);
    return row == nullptr ? QString() : row->error->text();
}

} // namespace pallascope::app
