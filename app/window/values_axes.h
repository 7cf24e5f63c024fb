// The second row of the Values dock: of which agent a ref is looked at, and a field for every axis
// but the last two. It hides where there is nothing to choose.
#pragma once

#include "app/window/fields.h"
#include "core/base/shape.h"

#include <QWidget>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pallascope::app {

class ValuesAxes : public QWidget
{
    Q_OBJECT

public:
    explicit ValuesAxes(QWidget* parent);

    void setTheme(layout::Theme theme);
    void setAgents(const std::vector<std::string>& agents);
    // Of which device the first agent that has a ref is looked for; none: there is only one.
    void setDevice(std::optional<std::int32_t> device);
    void setAgent(const std::string& agent); // as agent() says it
    // Makes a field for every axis but the last two that has more than one element.
    void setShape(const Shape& shape);
    void setIndex(const std::vector<std::int64_t>& index);

    [[nodiscard]] std::string agent() const; // empty: the first one that has the ref

Q_SIGNALS:
    void agentChosen();
    void axisChosen(std::size_t axis, std::int64_t number);

private:
    void addAxis(std::size_t axis, Extent extent);

    ChoiceField* m_agent;
    std::vector<std::pair<std::size_t, NumberField*>> m_axes;
    std::vector<QWidget*> m_widgets; // these fields and their names
    layout::Theme m_theme = layout::Theme::Light;
};

} // namespace pallascope::app
