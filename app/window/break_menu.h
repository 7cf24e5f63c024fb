// The menu of a thing in a view: run to it, and break at it.
#pragma once

#include "app/window/session.h"

#include <QMenu>

#include <optional>

namespace pallascope::app {

// `time`: where in the view it was asked for, if that view has an axis of time. The menu deletes
// itself when it closes.
[[nodiscard]] QMenu* makeBreakMenu(Session& session, const layout::Target& target,
                                   const std::optional<Picoseconds>& time, QWidget* parent);

} // namespace pallascope::app
