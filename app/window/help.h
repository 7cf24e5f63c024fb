// The two dialogs of the Help menu.
#pragma once

#include <string>
#include <vector>

class QAction;
class QWidget;

namespace pallascope::app {

void showKeys(QWidget& parent, const std::vector<QAction*>& actions);
void showAbout(QWidget& parent);
[[nodiscard]] std::string programVersion();

} // namespace pallascope::app
