// Turns Qt's messages into sentences of the command line.
#pragma once

namespace pallascope::app {

enum class QtMessages
{
    Shown,
    Dropped // while pictures are written, for which nobody wants to hear of Qt
};

// Must be called before the application is made. If it cannot be made, for instance because there
// is no display, the process ends with a sentence and exit code 2; Qt alone would abort.
void takeQtMessages(QtMessages messages);

} // namespace pallascope::app
