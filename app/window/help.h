// The two dialogs of the Help menu.
#pragma once

#include <vector>

class QAction;
class QWidget;

namespace pallascope::app {

void showKeys(QWidget& parent, const std::vector<QAction*>& actions);
void showAbout(QWidget& parent);

} // namespace pallascope::app
