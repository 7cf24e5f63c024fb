// The command `validate`: predicts the rows of a table of timings and holds the errors to those
// expected.
#include "app/cli/commands.h"
#include "app/process/diagnostics.h"
#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"
#include "core/base/format.h"
#include "core/base/read_file.h"
#include "core/base/whole_file.h"
#include "core/study/validation.h"
#include "resources/validation_files.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scatter/scatter.h"
#include "views/layout/scene/header.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace pallascope::app {

namespace {

constexpr const char *kPublished = "published.csv", *kExpected = "expected.json";
// What sentences call the embedded files, which lie nowhere on disk.
constexpr const char *kPublishedName = "resources/validation/published.csv",
                     *kExpectedName = "resources/validation/expected.json";

// Null if there is no such file.
const resources::EmbeddedFile* embedded(const std::string& name)
{
    const auto& files = resources::validationFiles();
    const auto found =
        std::find_if(files.begin(), files.end(),
                     [&](const resources::EmbeddedFile& file) { return file.name == name; });
    return found == files.end() ? nullptr : &*found;
}

// A table of timings, and where to find what it names.
struct Table
{
    std::string name;   // used in sentences
    bool isOurs = true; // embedded in the program, with its kernels
    std::string folder; // the folder of a table that is a file; its paths are relative to it
    std::map<std::string, chip::Chip> chips; // by the names that the table uses
    std::vector<study::Measurement> rows;

    [[nodiscard]] std::string path(const std::string& named) const
    {
        return (std::filesystem::path(folder) / named).string(); // an absolute path stays as it is
    }
};

Result<std::string> textOf(const std::string& file, const char* ours)
{
    return file.empty() ? Result<std::string>(std::string(embedded(ours)->text))
                        : readFile(file, kMostWrittenBytes);
}

// The chips given by --chip, by name: each replaces the built-in one of the same name.
Result<std::map<std::string, chip::Chip>> replacements(const std::vector<std::string>& files)
{
    std::map<std::string, chip::Chip> chips;
    for (const std::string& file : files) {
        Result<chip::Chip> chip = loadChip(file);
        if (!chip) {
            return chip.error();
        }
        const std::string name = chip->name;
        if (!chips.emplace(name, std::move(*chip)).second) {
            return userError("Two of the chips are named " + name
                             + "; expected chips of different names.");
        }
    }
    return chips;
}

// A built-in chip's name, or a file beside the table.
Result<chip::Chip> chipNamed(const std::string& name, const Table& table)
{
    std::error_code error;
    const std::string path = table.path(name);
    const bool isFile = !table.isOurs && std::filesystem::is_regular_file(path, error);
    return loadChip(isFile ? path : name);
}

// Checks what can be known before anything runs: names, files and parameters that do not exist.
Status check(const study::Measurement& row, Table& table)
{
    const auto wrong = [&](const std::string& column, const Error& error) {
        return reworded(error,
                        study::cellName(table.name, row.line, column) + ": " + error.message);
    };
    if (!row.chip.empty() && !table.chips.contains(row.chip)) {
        Result<chip::Chip> chip = chipNamed(row.chip, table);
        if (!chip) {
            return wrong("chip", chip.error());
        }
        table.chips.emplace(row.chip, std::move(*chip));
    }
    if (const kernels::Kernel* kernel = kernels::find(row.kernel); kernel != nullptr) {
        const auto arguments = kernels::arguments(*kernel, row.parameters);
        return arguments ? Status(Done{}) : wrong("parameters", arguments.error());
    }
    std::error_code error;
    const bool exists = table.isOurs
                            ? embedded(row.kernel) != nullptr
                            : std::filesystem::is_regular_file(table.path(row.kernel), error);
    if (!exists) { // the error says where the kernels are listed
        return wrong("kernel", userError("there is no such kernel, neither built in (`pallascope "
                                         "list kernels`) nor as a file, \""
                                         + table.path(row.kernel) + "\"."));
    }
    if (!row.parameters.empty()) {
        return wrong("parameters",
                     userError("what is in a kernel file is fixed; nothing is expected "
                               "here."));
    }
    return Done{};
}

Result<Table> tableOf(const ValidateCommand& command)
{
    Table table;
    table.isOurs = command.measured.empty();
    table.name = table.isOurs ? kPublishedName : command.measured;
    table.folder = std::filesystem::path(command.measured).parent_path().string();
    const Result<std::string> text = textOf(command.measured, kPublished);
    if (!text) {
        return text.error();
    }
    Result<std::vector<study::Measurement>> rows = study::measurementsFrom(*text, table.name);
    if (!rows) {
        return rows.error();
    }
    table.rows = std::move(*rows);
    for (const study::Measurement& row : table.rows) {
        if (Status sound = check(row, table); !sound) {
            return sound.error();
        }
    }
    return table;
}

Result<KernelChoice> kernelOf(const study::Measurement& row, const Table& table)
{
    if (!table.isOurs || kernels::find(row.kernel) != nullptr) {
        const bool isBuiltIn = kernels::find(row.kernel) != nullptr;
        return chooseKernel(isBuiltIn ? row.kernel : table.path(row.kernel), row.parameters);
    }
    Result<kernel_file::KernelFile> file =
        kernel_file::parse(embedded(row.kernel)->text, row.kernel);
    if (!file) {
        return file.error();
    }
    KernelChoice choice;
    choice.program = std::move(file->program);
    choice.inputs = std::move(file->inputs);
    return choice;
}

Result<study::ValidationSubject> subjectOf(const study::Measurement& row, const Table& table,
                                           const std::map<std::string, chip::Chip>& replaced)
{
    Result<KernelChoice> kernel = kernelOf(row, table);
    if (!kernel) {
        return kernel.error();
    }
    Result<chip::Chip> chip =
        row.chip.empty() ? chipOf(kernel->program) : Result<chip::Chip>(table.chips.at(row.chip));
    if (!chip) {
        return chip.error();
    }
    const auto other = replaced.find(chip->name);
    Result<std::vector<Array>> inputs = makeInputs(*kernel, false);
    if (!inputs) {
        return inputs.error();
    }
    return study::ValidationSubject{std::move(kernel->program),
                                    other == replaced.end() ? std::move(*chip) : other->second,
                                    std::move(*inputs)};
}

// It is an error if one takes the place of no chip of the table. A row without a chip may have any.
Status checkReplaced(const std::map<std::string, chip::Chip>& replaced, const Table& table)
{
    std::vector<std::string> names;
    for (const auto& [given, chip] : table.chips) {
        names.push_back(chip.name);
    }
    const bool isAny = std::ranges::any_of(
        table.rows, [](const study::Measurement& row) { return row.chip.empty(); });
    for (const auto& [name, chip] : replaced) {
        if (!isAny && std::ranges::count(names, name) == 0) {
            return userError("No row of " + table.name + " is of the chip " + name
                             + ", so another one cannot take its place; expected " + orList(names)
                             + ".");
        }
    }
    return Done{};
}

// The errors that predictions are expected to have; nullopt if nothing is expected.
Result<std::optional<study::Expectation>> expectationOf(const ValidateCommand& command)
{
    const bool isHeld =
        command.writeExpected.empty() && (command.measured.empty() || !command.expected.empty());
    if (!isHeld) {
        return std::optional<study::Expectation>();
    }
    const Result<std::string> text = textOf(command.expected, kExpected);
    if (!text) {
        return text.error();
    }
    Result<study::Expectation> expectation =
        study::expectationFrom(*text, command.expected.empty() ? kExpectedName : command.expected);
    if (!expectation) {
        return expectation.error();
    }
    return std::optional(std::move(*expectation));
}

Status checkFiles(const ValidateCommand& command)
{
    std::vector<std::string> read = command.chips;
    read.insert(read.end(), {command.measured, command.expected});
    if (Status places =
            checkPlaces({command.csv, command.writeExpected, command.scatter.file}, read);
        !places) {
        return places;
    }
    return command.scatter.file.empty() ? Status(Done{}) : checkScene(command.scatter);
}

Status writeFiles(const ValidateCommand& command, const std::vector<study::ValidationRow>& rows)
{
    if (!command.csv.empty()) {
        if (Status written = writeFile(command.csv, study::toCsv(rows)); !written) {
            return written;
        }
    }
    if (!command.writeExpected.empty()) {
        const std::string text = study::toJson(study::expectationOf(study::errorsByFamily(rows)));
        if (Status written = writeFile(command.writeExpected, text); !written) {
            return written;
        }
    }
    if (command.scatter.file.empty()) {
        return Done{};
    }
    std::vector<layout::ScatterPoint> points;
    for (const study::ValidationRow& row : rows) {
        if (row.error.empty()) {
            points.push_back(
                {row.measured.family, row.measured.measured.value(), row.predicted().value()});
        }
    }
    const layout::Size size =
        command.scatter.size.empty() ? layout::Size{800, 640} : *parseSize(command.scatter.size);
    const double head = layout::headerHeight(size.width);
    return writeScene(
        layout::withHeader(layout::layoutScatter(points, {size.width, size.height - head})),
        command.scatter);
}

struct Validation
{
    Table table;
    study::ValidationPlan plan;
    std::optional<study::Expectation> expectation;
};

// Which rows have no prediction, and why the first of them has none; empty if all rows have one.
std::string missing(const Table& table, const std::vector<study::ValidationRow>& rows)
{
    const auto failed = [](const study::ValidationRow& row) { return !row.error.empty(); };
    const auto first = std::find_if(rows.begin(), rows.end(), failed);
    return first == rows.end()
               ? ""
               : fmt::format("{} of {} have no prediction; the first is {}, line {}: {}",
                             std::count_if(rows.begin(), rows.end(), failed),
                             counted(static_cast<std::int64_t>(rows.size()), "row", "rows"),
                             table.name, first->measured.line, first->error);
}

// Writes and prints what was found, and returns the exit code.
int report(const ValidateCommand& command, const Validation& validation,
           const std::vector<study::ValidationRow>& rows)
{
    const std::string gaps = missing(validation.table, rows);
    const auto ran = [](const study::ValidationRow& row) { return row.error.empty(); };
    if (std::none_of(rows.begin(), rows.end(), ran)) {
        return complain(userError(gaps));
    }
    if (Status written = writeFiles(command, rows); !written) {
        return complain(written.error());
    }
    std::optional<std::vector<std::string>> disagreements;
    if (validation.expectation) {
        disagreements =
            study::disagreements(*validation.expectation, study::errorsByFamily(rows),
                                 command.expected.empty() ? kExpectedName : command.expected);
    }
    fmt::print("{}", command.json ? study::toJson(rows, disagreements) : study::toText(rows));
    std::vector<std::string> sentences = disagreements.value_or(std::vector<std::string>());
    if (!gaps.empty()) {
        sentences.insert(sentences.begin(), gaps);
    }
    for (const std::string& sentence : sentences) {
        say(sentence);
    }
    return sentences.empty() ? kFine : kFindings;
}

Result<Validation> validationOf(const ValidateCommand& command)
{
    if (Status files = checkFiles(command); !files) {
        return files.error();
    }
    const Result<machine::Settings> settings = parseSettings(command.settings);
    if (!settings) {
        return settings.error();
    }
    Result<std::optional<study::Expectation>> expectation = expectationOf(command);
    if (!expectation) {
        return expectation.error();
    }
    Result<std::map<std::string, chip::Chip>> replaced = replacements(command.chips);
    if (!replaced) {
        return replaced.error();
    }
    Result<Table> table = tableOf(command);
    if (!table) {
        return table.error();
    }
    if (Status used = checkReplaced(*replaced, *table); !used) {
        return used.error();
    }
    Validation validation{std::move(*table), {}, std::move(*expectation)};
    validation.plan.measurements = validation.table.rows;
    validation.plan.settings = *settings;
    validation.plan.subject = [table = validation.table,
                               chips = std::move(*replaced)](const study::Measurement& row) {
        return subjectOf(row, table, chips);
    };
    return validation;
}

} // namespace

int validateCommand(const ValidateCommand& command)
{
    const Result<Validation> validation = validationOf(command);
    if (!validation) {
        return complain(validation.error());
    }
    catchInterrupts();
    const std::size_t count = validation->plan.measurements.size();
    study::ValidationOptions options;
    options.progress = [&, shown = terminalProgress("validating")](std::size_t finished) mutable {
        shown(static_cast<double>(finished) / static_cast<double>(count));
    };
    options.goesOn = [] { return !interrupted(); };
    std::vector<study::ValidationRow> rows;
    for (const auto& row : study::validate(validation->plan, options)) {
        if (row) {
            rows.push_back(*row);
        }
    }
    clearProgress();
    if (rows.size() < count) {
        say(fmt::format("Interrupted after {} of {} rows; nothing was written.", rows.size(),
                        count));
        return kInterrupted;
    }
    return report(command, *validation, rows);
}

} // namespace pallascope::app
