// The command `compare`: two runs side by side, each from a trace or a kernel.
#include "app/cli/commands.h"
#include "app/run_job/kernel_choice.h"
#include "core/kernel_file/kernel_file.h"
#include "core/study/compare.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

namespace pallascope::app {

namespace {

// The run of a trace file, or of a kernel or kernel file with arguments such as "matmul bm=256
// chip=v5p".
Result<FinishedRun> runOf(const std::string& text, const std::string& chip,
                          const machine::Settings& settings)
{
    std::error_code error;
    if (std::filesystem::is_regular_file(text, error) && !kernel_file::isKernelFile(text)) {
        return openTrace(text, terminalProgress("opening"));
    }
    std::istringstream words(text);
    RunRequest request{
        .kernel = "", .chip = chip, .fullValues = false, .check = false, .settings = settings};
    words >> request.kernel;
    std::vector<std::string> assignments;
    bool hasChip = false;
    for (std::string word; words >> word;) {
        if (word.rfind("chip=", 0) == 0) {
            if (hasChip) {
                return userError("The chip is given twice in \"" + text + "\"; keep one.");
            }
            hasChip = true;
            request.chip = word.substr(5);
            if (request.chip.empty()) {
                return userError("The chip of \"" + text
                                 + "\" has no name; expected one such as chip=v5p.");
            }
        } else {
            assignments.push_back(word);
        }
    }
    Result<std::map<std::string, std::string>> parameters = parseParameters(assignments);
    if (!parameters) {
        return parameters.error();
    }
    request.parameters = std::move(*parameters);
    const std::vector<KernelInfo> known = kernels();
    const bool builtIn = std::any_of(known.begin(), known.end(), [&](const KernelInfo& kernel) {
        return kernel.name == request.kernel;
    });
    if (!builtIn && !kernel_file::isKernelFile(request.kernel)) {
        // A pipe; or a folder, for which openTrace has a sentence.
        if (std::filesystem::exists(text, error)) {
            return openTrace(text, terminalProgress("opening"));
        }
        return userError("There is no file \"" + text
                         + "\", and no kernel of that name is built in; expected a trace such as "
                           "m.trace.json.gz, or a kernel such as \"matmul bm=256\".");
    }
    return runKernel(request, terminalProgress("running"));
}

} // namespace

int compareCommand(const CompareCommand& command)
{
    const Result<machine::Settings> settings = parseSettings(command.settings);
    if (!settings) {
        return complain(settings.error());
    }
    if (command.align != "time" && command.align != "step") {
        return complain(userError("The time lines cannot be aligned by \"" + command.align
                                  + "\"; expected time or step."));
    }
    if (command.picture) {
        Status sound = checkPlaces({command.picture->file}, {command.a, command.b});
        sound = sound ? checkPicture(*command.picture) : sound;
        if (!sound) {
            return complain(sound.error());
        }
    }
    catchInterrupts();
    const Result<FinishedRun> a = runOf(command.a, command.chip, *settings);
    if (!a) {
        return complain(a.error());
    }
    const Result<FinishedRun> b = runOf(command.b, command.chip, *settings);
    if (!b) {
        return complain(b.error());
    }
    const Result<study::Comparison> comparison = study::compare(*a->view->trace, *b->view->trace);
    if (!comparison) {
        return complain(comparison.error());
    }
    clearProgress();
    if (command.picture) {
        const Status written = writePicture(*b, *command.picture, a->view, command.align == "step");
        if (!written) {
            return complain(written.error());
        }
    }
    fmt::print("{}", command.json ? study::toJson(*comparison) : study::toText(*comparison));
    return kFine;
}

} // namespace pallascope::app
