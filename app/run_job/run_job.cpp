#include "app/run_job/run_job.h"

#include "app/run_job/alternatives.h"
#include "app/run_job/break_search.h"
#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"
#include "app/run_job/page_tables.h"
#include "app/run_job/view_of_run.h"
#include "core/base/format.h"
#include "core/machine/run.h"
#include "core/study/trial.h"
#include "core/trace_file/trace_file.h"
#include "kernels/kernel.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace pallascope::app {

namespace {

constexpr std::uint64_t kSeed = 0;      // for the values of the arguments
constexpr std::size_t kNearestSaid = 3; // how many of the blocks that fit an error names

// Adds the file's name to an error about its contents, unless the error names it already.
Error named(const std::string& file, const Error& error)
{
    const bool isNamed = error.kind == ErrorKind::Cancelled || error.isAbout(Subject::File);
    return isNamed ? error : aboutFile(reworded(error, file + ": " + error.message), file);
}

// Everything that a request asks for but the inputs, which can take gigabytes and are made only for
// kernels that fit the chip.
struct Job
{
    KernelChoice kernel;
    chip::Chip chip;
    machine::Options options; // its values and settings are the request's

    [[nodiscard]] Error refusal(const Error& of) const
    {
        return kernel.builtIn != nullptr ? of : named(kernel.parameters.at(kFileParameter), of);
    }

    // The refusal of a program that cannot be prepared for the chip.
    [[nodiscard]] Error unfit(const Error& of) const;
};

Error Job::unfit(const Error& of) const
{
    // Other blocks are suggested only if it is the blocks that do not fit.
    const Result<study::Fit> blocks = study::fit(kernel.program, chip);
    const bool tooLarge = kernel.builtIn != nullptr && blocks && !blocks->fits;
    const std::string nearest =
        tooLarge ? namesOf(nearestThatFit(*kernel.builtIn, *kernel.arguments, chip, kNearestSaid))
                 : "";
    Error error = refusal(reworded(
        of, of.message + (nearest.empty() ? "" : " Nearest blocks that fit: " + nearest + ".")));
    for (std::size_t i = 0; tooLarge && i < kernel.builtIn->blockParameters.size(); ++i) {
        error.about.push_back({Subject::Parameter, kernel.builtIn->blockParameters[i]});
    }
    for (const std::string& name :
         tooLarge ? raisedTooFar(*kernel.builtIn, *kernel.arguments, chip, blocks->bytes)
                  : std::vector<std::string>()) {
        error.about.push_back({Subject::Parameter, name});
    }
    return error;
}

Result<Job> jobOf(const RunRequest& request)
{
    Result<KernelChoice> kernel = chooseKernel(request.kernel, request.parameters, request.inputs);
    if (!kernel) {
        return kernel.error();
    }
    Result<chip::Chip> chip =
        request.chip.empty() ? chipOf(kernel->program) : loadChip(request.chip);
    if (!chip) {
        return request.chip.empty() ? named(request.kernel, chip.error()) : chip.error();
    }
    Job job{std::move(*kernel), std::move(*chip), {}};
    job.options.values = request.fullValues ? machine::ValueMode::Full : machine::ValueMode::Needed;
    job.options.settings = request.settings;
    return job;
}

struct PreparedJob
{
    std::shared_ptr<const machine::Prepared> prepared; // refers to the job
    Seconds took;
};

Result<PreparedJob> prepare(const Job& job)
{
    const auto begin = std::chrono::steady_clock::now();
    Result<std::shared_ptr<const machine::Prepared>> prepared = machine::prepare(
        job.kernel.program, job.chip, job.options.values, job.options.rows, job.options.settings);
    if (!prepared) {
        return job.unfit(prepared.error());
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return PreparedJob{std::move(*prepared), Seconds(took.count())};
}

Result<FinishedRun> runWithin(const RunRequest& request, const Progress& progress,
                              const Printer& printer)
{
    Result<Job> job = jobOf(request);
    if (!job) {
        return job.error();
    }
    const Result<PreparedJob> ready = prepare(*job);
    if (!ready) {
        return ready.error();
    }
    const KernelChoice& kernel = job->kernel;
    const Result<std::vector<Array>> inputs = makeInputs(kernel, request.fullValues);
    if (!inputs) {
        return inputs.error();
    }
    machine::Options& options = job->options;
    options.progress = progress;
    options.seed = kSeed;
    options.parameters = kernel.parameters;
    options.parameterOrder = kernel.parameterOrder;
    if (request.fullValues && request.check && kernel.builtIn != nullptr) {
        options.check = [&](const std::vector<Array>& outputs) {
            const kernels::Comparison comparison =
                kernel.builtIn->check(*kernel.arguments, *inputs, outputs);
            return trace::Check{true, comparison.passed, comparison.maxAbsError,
                                comparison.maxRelError, comparison.method};
        };
    }
    FinishedRun finished{.request = request, .inputsNote = kernel.inputsNote};
    if (request.chip.empty()) {
        finished.request.chip = job->chip.name;
    }
    machine::RunResult last;
    std::shared_ptr<const machine::Prepared> prepared; // made by the first run for the others
    for (std::int64_t time = 1; time <= request.repeat; ++time) {
        last = {}; // frees what it held, for the next run
        if (time == request.repeat) {
            options.print = printer;
        }
        Result<machine::RunResult> run = machine::run(*ready->prepared, *inputs, options);
        if (!run) {
            return job->refusal(run.error());
        }
        last = std::move(*run);
        finished.walls.push_back(time == 1 ? last.wall + ready->took : last.wall);
    }
    std::vector<layout::PageTable> tables =
        pageTables(kernel.program, *inputs, job->chip, options, *last.trace);
    Result<std::shared_ptr<const layout::RunView>> view =
        runViewOf(std::move(last.trace), &kernel.program, std::move(tables));
    if (!view) {
        return view.error();
    }
    finished.view = std::move(*view);
    if (request.keepResults) {
        finished.results = std::move(last.outputs);
    }
    return finished;
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

Result<FinishedRun> runKernel(const RunRequest& request, const Progress& progress,
                              const Printer& printer)
{
    const MemoryLimit limit(request.memory);
    try {
        return runWithin(request, progress, printer);
    } catch (const MemoryLimitReached&) {
        return limitError(request.kernel + ": its arrays and values take more than "
                              + bytesText(request.memory) + ".",
                          {{Subject::Setting, kMemorySetting}});
    }
}

Result<std::unique_ptr<machine::Replay>> startReplay(const RunRequest& request,
                                                     const Printer& printer)
{
    Result<Job> job = jobOf(request);
    if (!job) {
        return job.error();
    }
    if (printer && !job->kernel.inputsNote.empty()) {
        printer(job->kernel.inputsNote);
    }
    if (const Status fits =
            machine::checkFit(job->kernel.program, job->chip, job->options.settings);
        !fits) {
        return job->unfit(fits.error());
    }
    const Result<std::vector<Array>> inputs = makeInputs(job->kernel, request.fullValues);
    if (!inputs) {
        return inputs.error();
    }
    Result<std::unique_ptr<machine::Replay>> replay = machine::Replay::start(
        std::move(job->kernel.program), *inputs, std::move(job->chip), job->options);
    return replay ? std::move(replay)
                  : Result<std::unique_ptr<machine::Replay>>(job->refusal(replay.error()));
}

namespace {

// The kernel file that a trace was made from: where it lay, or beside the trace, with which it may
// have been moved. Another file may have its name by now, so its program counts.
std::string kernelFileOf(const trace::Info& info, const std::string& file, const std::string& trace)
{
    const std::filesystem::path folder = std::filesystem::path(trace).parent_path();
    const std::filesystem::path given(file);
    std::vector<std::filesystem::path> places{given, folder / given, folder / given.filename()};
    places.erase(std::unique(places.begin(), places.end()), places.end()); // each is read
    for (const std::filesystem::path& place : places) {
        const Result<KernelChoice> kernel = chooseKernel(place.string(), {});
        if (kernel && isListedIn(info, kernel->program)) {
            return place.string();
        }
    }
    return file;
}

} // namespace

Result<FinishedRun> openTrace(const std::string& path, const Progress& progress)
{
    if (std::optional<Error> python = kernel_file::givenPython(path)) {
        return *std::move(python);
    }
    Result<std::shared_ptr<const trace::Trace>> trace = trace_file::load(path, progress);
    if (!trace) {
        return trace.error();
    }
    FinishedRun run;
    const trace::Info& info = (*trace)->info();
    run.request = {.kernel = info.kernel,
                   .parameters = info.parameters,
                   .chip = info.chip,
                   .fullValues = info.values == "full",
                   .check = info.check.checked};
    if (const Result<machine::Settings> settings = machine::settingsOf(info.settings)) {
        run.request.settings = *settings; // settings of a later version are not known here
    }
    if (const auto file = info.parameters.find(kFileParameter); file != info.parameters.end()) {
        run.request.kernel = kernelFileOf(info, file->second, path);
        run.request.parameters.clear();
    }
    Result<std::shared_ptr<const layout::RunView>> view = runViewOf(std::move(*trace));
    if (!view) {
        return named(path, view.error());
    }
    run.view = std::move(*view);
    return run;
}

namespace {

// Whether all values of a run are there about as soon as its times. A machine does some 0.1 GFLOP
// of elementwise work in a second, and the values of arrays are made first.
bool isCheapInFull(const analysis::Report& report)
{
    constexpr Flops kMostFlops{50'000'000};
    constexpr Bytes kMostMoved{std::int64_t{32} << 20};
    return report.executedFlops <= kMostFlops && report.hbmRead + report.hbmWritten <= kMostMoved;
}

// Times first: all values can take minutes, and more memory than there may be.
Result<FinishedRun> runFirst(const RunRequest& request, const Progress& progress)
{
    RunRequest needed = request;
    needed.fullValues = needed.check = false;
    Result<FinishedRun> times = runKernel(needed, progress);
    if (!times || !isCheapInFull(times->view->report)) {
        return times;
    }
    Result<FinishedRun> full = runKernel(request, progress);
    const bool isAnswer = full || full.error().kind == ErrorKind::Cancelled;
    return isAnswer ? std::move(full) : std::move(times);
}

} // namespace

Result<FinishedRun> openFile(const std::string& path, const Progress& progress,
                             const std::string& chip)
{
    return kernel_file::isKernelFile(path) ? runFirst({.kernel = path, .chip = chip}, progress)
                                           : openTrace(path, progress);
}

} // namespace pallascope::app
