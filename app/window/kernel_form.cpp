#include "app/window/kernel_form.h"

#include "views/fonts.h"
#include "views/scene_painter.h"

#include <QFileInfo>
#include <QPainter>

#include <algorithm>
#include <set>

namespace pallascope::app {
namespace {

using namespace Qt::StringLiterals;
using views::text;

constexpr int kFormPadding = 12;
constexpr int kPitch = 24;
constexpr int kColumnGap = 10;
constexpr int kGroupGap = 5;
constexpr int kLabelGap = 8;
constexpr int kBottom = 8;       // px below the form with a line in it, above the budget
constexpr int kWideLabel = 54;   // px for the labels of kernel and chip
constexpr int kLeastChoice = 44; // px for "yes" beside its arrow
const QString kKernelField = u"kernel"_s;
const QString kChipField = u"chip"_s;
const QString kFileField = u"file"_s; // the path of a kernel file; the kernel field shows it

// The rows of the form: first each size beside its block (m, bm), then choices, then numbers, two
// to a row.
std::vector<std::vector<ParameterInfo>> rowsOf(const std::vector<ParameterInfo>& parameters)
{
    std::vector<std::vector<ParameterInfo>> rows;
    std::set<std::string> placed;
    for (const ParameterInfo& parameter : parameters) {
        const auto block =
            std::find_if(parameters.begin(), parameters.end(), [&](const ParameterInfo& other) {
                return other.name == "b" + parameter.name;
            });
        if (block != parameters.end()) {
            rows.push_back({parameter, *block});
            placed.insert({parameter.name, block->name});
        }
    }
    for (const bool choices : {true, false}) {
        bool open = false; // whether the last row has room for another field
        for (const ParameterInfo& parameter : parameters) {
            if (placed.contains(parameter.name) || (parameter.type == "choice") != choices) {
                continue;
            }
            if (open) {
                rows.back().push_back(parameter);
            } else {
                rows.push_back({parameter});
            }
            open = !open;
        }
    }
    return rows;
}

// The parameters that a run had of a kernel that only its trace knows; none if the run is of
// another kernel, as it is while the one that was asked for is under way.
std::vector<ParameterInfo> parametersIn(const std::vector<layout::Field>& fields,
                                        const std::string& kernel)
{
    std::vector<ParameterInfo> parameters;
    bool isOfKernel = false;
    for (const layout::Field& field : fields) {
        const QString name = text(field.name);
        if (name == kKernelField) {
            isOfKernel = field.value == kernel;
        } else if (name != kChipField && name != kFileField) {
            parameters.push_back({field.name, "text", field.value, {}, {}, 1, 1});
        }
    }
    return isOfKernel ? parameters : std::vector<ParameterInfo>();
}

} // namespace

KernelForm::KernelForm(QWidget* parent)
    : QWidget(parent)
    , m_error(new QLabel(this))
{
    m_error->setObjectName(u"error"_s);
    m_error->setWordWrap(true);
    m_error->setFont(views::font(11));
    m_error->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_error->hide();
}

void KernelForm::show(const RunRequest& request, const std::vector<layout::Field>& fields)
{
    const std::vector<KernelInfo> all = kernels();
    const auto known = std::find_if(all.begin(), all.end(), [&](const KernelInfo& kernel) {
        return kernel.name == request.kernel;
    });
    const std::vector<ParameterInfo> parameters =
        known != all.end() ? known->parameters : parametersIn(fields, request.kernel);
    const auto isMissing = [this](const ParameterInfo& parameter) {
        return field(text(parameter.name)) == nullptr;
    };
    if (request.kernel != m_kernel || m_rows.empty()
        || std::any_of(parameters.begin(), parameters.end(), isMissing)) {
        build(request.kernel, parameters, known != all.end());
    }
    setValue(kKernelField, text(request.kernel));
    if (!request.chip.empty()) { // otherwise the run will say which chip it took
        setValue(kChipField, text(request.chip));
    }
    for (const ParameterInfo& parameter : parameters) {
        const auto given = request.parameters.find(parameter.name);
        setValue(text(parameter.name),
                 text(given == request.parameters.end() ? parameter.defaultValue : given->second));
    }
    place(); // its numbers may be longer
}

void KernelForm::build(const std::string& kernel, const std::vector<ParameterInfo>& parameters,
                       bool editable)
{
    QString focused; // its successor takes over
    for (const auto& [name, cell] : m_cells) {
        if (focused.isEmpty() && cell.field->hasFocus()) { // hiding hands it on
            focused = name;
        }
        cell.label->deleteLater();
        cell.field->hide();
        cell.field->deleteLater();
    }
    m_cells.clear();
    m_rows.clear();
    m_kernel = kernel;
    std::vector<std::pair<QString, QString>> names;
    for (const KernelInfo& info : kernels()) {
        names.emplace_back(text(info.name), text(info.name));
    }
    if (!editable) {
        names.emplace_back(text(kernel).section(u'/', -1), text(kernel));
    }
    std::vector<std::pair<QString, QString>> chipNames;
    for (const auto& [id, name] : chips()) {
        chipNames.emplace_back(text(id), text(name));
    }
    m_rows.push_back({makeChoice(kKernelField, names)});
    m_rows.push_back({makeChoice(kChipField, chipNames)});
    for (const auto& row : rowsOf(parameters)) {
        std::vector<Cell> cells;
        for (const ParameterInfo& parameter : row) {
            cells.push_back(makeCell(parameter, editable));
        }
        m_rows.push_back(cells);
    }
    const QWidget* before = nullptr; // so that Tab goes through the form in reading order
    for (const auto& row : m_rows) {
        for (const Cell& cell : row) {
            m_cells[cell.name] = cell;
            cell.label->show();
            cell.field->show();
            if (before != nullptr) {
                setTabOrder(const_cast<QWidget*>(before), cell.field);
            }
            before = cell.field;
        }
    }
    if (QWidget* successor = field(focused)) {
        successor->setFocus();
    }
    applyLook();
    place();
}

KernelForm::Cell KernelForm::makeChoice(const QString& name,
                                        const std::vector<std::pair<QString, QString>>& items)
{
    auto* field = new ChoiceField(this);
    for (const auto& [id, shown] : items) {
        field->addItem(shown, id);
    }
    auto* label = new QLabel(name, this);
    connect(field, &QComboBox::activated, this, [this, field, name](int index) {
        const QString id = field->itemData(index).toString();
        if (name == kKernelField) {
            Q_EMIT kernelChosen(id);
        } else if (name == kChipField) {
            Q_EMIT chipChosen(id);
        } else {
            Q_EMIT parameterChosen(name, id);
        }
    });
    return {name, label, field};
}

KernelForm::Cell KernelForm::makeCell(const ParameterInfo& parameter, bool editable)
{
    const QString name = text(parameter.name);
    Cell cell{name, nullptr, nullptr};
    if (parameter.type == "choice") {
        std::vector<std::pair<QString, QString>> items;
        for (const std::string& choice : parameter.choices) {
            items.emplace_back(text(choice), text(choice));
        }
        cell = makeChoice(name, items);
        cell.label->setText(text(parameter.name));
    } else {
        auto* field = new NumberField(parameter.minimum, parameter.maximum, this);
        connect(field, &NumberField::committed, this,
                [this, name](const QString& value) { Q_EMIT parameterChosen(name, value); });
        cell = {name, new QLabel(text(parameter.name), this), field};
    }
    cell.field->setEnabled(editable);
    cell.field->setAccessibleName(name);
    cell.field->setAccessibleDescription(text(parameter.help));
    cell.field->setToolTip(text(parameter.help));
    return cell;
}

void KernelForm::setValue(const QString& name, const QString& value)
{
    QWidget* widget = field(name);
    if (auto* choice = qobject_cast<ChoiceField*>(widget)) {
        int index = choice->findData(value);
        // A chip file, or a value that is not allowed: the field shows what was asked for.
        if (index < 0) {
            // Of a file only its name has room here; the tooltip says where it lies.
            choice->addItem(QFileInfo(value).fileName(), value);
            index = choice->count() - 1;
            choice->setItemData(index, value, Qt::ToolTipRole);
        }
        choice->setCurrentIndex(index);
    } else if (auto* number = qobject_cast<NumberField*>(widget)) {
        number->setValueText(value);
    }
}

void KernelForm::setError(const QStringList& fields, const QString& sentence)
{
    if (fields == m_badFields && sentence == m_error->text()) {
        return;
    }
    m_badFields = fields;
    m_error->setText(sentence);
    m_error->setVisible(!sentence.isEmpty());
    applyLook();
    place();
}

QString KernelForm::errorText() const
{
    return m_error->text();
}

void KernelForm::setTheme(layout::Theme theme)
{
    m_theme = theme;
    applyLook();
}

void KernelForm::applyLook()
{
    QPalette labels = palette();
    labels.setColor(QPalette::WindowText,
                    views::color(layout::Color(layout::Role::Text2), m_theme));
    for (const auto& [name, cell] : m_cells) {
        cell.label->setPalette(labels);
        cell.label->setFont(views::font(11));
        const FieldLook look{m_theme, !m_error->text().isEmpty() && m_badFields.contains(name)};
        if (auto* choice = qobject_cast<ChoiceField*>(cell.field)) {
            choice->setLook(look);
        } else if (auto* number = qobject_cast<NumberField*>(cell.field)) {
            number->setLook(look);
        }
    }
}

QWidget* KernelForm::field(const QString& parameter) const
{
    const auto found = m_cells.find(parameter);
    return found == m_cells.end() ? nullptr : found->second.field;
}

void KernelForm::paintEvent(QPaintEvent* /*event*/)
{
    constexpr int kLineAbove = 6;
    QPainter painter(this);
    painter.fillRect(rect(), views::color(layout::Color(layout::Role::View), m_theme));
    painter.fillRect(0, height() - kLineAbove, width(), 1,
                     views::color(layout::Color(layout::Role::Line), m_theme));
}

void KernelForm::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    place();
}

int KernelForm::leastWidth(const Cell& cell)
{
    const auto* number = qobject_cast<NumberField*>(cell.field);
    return number != nullptr ? number->leastWidth() : kLeastChoice;
}

// Fields whose names leave them too little of half a row have a row each.
int KernelForm::placeRow(const std::vector<Cell>& row, int y) const
{
    const int inner = width() - 2 * kFormPadding;
    const int half = (inner - kColumnGap) / 2;
    const bool wide = &row == &m_rows[0] || &row == &m_rows[1];
    const auto isNarrow = [&](const Cell& cell) {
        return half - cell.label->sizeHint().width() - kLabelGap < leastWidth(cell);
    };
    if (!wide && std::any_of(row.begin(), row.end(), isNarrow)) {
        for (const Cell& cell : row) {
            const int label = cell.label->sizeHint().width() + kLabelGap;
            cell.label->setGeometry(kFormPadding, y, label, kFieldHeight);
            cell.field->setGeometry(kFormPadding + label, y, inner - label, kFieldHeight);
            y += kPitch;
        }
        return y;
    }
    int x = kFormPadding;
    for (std::size_t column = 0; column < row.size(); ++column) {
        const Cell& cell = row[column];
        const int room = wide ? inner : (column == 1 ? inner - half - kColumnGap : half);
        const int label =
            wide ? kWideLabel : std::min(labelWidth(row, column), room - leastWidth(cell));
        cell.label->setGeometry(x, y, label, kFieldHeight);
        cell.field->setGeometry(x + label, y, room - label, kFieldHeight);
        x += half + kColumnGap;
    }
    return y + kPitch;
}

// Number fields in the same column are aligned, as far as they keep room for their numbers.
int KernelForm::labelWidth(const std::vector<Cell>& row, std::size_t column) const
{
    const auto isNumber = [](const Cell& cell) {
        return qobject_cast<NumberField*>(cell.field) != nullptr;
    };
    int widest = row[column].label->sizeHint().width();
    for (std::size_t i = 2; i < m_rows.size() && row.size() > 1 && isNumber(row[column]); ++i) {
        if (m_rows[i].size() == row.size() && isNumber(m_rows[i][column])) {
            widest = std::max(widest, m_rows[i][column].label->sizeHint().width());
        }
    }
    return widest + kLabelGap;
}

// Makes the form as high as its rows and the error need.
void KernelForm::place()
{
    const bool bad = !m_error->text().isEmpty();
    int y = 0;
    bool placed = false;
    const auto placeError = [&] {
        const int inner = width() - 2 * kFormPadding;
        const int height = m_error->heightForWidth(inner);
        m_error->setGeometry(kFormPadding, y, inner, height);
        y += height + 4;
        placed = true;
    };
    const auto isBad = [this](const std::vector<Cell>& row) {
        return std::any_of(row.begin(), row.end(),
                           [this](const Cell& cell) { return m_badFields.contains(cell.name); });
    };
    const auto last = std::find_if(m_rows.rbegin(), m_rows.rend(), isBad);
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        y = placeRow(m_rows[i], y);
        if (bad && last != m_rows.rend() && &m_rows[i] == &*last) {
            placeError();
        }
        y += i == 1 ? kGroupGap : 0;
    }
    if (bad && !placed) {
        placeError();
    }
    setFixedHeight(y + kBottom);
}

} // namespace pallascope::app
