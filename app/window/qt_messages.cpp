#include "app/window/qt_messages.h"

#include "app/process/diagnostics.h"
#include "app/process/exit_codes.h"
#include "core/base/text.h"

#include <QCoreApplication>

#include <cstdlib>
#include <mutex>
#include <string>

namespace pallascope::app {
namespace {

bool g_shown = true;                        // global, because Qt gives handlers no data
std::string g_reason = "no display opened"; // why the application could not be made
std::mutex g_mutex;                         // guards g_reason: Qt's threads have messages as well

void take(QtMsgType type, const QMessageLogContext& /*context*/, const QString& message)
{
    const std::string text = oneLine(message.toStdString());
    const bool starting = QCoreApplication::startingUp();
    const std::lock_guard lock(g_mutex);
    if (type == QtFatalMsg && starting) {
        say("Cannot open a window: " + g_reason + "; `pallascope run matmul` works without one.");
        std::_Exit(kWrongInput);
    }
    if (type == QtFatalMsg) {
        say("Pallascope stopped on a mistake of its own: " + text + ".");
        std::_Exit(kInternalError);
    }
    if (starting && type != QtDebugMsg && type != QtInfoMsg) {
        g_reason = text;
    } else if (g_shown && !starting) {
        say(text);
    }
}

} // namespace

void takeQtMessages(QtMessages messages)
{
    g_shown = messages == QtMessages::Shown;
    qInstallMessageHandler(take);
}

} // namespace pallascope::app
