// What of a scene is pointed at, framed and described: no widget's state, only questions about a
// scene that its widget, its tooltip and screen readers ask alike.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <QStringList>

#include <optional>
#include <string>
#include <vector>

namespace pallascope::views {

// Whether it is something that is drawn, not a lane or a moment.
[[nodiscard]] bool isThing(const layout::Target& target);

// Each thing once and in reading order; of very many the first ones.
[[nodiscard]] std::vector<layout::Hit> thingsOf(const layout::Scene& scene);

// The thing to which an arrow key leads from another one (or from the corner, if that is not in the
// picture); null if there is none in that direction.
[[nodiscard]] const layout::Hit* neighbour(const layout::Scene& scene, const layout::Target& from,
                                           int dx, int dy);

// The lines of a tooltip as a layout makes them, without the bars around what is strong.
[[nodiscard]] QStringList asLines(const std::vector<std::string>& lines);

// What the tooltip says; nothing without a run.
[[nodiscard]] QStringList tipLines(const layout::RunView* run, const layout::ViewState& state,
                                   const layout::Target& target);

} // namespace pallascope::views
