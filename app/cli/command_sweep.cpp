// The command `sweep`: runs of one kernel with many parameters, or of many kernel files, on several
// chips.
#include "app/cli/commands.h"
#include "app/cli/kept_rows.h"
#include "app/process/diagnostics.h"
#include "app/run_job/alternatives.h"
#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"
#include "core/base/check.h"
#include "core/base/format.h"
#include "core/base/read_file.h"
#include "core/base/text.h"
#include "core/study/sweep_file.h"
#include "core/trace/findings.h"
#include "kernels/kernel.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>

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
    study::SweepSubject subject;
    study::SweepOptions options;
    study::SavedRows others; // of the file that it goes on from, for which it does not ask
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
    for (const std::string& name : splitAtCommas(names)) {
        Result<chip::Chip> chip = loadChip(name);
        if (!chip) {
            return chip.error();
        }
        for (const chip::Chip& other : sweep.plan.chips) {
            if (other.name == chip->name) {
                return userError("Two of the chips are named " + chip->name
                                 + "; expected chips of different names.");
            }
        }
        sweep.plan.chips.push_back(std::move(*chip));
    }
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
Result<std::string> takeFiles(const SweepCommand& command, Sweep& sweep)
{
    study::Parameters given = sweep.fixed;
    for (const study::Axis& axis : sweep.plan.axes) {
        given.emplace(axis.name, axis.values.front());
    }
    study::Fingerprint contents;
    for (const std::string& path : command.kernels) {
        if (command.kernels.size() > 1 && kernels::find(path) != nullptr) {
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
    if (command.kernels.size() > 1) {
        sweep.plan.axes = {{kFileAxis, command.kernels}};
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

Result<Sweep> sweepOf(const SweepCommand& command)
{
    Sweep sweep;
    sweep.kernel = command.kernels.size() == 1 ? kernels::find(command.kernels.front()) : nullptr;
    for (const std::string& text : command.over) {
        Result<study::Axis> axis = study::parseAxis(text);
        if (!axis) {
            return axis.error();
        }
        sweep.plan.axes.push_back(std::move(*axis));
    }
    Result<study::Parameters> fixed = parseParameters(command.parameters);
    if (!fixed) {
        return fixed.error();
    }
    sweep.fixed = std::move(*fixed);
    const Result<machine::Settings> settings = parseSettings(command.settings);
    if (!settings) {
        return settings.error();
    }
    sweep.plan.settings = *settings;
    std::string file; // the fingerprint of the files
    if (sweep.kernel == nullptr) {
        const Result<std::string> contents = takeFiles(command, sweep);
        if (!contents) {
            return contents.error();
        }
        file = *contents;
    } else if (Status names = checkNames(sweep); !names) {
        return names.error();
    } else {
        buildBuiltIn(sweep);
    }
    if (Status chips = takeChips(command.chips, sweep); !chips) {
        return chips.error();
    }
    sweep.subject =
        study::subjectOf(fmt::format("{}", fmt::join(command.kernels, " ")), sweep.fixed,
                         command.version, *settings, sweep.plan.chips, file);
    return sweep;
}

std::vector<study::SweepRow> present(const std::vector<std::optional<study::SweepRow>>& rows)
{
    std::vector<study::SweepRow> result;
    for (const auto& row : rows) {
        if (row) {
            result.push_back(*row);
        }
    }
    return result;
}

Status resume(const SweepCommand& command, Sweep& sweep)
{
    const Result<std::string> text = readFile(command.resume, kMostWrittenBytes);
    if (!text) {
        return text.error();
    }
    Result<study::SavedRows> saved = study::rowsFromJson(*text, sweep.subject, command.resume);
    if (!saved) {
        return saved.error();
    }
    for (study::SweepRow& row : saved->rows) {
        const bool asked = study::asksFor(sweep.plan, row);
        (asked ? sweep.options.done : sweep.others.rows).push_back(std::move(row));
    }
    sweep.others.chips = std::move(saved->chips);
    if (!saved->changed.empty()) {
        say(oneLine(
            fmt::format("The rows of {} in {} are of other contents of that chip's file, so they "
                        "are not taken over.",
                        fmt::join(saved->changed, ", "), command.resume)));
    }
    return Done{};
}

// Whether the row's parameters make no kernel. A kernel that only does not fit is a valid row.
bool isWrong(const study::SweepRow& row)
{
    return !row.error.empty();
}

void print(const SweepCommand& command, const Sweep& sweep,
           const std::vector<study::SweepRow>& rows)
{
    if (command.json) {
        fmt::print("{}", study::toJson(sweep.subject, rows));
    } else if (command.csv) {
        fmt::print("{}", study::toCsv(sweep.plan, rows));
    } else {
        fmt::print("{}", study::toText(sweep.plan, rows));
    }
}

// Checks that the file to which rows are saved, if any, can be written and is not one of those that
// are read.
Status checkFile(const SweepCommand& command, const Sweep& sweep, const std::string& file)
{
    if (file.empty()) {
        return Done{};
    }
    std::vector<std::string> read = splitAtCommas(command.chips);
    if (sweep.kernel == nullptr) {
        read.insert(read.end(), command.kernels.begin(), command.kernels.end());
    }
    return checkPlaces({file}, read);
}

} // namespace

int sweepCommand(const SweepCommand& command)
{
    Result<Sweep> sweep = sweepOf(command);
    if (!sweep) {
        return complain(sweep.error());
    }
    const std::string file = command.save.empty() ? command.resume : command.save;
    if (!command.resume.empty()) {
        if (Status resumed = resume(command, *sweep); !resumed) {
            return complain(resumed.error());
        }
    }
    if (Status writable = checkFile(command, *sweep, file); !writable) {
        return complain(writable.error());
    }
    catchInterrupts();
    KeptRows kept(file, sweep->subject, sweep->others);
    sweep->options.progress = [&, shown = terminalProgress("sweeping")](
                                  const std::vector<std::optional<study::SweepRow>>& all,
                                  std::size_t newest, std::size_t finished) mutable {
        kept.take(all, newest);
        shown(static_cast<double>(finished) / static_cast<double>(all.size()));
    };
    sweep->options.goesOn = [] { return !interrupted(); };
    const auto rows = study::sweep(sweep->plan, sweep->options);
    if (!rows) {
        return complain(rows.error());
    }
    clearProgress();
    const std::vector<study::SweepRow> finished = present(*rows);
    const bool none = !finished.empty() && std::all_of(finished.begin(), finished.end(), isWrong);
    if (none && finished.size() == rows->size()) {
        return complain(userError(fmt::format(
            "None of {} can be run; the first: {}",
            counted(static_cast<std::int64_t>(finished.size()), "combination", "combinations"),
            finished.front().error)));
    }
    if (Status written = kept.save(finished); !written) {
        return complain(written.error());
    }
    if (finished.size() < rows->size()) {
        say(kept.interruption(finished.size(), rows->size()));
        return kInterrupted;
    }
    print(command, *sweep, finished);
    const bool found =
        std::any_of(finished.begin(), finished.end(),
                    [](const study::SweepRow& row) { return !row.findings.empty(); });
    return found ? kFindings : kFine;
}

} // namespace pallascope::app
