#include "app/window/values_axes.h"

#include "app/window/values_row.h"
#include "views/fonts.h"

#include <QHBoxLayout>
#include <QLabel>

#include <algorithm>

namespace pallascope::app {

using namespace Qt::StringLiterals;
using views::text;

ValuesAxes::ValuesAxes(QWidget* parent)
    : QWidget(parent)
    , m_agent(new ChoiceField(this))
{
    m_agent->setAccessibleName(tr("Agent"));
    auto* row = valuesRow();
    setLayout(row);
    row->addWidget(m_agent);
    row->addStretch(1);
    hide();
    connect(m_agent, &QComboBox::activated, this, &ValuesAxes::agentChosen);
}

void ValuesAxes::setTheme(layout::Theme theme)
{
    m_theme = theme;
    m_agent->setLook({theme, false});
    for (const auto& [axis, field] : m_axes) {
        field->setLook({theme, false});
    }
}

void ValuesAxes::setAgents(const std::vector<std::string>& agents)
{
    const QString before = m_agent->currentData().toString();
    m_agent->clear();
    m_agent->addItem(tr("first that has it"), QString());
    for (const std::string& agent : agents) {
        m_agent->addItem(text(agent), text(agent));
    }
    m_agent->setCurrentIndex(std::max(0, m_agent->findData(before)));
    m_agent->setVisible(agents.size() > 1);
}

void ValuesAxes::setDevice(std::optional<std::int32_t> device)
{
    if (m_agent->count() > 0) {
        m_agent->setItemText(0, device ? tr("first of device %1 that has it").arg(*device)
                                       : tr("first that has it"));
    }
}

void ValuesAxes::setAgent(const std::string& agent)
{
    m_agent->setCurrentIndex(std::max(0, m_agent->findData(text(agent))));
}

void ValuesAxes::setShape(const Shape& shape)
{
    for (QWidget* each : m_widgets) {
        each->hide();
        each->deleteLater();
    }
    m_widgets.clear();
    m_axes.clear();
    for (std::size_t axis = 0; axis + 2 < shape.rank(); ++axis) {
        if (shape[axis] > 1) {
            addAxis(axis, shape[axis]);
        }
    }
    setVisible(!m_axes.empty() || m_agent->count() > 2);
}

void ValuesAxes::addAxis(std::size_t axis, Extent extent)
{
    auto* field = new NumberField(0, extent - 1, this);
    field->setStepsByOne();
    field->setLook({m_theme, false});
    field->setValueText(u"0"_s);
    field->setToolTip(tr("Axis %1: 0 to %2").arg(axis).arg(extent - 1));
    field->setAccessibleName(tr("Axis %1").arg(axis));
    field->setFixedWidth(64);
    connect(field, &NumberField::committed, this,
            [this, axis](const QString& number) { Q_EMIT axisChosen(axis, number.toLongLong()); });
    auto* name = new QLabel(tr("axis %1").arg(axis), this);
    name->setObjectName(u"hint"_s);
    name->setFont(views::font(11));
    auto* row = static_cast<QHBoxLayout*>(layout());
    row->insertWidget(row->count() - 1, name);
    row->insertWidget(row->count() - 1, field);
    m_widgets.insert(m_widgets.end(), {name, field});
    m_axes.emplace_back(axis, field);
}

void ValuesAxes::setIndex(const std::vector<std::int64_t>& index)
{
    for (const auto& [axis, field] : m_axes) {
        field->setValueText(QString::number(index[axis]));
    }
}

std::string ValuesAxes::agent() const
{
    return m_agent->currentData().toString().toStdString();
}

} // namespace pallascope::app
