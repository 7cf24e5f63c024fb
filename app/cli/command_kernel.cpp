// The commands `print` and `save`: a kernel as a listing, or as a file.
#include "app/cli/commands.h"
#include "app/process/diagnostics.h"
#include "app/run_job/kernel_choice.h"
#include "core/ir/print.h"

#include <fmt/format.h>

namespace pallascope::app {

int printCommand(const std::string& kernel, const std::vector<std::string>& parameters)
{
    const Result<std::map<std::string, std::string>> given = parseParameters(parameters);
    if (!given) {
        return complain(given.error());
    }
    const Result<KernelChoice> choice = chooseKernel(kernel, *given);
    if (!choice) {
        return complain(choice.error());
    }
    const ir::Lowering& lowering = choice->program.lowering;
    fmt::print("{}{}", ir::printText(choice->program),
               loweringLine(ir::verdictName(lowering.accepted), lowering.reason));
    return kFine;
}

int saveCommand(const SaveCommand& command)
{
    const Result<std::map<std::string, std::string>> given = parseParameters(command.parameters);
    if (!given) {
        return complain(given.error());
    }
    if (const Status writable = checkPlaces({command.output}, {command.inputs}); !writable) {
        return complain(writable.error());
    }
    Result<KernelChoice> choice = chooseKernel(command.kernel, *given, command.inputs);
    if (!choice) {
        return complain(choice.error());
    }
    if (!choice->inputsNote.empty()) {
        sayOnOneLine(choice->inputsNote);
    }
    const Status saved = kernel_file::save(
        {std::move(choice->program), std::move(choice->inputs), std::move(choice->producer)},
        command.output);
    return saved ? kFine : complain(saved.error());
}

} // namespace pallascope::app
