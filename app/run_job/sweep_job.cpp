#include "app/run_job/sweep_job.h"

#include "app/run_job/alternatives.h"
#include "app/run_job/block_choices.h"
#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"
#include "core/base/format.h"
#include "core/base/read_file.h"
#include "core/trace/findings.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>

namespace pallascope::app {

namespace {

constexpr const char* kFileAxis = "file"; // the axis of several files

// The contents of a kernel file.
struct FileKernel
{
    ir::Program program;
    std::vector<Array> inputs;
};

using Files = std::map<std::string, FileKernel>; // for each path

struct Sweep
{
    const kernels::Kernel* kernel = nullptr; // null if the sweep goes over files
    Files files;
    study::Parameters fixed;
    study::SweepPlan plan;
};

// A name that the kernel does not have is wrong in all rows. A wrong value spoils only its own
// rows, so it is not checked here.
Status checkNames(const Sweep& sweep)
{
    for (const study::Axis& axis : sweep.plan.axes) {
        if (sweep.fixed.contains(axis.name)) {
            return userError("The parameter " + axis.name
                                 + " is given with -p and with --over; keep one.",
                             {{Subject::Parameter, axis.name}});
        }
        const auto& known = sweep.kernel->parameters;
        const bool found =
            std::any_of(known.begin(), known.end(),
                        [&](const kernels::Parameter& p) { return p.name == axis.name; });
        if (!found) { // its error lists the names
            const Result<kernels::Arguments> arguments =
                kernels::arguments(*sweep.kernel, {{axis.name, axis.values.front()}});
            return arguments ? Status(Done{}) : Status(arguments.error());
        }
        const auto same = [&](const study::Axis& other) { return other.name == axis.name; };
        if (std::count_if(sweep.plan.axes.begin(), sweep.plan.axes.end(), same) > 1) {
            return userError("The parameter " + axis.name + " has two ranges; keep one.",
                             {{Subject::Parameter, axis.name}});
        }
    }
    const Result<kernels::Arguments> fixed = kernels::arguments(*sweep.kernel, sweep.fixed);
    return fixed ? Status(Done{}) : Status(fixed.error());
}

// The chip that all the kernels are for.
Result<chip::Chip> ownChip(const Sweep& sweep)
{
    ir::Program builtIn;
    builtIn.chip = sweep.kernel != nullptr ? sweep.kernel->chip : "";
    Result<chip::Chip> own = chipOf(builtIn);
    const std::string* first = nullptr;
    for (const auto& [path, kernel] : sweep.files) {
        Result<chip::Chip> chip = chipOf(kernel.program);
        if (!chip) {
            return reworded(chip.error(), path + ": " + chip.error().message);
        }
        if (first != nullptr && chip->name != own->name) {
            return userError(path + " was captured for " + chip->name + ", " + *first + " for "
                             + own->name + "; --chip says on which to run both.");
        }
        own = std::move(chip);
        first = &path;
    }
    return own;
}

// Without names, the sweep takes the chip that the kernels are for.
Status takeChips(const std::string& names, Sweep& sweep)
{
    if (names.empty()) {
        Result<chip::Chip> own = ownChip(sweep);
        if (!own) {
            return own.error();
        }
        sweep.plan.chips.push_back(std::move(*own));
        return Done{};
    }
    Result<std::vector<chip::Chip>> chips = chipsNamed(names);
    if (!chips) {
        return chips.error();
    }
    sweep.plan.chips = std::move(*chips);
    return Done{};
}

void buildBuiltIn(Sweep& sweep)
{
    sweep.plan.build = [kernel = sweep.kernel,
                        given = sweep.fixed](const study::Parameters& parameters) {
        study::Parameters all = given;
        all.insert(parameters.begin(), parameters.end());
        const Result<kernels::Arguments> arguments = kernels::arguments(*kernel, all);
        return arguments ? kernel->build(*arguments) : Result<ir::Program>(arguments.error());
    };
    sweep.plan.knownFindings = [](const ir::Program& program) {
        std::vector<std::string> kinds;
        if (sumsPastAnArray(program)) {
            kinds.emplace_back(trace::findingEntry(trace::FindingKind::UndefinedWrittenBack).name);
        }
        return kinds;
    };
}

// Reads a part at a time, because the arrays of kernels are large.
Status addFile(const std::string& path, study::Fingerprint& contents)
{
    Result<InputFile> file = InputFile::open(path);
    std::vector<char> part(std::size_t{1} << 20U);
    while (file) {
        const Result<std::size_t> count = file->read(part);
        if (!count || *count == 0) {
            return count ? Status(Done{}) : count.error();
        }
        contents.add({part.data(), *count});
    }
    return file.error();
}

// Reads a kernel file and adds its contents to the fingerprint. A pipe can be read only once.
Result<KernelChoice> readKernel(const std::string& path, const study::Parameters& given,
                                study::Fingerprint& contents)
{
    std::error_code code;
    if (std::filesystem::exists(path, code) && !isOrdinaryFile(path)) {
        const Result<std::string> bytes = readFile(path, kernel_file::kMostPipedBytes);
        if (!bytes) {
            return bytes.error();
        }
        contents.add(*bytes);
        return kernelOf(*bytes, path, given);
    }
    Result<KernelChoice> choice = chooseKernel(path, given);
    if (Status added = choice ? addFile(path, contents) : Status(Done{}); !added) {
        return added.error();
    }
    return choice;
}

// The contents of a file are fixed, so only the files and the chips can vary. Returns the
// fingerprint of all files.
Result<std::string> takeFiles(const SweepRequest& request, Sweep& sweep)
{
    study::Parameters given = sweep.fixed;
    for (const study::Axis& axis : sweep.plan.axes) {
        given.emplace(axis.name, axis.values.front());
    }
    study::Fingerprint contents;
    for (const std::string& path : request.kernels) {
        if (request.kernels.size() > 1 && kernels::find(path) != nullptr) {
            return userError(path + " is built in; use one such kernel, or files.");
        }
        const Result<KernelChoice> choice = readKernel(path, given, contents);
        if (!choice) {
            return choice.error();
        }
        Result<std::vector<Array>> inputs = makeInputs(*choice, false);
        if (!inputs) {
            return inputs.error();
        }
        if (!sweep.files.try_emplace(path, choice->program, std::move(*inputs)).second) {
            return userError("The file " + path + " is named twice; name it once.");
        }
    }
    if (request.kernels.size() > 1) {
        sweep.plan.axes = {{kFileAxis, request.kernels}};
    }
    const auto fileOf = [files = std::make_shared<const Files>(sweep.files)](
                            const study::Parameters& parameters) -> const FileKernel& {
        const auto named = parameters.find(kFileAxis);
        return named == parameters.end() ? files->begin()->second : files->at(named->second);
    };
    sweep.plan.build = [fileOf](const study::Parameters& parameters) {
        return Result<ir::Program>(fileOf(parameters).program);
    };
    sweep.plan.inputs = [fileOf](const study::Parameters& parameters) {
        return fileOf(parameters).inputs;
    };
    return contents.text();
}

} // namespace

Result<SweepJob> sweepOf(const SweepRequest& request)
{
    Sweep sweep;
    sweep.kernel = request.kernels.size() == 1 ? kernels::find(request.kernels.front()) : nullptr;
    sweep.fixed = request.fixed;
    sweep.plan.settings = request.settings;
    for (const std::string& text : request.over) {
        Result<study::Axis> axis = study::parseAxis(text);
        if (!axis) {
            return axis.error();
        }
        sweep.plan.axes.push_back(std::move(*axis));
    }
    std::string file; // the fingerprint of the files
    if (sweep.kernel == nullptr) {
        const Result<std::string> contents = takeFiles(request, sweep);
        if (!contents) {
            return contents.error();
        }
        file = *contents;
    } else if (Status names = checkNames(sweep); !names) {
        return names.error();
    } else {
        buildBuiltIn(sweep);
    }
    if (Status chips = takeChips(request.chips, sweep); !chips) {
        return chips.error();
    }
    study::SweepSubject subject =
        study::subjectOf(fmt::format("{}", fmt::join(request.kernels, " ")), sweep.fixed,
                         request.version, request.settings, sweep.plan.chips, file);
    return SweepJob{sweep.kernel, std::move(sweep.plan), std::move(subject)};
}

Status checkRange(const std::string& kernel, const std::string& range)
{
    const Result<study::Axis> axis = study::parseAxis(range);
    if (!axis) {
        return axis.error();
    }
    const kernels::Kernel* known = kernels::find(kernel);
    for (const std::string& value : axis->values) {
        if (known == nullptr) {
            break;
        }
        if (const auto arguments = kernels::arguments(*known, {{axis->name, value}}); !arguments) {
            return arguments.error();
        }
    }
    return Done{};
}

std::map<std::string, std::string> proposedValues(const std::string& kernel,
                                                  const study::Parameters& parameters)
{
    std::map<std::string, std::string> proposed;
    const kernels::Kernel* known = kernels::find(kernel);
    const auto given = known == nullptr ? Result<kernels::Arguments>(cancelled())
                                        : kernels::arguments(*known, parameters);
    if (!given) {
        return proposed;
    }
    const BlockChoices choices(*known, *given);
    for (std::size_t axis = 0; axis < known->blockParameters.size(); ++axis) {
        const std::string& name = known->blockParameters[axis];
        std::set<std::int64_t> values;
        for (const int shift : {-1, 0, 1}) {
            const auto choice = choices.scaled(choices.asked(), shift, axis);
            if (choice && choices.programOf(*choice)) {
                values.insert(choice->blocks[axis]);
            }
        }
        if (values.size() > 1) {
            proposed[name] = fmt::format("{}", fmt::join(values, ","));
        }
    }
    return proposed;
}

Result<std::vector<chip::Chip>> chipsNamed(const std::string& names)
{
    std::vector<chip::Chip> chips;
    for (const std::string& name : splitAtCommas(names)) {
        Result<chip::Chip> chip = loadChip(name);
        if (!chip) {
            return chip.error();
        }
        for (const chip::Chip& other : chips) {
            if (other.name == chip->name) {
                return userError("Two of the chips are named " + chip->name
                                     + "; expected chips of different names.",
                                 {{Subject::Chip, name}});
            }
        }
        chips.push_back(std::move(*chip));
    }
    return chips;
}

Status checkAnyRuns(const std::vector<study::SweepRow>& rows)
{
    const bool none = !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const auto& row) {
        return !row.error.empty();
    });
    return none ? Status(userError(fmt::format(
               "None of {} can be run; the first: {}",
               counted(static_cast<std::int64_t>(rows.size()), "combination", "combinations"),
               rows.front().error)))
                : Status(Done{});
}

std::vector<std::string> splitAtCommas(const std::string& text)
{
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
        end = text.find(',', begin);
        parts.push_back(text.substr(begin, end - begin));
    }
    return parts;
}

} // namespace pallascope::app
