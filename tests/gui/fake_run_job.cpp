// Answers the window's requests from synthetic traces, as fake_run_job.h describes.
#include "tests/gui/fake_run_job.h"

#include "app/run_job/break_search.h"
#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"
#include "app/run_job/sweep_job.h"
#include "app/run_job/sweep_picture.h"
#include "app/run_job/values_source.h"
#include "core/trace_file/trace_file.h"
#include "tests/support/run_view_fixture.h"

#include <charconv>
#include <chrono>
#include <thread>

namespace pallascope::test {

FakeMachine& FakeMachine::instance()
{
    static FakeMachine machine;
    return machine;
}

void FakeMachine::reset()
{
    const std::lock_guard lock(m_mutex);
    slowMs = 0;
    cancelled = 0;
    m_asked.clear();
}

std::vector<app::RunRequest> FakeMachine::asked() const
{
    const std::lock_guard lock(m_mutex);
    return m_asked;
}

void FakeMachine::note(const app::RunRequest& request)
{
    const std::lock_guard lock(m_mutex);
    m_asked.push_back(request);
}

app::FinishedRun finishedRun(int block)
{
    app::FinishedRun run;
    run.request.fullValues = run.request.check = false;
    if (block != 512) {
        const std::string text = std::to_string(block);
        run.request.parameters = {{"bm", text}, {"bn", text}, {"bk", text}};
    }
    run.view = std::make_shared<const layout::RunView>(mainJobView(block));
    return run;
}

namespace {

std::string valueOf(const app::RunRequest& request, const std::string& name,
                    const std::string& fallback)
{
    const auto found = request.parameters.find(name);
    return found == request.parameters.end() ? fallback : found->second;
}

// The fixture has square blocks. If several block parameters are changed, the last one counts.
Result<int> blockOf(const app::RunRequest& request)
{
    int block = 512;
    for (const char* name : {"bm", "bn", "bk"}) {
        const std::string value = valueOf(request, name, "512");
        int number = 0;
        const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
        if (parsed.ec != std::errc() || parsed.ptr != value.data() + value.size() || number < 1) {
            return userError("Expected a whole number from 1 to 65536, not \"" + value + "\".",
                             {{Subject::Parameter, name}});
        }
        block = number != 512 ? number : block;
    }
    if (4096 % block != 0 || block < 128) {
        // The sentence names the wrong field on purpose: no code may read sentences to find the
        // field.
        return userError(
            "A block of " + std::to_string(block) + " does not divide m by bk.",
            {{Subject::Operand, "x"}, {Subject::Parameter, "bm"}, {Subject::Parameter, "bn"}});
    }
    return block;
}

// Takes as long as a test asks for. Returns false if the run was cancelled meanwhile.
bool waitAsAsked(const app::Progress& progress)
{
    constexpr int kTickMs = 5;
    FakeMachine& machine = FakeMachine::instance();
    const int slow = machine.slowMs;
    for (int done = 0; done < slow; done += kTickMs) {
        if (progress && !progress(static_cast<double>(done) / slow)) {
            ++machine.cancelled;
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(kTickMs));
    }
    return true;
}

} // namespace

} // namespace pallascope::test

namespace pallascope::app {

std::vector<KernelInfo> kernels()
{
    const auto number = [](std::string name, std::string value, std::int64_t most) {
        return ParameterInfo{std::move(name), "int", std::move(value), "a size", {}, 1, most};
    };
    KernelInfo matmul{"matmul", "bf16 matmul", {}};
    for (const char* name : {"m", "n", "k"}) {
        matmul.parameters.push_back(number(name, "4096", 65536));
    }
    for (const char* name : {"bm", "bn", "bk"}) {
        matmul.parameters.push_back(number(name, "512", 65536));
    }
    matmul.parameters.push_back(
        {"dtype", "choice", "bf16", "type of the inputs", {"bf16", "f32"}, 1, 1});
    matmul.parameters.push_back(number("buffers", "2", 8));
    matmul.parameters.push_back(
        {"order", "choice", "ijk", "order of the grid axes", {"ijk", "ikj", "jik"}, 1, 1});
    KernelInfo add{"add_vectors", "x + y", {number("n", "1024", 1 << 20)}};
    return {matmul, add};
}

std::vector<std::pair<std::string, std::string>> chips()
{
    return {{"tpu_v5e", "TPU v5e"}};
}

Result<chip::Chip> loadChip(const std::string& nameOrFile)
{
    return userError("There is no such chip.", {{Subject::Chip, nameOrFile}});
}

std::string chipFor(const std::string& /*kernel*/, const std::string& chip)
{
    return chip;
}

Result<FinishedRun> runKernel(const RunRequest& request, const Progress& progress,
                              const Printer& /*printer*/)
{
    test::FakeMachine::instance().note(request);
    if (request.chip == "none") {
        return userError("There is no such thing.", {{Subject::Chip, request.chip}});
    }
    if (!test::waitAsAsked(progress)) {
        return cancelled();
    }
    const Result<int> block = test::blockOf(request);
    if (!block) {
        return block.error();
    }
    FinishedRun run = test::finishedRun(*block);
    run.request = request;
    return run;
}

Result<FinishedRun> openTrace(const std::string& path, const Progress& /*progress*/)
{
    auto trace = trace_file::load(path);
    if (!trace) {
        return trace.error();
    }
    FinishedRun run = test::finishedRun();
    run.view = std::make_shared<const layout::RunView>(test::runViewOf(*trace));
    return run;
}

std::optional<FinishedRun> viewWithoutRun(const RunRequest& /*request*/, const Error& /*why*/)
{
    return std::nullopt;
}

Result<std::unique_ptr<ValuesSource>> openValues(const RunRequest&, const layout::RunView&, bool)
{
    return userError("A made-up trace has no values.");
}

Status isStillKernelOf(const RunRequest&, const layout::RunView&)
{
    return Done{};
}

Result<std::optional<std::vector<std::int64_t>>> searchStops(const RunRequest&,
                                                             const layout::RunView&, bool,
                                                             const trace::Breakpoint&,
                                                             const Progress&)
{
    return userError("A made-up trace has no values.");
}

Result<FinishedRun> openFile(const std::string& path, const Progress& progress,
                             const std::string& chip)
{
    const RunRequest kernel{.kernel = path, .chip = chip, .fullValues = false, .check = false};
    return path.ends_with(".pallascope") ? runKernel(kernel, progress, {}) : openTrace(path);
}

// These tests start no sweep: gui_run_tests do, on the real machine.
Result<SweepJob> sweepOf(const SweepRequest& /*request*/)
{
    return userError("There is no sweep here.");
}

Status checkRange(const std::string& /*kernel*/, const std::string& /*range*/)
{
    return Done{};
}

std::map<std::string, std::string> proposedValues(const std::string& /*kernel*/,
                                                  const study::Parameters& /*parameters*/)
{
    return {};
}

Result<std::vector<chip::Chip>> chipsNamed(const std::string& /*names*/)
{
    return std::vector<chip::Chip>();
}

Status checkAnyRuns(const std::vector<study::SweepRow>& /*rows*/)
{
    return Done{};
}

std::vector<std::string> splitAtCommas(const std::string& text)
{
    return {text};
}

layout::SweepPicture sweepPicture(const std::string& kernel, const study::SweepPlan& /*plan*/,
                                  const std::vector<study::SweepRow>& /*rows*/)
{
    return {kernel, {}, {}};
}

} // namespace pallascope::app
