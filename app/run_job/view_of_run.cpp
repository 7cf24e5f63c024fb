#include "app/run_job/view_of_run.h"

#include "app/run_job/alternatives.h"
#include "app/run_job/kernel_choice.h"
#include "core/chip/chip.h"
#include "kernels/kernel.h"
#include "views/navigation/times.h"

#include <filesystem>

namespace pallascope::app {

namespace {

std::vector<layout::Field> fieldsOf(const trace::Info& info)
{
    const auto file = info.parameters.find(kFileParameter);
    // As in the window, a kernel from a file is called by it.
    const std::string called = file == info.parameters.end()
                                   ? info.kernel
                                   : std::filesystem::path(file->second).filename().string();
    std::vector<layout::Field> fields{{"kernel", called, true, ""},
                                      {"chip", info.chipName, true, ""}};
    const kernels::Kernel* kernel = kernels::find(info.kernel);
    for (const std::string& name : info.parameterOrder) {
        if (name == kFileParameter) {
            continue;
        }
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

// The alternatives of a trace's run, if this program has its kernel and the kernel accepts the
// parameters.
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

} // namespace

Result<std::shared_ptr<layout::RunView>> viewOf(std::shared_ptr<const trace::Trace> trace)
{
    auto view = std::make_shared<layout::RunView>();
    Result<analysis::Report> report = analysis::report(*trace);
    if (!report) {
        return report.error();
    }
    view->report = std::move(*report);
    view->index = std::make_shared<const trace::Index>(trace);
    view->report.pieces = analysis::pieceTimes(*view->index, view->report.onChipName);
    view->lineTimes = analysis::timeByLine(*trace);
    view->findingPlaces = navigation::placesOfFindings(*trace);
    view->fields = fieldsOf(trace->info());
    view->period = analysis::periodSteps(*trace);
    view->periodTime = analysis::periodTime(*trace);
    view->trace = std::move(trace);
    return view;
}

Result<std::shared_ptr<const layout::RunView>> runViewOf(std::shared_ptr<const trace::Trace> trace,
                                                         const ir::Program* program,
                                                         std::vector<layout::PageTable> tables)
{
    Result<std::shared_ptr<layout::RunView>> view = viewOf(std::move(trace));
    if (!view) {
        return view.error();
    }
    const trace::Info& info = (*view)->trace->info();
    (*view)->tables = std::move(tables);
    if (program != nullptr) {
        (*view)->readers =
            std::make_shared<const analysis::ScratchReaders>(*program, (*view)->index);
    }
    (*view)->alternatives = alternativesOf(info);
    (*view)->verdict = analysis::verdict((*view)->report, info, (*view)->alternatives);
    return std::shared_ptr<const layout::RunView>(std::move(*view));
}

} // namespace pallascope::app
