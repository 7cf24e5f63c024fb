// Writes the "pallascope" section; docs/trace_format.md describes it.
#include "core/trace_file/column_fields.h"
#include "core/trace_file/info_fields.h"
#include "core/trace_file/output.h"

#include <array>
#include <string>

namespace pallascope::trace_file {

using namespace trace;

namespace {

class InfoWriter
{
public:
    explicit InfoWriter(JsonOut& json)
        : m_json(json)
    {}

    template<class T>
    void operator()(std::string_view key, const T& value)
    {
        m_json.raw(m_first ? "\n" : ",\n");
        m_first = false;
        m_json.text(key);
        m_json.raw(":");
        write(value);
    }

    template<class T>
    void optional(std::string_view key, const T& value)
    {
        (*this)(key, value);
    }

    template<class T>
    void unlessEmpty(std::string_view key, const T& value)
    {
        if (!value.empty()) {
            (*this)(key, value);
        }
    }

    // Writes one object: braces and all members.
    template<class T>
    void object(const T& value)
    {
        m_json.raw("{");
        m_first = true;
        describe(*this, value);
        m_json.raw("}");
        m_first = false;
    }

private:
    void write(bool value) { m_json.raw(value ? "true" : "false"); }

    void write(std::int32_t value) { m_json.integer(value); }

    void write(std::int64_t value) { m_json.integer(value); }

    void write(std::uint64_t value) { m_json.unsignedInteger(value); }

    void write(double value) { m_json.number(value); }

    void write(const std::string& value) { m_json.text(value); }

    void write(DType value) { m_json.text(dtypeName(value)); }

    void write(const Shape& value) { write(std::vector<Extent>(value.extents())); }

    template<class Tag, class Rep>
    void write(Quantity<Tag, Rep> value)
    {
        write(value.value());
    }

    template<class E>
    requires std::is_enum_v<E>

    void write(E value) { m_json.text(kEnumNames<E>[static_cast<std::size_t>(value)]); }

    template<class T>
    void write(const std::optional<T>& value)
    {
        if (value) {
            write(*value);
        } else {
            m_json.raw("null");
        }
    }

    template<class T>
    void write(const std::vector<T>& list)
    {
        writeAll(list);
    }

    template<class T>
    void write(const SharedList<T>& list)
    {
        writeAll(list);
    }

    template<class List>
    void writeAll(const List& list)
    {
        m_json.raw("[");
        for (std::size_t i = 0; i < list.size(); ++i) {
            m_json.raw(i == 0 ? "" : ",");
            write(list[i]);
        }
        m_json.raw("]");
    }

    void write(const std::map<std::string, std::string>& map)
    {
        m_json.raw("{");
        bool first = true;
        for (const auto& [key, value] : map) {
            m_json.raw(first ? "" : ",");
            first = false;
            m_json.text(key);
            m_json.raw(":");
            m_json.text(value);
        }
        m_json.raw("}");
    }

    template<class T>
    requires std::is_class_v<T>

    void write(const T& value) { object(value); }

    JsonOut& m_json;
    bool m_first = true;
};

// How many runs of equal values the residuals of a column form, after subtracting those `lag` rows
// before (0: unchanged).
std::size_t runsAtLag(const std::vector<std::int64_t>& residuals, std::size_t lag)
{
    std::size_t runs = 0;
    std::int64_t previous = 0;
    for (std::size_t row = 0; row < residuals.size(); ++row) {
        const std::int64_t value = lag == 0 || row < lag
                                       ? residuals[row]
                                       : wrappingSubtract(residuals[row], residuals[row - lag]);
        runs += row == 0 || value != previous ? 1 : 0;
        previous = value;
    }
    return runs;
}

// Patterns that repeat after a few rows (alternating slots, or x and y in turn) become one run at
// that lag.
constexpr std::array<std::size_t, 8> kLags{0, 1, 2, 3, 4, 5, 6, 8};

class ColumnWriter
{
public:
    explicit ColumnWriter(Output& output)
        : m_output(output)
        , m_json(output.json)
    {}

    [[nodiscard]] bool ok() const { return m_ok; }

    template<class Describe>
    void table(std::string_view name, std::size_t rows, Describe describe)
    {
        m_json.raw(",\n");
        m_json.text(name);
        m_json.raw(":{\"rows\":");
        m_json.unsignedInteger(rows);
        describe();
        m_json.raw("}");
    }

    template<class T, class Predict>
    void column(std::string_view name, const std::vector<T>& values, Predict predict)
    {
        m_residuals.resize(values.size());
        for (std::size_t row = 0; row < values.size(); ++row) {
            m_residuals[row] =
                wrappingSubtract(static_cast<std::int64_t>(values[row]), predict(row));
        }
        m_json.raw(",\n");
        m_json.text(name);
        writeResiduals();
    }

    template<class T, class Predict>
    void optionalColumn(std::string_view name, const std::vector<T>& values, Predict predict)
    {
        if (!values.empty()) {
            column(name, values, predict);
        }
    }

private:
    void writeResiduals()
    {
        std::size_t lag = 0, runs = runsAtLag(m_residuals, 0);
        for (const std::size_t candidate : kLags) {
            const std::size_t count = runsAtLag(m_residuals, candidate);
            if (count < runs) {
                lag = candidate;
                runs = count;
            }
        }
        const bool useRuns = 2 * runs < m_residuals.size() || m_residuals.empty();
        lag = useRuns ? lag : 0;
        m_json.raw(":{\"lag\":");
        m_json.unsignedInteger(lag);
        m_json.raw(useRuns ? ",\"runs\":[" : ",\"values\":[");
        std::size_t row = 0;
        while (row < m_residuals.size()) {
            const std::int64_t value = lagged(row, lag);
            std::size_t last = row + 1;
            while (useRuns && last < m_residuals.size() && lagged(last, lag) == value) {
                ++last;
            }
            m_json.raw(row == 0 ? "" : ",");
            m_json.integer(value);
            if (useRuns) {
                m_json.raw(",");
                m_json.unsignedInteger(last - row);
            }
            row = last;
            if (m_json.full()) {
                m_ok = m_ok && m_json.flush();
            }
        }
        m_json.raw("]}");
        m_ok = m_ok && m_output.next();
    }

    [[nodiscard]] std::int64_t lagged(std::size_t row, std::size_t lag) const
    {
        return lag == 0 || row < lag ? m_residuals[row]
                                     : wrappingSubtract(m_residuals[row], m_residuals[row - lag]);
    }

    Output& m_output;
    JsonOut& m_json;
    std::vector<std::int64_t> m_residuals;
    bool m_ok = true;
};

} // namespace

bool writeSection(Output& output, const Trace& trace)
{
    JsonOut& json = output.json;
    json.raw("{\"format\":\"pallascope.trace\",\"version\":");
    json.integer(kTraceVersion);
    json.raw(",\n\"info\":");
    InfoWriter(json).object(trace.info());
    json.raw(",\n\"end_ps\":");
    json.integer(trace.end().value());
    ColumnWriter writer(output);
    writer.table("steps", trace.steps().size(), [&] { describeSteps(writer, trace.steps()); });
    writer.table("segments", trace.segments().size(),
                 [&] { describeSegments(writer, trace.segments(), trace.steps(), trace.info()); });
    writer.table("copies", trace.copies().size(),
                 [&] { describeCopies(writer, trace.copies(), trace.steps(), trace.info()); });
    writer.table("waits", trace.waits().size(), [&] {
        describeWaits(writer, trace.waits(), trace.steps(), trace.copies(), trace.info());
    });
    writer.table("visits", trace.visits().size(),
                 [&] { describeVisits(writer, trace.visits(), trace.copies()); });
    if (!trace.info().semaphores.empty()) {
        writer.table("signals", trace.signals().size(),
                     [&] { describeSignals(writer, trace.signals()); });
    }
    if (!trace.info().loops.empty()) {
        writer.table("rounds", trace.rounds().size(),
                     [&] { describeRounds(writer, trace.rounds()); });
    }
    if (trace.gridBlocks().size() > 0) {
        writer.table("grid_blocks", trace.gridBlocks().size(),
                     [&] { describeGridBlocks(writer, trace.gridBlocks()); });
    }
    if (trace.cacheChanges().size() > 0) {
        writer.table("cache_changes", trace.cacheChanges().size(),
                     [&] { describeCacheChanges(writer, trace.cacheChanges()); });
    }
    if (trace.copyEnds().size() > 0) {
        writer.table("copy_ends", trace.copyEnds().size(),
                     [&] { describeCopyEnds(writer, trace.copyEnds()); });
    }
    json.raw("}");
    return writer.ok();
}

} // namespace pallascope::trace_file
