// Describes the command line to its parser: which commands and options there are, and where the
// values given for them go.
#pragma once

#include "app/cli/commands.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace pallascope::app {

struct CommandLine
{
    CLI::App app{
        "Pallascope: watch a Pallas kernel run on a model of a TPU or GPU. Without a command the "
        "window opens.",
        "pallascope"};
    std::string listWhat, printWhat;
    std::vector<std::string> openFiles;
    std::vector<std::string> printParameters;
    DescribeCommand description;
    RunCommand run;
    StateCommand state;
    HistoryCommand history;
    SaveCommand save;
    CaptureRequest capture;
    std::map<std::string, std::string> captureOptions;
    std::vector<std::string> captureMesh, captureDonate;
    ReportCommand report;
    SweepCommand sweep;
    LessonCommand lesson;
    CompareCommand compare;
    ValidateCommand validate;
    PictureRequest picture;
    CLI::App *open = nullptr, *list = nullptr, *describe = nullptr, *print = nullptr,
             *saveApp = nullptr, *captureApp = nullptr, *runApp = nullptr, *stateApp = nullptr,
             *historyApp = nullptr, *reportApp = nullptr, *sweepApp = nullptr,
             *compareApp = nullptr, *validateApp = nullptr, *lessonApp = nullptr,
             *completion = nullptr, *manual = nullptr;
    std::string shell; // the shell to write completions for

    CommandLine();
    void addKernelCommands();
    void addStudies();
    void addValidate();
    void addState();
    void addHistory();
    void addLesson();
    void addCapture();
    // "pallascope run", or "pallascope" if no command was recognized.
    [[nodiscard]] std::string commandName() const;
};

} // namespace pallascope::app
