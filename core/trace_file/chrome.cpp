// Writes the Chrome half of a trace file: steps, copies, units and waits as events in lanes.
#include "core/trace/columns.h"
#include "core/trace/lookup.h"
#include "core/trace/mark_time.h"
#include "core/trace_file/output.h"

#include <string>
#include <vector>

namespace pallascope::trace_file {

using namespace trace;

namespace {

// Everything is in one process of the Chrome format, and lanes are its threads.
constexpr std::string_view kComplete = R"({"ph":"X","pid":1,"tid":)";
constexpr std::string_view kInstant = R"({"ph":"i","s":"t","pid":1,"tid":)";

class ChromeWriter
{
public:
    ChromeWriter(Output& output, const Trace& trace, const ChromePlan& plan)
        : m_output(output)
        , m_json(output.json)
        , m_trace(trace)
        , m_info(trace.info())
        , m_plan(plan)
    {}

    [[nodiscard]] bool write()
    {
        m_json.raw(R"({"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":)");
        m_json.text(m_info.chipName.empty() ? m_info.program
                                            : m_info.program + " on " + m_info.chipName);
        m_json.raw("}}");
        if (!writeSteps() || !writeCopies()) {
            return false;
        }
        if (!m_plan.operations) {
            return true;
        }
        for (std::size_t agent = 0; agent < m_info.agents.size(); ++agent) {
            if (!writeWaits(static_cast<std::int32_t>(agent))
                || !writeUnits(static_cast<std::int32_t>(agent))) {
                return false;
            }
        }
        return true;
    }

private:
    // Names the lane that the following events belong to.
    void lane(const std::string& name)
    {
        ++m_lane;
        for (const std::string_view key : {"thread_name", "thread_sort_index"}) {
            m_json.raw(",\n{\"ph\":\"M\",\"pid\":1,\"tid\":");
            m_json.integer(m_lane);
            m_json.raw(",\"name\":");
            m_json.text(key);
            m_json.raw(key == "thread_name" ? ",\"args\":{\"name\":"
                                            : ",\"args\":{\"sort_index\":");
            if (key == "thread_name") {
                m_json.text(name);
            } else {
                m_json.integer(m_lane);
            }
            m_json.raw("}}");
        }
    }

    // Writes an event up to the first of its args. The times come last, next to a copy's issue
    // time, which is often the same. This makes the compressed file a tenth smaller.
    void event(std::string_view category, std::string_view name,
               std::string_view prefix = kComplete)
    {
        m_json.raw(",\n");
        m_json.raw(prefix);
        m_json.integer(m_lane);
        m_json.raw(",\"cat\":\"");
        m_json.raw(category);
        m_json.raw("\",\"name\":");
        m_json.text(name);
        m_json.raw(",\"args\":{");
    }

    // Rounds both begin and end down to ns, so that events which touch in ps still touch, and
    // nested ones still nest.
    [[nodiscard]] bool endEvent(std::int64_t begin, std::int64_t end)
    {
        m_json.raw("},\"ts\":");
        m_json.microseconds(begin);
        m_json.raw(",\"dur\":");
        m_json.microseconds((end / 1000 - begin / 1000) * 1000);
        m_json.raw("}");
        return m_output.next();
    }

    void number(std::string_view key, std::int64_t value)
    {
        m_json.raw(key);
        m_json.integer(value);
    }

    [[nodiscard]] bool writeSteps()
    {
        for (std::size_t agent = 0; agent < m_info.agents.size(); ++agent) {
            if (!writeSteps(static_cast<std::int32_t>(agent))) {
                return false;
            }
        }
        return true;
    }

    // Also writes what the agent printed, as instant events.
    [[nodiscard]] bool writeSteps(std::int32_t agent)
    {
        const Steps& steps = m_trace.steps();
        bool named = false;
        const auto inLane = [&] {
            if (!named) {
                lane(agent == 0 ? "steps" : laneName(agent, "steps"));
                named = true;
            }
        };
        std::string name;
        for (std::size_t row = 0; row < steps.size(); ++row) {
            const Pipeline& pipeline = m_info.pipelines[at(steps.pipeline[row])];
            if (pipeline.agent != agent) {
                continue;
            }
            inLane();
            name = "step ";
            name += std::to_string(row);
            event("step", name);
            m_json.raw("\"index\":");
            m_json.text(indexText(gridIndices(pipeline, steps.ordinal[row])));
            if (m_info.pipelines.size() > 1) {
                m_json.raw(",\"pipeline\":");
                m_json.text(pipeline.name);
            }
            if (!endEvent(steps.begin[row], steps.end[row])) {
                return false;
            }
        }
        for (const Print& print : m_info.prints) {
            if (print.agent == agent) {
                inLane();
                if (!write(print)) {
                    return false;
                }
            }
        }
        return true;
    }

    [[nodiscard]] bool write(const Print& print)
    {
        event("print", print.text, kInstant);
        number("\"step\":", print.step);
        if (print.source.file >= 0) {
            m_json.raw(",\"source\":");
            m_json.text(m_info.sources[at(print.source.file)].path + ":"
                        + std::to_string(print.source.line));
        }
        m_json.raw("},\"ts\":");
        m_json.microseconds(print.time.value());
        m_json.raw("}");
        return m_output.next();
    }

    [[nodiscard]] bool writeCopies()
    {
        for (std::size_t link = 0; link < m_info.links.size(); ++link) {
            for (const bool out : {false, true}) {
                std::string name = m_info.links[link].name;
                name += out ? " copy out" : " copy in";
                if (!writeCopies(link, out, name)) {
                    return false;
                }
            }
        }
        return true;
    }

    [[nodiscard]] bool writeCopies(std::size_t link, bool out, const std::string& name)
    {
        const Copies& copies = m_trace.copies();
        bool named = false;
        for (std::size_t row = 0; row < copies.size(); ++row) {
            if (at(copies.link[row]) != link || (copies.out[row] != 0) != out) {
                continue;
            }
            if (!named) {
                lane(name);
                named = true;
            }
            const Operand& operand = m_info.operands[at(copies.operand[row])];
            event("copy", copyName(m_trace, CopyRow::at(row)));
            number("\"block\":", copies.block[row]);
            m_json.raw(",\"operand\":");
            m_json.text(operand.name);
            number(",\"bytes\":", copies.bytes[row]);
            number(",\"slot\":", copies.slot[row]);
            m_json.raw(",\"issue_us\":");
            m_json.microseconds(copies.issue[row]);
            if (!endEvent(copies.start[row], copies.end[row])) {
                return false;
            }
        }
        return true;
    }

    // Leaves out waits that took no time; the "pallascope" section has them.
    [[nodiscard]] bool writeWaits(std::int32_t agent)
    {
        const Waits& waits = m_trace.waits();
        bool named = false;
        for (std::size_t row = 0; row < waits.size(); ++row) {
            if (waits.agent[row] != agent || waits.end[row] == waits.begin[row]) {
                continue;
            }
            if (!named) {
                lane(laneName(agent, "waits"));
                named = true;
            }
            event("wait", "wait for " + waitedFor(row));
            number("\"step\":", waits.step[row]);
            if (!endEvent(waits.begin[row], waits.end[row])) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] std::string waitedFor(std::size_t row) const
    {
        const Waits& waits = m_trace.waits();
        if (!waits.semaphore.empty() && waits.semaphore[row] != kNone) {
            return m_info.semaphores[at(waits.semaphore[row])].name;
        }
        return waits.copy[row] == kNone ? "other cores or time"
                                        : copyName(m_trace, CopyRow{waits.copy[row]});
    }

    [[nodiscard]] bool writeUnits(std::int32_t agent)
    {
        for (std::size_t unit = 0; unit < m_info.units.size(); ++unit) {
            // The file lists marks in program order; here they are sorted by time for each unit.
            std::vector<std::vector<Mark>> marks;
            bool used = false;
            for (const SegmentTemplate& segment : m_info.templates) {
                std::vector<Mark>& own = marks.emplace_back();
                std::copy_if(segment.marks.begin(), segment.marks.end(), std::back_inserter(own),
                             [&](const Mark& mark) { return at(mark.unit) == unit; });
                std::stable_sort(own.begin(), own.end(),
                                 [](const Mark& a, const Mark& b) { return a.offset < b.offset; });
                used = used || !own.empty();
            }
            if (used && !writeUnit(agent, unit, marks)) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool writeUnit(std::int32_t agent, std::size_t unit,
                                 const std::vector<std::vector<Mark>>& marks)
    {
        const Segments& segments = m_trace.segments();
        bool named = false;
        for (std::size_t row = 0; row < segments.size(); ++row) {
            if (segments.agent[row] != agent) {
                continue;
            }
            const SegmentTemplate& segment = m_info.templates[at(segments.templateId[row])];
            for (const Mark& mark : marks[at(segments.templateId[row])]) {
                if (!named) {
                    lane(laneName(agent, m_info.units[unit].name));
                    named = true;
                }
                if (!writeMark(row, segment, mark)) {
                    return false;
                }
            }
        }
        return true;
    }

    [[nodiscard]] bool writeMark(std::size_t row, const SegmentTemplate& segment, const Mark& mark)
    {
        const std::int64_t start = m_trace.segments().begin[row];
        const std::int64_t begin = start + markTime(segment, mark.offset);
        const std::int64_t end = start + markTime(segment, mark.offset + mark.length);
        if (mark.operation == kNone) {
            event("overhead", segment.kind == SegmentKind::Launch ? "launch" : "step overhead");
        } else {
            const Operation& operation = m_info.operations[at(mark.operation)];
            event("op", operation.label);
            m_json.raw("\"op\":");
            m_json.text(operation.name);
            m_json.raw(",");
        }
        number("\"step\":", m_trace.segments().step[row]);
        return endEvent(begin, end);
    }

    [[nodiscard]] std::string laneName(std::int32_t agent, const std::string& name) const
    {
        return m_info.agents.size() == 1 ? name : m_info.agents[at(agent)] + " " + name;
    }

    Output& m_output;
    JsonOut& m_json;
    const Trace& m_trace;
    const Info& m_info;
    const ChromePlan& m_plan;
    std::int64_t m_lane = 0;
};

} // namespace

ChromePlan planChrome(const Trace& trace, const SaveOptions& options)
{
    std::vector<std::int64_t> perTemplate;
    for (const SegmentTemplate& segment : trace.info().templates) {
        perTemplate.push_back(
            std::count_if(segment.marks.begin(), segment.marks.end(),
                          [](const Mark& mark) { return mark.operation != kNone; }));
    }
    ChromePlan plan;
    for (const std::int32_t id : trace.segments().templateId) {
        plan.operationCount += perTemplate[at(id)];
    }
    plan.operations = options.operations || plan.operationCount <= kChromeOperationLimit;
    plan.events = static_cast<std::int64_t>(trace.steps().size() + trace.copies().size()
                                            + trace.info().prints.size());
    if (plan.operations) {
        plan.events +=
            plan.operationCount
            + static_cast<std::int64_t>(2 * trace.steps().size()); // for waits and step overhead
    }
    return plan;
}

bool writeChrome(Output& output, const Trace& trace, const ChromePlan& plan)
{
    return ChromeWriter(output, trace, plan).write();
}

} // namespace pallascope::trace_file
