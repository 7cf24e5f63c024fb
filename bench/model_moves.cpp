// Checks that the model reacts to changes as it must. It runs the main job (matmul 4096^3 bf16 in
// 512-blocks on TPU v5e), then the same without step overhead, with half of the HBM bandwidth, and
// without double buffering. Each time is compared with what follows from the run's figures alone.
// The exit code is 1 if one does not fit. Times are the model's, so the result does not depend on
// the computer.
#include "app/run_job/chips.h"
#include "app/run_job/run_job.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace {

using namespace pallascope;

// Loads TPU v5e's chip file with one change, through a temporary file.
std::string changedChip(const std::string& name, const std::function<void(nlohmann::json&)>& change)
{
    auto json = nlohmann::json::parse(app::loadChip("tpu_v5e")->json);
    change(json);
    const std::string path =
        (std::filesystem::temp_directory_path() / ("pallascope_" + name + ".json")).string();
    std::ofstream(path) << json.dump();
    return path;
}

analysis::Report runOn(const std::string& chip,
                       const std::map<std::string, std::string>& parameters = {})
{
    const auto run = app::runKernel({.parameters = parameters, .chip = chip, .fullValues = false});
    if (!run) {
        std::fprintf(stderr, "%s\n", run.error().message.c_str());
        std::exit(2);
    }
    return run->view->report;
}

double us(Picoseconds time)
{
    return static_cast<double>(time.value()) * 1e-6;
}

Picoseconds linkBusy(const analysis::Report& report)
{
    for (const auto& [name, time] : report.busy) {
        if (name == "HBM") {
            return time;
        }
    }
    return {};
}

Picoseconds coreBusy(const analysis::Report& report)
{
    return report.split.compute + report.split.stepOverhead;
}

int g_wrong = 0;

void row(const char* name, const analysis::Report& report, const analysis::Report& base, bool holds,
         const char* why)
{
    std::printf("%-28s %9.2f us  %5.3f x  link %8.2f us  core %8.2f us  %-14s %s: %s\n", name,
                us(report.time), ratio(report.time, base.time), us(linkBusy(report)),
                us(coreBusy(report)), toString(report.boundBy).c_str(), why,
                holds ? "holds" : "DOES NOT HOLD");
    g_wrong += holds ? 0 : 1;
}

// Overlap can hide at most the whole of the shorter side.
bool withinOverlap(const analysis::Report& report)
{
    return report.time >= std::max(linkBusy(report), coreBusy(report))
           && report.time <= linkBusy(report) + coreBusy(report);
}

} // namespace

int main()
{
    const analysis::Report base = runOn("tpu_v5e");
    row("main job", base, base, withinOverlap(base), "between the longer side and the sum of both");

    const std::string noOverhead = changedChip("no_overhead", [](nlohmann::json& chip) {
        chip["constants"]["step_overhead_s"]["value"] = 0;
    });
    const analysis::Report quick = runOn(noOverhead);
    row("step_overhead_s = 0", quick, base,
        withinOverlap(quick) && quick.split.stepOverhead == Picoseconds(0) && quick.time < base.time
            && base.time - quick.time <= base.split.stepOverhead,
        "faster, by no more than the overhead");

    const std::string halfBandwidth = changedChip("half_bandwidth", [](nlohmann::json& chip) {
        chip["links"][0]["bytes_per_s"]["value"] = 409.5e9;
    });
    const analysis::Report slow = runOn(halfBandwidth);
    row("half the HBM bandwidth", slow, base,
        withinOverlap(slow) && slow.boundBy == analysis::Bound{analysis::BoundKind::Memory, "HBM"}
            && ratio(linkBusy(slow), linkBusy(base)) > 1.999 && slow.time > base.time
            && slow.time - linkBusy(slow) < base.time - linkBusy(base),
        "the link takes twice as long and hides more of the core");

    const analysis::Report single = runOn("tpu_v5e", {{"buffers", "1"}});
    row("buffers=1", single, base, single.time == linkBusy(single) + coreBusy(single),
        "nothing overlaps: exactly the sum of both");
    std::filesystem::remove(noOverhead);
    std::filesystem::remove(halfBandwidth);
    return g_wrong == 0 ? 0 : 1;
}
