// The one executable: the command line, and the window if the build has Qt.
#include "app/cli/command_line.h"
#include "app/cli/complaint.h"
#include "app/cli/manual.h"
#include "app/lessons/lessons.h"
#include "app/process/diagnostics.h"
#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"
#include "core/base/read_file.h"
#include "kernels/kernel.h"

#include <exception>
#include <fmt/format.h>
#include <new>
#include <sstream>
#include <system_error>

#ifdef PALLASCOPE_GUI
#include "app/window/window_app.h"
#endif

namespace pallascope::app {

namespace {

// Opens a window for each file, or one empty window without files.
int openWindow([[maybe_unused]] int argc, [[maybe_unused]] char** argv,
               const std::vector<std::string>& files)
{
    const auto isBuiltIn = [](const std::string& name) { return kernels::find(name) != nullptr; };
    for (const std::string& file : files) {
        const Status readable =
            isBuiltIn(file) || isLesson(file) ? Status(Done{}) : checkReadable(file);
        if (!readable) {
            return complain(readable.error());
        }
    }
#ifdef PALLASCOPE_GUI
    for (std::size_t i = 1; i < files.size(); ++i) {
        openAnother(files[i]);
    }
    if (!files.empty() && isBuiltIn(files.front())) {
        return runWindow(argc, argv,
                         RunRequest{.kernel = files.front(),
                                    .chip = chipFor(files.front(), kUsualChip),
                                    .fullValues = false,
                                    .check = false},
                         std::nullopt);
    }
    return runWindow(argc, argv, std::nullopt,
                     files.empty() ? std::nullopt : std::optional(files.front()));
#else
    return complain(userError("This build has no window (it was made without Qt); `pallascope run "
                              "matmul` works without one."));
#endif
}

int printCompletion(const CommandLine& line)
{
    const std::string text = completions(line.app, line.shell);
    if (text.empty()) {
        return complain(userError(
            fmt::format("There is no completion for {}; expected bash, zsh or fish.", line.shell)));
    }
    fmt::print("{}", text);
    return kFine;
}

// Hands the options that only Python understands on to it.
int capture(CommandLine& line)
{
    std::vector<std::string>& more = line.capture.more;
    for (const auto& [option, value] : line.captureOptions) {
        if (!value.empty()) {
            more.insert(more.end(), {option, value});
        }
    }
    for (const std::string& axis : line.captureMesh) {
        more.insert(more.end(), {"--mesh", axis});
    }
    for (const std::string& number : line.captureDonate) {
        more.insert(more.end(), {"--donate", number});
    }
    return captureCommand(line.capture);
}

int execute(CommandLine& line, int argc, char** argv)
{
    const std::optional<PictureRequest> wanted =
        line.picture.file.empty() ? std::nullopt : std::optional(line.picture);
    if (*line.list) {
        return listCommand(line.listWhat);
    }
    if (*line.describe) {
        return describeCommand(line.description);
    }
    if (*line.print) {
        return printCommand(line.printWhat, line.printParameters);
    }
    if (*line.saveApp) {
        return saveCommand(line.save);
    }
    if (*line.captureApp) {
        return capture(line);
    }
    if (*line.runApp) {
        line.run.picture = wanted;
        return runCommand(line.run);
    }
    if (*line.stateApp) {
        return stateCommand(line.state);
    }
    if (*line.historyApp) {
        return historyCommand(line.history);
    }
    if (*line.reportApp) {
        line.report.picture = wanted;
        return reportCommand(line.report);
    }
    if (*line.sweepApp) {
        return sweepCommand(line.sweep);
    }
    if (*line.compareApp) {
        line.compare.picture = wanted;
        return compareCommand(line.compare);
    }
    if (*line.validateApp) {
        return validateCommand(line.validate);
    }
    if (*line.lessonApp) {
        line.lesson.picture = wanted;
        return lessonCommand(line.lesson);
    }
    if (*line.completion) {
        return printCompletion(line);
    }
    if (*line.manual) {
        fmt::print("{}", manualPage(line.app, PALLASCOPE_VERSION));
        return kFine;
    }
    return openWindow(argc, argv, line.openFiles);
}

// Parses the words, does what they ask for and returns the exit code.
int run(CommandLine& line, int argc, char** argv)
{
    try {
        line.app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const bool asked = error.get_exit_code() == 0; // --help or --version
        if (asked) {
            std::ostringstream text;
            const int code = line.app.exit(error, text);
            fmt::print("{}", text.str());
            return code;
        }
        say(complaintAbout(line, error));
        return kWrongInput;
    }
    return execute(line, argc, argv);
}

} // namespace

} // namespace pallascope::app

int main(int argc, char** argv)
{
    using namespace pallascope::app;
    holdStandardStreams();
    try {
        CommandLine line;
        const int code = run(line, argc, argv);
        // If the report did not arrive, for instance because the disk is full, the exit code must
        // say so.
        return flushOutput() ? code : kWrongInput;
    } catch (const std::bad_alloc&) {
        say("The machine's memory is not enough for this run; use smaller arrays or `--values "
            "needed`.");
        return kWrongInput;
    } catch (const std::exception& error) {
        // fmt throws if standard output fails, which is not an internal error.
        const auto* fault = dynamic_cast<const std::system_error*>(&error);
        if (!flushOutput(fault != nullptr ? fault->code().value() : 0)) {
            return kWrongInput;
        }
        say(fmt::format("Pallascope stopped on a mistake of its own: {}.", error.what()));
        return kInternalError;
    }
}
