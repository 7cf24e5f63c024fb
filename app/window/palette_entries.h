// What the command palette lists: actions, fields of the form, and things of the run.
#pragma once

#include "app/window/command_palette.h"

#include <QAction>

#include <vector>

namespace pallascope::app {

class KernelForm;
class Session;

[[nodiscard]] std::vector<PaletteEntry> paletteEntries(const std::vector<QAction*>& actions,
                                                       KernelForm& form, Session& session,
                                                       const QString& words);

} // namespace pallascope::app
