#include "app/run_job/kernel_choice.h"

#include "app/run_job/chips.h"
#include "core/cost/target.h"
#include "core/ir/mesh.h"
#include "core/kernel_file/npy.h"
#include "core/machine/needed.h"

#include <filesystem>

namespace pallascope::app {

namespace {

std::string listNames()
{
    std::string names;
    for (const kernels::Kernel& kernel : kernels::all()) {
        names += (names.empty() ? "" : ", ") + kernel.name;
    }
    return names;
}

// Names the inputs that the archive has no array for. It need not have all, but an array may be
// forgotten, or named otherwise.
std::string keptNote(const KernelChoice& choice, const std::string& archive,
                     const std::vector<std::optional<Array>>& arrays)
{
    std::string kept;
    std::size_t next = 0;
    for (const ir::Argument& argument : choice.program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input && !arrays[next++]) {
            kept += (kept.empty() ? "" : ", ") + std::string("arg") + std::to_string(next - 1)
                    + " (" + argument.name + ")";
        }
    }
    const bool madeUp = choice.builtIn != nullptr;
    return kept.empty()
               ? ""
               : archive + " has no " + kept + ": "
                     + (madeUp ? "made-up numbers stand" : "what the kernel file holds stands")
                     + " in.";
}

Status checkGiven(const std::string& path, const std::map<std::string, std::string>& given)
{
    return given.empty() ? Status(Done{})
                         : userError("The kernel of the file " + path + " has no parameter \""
                                         + given.begin()->first + "\": what is in a file is fixed.",
                                     {{Subject::Parameter, given.begin()->first}});
}

Result<KernelChoice> choiceOf(Result<kernel_file::KernelFile> file, const std::string& path)
{
    if (!file) {
        return file.error();
    }
    KernelChoice choice;
    choice.program = std::move(file->program);
    choice.inputs = std::move(file->inputs);
    choice.producer = std::move(file->producer);
    choice.parameters = {{kFileParameter, path}};
    choice.parameterOrder = {kFileParameter};
    return choice;
}

Result<KernelChoice> fromFile(const std::string& path,
                              const std::map<std::string, std::string>& given)
{
    const Status right = checkGiven(path, given);
    return right ? choiceOf(kernel_file::load(path), path) : right.error();
}

Result<KernelChoice> fromBuiltIn(const kernels::Kernel& kernel,
                                 const std::map<std::string, std::string>& given)
{
    Result<kernels::Arguments> arguments = kernels::arguments(kernel, given);
    if (!arguments) {
        return arguments.error();
    }
    Result<ir::Program> program = kernel.build(*arguments);
    if (!program) {
        return program.error();
    }
    KernelChoice choice;
    choice.program = std::move(*program);
    kernels::attachSources(choice.program);
    choice.inputs = kernel_file::defaultInputs(choice.program);
    choice.parameters = {arguments->all().begin(), arguments->all().end()};
    for (const kernels::Parameter& parameter : kernel.parameters) {
        choice.parameterOrder.push_back(parameter.name);
    }
    choice.builtIn = &kernel;
    choice.arguments = std::move(*arguments);
    return choice;
}

} // namespace

Result<KernelChoice> chooseKernel(const std::string& name,
                                  const std::map<std::string, std::string>& given,
                                  const std::string& inputs)
{
    const kernels::Kernel* const builtIn = kernels::find(name);
    std::error_code code;
    if (builtIn == nullptr && !std::filesystem::exists(name, code)) {
        return userError("There is no kernel \"" + name
                             + "\"; use a kernel file, or one of those built in: " + listNames()
                             + ".",
                         {{Subject::Kernel, name}});
    }
    Result<KernelChoice> choice =
        builtIn != nullptr ? fromBuiltIn(*builtIn, given) : fromFile(name, given);
    if (!choice || inputs.empty()) {
        return choice;
    }
    Result<std::vector<std::optional<Array>>> arrays =
        kernel_file::readInputs(inputs, choice->program);
    if (!arrays) {
        return arrays.error();
    }
    for (std::size_t i = 0; i < arrays->size(); ++i) {
        if ((*arrays)[i]) {
            choice->inputs[i] = std::move(*(*arrays)[i]);
        }
    }
    choice->inputsNote = keptNote(*choice, inputs, *arrays);
    return choice;
}

Result<KernelChoice> kernelOf(std::string_view contents, const std::string& path,
                              const std::map<std::string, std::string>& given)
{
    const Status right = checkGiven(path, given);
    return right ? choiceOf(kernel_file::parse(contents, path), path) : right.error();
}

std::string chipFor(const std::string& kernel, const std::string& chip)
{
    const kernels::Kernel* const builtIn = kernels::find(kernel);
    if (builtIn == nullptr || chip.empty()) {
        return chip;
    }
    const Result<KernelChoice> choice = fromBuiltIn(*builtIn, {});
    const Result<chip::Chip> loaded = loadChip(chip);
    if (!choice || !loaded || cost::checkTarget(choice->program, *loaded)) {
        return chip;
    }
    return builtIn->chip.empty() ? kUsualChip : builtIn->chip;
}

Result<std::map<std::string, std::string>>
parseAssignments(const std::vector<std::string>& assignments, Subject subject,
                 const std::string& example)
{
    const std::string what = subject == Subject::Setting ? "setting" : "parameter";
    std::map<std::string, std::string> values;
    for (const std::string& assignment : assignments) {
        const std::size_t equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0) {
            return userError("The " + what + " \"" + assignment
                             + "\" is not understood; expected NAME=VALUE such as " + example
                             + ".");
        }
        if (!values.emplace(assignment.substr(0, equals), assignment.substr(equals + 1)).second) {
            return userError("The " + what + " " + assignment.substr(0, equals)
                                 + " is given twice; keep one.",
                             {{subject, assignment.substr(0, equals)}});
        }
    }
    return values;
}

Result<std::map<std::string, std::string>>
parseParameters(const std::vector<std::string>& assignments)
{
    return parseAssignments(assignments, Subject::Parameter, "bm=1024");
}

Result<std::vector<Array>> makeInputs(const KernelChoice& kernel, bool values)
{
    const machine::NeededSet needed = machine::NeededSet::of(kernel.program);
    std::vector<Array> inputs;
    for (const ir::Argument& argument : kernel.program.arguments) {
        if (argument.kind != ir::ArgumentKind::Input) {
            continue;
        }
        const ir::Type type = ir::wholeType(kernel.program, argument);
        if (!values && !needed.needsContents(argument.ref)) {
            inputs.push_back({type.dtype, type.shape, nullptr});
            continue;
        }
        Result<Array> made = kernel_file::makeInput(kernel.inputs[inputs.size()], type);
        if (!made) {
            return made.error();
        }
        inputs.push_back(std::move(*made));
    }
    return inputs;
}

} // namespace pallascope::app
