// The commands that say what there is: `list` for all names, `describe` for a kernel, a chip or a
// file.
#include "app/cli/commands.h"
#include "app/cli/describe_chip.h"
#include "app/lessons/lessons.h"
#include "app/run_job/chips.h"
#include "core/analysis/block_grids.h"
#include "core/base/format.h"
#include "core/base/read_file.h"
#include "core/cost/legality.h"
#include "core/cost/target.h"
#include "core/ir/loop_facts.h"
#include "core/ir/pipeline_facts.h"
#include "core/ir/print.h"
#include "core/kernel_file/kernel_file.h"
#include "core/machine/block_grid.h"
#include "core/machine/needed.h"
#include "core/machine/settings.h"
#include "core/trace/loop_rounds.h"
#include "core/trace_file/trace_file.h"
#include "kernels/kernel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace pallascope::app {

namespace {

std::string allowed(const ParameterInfo& parameter)
{
    if (parameter.type != "choice") {
        return fmt::format("{}{} to {}", parameter.type == "shape" ? "extents from " : "",
                           parameter.minimum, parameter.maximum);
    }
    std::string text;
    for (const std::string& choice : parameter.choices) {
        text += (text.empty() ? "" : ", ") + choice;
    }
    return text;
}

std::vector<std::string> neededArguments(const ir::Program& program)
{
    const machine::NeededSet needed = machine::NeededSet::of(program);
    std::vector<std::string> names;
    for (const ir::Argument& argument : program.arguments) {
        if (needed.needsContents(argument.ref)) {
            names.push_back(argument.name);
        }
    }
    return names;
}

// Says what must be computed to know the events and times: the contents of which arguments, and how
// many operations.
std::string neededText(const ir::Program& program)
{
    const machine::NeededSet needed = machine::NeededSet::of(program);
    std::string contents;
    for (const std::string& name : neededArguments(program)) {
        contents += (contents.empty() ? "the contents of " : ", ") + name;
    }
    int operations = 0;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        operations += needed.needs(operation) ? 1 : 0;
    });
    return fmt::format("needed for events and times: {}; {} of {} operations\n",
                       contents.empty() ? "no array element" : contents, operations,
                       program.operationCount);
}

// Blocks that are illegal on the chip on which the kernel runs by default. The rules are the same
// on all chips.
std::vector<std::string> illegalBlocks(const ir::Program& program)
{
    std::vector<std::string> sentences;
    const Result<chip::Chip> chip = chipOf(program);
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        for (const cost::IllegalBlock& block : chip ? cost::illegalBlocks(program, *pipeline, *chip)
                                                    : std::vector<cost::IllegalBlock>()) {
            sentences.push_back(block.sentence);
        }
    }
    return sentences;
}

// The loops by whose rounds a run is gone through, as --loop takes them.
std::vector<trace::Loop> loopsOf(const ir::Program& program)
{
    std::vector<trace::Loop> loops;
    for (const ir::LoopFacts& loop : ir::loopsThatCopy(program)) {
        loops.push_back({.name = loop.name, .parent = loop.parent});
    }
    return loops;
}

std::string loopsText(const ir::Program& program)
{
    const std::vector<ir::LoopFacts> facts = ir::loopsThatCopy(program);
    const std::vector<trace::Loop> loops = loopsOf(program);
    std::string text;
    for (std::size_t loop = 0; loop < facts.size(); ++loop) {
        const int parent = facts[loop].parent;
        text += fmt::format("loop that copies or waits: {}, {} at {}{}\n",
                            trace::loopName(loops, static_cast<std::int32_t>(loop)),
                            ir::opName(facts[loop].operation->code),
                            program.where(facts[loop].location),
                            parent < 0 ? "" : ", in " + trace::loopName(loops, parent));
    }
    return text;
}

nlohmann::ordered_json loopsJson(const ir::Program& program)
{
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    const std::vector<ir::LoopFacts> facts = ir::loopsThatCopy(program);
    const std::vector<trace::Loop> loops = loopsOf(program);
    for (std::size_t loop = 0; loop < facts.size(); ++loop) {
        nlohmann::ordered_json row = {
            {"name", trace::loopName(loops, static_cast<std::int32_t>(loop))},
            {"operation", ir::opName(facts[loop].operation->code)},
            {"source", program.where(facts[loop].location)},
            {"parent", nullptr}};
        if (facts[loop].parent >= 0) {
            row["parent"] = trace::loopName(loops, facts[loop].parent);
        }
        json.push_back(std::move(row));
    }
    return json;
}

struct Blocks
{
    std::string source; // the place of the core_map
    trace::BlockGrid grid;
};

// The blocks of a kernel on the chip that was asked for, or its own. The error says that the kernel
// is for another kind of chip, or that the chip or the number of registers is wrong.
Result<std::vector<Blocks>> blocksOf(const ir::Program& program, const DescribeCommand& command)
{
    const Result<chip::Chip> chip = command.chip.empty() ? chipOf(program) : loadChip(command.chip);
    if (!chip) {
        return command.chip.empty() ? Result(std::vector<Blocks>()) : chip.error();
    }
    const Status fits = command.chip.empty() ? Status(Done{}) : cost::checkTarget(program, *chip);
    if (!fits) {
        return fits.error();
    }
    if (command.registers && !chip->multiprocessor) {
        return userError("--registers says how many a thread of a GPU has, which " + chip->title
                         + " is not; --chip says for which GPU.");
    }
    if (command.registers
        && (*command.registers < 1
            || *command.registers > chip->multiprocessor->registersPerThread)) {
        return userError("--registers is " + std::to_string(*command.registers) + "; expected 1 to "
                         + std::to_string(chip->multiprocessor->registersPerThread) + ".");
    }
    std::vector<Blocks> blocks;
    for (const cost::BlockGrid& grid : cost::blockGrids(program, *chip, command.registers)) {
        blocks.push_back({program.where(grid.coreMap->location), machine::recorded(grid, {})});
    }
    return blocks;
}

std::string blocksText(const std::vector<Blocks>& blocks)
{
    std::string text;
    for (const Blocks& one : blocks) {
        text += "core_map at " + one.source + "\n" + analysis::gridText(one.grid) + "\n";
    }
    return text;
}

// Facts that follow from the program alone.
std::string factsText(const ir::Program& program)
{
    const ir::Lowering& lowering = program.lowering;
    std::string text =
        neededText(program) + loweringLine(ir::verdictName(lowering.accepted), lowering.reason);
    text += loopsText(program);
    for (const std::string& sentence : illegalBlocks(program)) {
        text += "illegal block: " + sentence + "\n";
    }
    return text;
}

int describeKernelFile(const DescribeCommand& command, const Result<kernel_file::KernelFile>& file)
{
    const std::string& path = command.what;
    if (!file) {
        return complain(file.error());
    }
    const Result<std::vector<Blocks>> blocks = blocksOf(file->program, command);
    if (!blocks) {
        return complain(blocks.error());
    }
    if (command.json) {
        const ir::Lowering& lowering = file->program.lowering;
        nlohmann::ordered_json described = {{"name", file->program.name},
                                            {"file", path},
                                            {"chip", file->program.chip},
                                            {"parameters", nlohmann::ordered_json::array()},
                                            {"needed_contents", neededArguments(file->program)},
                                            {"loops", loopsJson(file->program)},
                                            {"illegal_blocks", illegalBlocks(file->program)},
                                            {"jax_accepts", ir::verdictName(lowering.accepted)},
                                            {"jax_reason", lowering.reason}};
        for (const Blocks& one : *blocks) {
            described["block_grids"].push_back(
                analysis::gridJson<nlohmann::ordered_json>(one.grid, one.source));
        }
        fmt::print("{}\n", described.dump(2));
        return kFine;
    }
    const std::string chip =
        file->program.chip.empty() ? "" : ", captured for " + file->program.chip;
    fmt::print("{}: a kernel from {}{}\n\n{}\n{}", file->program.name, path, chip,
               ir::printText(file->program), factsText(file->program) + blocksText(*blocks));
    return kFine;
}

// A built-in kernel, with its default parameters.
Result<ir::Program> programOf(const KernelInfo& kernel)
{
    const kernels::Kernel* known = kernels::find(kernel.name);
    const Result<kernels::Arguments> arguments = kernels::arguments(*known, {});
    return arguments ? known->build(*arguments) : Result<ir::Program>(arguments.error());
}

void printKernel(const KernelInfo& kernel, const ir::Program& program)
{
    fmt::print("{}: {}{}\n\n", kernel.name, kernel.help,
               program.chip.empty() ? "" : ", for " + program.chip);
    for (const ParameterInfo& parameter : kernel.parameters) {
        fmt::print("  {:<8} {:<7} default {:<6} {} ({})\n", parameter.name, parameter.type,
                   parameter.defaultValue, parameter.help, allowed(parameter));
    }
    fmt::print("\n{}\n{}", ir::printText(program), factsText(program));
}

void describeKernelJson(const KernelInfo& kernel, const ir::Program& program)
{
    nlohmann::ordered_json json = {{"name", kernel.name},
                                   {"help", kernel.help},
                                   {"chip", program.chip},
                                   {"parameters", nlohmann::ordered_json::array()}};
    for (const ParameterInfo& parameter : kernel.parameters) {
        nlohmann::ordered_json row = {{"name", parameter.name},
                                      {"type", parameter.type},
                                      {"default", parameter.defaultValue}};
        if (parameter.type == "choice") {
            row["choices"] = parameter.choices;
        } else {
            row["minimum"] = parameter.minimum;
            row["maximum"] = parameter.maximum;
        }
        row["help"] = parameter.help;
        json["parameters"].push_back(std::move(row));
    }
    fmt::print("{}\n", json.dump(2));
}

int describeKernel(const KernelInfo& kernel, const DescribeCommand& command)
{
    const Result<ir::Program> program = programOf(kernel);
    const Result<std::vector<Blocks>> blocks =
        program ? blocksOf(*program, command) : Result<std::vector<Blocks>>(program.error());
    if (!blocks) {
        return complain(blocks.error());
    }
    if (command.json) {
        describeKernelJson(kernel, *program);
    } else {
        printKernel(kernel, *program);
        fmt::print("{}", blocksText(*blocks));
    }
    return kFine;
}

int describeChip(const Result<chip::Chip>& chip, const DescribeCommand& command)
{
    if (!chip) {
        return complain(chip.error());
    }
    if (!command.chip.empty() || command.registers) {
        return complain(userError("--chip and --registers say for which GPU to describe a kernel; "
                                  "\""
                                  + command.what + "\" is a chip itself."));
    }
    if (command.json) {
        fmt::print("{}", chip::pretty(*chip));
    } else {
        printChip(*chip);
    }
    return kFine;
}

bool isPipe(const std::string& path)
{
    std::error_code error;
    return std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error)
           && !isOrdinaryFile(path);
}

} // namespace

int listCommand(const std::string& what)
{
    if (what == "kernels") {
        for (const KernelInfo& kernel : kernels()) {
            fmt::print("{:<16} {}\n", kernel.name, kernel.help);
        }
        return kFine;
    }
    if (what == "chips") {
        for (const auto& [name, title] : chips()) {
            fmt::print("{:<16} {}\n", name, title);
        }
        return kFine;
    }
    if (what == "lessons") {
        for (const NamedLesson& each : builtInLessons()) {
            fmt::print("{:<16} {}: {}\n", each.name, each.lesson.title, each.lesson.about);
        }
        return kFine;
    }
    if (what == "settings") {
        const machine::Settings defaults;
        for (const machine::SettingEntry& entry : machine::settingEntries()) {
            fmt::print("{:<21} {} (default {}). {}\n", entry.name,
                       fmt::join(machine::choicesOf(entry), ", "), entry.get(defaults), entry.help);
        }
        return kFine;
    }
    return complain(
        userError("Cannot list \"" + what + "\"; expected kernels, chips, lessons or settings."));
}

int describeCommand(const DescribeCommand& command)
{
    const std::string& what = command.what;
    const std::vector<KernelInfo> known = kernels();
    const auto kernel = std::find_if(known.begin(), known.end(),
                                     [&](const KernelInfo& info) { return info.name == what; });
    if (kernel != known.end()) {
        return describeKernel(*kernel, command);
    }
    if (kernel_file::isKernelFile(what)) {
        return describeKernelFile(command, kernel_file::load(what));
    }
    if (trace_file::isTraceFile(what)) {
        return complain(trace_file::givenATrace(what, "a kernel or a chip"));
    }
    if (isPipe(what)) { // a pipe can be read only once
        const Result<std::string> bytes = readFile(what, kMostWrittenBytes);
        if (!bytes || kernel_file::isKernelText(*bytes)) {
            return bytes ? describeKernelFile(command, kernel_file::parse(*bytes, what))
                         : complain(bytes.error());
        }
        return describeChip(chip::parse(*bytes, what), command);
    }
    const Result<chip::Chip> chip = loadChip(what);
    if (!chip) {
        std::string names;
        for (const KernelInfo& info : known) {
            names += info.name + ", ";
        }
        for (const auto& [name, title] : chips()) {
            names += name + ", ";
        }
        // It is neither a name nor a file, so the error lists all names that are known, not only
        // the chips.
        const bool unknown = chip.error().isAbout(Subject::Chip);
        return complain(unknown ? userError("There is no kernel, chip or file \"" + what
                                            + "\"; expected " + names
                                            + "or a file of a chip or kernel.")
                                : chip.error());
    }
    return describeChip(chip, command);
}

} // namespace pallascope::app
