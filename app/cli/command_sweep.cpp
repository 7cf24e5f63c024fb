// The command `sweep`: runs of one kernel with many parameters, or of many kernel files, on several
// chips.
#include "app/cli/commands.h"
#include "app/cli/kept_rows.h"
#include "app/process/diagnostics.h"
#include "app/run_job/kernel_choice.h"
#include "app/run_job/sweep_job.h"
#include "app/run_job/sweep_picture.h"
#include "core/base/format.h"
#include "core/base/read_file.h"
#include "core/base/text.h"
#include "core/study/sweep_file.h"
#include "views/layout/scene/header.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

namespace pallascope::app {

namespace {

struct Sweep
{
    SweepJob job;
    study::SweepOptions options;
    study::SavedRows others; // of the file that it goes on from, for which it does not ask
};

Result<Sweep> sweepOfCommand(const SweepCommand& command)
{
    Result<study::Parameters> fixed = parseParameters(command.parameters);
    if (!fixed) {
        return fixed.error();
    }
    const Result<machine::Settings> settings = parseSettings(command.settings);
    if (!settings) {
        return settings.error();
    }
    Result<SweepJob> job = sweepOf(SweepRequest{command.kernels, command.over, std::move(*fixed),
                                                *settings, command.chips, command.version});
    return job ? Sweep{std::move(*job), {}, {}} : Result<Sweep>(job.error());
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
    Result<study::SavedRows> saved = study::rowsFromJson(*text, sweep.job.subject, command.resume);
    if (!saved) {
        return saved.error();
    }
    for (study::SweepRow& row : saved->rows) {
        const bool asked = study::asksFor(sweep.job.plan, row);
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

void print(const SweepCommand& command, const Sweep& sweep,
           const std::vector<study::SweepRow>& rows)
{
    if (command.json) {
        fmt::print("{}", study::toJson(sweep.job.subject, rows));
    } else if (command.csv) {
        fmt::print("{}", study::toCsv(sweep.job.plan, rows));
    } else {
        fmt::print("{}", study::toText(sweep.job.plan, rows));
    }
}

// Checks that the files to which rows and the picture are written, if any, can be written and are
// not among those that are read.
Status checkFiles(const SweepCommand& command, const Sweep& sweep, const std::string& file)
{
    std::vector<std::string> read = splitAtCommas(command.chips);
    if (sweep.job.kernel == nullptr) {
        read.insert(read.end(), command.kernels.begin(), command.kernels.end());
    }
    if (Status places = checkPlaces({file, command.picture.file}, read); !places) {
        return places;
    }
    return command.picture.file.empty() ? Status(Done{}) : checkScene(command.picture);
}

Status drawSweep(const SweepCommand& command, const SweepJob& job,
                 const std::vector<study::SweepRow>& rows)
{
    if (command.picture.file.empty()) {
        return Done{};
    }
    const layout::Size size =
        command.picture.size.empty() ? layout::Size{800, 560} : *parseSize(command.picture.size);
    const double head = layout::headerHeight(size.width);
    const layout::SweepPicture picture = sweepPicture(job.subject.kernel, job.plan, rows);
    return writeScene(layout::withHeader(layout::layoutSweep(
                          picture, {size.width, std::max(1.0, size.height - head)})),
                      command.picture);
}

} // namespace

int sweepCommand(const SweepCommand& command)
{
    Result<Sweep> sweep = sweepOfCommand(command);
    if (!sweep) {
        return complain(sweep.error());
    }
    const std::string file = command.save.empty() ? command.resume : command.save;
    if (!command.resume.empty()) {
        if (Status resumed = resume(command, *sweep); !resumed) {
            return complain(resumed.error());
        }
    }
    if (Status writable = checkFiles(command, *sweep, file); !writable) {
        return complain(writable.error());
    }
    catchInterrupts();
    KeptRows kept(file, sweep->job.subject, sweep->others);
    sweep->options.progress = [&, shown = terminalProgress("sweeping")](
                                  const std::vector<std::optional<study::SweepRow>>& all,
                                  std::size_t newest, std::size_t finished) mutable {
        kept.take(all, newest);
        shown(static_cast<double>(finished) / static_cast<double>(all.size()));
    };
    sweep->options.goesOn = [] { return !interrupted(); };
    const auto rows = study::sweep(sweep->job.plan, sweep->options);
    if (!rows) {
        return complain(rows.error());
    }
    clearProgress();
    const std::vector<study::SweepRow> finished = present(*rows);
    if (Status any = checkAnyRuns(finished); !any && finished.size() == rows->size()) {
        return complain(any.error());
    }
    if (Status written = kept.save(finished); !written) {
        return complain(written.error());
    }
    if (finished.size() < rows->size()) {
        say(kept.interruption(finished.size(), rows->size()));
        return kInterrupted;
    }
    if (Status drawn = drawSweep(command, sweep->job, finished); !drawn) {
        return complain(drawn.error());
    }
    print(command, *sweep, finished);
    const bool found =
        std::any_of(finished.begin(), finished.end(),
                    [](const study::SweepRow& row) { return !row.findings.empty(); });
    return found ? kFindings : kFine;
}

} // namespace pallascope::app
