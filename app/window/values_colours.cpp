#include "app/window/values_colours.h"

#include "app/window/values_row.h"

namespace pallascope::app {

using layout::ValuesScale;

ValuesColours::ValuesColours(QWidget* parent)
    : QWidget(parent)
    , m_range(new HeadButton(tr("range"), this))
    , m_log(new HeadButton(tr("log"), this))
    , m_lock(new HeadButton(tr("lock"), this))
{
    m_range->setToolTip(tr("Colours by value; diverging where both signs occur"));
    m_log->setToolTip(tr("Colours by the logarithm of the magnitude"));
    m_lock->setToolTip(tr("Colours keep their meaning from step to step: the scale only grows"));
    m_range->setChecked(true);
    m_lock->setChecked(true);
    auto* row = valuesRow();
    row->setContentsMargins(0, 0, 0, 0);
    setLayout(row);
    for (HeadButton* button : {m_range, m_log, m_lock}) {
        row->addWidget(button);
    }
    connect(m_range, &QAbstractButton::clicked, this, [this] { choose(ValuesScale::Range); });
    connect(m_log, &QAbstractButton::clicked, this, [this] { choose(ValuesScale::Log); });
    connect(m_lock, &QAbstractButton::clicked, this, [this](bool checked) {
        m_isLocked = checked;
        forgetRange();
        Q_EMIT changed();
    });
}

void ValuesColours::setTheme(layout::Theme theme)
{
    for (HeadButton* button : {m_range, m_log, m_lock}) {
        button->setTheme(theme);
    }
}

void ValuesColours::choose(ValuesScale scale)
{
    m_scale = scale;
    m_range->setChecked(scale == ValuesScale::Range);
    m_log->setChecked(scale == ValuesScale::Log);
    Q_EMIT changed();
}

void ValuesColours::goOn(const State& state)
{
    m_isLocked = state.isLocked;
    m_lock->setChecked(m_isLocked);
    m_held = state.held;
    choose(state.scale);
}

const std::optional<layout::ValuesRange>& ValuesColours::rangeOf(const layout::ValuesSight& sight)
{
    m_held = m_isLocked ? layout::rangeOf(sight, m_held) : std::nullopt;
    return m_held;
}

} // namespace pallascope::app
