// Saves a trace: the Chrome half, then the "pallascope" section.
#include "core/trace_file/file_sink.h"
#include "core/trace_file/output.h"
#include "core/trace_file/trace_file.h"

#include <fmt/format.h>

namespace pallascope::trace_file {

using namespace trace;

namespace {

constexpr std::int64_t kColumns = 40; // an approximate number, used only for progress

class StringSink : public Sink
{
public:
    [[nodiscard]] bool write(std::string_view text) override
    {
        m_text.append(text);
        return true;
    }

    [[nodiscard]] std::string take() && { return std::move(m_text); }

private:
    std::string m_text;
};

[[nodiscard]] bool writeAll(Output& output, const Trace& trace, const SaveOptions& options)
{
    const ChromePlan plan = planChrome(trace, options);
    output.total = plan.events + kColumns;
    JsonOut& json = output.json;
    json.raw(
        "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"producer\":\"Pallascope\",\"program\":");
    json.text(trace.info().program);
    json.raw(",\"chip\":");
    json.text(trace.info().chipName);
    if (!plan.operations) {
        json.raw(",\"note\":");
        json.text(
            fmt::format("{} operation events are past the limit of {}: these events are steps and "
                        "copies only; save with operations to have them all, or open the trace "
                        "in Pallascope",
                        plan.operationCount, kChromeOperationLimit));
    }
    json.raw("},\n\"traceEvents\":[\n");
    if (!writeChrome(output, trace, plan)) {
        return false;
    }
    json.raw("\n],\n\"pallascope\":");
    if (!writeSection(output, trace)) {
        return false;
    }
    json.raw("}\n");
    return json.flush();
}

} // namespace

std::string toJson(const Trace& trace, const SaveOptions& options)
{
    StringSink sink;
    const std::function<bool(double)> noProgress;
    Output output{JsonOut(sink), noProgress};
    (void)writeAll(output, trace, options); // a string takes everything
    return std::move(sink).take();
}

Status save(const Trace& trace, const std::filesystem::path& path, const SaveOptions& options)
{
    FileSink sink(path);
    if (Status status = sink.open(); !status) {
        return status;
    }
    Output output{JsonOut(sink), options.progress};
    if (!writeAll(output, trace, options)) {
        return output.cancelled ? cancelled() : sink.error();
    }
    if (options.progress && !options.progress(1)) {
        return cancelled();
    }
    return sink.commit();
}

} // namespace pallascope::trace_file
