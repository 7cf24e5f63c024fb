// What Qt has to say, as sentences of the command line.
#pragma once

namespace pallascope::app {

enum class QtMessages
{
    Shown,
    Dropped // of pictures, for which no one asked Qt
};

// Before the application is made. Where it cannot be made, as without a display, the process ends
// with a sentence and exit code 2, where Qt would abort.
void takeQtMessages(QtMessages messages);

} // namespace pallascope::app
