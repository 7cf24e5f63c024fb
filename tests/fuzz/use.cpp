// Does with a run or a trace what a user does, and checks what must always hold.
#include "tests/fuzz/use.h"

#include "core/analysis/report.h"
#include "core/trace/lookup.h"
#include "core/trace_file/trace_file.h"
#include "tests/fuzz/well_formed.h"
#include "views/layout/overview/overview.h"
#include "views/layout/scene/svg.h"
#include "views/layout/tooltip/tooltip.h"
#include "views/layout/views.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace pallascope::fuzz {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kLongestRun = std::chrono::milliseconds(1000); // longer runs would find nothing more
constexpr std::size_t kLongestSentence = 1000;

class Folder
{
public:
    Folder()
        : m_path(fs::temp_directory_path() / ("pallascope-fuzz-" + std::to_string(::getpid())))
    {
        fs::create_directories(m_path);
    }

    ~Folder()
    {
        std::error_code ignored;
        fs::remove_all(m_path, ignored);
    }

    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] const fs::path& path() const { return m_path; }

private:
    fs::path m_path;
};

// Asks a valid trace every kind of question, at a few times.
void lookUp(const trace::Index& index)
{
    const trace::Trace& trace = index.trace();
    const trace::Info& info = trace.info();
    const auto count = [](const auto& list) { return static_cast<std::int32_t>(list.size()); };
    constexpr std::int32_t kMost = 20; // of each kind
    for (int i = 0; i <= 4; ++i) {
        const Picoseconds t(trace.end().value() / 4 * i);
        const trace::OptionalRow<trace::StepRow> step = trace::stepAt(trace, t);
        for (std::int32_t buffer = 0; buffer < std::min(kMost, count(info.buffers)); ++buffer) {
            (void)trace::slotStateAt(trace, trace::BufferRow{buffer}, t);
        }
        for (std::int32_t operand = 0; operand < std::min(kMost, count(info.operands)); ++operand) {
            (void)(step ? trace::visitAt(trace, trace::OperandRow{operand}, *step) : std::nullopt);
            (void)index.moved(trace::OperandRow{operand}, t);
            (void)index.blocksWritten(trace::OperandRow{operand}, t);
            (void)index.blockStateAt(trace::OperandRow{operand}, i, t);
            (void)index.listsOf(trace::OperandRow{operand}, i);
        }
        for (std::int32_t agent = 0; agent < std::min(kMost, count(info.agents)); ++agent) {
            (void)trace::operationAt(trace, trace::AgentRow{agent}, t);
            (void)trace::waitAt(trace, trace::AgentRow{agent}, t);
        }
        for (std::int32_t link = 0; link < std::min(kMost, count(info.links)); ++link) {
            (void)trace::copiesInFlight(trace, trace::LinkRow{link}, t);
            (void)index.linkBusy(trace::LinkRow{link}, false, t);
        }
        for (std::int32_t unit = 0; unit < std::min(kMost, count(info.units)); ++unit) {
            (void)index.unitBusy(trace::UnitRow{unit}, t);
        }
        (void)index.flops(t);
        (void)index.waiting(t);
        (void)analysis::runPoint(index, t);
        (void)analysis::windowPoint(index, t, Picoseconds(1000));
    }
}

// A picture must be XML and hold only finite numbers, or other programs could not open it.
void requireSound(const layout::Scene& scene, const std::string& what)
{
    require(std::isfinite(scene.width) && std::isfinite(scene.height), what + " has no size");
    const std::string svg = layout::toSvg(scene, layout::Theme::Light);
    for (const char* word : {"=\"nan", "=\"-nan", "=\"inf", "=\"-inf"}) {
        require(svg.find(word) == std::string::npos, what + " has a coordinate that is no number");
    }
    const std::string fault = faultOfXml(svg);
    require(fault.empty(), what + " is no XML: " + fault);
    requireText(svg, what);
}

void draw(const layout::RunView& view, const layout::ViewState& state, layout::Size size)
{
    for (const layout::View& each : layout::allViews()) {
        const std::string name(each.name);
        const Result<layout::Scene> scene = layout::picture(name, view, state, size);
        require(scene.has_value(), name + " is not drawn");
        requireSound(*scene, name);
        for (std::size_t i = 0; i < scene->hits.size(); i += 1 + scene->hits.size() / 20) {
            for (const std::string& line : layout::tooltip(view, state, scene->hits[i].target)) {
                requireText(line, "a tooltip");
            }
        }
    }
    requireSound(layout::layoutOverview(view, state, {1000, 30}), "the overview");
    requireSound(layout::layoutVerdictStrip(view, state, {1000, 30}), "the verdict strip");
}

// Checks what `run` and `report` print, and the texts of a trace that they and the window show.
void requirePrintable(const layout::RunView& view)
{
    const trace::Info& info = view.trace->info();
    requireJson(analysis::toJson(view.report, info, view.alternatives, {}), "the report");
    const std::string text = analysis::toText(view.report, info, view.alternatives);
    require(!text.empty(), "the report is empty");
    requireText(text, "the report");
    for (const trace::Finding& finding : info.findings) {
        requireText(finding.kind + finding.message, "a finding");
    }
    for (const trace::Print& print : info.prints) {
        requireText(print.text, "a line that the kernel prints");
    }
    for (const trace::SourceFile& source : info.sources) {
        requireText(source.path + source.text, "a source");
    }
    requireText(info.jaxReason, "the reason of JAX");
}

// Checks the file as Perfetto reads it: one list of events, each with the members that its phase
// needs.
void requireChrome(const trace::Trace& trace)
{
    const Json file = Json::parse(trace_file::toJson(trace), nullptr, false);
    require(file.is_object() && file.contains("traceEvents"), "the saved trace is no JSON");
    for (const Json& event : file["traceEvents"]) {
        const std::string phase = event.value("ph", "");
        const auto hasNumber = [&](const char* name) {
            return event.contains(name) && event[name].is_number();
        };
        const bool isSound = phase == "M" ? event.contains("args")
                                          : hasNumber("ts") && (phase != "X" || hasNumber("dur"));
        require(isSound && hasNumber("pid") && event["name"].is_string(),
                "an event that Perfetto does not read: " + event.dump().substr(0, 200));
    }
}

} // namespace

void require(bool holds, const std::string& what)
{
    if (!holds) {
        throw Fault(what);
    }
}

void requireText(std::string_view text, const std::string& what)
{
    const std::string fault = faultOfText(text);
    require(fault.empty(), what + " is no text for a terminal: " + fault);
}

void requireJson(std::string_view text, const std::string& what)
{
    require(Json::accept(text), what + " is no JSON");
}

Outcome refusedBy(const Error& error, const std::string& file)
{
    const std::string& text = error.message;
    require(error.kind != ErrorKind::Internal, "an error of the program's own: " + text);
    require(text.size() > 10 && text.find(' ') != std::string::npos, "no sentence: " + text);
    require(text.size() < kLongestSentence, "a sentence without end: " + text);
    requireText(text, "a sentence");
    require(text.find_first_of("\n\t") == std::string::npos,
            "a sentence of several lines: " + text);
    require(text.find(file) != std::string::npos, "a sentence that names no file: " + text);
    return {false, text};
}

std::string scratchFile(const std::string& name)
{
    static const Folder folder;
    return (folder.path() / name).string();
}

std::string bytesOf(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    require(file.good(), "cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void writeBytes(const std::string& path, const std::string& bytes)
{
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    require(file.good(), "cannot write " + path);
}

Ran runFor(const app::RunRequest& request, const std::string& file)
{
    const Clock::time_point begin = Clock::now();
    Result<app::FinishedRun> run =
        app::runKernel(request, [&](double) { return Clock::now() - begin < kLongestRun; });
    if (run) {
        return {{true, "ran"}, std::move(*run)};
    }
    if (run.error().kind == ErrorKind::Cancelled) {
        return {{true, "cut off"}, {}};
    }
    return {refusedBy(run.error(), file), {}};
}

void lookAt(const layout::RunView& view)
{
    const trace::Trace& trace = *view.trace;
    requirePrintable(view);
    requireChrome(trace);
    lookUp(*view.index);
    for (const std::int64_t share : {0, 3}) {
        layout::ViewState state;
        state.now = Picoseconds(trace.end().value() / 5 * share);
        state.visible =
            share == 0 ? layout::firstFrame(trace) : layout::frameAround(trace, state.now);
        draw(view, state, share == 0 ? layout::Size{800, 640} : layout::Size{1180, 240});
    }
}

} // namespace pallascope::fuzz
