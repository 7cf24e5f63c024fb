#include "app/cli/command_line.h"

#include "views/layout/views.h"

namespace pallascope::app {

namespace {

// No option and no argument means anything if it is empty, and one that a script left empty by
// mistake must not pass for one that is not there.
void refuseEmptyWords(CLI::App& command)
{
    for (CLI::Option* option : command.get_options([](const CLI::Option* each) {
             return each->get_expected_max() > 0; // takes a word
         })) {
        option->check(
            [expected = option->get_description()](const std::string& word) {
                return word.empty() ? "\"\" is empty; expected " + expected : std::string();
            },
            "");
    }
    for (CLI::App* inner : command.get_subcommands([](const CLI::App* /*each*/) { return true; })) {
        refuseEmptyWords(*inner);
    }
}

// The options for pictures, which `run` and `report` share.
void addPictureOptions(CLI::App* command, PictureRequest& picture)
{
    auto* screenshot = command->add_option("--screenshot", picture.file,
                                           "write a picture of a view, FILE.png or FILE.svg");
    command->add_option("--view", picture.view, layout::viewNames() + " or window")
        ->needs(screenshot);
    command
        ->add_option("--at", picture.at,
                     "playhead: a share such as 60% or a time such as 5.32us (0; of the roofline "
                     "100%)")
        ->needs(screenshot);
    command->add_option("--size", picture.size, "WIDTHxHEIGHT in pixels")->needs(screenshot);
    command->add_option("--theme", picture.theme, "light or dark")->needs(screenshot);
    command
        ->add_option("--finding", picture.finding,
                     "go to a finding, from 1; a picture of the window frames its places")
        ->needs(screenshot);
    command
        ->add_option("--device", picture.device,
                     "which device the views show of a run of several, from 0")
        ->needs(screenshot);
    command
        ->add_option("--sm", picture.sm,
                     "which SM of a GPU, or of the device, the views show large, from 0")
        ->needs(screenshot);
    command
        ->add_option("--break", picture.breaks,
                     "mark where a breakpoint stops that needs no values, such as line:FILE:LINE, "
                     "grid:3,0,1 or block:x(2,0); as often as wanted")
        ->allow_extra_args(false)
        ->needs(screenshot);
    command
        ->add_option("--text-size", picture.textSize,
                     "of texts, in percent; the picture keeps its size")
        ->needs(screenshot)
        ->check(CLI::Range(50, 300));
    command
        ->add_option("--callout", picture.callout,
                     "show this callout of the first start, 1 to 4, in a picture of the window")
        ->needs(screenshot)
        ->check(CLI::Range(1, 4));
}

void addBetween(CLI::App* command, std::vector<std::string>& between)
{
    command
        ->add_option("--between", between,
                     "two moments such as 10us 60%: say what is busy, moves and is waited for "
                     "between them instead of the report")
        ->expected(2);
}

// The option for settings, which every command that runs kernels has.
void addSettings(CLI::App* command, std::vector<std::string>& settings)
{
    command
        ->add_option("--set", settings,
                     "NAME=VALUE of a setting of the machine, as often as wanted; see `pallascope "
                     "list settings`")
        ->allow_extra_args(false);
}

constexpr const char* kKernelHelp = "see `pallascope list kernels`, or a kernel file";

constexpr const char* kChipHelp = "a chip's name or file; without it the kernel's own, or tpu_v5e";

// The options that say which run is wanted.
void addRunOptions(CLI::App* command, RunCommand& run)
{
    command->add_option("kernel", run.kernel, kKernelHelp)->required();
    command->add_option("-p,--parameter", run.parameters, "NAME=VALUE, as often as wanted")
        ->allow_extra_args(false);
    command->add_option("--chip", run.chip, kChipHelp);
    command
        ->add_option("--values", run.values,
                     "full: compute every number; needed: only what decides the timing")
        ->capture_default_str();
    addSettings(command, run.settings);
    command->add_option("--inputs", run.inputs, "take inputs from FILE.npz: arg0, arg1, ...");
    command->add_option("--memory", run.memory,
                        "most memory that arrays and values may take, in GiB (0.875)");
}

} // namespace

CommandLine::CommandLine()
{
    app.require_subcommand(0, 1);
    app.set_version_flag("--version", PALLASCOPE_VERSION);
    open = app.add_subcommand("open", "open a saved trace, a kernel or a lesson in the window");
    open->add_option("file", openFiles,
                     "a trace, a kernel, which is run, or a lesson, by file or built-in name; of "
                     "several each gets a window");
    list = app.add_subcommand("list", "list kernels, chips, lessons or settings");
    list->add_option("what", listWhat, "kernels, chips, lessons or settings")->required();
    describe = app.add_subcommand("describe", "describe a kernel or a chip, by name or file");
    describe->add_option("what", description.what, "a kernel, a chip or a file of either")
        ->required();
    describe->add_flag("--json", description.json,
                       "as JSON; a chip's is its file, ready to be edited and passed back");
    describe->add_option("--chip", description.chip,
                         "the GPU for which to say how many blocks of a kernel run at a time; "
                         "without it the kernel's own chip");
    describe->add_option("--registers", description.registers,
                         "how many registers a thread has; without it an estimate");
    addKernelCommands();
    runApp = app.add_subcommand("run", "run a kernel on a chip and report");
    addRunOptions(runApp, run);
    runApp->add_flag("--no-check", run.noCheck,
                     "do not compare the result with the kernel's reference");
    runApp->add_option("--trace", run.trace,
                       "save the trace as FILE.trace.json or FILE.trace.json.gz");
    runApp->add_option("--results", run.results, "save outputs in FILE.npz: result0, result1, ...");
    runApp->add_flag("--json", run.json, "print the report as JSON");
    runApp
        ->add_option(
            "--fail-if", run.failIf,
            "exit with 1 when a field of the JSON report is so: 'vmem>90%', bound_by=memory")
        ->allow_extra_args(false);
    runApp->add_option("--repeat", run.repeat,
                       "run it so many times in one process; wall_all_s of the JSON report holds "
                       "the time of each, the rest is of the last");
    addBetween(runApp, run.between);
    addPictureOptions(runApp, picture);
    addState();
    addHistory();
    reportApp = app.add_subcommand("report", "report on a saved trace");
    reportApp->add_option("trace-file", report.file, "a .trace.json or .trace.json.gz")->required();
    reportApp->add_flag("--json", report.json, "print the report as JSON");
    reportApp->add_option("--trace", report.trace, "save the trace again");
    addBetween(reportApp, report.between);
    addPictureOptions(reportApp, picture);
    addStudies();
    addValidate();
    addLesson();
    completion = app.add_subcommand("completion", "print what completes words in a shell");
    completion->add_option("shell", shell, "bash, zsh or fish")->required();
    manual = app.add_subcommand("manual", "print the manual page")->group(""); // not in the help
    refuseEmptyWords(app);
}

void CommandLine::addState()
{
    stateApp = app.add_subcommand("state",
                                  "what memories, copies and semaphores hold at a moment of a run");
    addRunOptions(stateApp, state.run);
    auto* moment = stateApp->add_option_group("moment");
    moment->add_option("--at", state.at, "a share such as 60% or a time such as 5.32us");
    moment->add_option("--event", state.event, "after so many events");
    moment->add_option("--step", state.step, "where the body of this grid step begins, from 0");
    moment->add_option("--copy", state.copy, "where this copy has been started, from 0");
    auto* round =
        moment->add_option("--round", state.round, "where this round of a loop begins, from 0");
    auto* stop = moment->add_option("--break", state.breaks,
                                    "where a breakpoint stops: line:FILE:LINE, grid:3,0,1, "
                                    "block:x(2,0), first:stall, first:finding, first:nan or "
                                    "'when:count[0]>=3'; as often as wanted");
    stop->allow_extra_args(false);
    moment->require_option(1);
    stateApp->add_option("--hit", state.hit, "the stop of this number, 1 unless given")
        ->needs(stop);
    stateApp->add_option("--from", state.from, "where the search for stops begins, as --at")
        ->needs(stop);
    stateApp
        ->add_flag("--back", state.back, "search backwards, from the end unless --from is given")
        ->needs(stop);
    stateApp->add_option("--loop", state.loop, "the loop of --round, as describe calls it")
        ->needs(round);
    auto* ref = stateApp->add_option("--ref", state.ref,
                                     "print the elements of this ref, or one: out or out[3,5]");
    stateApp->add_option("--in", state.space, "the ref in this memory: hbm, vmem, smem, ...")
        ->needs(ref);
    stateApp->add_option("--agent", state.agent, "the ref of this agent, such as \"TensorCore 0\"")
        ->needs(ref);
    auto* heat = stateApp->add_option(
        "--heat", state.heat.file, "draw the ref's elements as a heat map, FILE.png or FILE.svg");
    heat->needs(ref);
    stateApp->add_flag("--log", state.log, "the heat map shows logarithms of magnitudes")
        ->needs(heat);
    stateApp->add_option("--size", state.heat.size, "WIDTHxHEIGHT in pixels")->needs(heat);
    stateApp->add_option("--theme", state.heat.theme, "light or dark")->needs(heat);
    stateApp->add_flag("--json", state.json, "as JSON");
}

void CommandLine::addHistory()
{
    historyApp = app.add_subcommand(
        "history", "what reads and writes an element of a ref, and where its NaN comes from");
    addRunOptions(historyApp, history.run);
    historyApp->add_option("element", history.element, "of a ref or an array, such as out[3,5]")
        ->required();
    historyApp->add_option("--in", history.space, "the ref in this memory: hbm, vmem, smem, ...");
    historyApp->add_flag("--nan", history.nan,
                         "follow the last NaN that it held back to the operation that made it");
    historyApp->add_option("--most", history.most, "rows to print, 40 unless given; 0: all");
    historyApp->add_flag("--json", history.json, "as JSON");
}

void CommandLine::addStudies()
{
    sweepApp = app.add_subcommand(
        "sweep", "run a kernel with every combination of some parameters and chips");
    sweepApp
        ->add_option("kernel", sweep.kernels,
                     "one that is built in, or files, of each of which only --chip varies")
        ->required();
    sweepApp
        ->add_option("--over", sweep.over,
                     "NAME=FIRST:LAST:*FACTOR, NAME=FIRST:LAST:+STEP, NAME=FIRST:LAST (each whole "
                     "number) or NAME=A,B,C, as often as wanted")
        ->allow_extra_args(false);
    sweepApp->add_option("-p,--parameter", sweep.parameters, "NAME=VALUE, the same in every run")
        ->allow_extra_args(false);
    addSettings(sweepApp, sweep.settings);
    sweepApp->add_option("--chip", sweep.chips,
                         "names or files of chips, separated by commas; without it the kernel's "
                         "own, or tpu_v5e");
    auto* json = sweepApp->add_flag("--json", sweep.json, "print the rows as JSON");
    sweepApp->add_flag("--csv", sweep.csv, "print the rows as CSV")->excludes(json);
    sweepApp->add_option("--save", sweep.save, "keep the rows in FILE, also when interrupted");
    sweepApp->add_option("--resume", sweep.resume,
                         "take over the rows of FILE, and keep all rows there unless --save is "
                         "given; rows that are not of this sweep are kept, not printed");
    auto* screenshot = sweepApp->add_option("--screenshot", sweep.picture.file,
                                            "draw the times, FILE.png or FILE.svg");
    sweepApp->add_option("--size", sweep.picture.size, "WIDTHxHEIGHT in pixels")->needs(screenshot);
    sweepApp->add_option("--theme", sweep.picture.theme, "light or dark")->needs(screenshot);
    sweep.version = PALLASCOPE_VERSION;
    compareApp =
        app.add_subcommand("compare", "compare two runs: their numbers and where they part");
    compareApp
        ->add_option("a", compare.a,
                     "a trace, or a kernel with arguments: \"matmul bm=256 chip=v5p\"")
        ->required();
    compareApp->add_option("b", compare.b, "the other one")->required();
    compareApp->add_option("--chip", compare.chip,
                           "of kernels that name none; without it each one's own, or tpu_v5e");
    addSettings(compareApp, compare.settings);
    compareApp->add_flag("--json", compare.json, "print the comparison as JSON");
    addPictureOptions(compareApp, picture);
    compareApp
        ->add_option("--align", compare.align,
                     "the time lines in that picture: time, or step, so that each step begins at "
                     "the same place")
        ->needs("--screenshot")
        ->capture_default_str();
}

void CommandLine::addValidate()
{
    validateApp = app.add_subcommand(
        "validate", "predict kernels that were timed, and say how far off the model is");
    validateApp->add_option("--measured", validate.measured,
                            "a table (CSV) of timings of your own, instead of the published ones");
    auto* expected = validateApp->add_option(
        "--expected", validate.expected,
        "hold the errors to those of FILE; without it, those of the published timings to ours");
    validateApp
        ->add_option("--write-expected", validate.writeExpected,
                     "write the errors to FILE, for --expected, and hold them to nothing")
        ->excludes(expected);
    validateApp
        ->add_option("--chip", validate.chips,
                     "a chip's file that takes the place of the chip of its name, as often as "
                     "wanted")
        ->allow_extra_args(false);
    addSettings(validateApp, validate.settings);
    validateApp->add_flag("--json", validate.json, "print rows and families as JSON");
    validateApp->add_option("--csv", validate.csv, "write every row to FILE");
    auto* drawn = validateApp->add_option("--scatter", validate.scatter.file,
                                          "draw predicted against measured times, FILE.png or "
                                          "FILE.svg");
    validateApp->add_option("--size", validate.scatter.size, "WIDTHxHEIGHT in pixels")
        ->needs(drawn);
    validateApp->add_option("--theme", validate.scatter.theme, "light or dark")->needs(drawn);
}

void CommandLine::addLesson()
{
    lessonApp = app.add_subcommand("lesson", "read a lesson with the figures of its runs");
    lessonApp->add_option("lesson", lesson.lesson, "see `pallascope list lessons`, or a file")
        ->required();
    auto* step = lessonApp->add_option("--step", lesson.step, "only this step, from 1");
    auto* tried = lessonApp->add_option(
        "-p,--parameter", lesson.parameters,
        "NAME=VALUE, or chip=CHIP, to try on the task of that step; exits with 1 if that does not "
        "reach it");
    tried->allow_extra_args(false)->needs(step);
    auto* answer = lessonApp->add_flag("--answer", lesson.answer, "print the answers of tasks");
    auto* json = lessonApp->add_flag("--json", lesson.json, "as JSON");
    lessonApp
        ->add_flag("--check", lesson.check,
                   "only say whether what it states is so, and its answers are right")
        ->excludes(answer)
        ->excludes(json)
        ->excludes(tried);
    auto* screenshot = lessonApp->add_option("--screenshot", picture.file,
                                             "write a picture of the window with that step, "
                                             "FILE.png");
    screenshot->needs(step);
    lessonApp->add_option("--size", picture.size, "WIDTHxHEIGHT in pixels")->needs(screenshot);
    lessonApp->add_option("--theme", picture.theme, "light or dark")->needs(screenshot);
}

void CommandLine::addKernelCommands()
{
    print = app.add_subcommand("print", "print the operations of a kernel");
    saveApp = app.add_subcommand("save", "save a kernel, its parameters fixed, as a file");
    print->add_option("kernel", printWhat, kKernelHelp)->required();
    saveApp->add_option("kernel", save.kernel, kKernelHelp)->required();
    saveApp->add_option("-o,--output", save.output, "FILE.kernel.json or FILE.pallascope")
        ->required();
    saveApp->add_option("--inputs", save.inputs,
                        "put the inputs of FILE.npz (arg0, arg1, ...) into the .pallascope");
    const auto addParameters = [](CLI::App* command, std::vector<std::string>& parameters) {
        command->add_option("-p,--parameter", parameters, "NAME=VALUE, as often as wanted")
            ->allow_extra_args(false);
    };
    addParameters(print, printParameters);
    addParameters(saveApp, save.parameters);
    addCapture();
}

void CommandLine::addCapture()
{
    captureApp =
        app.add_subcommand("capture", "turn a JAX function with Pallas kernels into a kernel file");
    captureApp->add_option("function", capture.function, "FILE.py:FUNCTION")->required();
    captureApp
        ->add_option("--arg", capture.arguments,
                     "an argument of the function, such as 'bf16[4096,4096]', as often as wanted")
        ->allow_extra_args(false);
    captureApp->add_option("-o,--output", capture.output, "FILE.pallascope or FILE.kernel.json")
        ->required();
    captureApp->add_option("--chip", captureOptions["--chip"], "trace as on this chip");
    captureApp->add_option("--cores", captureOptions["--cores"],
                           "cores that share parallel grid axes: 2 on a megacore chip");
    captureApp
        ->add_option("--mesh", captureMesh,
                     "an axis of the mesh of devices, such as 'x=8', the slowest first")
        ->allow_extra_args(false);
    captureApp
        ->add_option("--donate", captureDonate,
                     "the number of an argument that the function may write over, from 0")
        ->allow_extra_args(false);
    captureApp->add_option("--name", captureOptions["--name"], "of the kernel");
    captureApp->add_option("--python", capture.python,
                           "the Python that has the package (PALLASCOPE_PYTHON, else python3)");
}

std::string CommandLine::commandName() const
{
    const std::vector<CLI::App*> commands = app.get_subcommands();
    return commands.empty() ? app.get_name() : app.get_name() + " " + commands.front()->get_name();
}

} // namespace pallascope::app
