#include "app/run_job.h"

#include "app/alternatives.h"
#include "app/chips.h"
#include "core/base/format.h"
#include "core/machine/run.h"
#include "core/study/trial.h"
#include "core/trace/file.h"
#include "kernels/kernel.h"

#include <algorithm>

namespace pallascope::app {

namespace {

constexpr std::uint64_t kSeed = 0; // of the arguments' values

std::string listNames(const std::vector<kernels::Kernel>& kernels)
{
    std::string names;
    for (const kernels::Kernel& kernel : kernels) {
        names += (names.empty() ? "" : ", ") + kernel.name;
    }
    return names;
}

std::vector<Array> makeInputs(const ir::Program& program, bool values)
{
    std::vector<Array> inputs;
    std::uint64_t seed = kSeed;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind != ir::ArgumentKind::Input) {
            continue;
        }
        const ir::Type& type = program.type(argument.ref);
        if (values) {
            inputs.push_back(normalArray(type.dtype, type.shape, seed));
        } else {
            inputs.push_back({type.dtype, type.shape, nullptr});
        }
        ++seed;
    }
    return inputs;
}

std::vector<layout::Field> fieldsOf(const trace::Info& info)
{
    std::vector<layout::Field> fields{{"kernel", info.kernel, true, ""},
                                      {"chip", info.chipName, true, ""}};
    const kernels::Kernel* kernel = kernels::find(info.kernel);
    for (const std::string& name : info.parameterOrder) {
        const auto value = info.parameters.find(name);
        bool choice = false;
        if (kernel != nullptr) {
            for (const kernels::Parameter& parameter : kernel->parameters) {
                choice = choice
                         || (parameter.name == name
                             && parameter.type == kernels::Parameter::Type::Choice);
            }
        }
        fields.push_back({name, value == info.parameters.end() ? "" : value->second, choice, ""});
    }
    return fields;
}

// The alternatives of a trace: of its kernel, if this program knows it with these parameters.
std::vector<analysis::Alternative> alternativesOf(const trace::Info& info)
{
    const kernels::Kernel* kernel = kernels::find(info.kernel);
    const Result<chip::Chip> chip = chip::parse(info.chipJson, "in the trace");
    if (kernel == nullptr || !chip) {
        return {};
    }
    const Result<kernels::Arguments> arguments = kernels::arguments(*kernel, info.parameters);
    return arguments ? alternatives(*kernel, *arguments, *chip)
                     : std::vector<analysis::Alternative>();
}

Result<std::shared_ptr<const layout::RunView>>
makeRunView(std::shared_ptr<const trace::Trace> trace)
{
    auto view = std::make_shared<layout::RunView>();
    Result<analysis::Report> report = analysis::report(*trace);
    if (!report) {
        return report.error();
    }
    view->report = std::move(*report);
    view->index = std::make_shared<const trace::Index>(trace);
    view->alternatives = alternativesOf(trace->info());
    view->verdict = analysis::verdict(view->report, trace->info(), view->alternatives);
    view->lineTimes = analysis::timeByLine(*trace);
    view->fields = fieldsOf(trace->info());
    view->period = analysis::periodSteps(*trace);
    view->periodTime = analysis::periodTime(*trace);
    view->trace = std::move(trace);
    return std::shared_ptr<const layout::RunView>(std::move(view));
}

ParameterInfo describe(const kernels::Parameter& parameter)
{
    ParameterInfo info{
        .name = parameter.name, .defaultValue = parameter.defaultValue, .help = parameter.help};
    switch (parameter.type) {
    case kernels::Parameter::Type::Integer:
        info.type = "int";
        break;
    case kernels::Parameter::Type::Choice:
        info.type = "choice";
        break;
    case kernels::Parameter::Type::Shape:
        info.type = "shape";
        break;
    }
    info.choices = parameter.choices;
    info.minimum = parameter.minimum;
    info.maximum = parameter.maximum;
    return info;
}

} // namespace

std::vector<KernelInfo> kernels()
{
    std::vector<KernelInfo> result;
    for (const kernels::Kernel& kernel : kernels::all()) {
        KernelInfo info{kernel.name, kernel.help, {}};
        std::transform(kernel.parameters.begin(), kernel.parameters.end(),
                       std::back_inserter(info.parameters), describe);
        result.push_back(std::move(info));
    }
    return result;
}

std::vector<std::pair<std::string, std::string>> chips()
{
    std::vector<std::pair<std::string, std::string>> result;
    for (const chip::Chip& chip : builtInChips()) {
        result.emplace_back(chip.name, chip.title);
    }
    return result;
}

Result<FinishedRun> runKernel(const RunRequest& request, const Progress& progress)
{
    const kernels::Kernel* kernel = kernels::find(request.kernel);
    if (kernel == nullptr) {
        return userError("There is no kernel \"" + request.kernel + "\"; "
                         + listNames(kernels::all()) + " are built in.");
    }
    const Result<kernels::Arguments> arguments = kernels::arguments(*kernel, request.parameters);
    if (!arguments) {
        return arguments.error();
    }
    const Result<chip::Chip> chip = loadChip(request.chip);
    if (!chip) {
        return chip.error();
    }
    Result<ir::Program> program = kernel->build(*arguments);
    if (!program) {
        return program.error();
    }
    kernels::attachSources(*program);

    // Refuse what cannot run before gigabytes of arguments are made.
    if (const Status fits = machine::checkFit(*program, *chip); !fits) {
        // Other blocks help only where it is the blocks that do not fit.
        const Result<study::Fit> blocks = study::fit(*program, *chip);
        const bool tooLarge = blocks && !blocks->fits;
        const std::string nearest = tooLarge ? nearestThatFit(*kernel, *arguments, *chip) : "";
        return Error{fits.error().kind,
                     fits.error().message
                         + (nearest.empty() ? "" : " Nearest blocks that fit: " + nearest + ".")};
    }
    machine::Options options;
    options.values = request.fullValues ? machine::ValueMode::Full : machine::ValueMode::Needed;
    options.progress = progress;
    options.seed = kSeed;
    options.parameters = {arguments->all().begin(), arguments->all().end()};
    for (const kernels::Parameter& parameter : kernel->parameters) {
        options.parameterOrder.push_back(parameter.name);
    }
    const std::vector<Array> inputs = makeInputs(*program, request.fullValues);
    if (request.fullValues && request.check) {
        options.check = [&](const std::vector<Array>& outputs) {
            const kernels::Comparison comparison = kernel->check(*arguments, inputs, outputs);
            return trace::Check{true, comparison.passed, comparison.maxAbsError,
                                comparison.maxRelError, comparison.method};
        };
    }
    Result<machine::RunResult> run = machine::run(*program, inputs, *chip, options);
    if (!run) {
        return run.error();
    }
    Result<std::shared_ptr<const layout::RunView>> view = makeRunView(std::move(run->trace));
    if (!view) {
        return view.error();
    }
    return FinishedRun{request, std::move(*view), run->wall};
}

Result<FinishedRun> openTrace(const std::string& path)
{
    Result<std::shared_ptr<const trace::Trace>> trace = trace::load(path);
    if (!trace) {
        return trace.error();
    }
    FinishedRun run;
    const trace::Info& info = (*trace)->info();
    run.request = {info.kernel, info.parameters, info.chip, info.values == "full",
                   info.check.checked};
    Result<std::shared_ptr<const layout::RunView>> view = makeRunView(std::move(*trace));
    if (!view) {
        return view.error();
    }
    run.view = std::move(*view);
    return run;
}

} // namespace pallascope::app
