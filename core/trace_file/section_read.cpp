// Reads the "pallascope" section; the counterpart of section_write.cpp.
#include "core/base/visible.h"
#include "core/trace_file/column_fields.h"
#include "core/trace_file/info_fields.h"
#include "core/trace_file/json_place.h"

#include <algorithm>

namespace pallascope::trace_file {

using namespace trace;

namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kMaxBytes = 768U << 20U; // decoded columns of all tables
constexpr std::size_t kMaxLag = 64;

class InfoReader
{
public:
    InfoReader(Place& place, dom::object object)
        : m_place(place)
        , m_object(object)
    {}

    template<class T>
    void operator()(std::string_view key, T& value)
    {
        if (m_place.error) {
            return;
        }
        if (const std::optional<dom::element> element = member(m_place, m_object, key)) {
            const Enter enter(m_place, key);
            read(*element, value);
        }
    }

    template<class T>
    void optional(std::string_view key, T& value)
    {
        if (!m_object.at_key(key).error()) {
            (*this)(key, value);
        }
    }

    template<class T>
    void unlessEmpty(std::string_view key, T& value)
    {
        optional(key, value);
    }

private:
    void read(dom::element element, bool& value)
    {
        if (element.get(value) != simdjson::SUCCESS) {
            m_place.failWrong("true or false", element);
        }
    }

    void read(dom::element element, std::int32_t& value) { readInteger(m_place, element, value); }

    void read(dom::element element, std::int64_t& value) { readInteger(m_place, element, value); }

    void read(dom::element element, std::uint64_t& value) { readInteger(m_place, element, value); }

    void read(dom::element element, double& value)
    {
        std::string_view word;
        if (element.get(value) == simdjson::SUCCESS) {
            return;
        }
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        if (element.get(word) == simdjson::SUCCESS
            && (word == "nan" || word == "inf" || word == "-inf")) {
            value = word == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                  : (word == "inf" ? kInfinity : -kInfinity);
            return;
        }
        m_place.failWrong("a number, \"nan\", \"inf\" or \"-inf\"", element);
    }

    void read(dom::element element, std::string& value)
    {
        std::string_view text;
        if (element.get(text) != simdjson::SUCCESS) {
            m_place.failWrong("a string", element);
            return;
        }
        value = visible(text, m_place.pointer.ends_with("/text") ? Lines::Several : Lines::One);
    }

    void read(dom::element element, DType& value)
    {
        std::string name;
        read(element, name);
        const std::optional<DType> type = dtypeFromName(name);
        if (!type) {
            m_place.failWrong(dtypeNames(), element);
            return;
        }
        value = *type;
    }

    void read(dom::element element, Shape& value)
    {
        std::vector<Extent> extents;
        read(element, extents);
        value = Shape(std::move(extents));
    }

    template<class Tag, class Rep>
    void read(dom::element element, Quantity<Tag, Rep>& value)
    {
        Rep number{};
        read(element, number);
        value = Quantity<Tag, Rep>(number);
    }

    template<class E>
    requires std::is_enum_v<E>

    void read(dom::element element, E& value)
    {
        std::string_view name;
        const bool isText = element.get(name) == simdjson::SUCCESS;
        for (std::size_t i = 0; isText && i < kEnumNames<E>.size(); ++i) {
            if (kEnumNames<E>[i] == name) {
                value = static_cast<E>(i);
                return;
            }
        }
        m_place.failWrong(fmt::format("one of {}", fmt::join(kEnumNames<E>, ", ")), element);
    }

    template<class T>
    void read(dom::element element, std::optional<T>& value)
    {
        if (!element.is_null()) {
            read(element, value.emplace());
        }
    }

    template<class T>
    void read(dom::element element, std::vector<T>& list)
    {
        dom::array array;
        if (element.get(array) != simdjson::SUCCESS) {
            m_place.failWrong("a list", element);
            return;
        }
        for (const dom::element entry : array) {
            const Enter enter(m_place, list.size());
            read(entry, list.emplace_back());
            if (m_place.error) {
                return;
            }
        }
    }

    template<class T>
    void read(dom::element element, SharedList<T>& list)
    {
        read(element, list.edit());
    }

    void read(dom::element element, std::map<std::string, std::string>& map)
    {
        dom::object object;
        if (element.get(object) != simdjson::SUCCESS) {
            m_place.failWrong("an object", element);
            return;
        }
        for (const dom::key_value_pair field : object) {
            const Enter enter(m_place, field.key);
            read(field.value, map[visible(field.key)]);
        }
    }

    template<class T>
    requires std::is_class_v<T>

    void read(dom::element element, T& value)
    {
        dom::object object;
        if (element.get(object) != simdjson::SUCCESS) {
            m_place.failWrong("an object", element);
            return;
        }
        InfoReader inner(m_place, object);
        describe(inner, value);
    }

    Place& m_place;
    dom::object m_object;
};

// Reads one table. This is the codec that column_fields.h calls.
class ColumnReader
{
public:
    // `bytes` counts what all columns read so far take.
    ColumnReader(Place& place, dom::object table, std::size_t& bytes)
        : m_place(place)
        , m_table(table)
        , m_bytes(bytes)
    {
        if (const std::optional<dom::element> rows = member(place, table, "rows")) {
            const Enter enter(place, "rows");
            std::int32_t count = 0; // rows are numbered with int32
            readInteger(place, *rows, count);
            if (count < 0) {
                place.failWrong("at least 0", *rows);
            }
            m_rows = static_cast<std::size_t>(std::max(count, 0));
        }
    }

    template<class T, class Predict>
    void column(std::string_view name, std::vector<T>& values, Predict predict)
    {
        if (m_place.error) {
            return;
        }
        const std::optional<dom::object> object = objectAt(m_place, m_table, name);
        if (!object) {
            return;
        }
        const Enter enter(m_place, name);
        const std::size_t lag = readLag(*object);
        if (m_place.error || !readResiduals(*object)) {
            return;
        }
        m_bytes += m_rows * sizeof(T);
        if (m_bytes > kMaxBytes) {
            m_place.fail("makes the tables larger than 768 MiB, the most that can be read");
            return;
        }
        decode(values, lag, predict);
    }

    template<class T, class Predict>
    void optionalColumn(std::string_view name, std::vector<T>& values, Predict predict)
    {
        dom::element element;
        if (m_table.at_key(name).get(element) == simdjson::SUCCESS) {
            column(name, values, predict);
        }
    }

private:
    std::size_t readLag(dom::object object)
    {
        std::uint64_t lag = 0;
        if (const std::optional<dom::element> element = member(m_place, object, "lag")) {
            const Enter enter(m_place, "lag");
            if (element->get(lag) != simdjson::SUCCESS || lag > kMaxLag) {
                m_place.failWrong(fmt::format("a whole number from 0 to {}", kMaxLag), *element);
            }
        }
        return static_cast<std::size_t>(lag);
    }

    // Fills m_runs with pairs (value, count). Checks that the counts add up to the number of rows
    // before memory for these is allocated.
    bool readResiduals(dom::object object)
    {
        m_runs.clear();
        dom::element element;
        const bool runs = object.at_key("runs").get(element) == simdjson::SUCCESS;
        if (!runs && object.at_key("values").get(element) != simdjson::SUCCESS) {
            m_place.fail("has neither \"values\" nor \"runs\"");
            return false;
        }
        const Enter enter(m_place, runs ? "runs" : "values");
        dom::array array;
        if (element.get(array) != simdjson::SUCCESS) {
            m_place.failWrong("a list", element);
            return false;
        }
        std::uint64_t rows = 0, index = 0;
        for (const dom::element entry : array) {
            std::int64_t value = 0;
            const bool isCount = runs && index % 2 == 1;
            if (entry.get(value) != simdjson::SUCCESS
                || (isCount && (value < 1 || value > INT32_MAX))) {
                const Enter inner(m_place, static_cast<std::size_t>(index));
                m_place.failWrong(isCount ? "a count of rows" : "a whole number", entry);
                return false;
            }
            ++index;
            if (isCount) {
                m_runs.back().second = value;
                rows += static_cast<std::uint64_t>(value);
            } else {
                m_runs.emplace_back(value, 1);
                rows += runs ? 0 : 1;
            }
        }
        if (rows != m_rows || (runs && index % 2 != 0)) {
            m_place.fail(fmt::format("makes {} rows, but the table has {}", rows, m_rows));
            return false;
        }
        return true;
    }

    template<class T, class Predict>
    void decode(std::vector<T>& values, std::size_t lag, Predict predict)
    {
        values.resize(m_rows);
        m_residuals.resize(m_rows);
        std::size_t row = 0;
        for (const auto& [residual, count] : m_runs) {
            for (std::int64_t n = 0; n < count; ++n, ++row) {
                const bool lagged = lag > 0 && row >= lag;
                m_residuals[row] =
                    lagged ? wrappingAdd(residual, m_residuals[row - lag]) : residual;
                const std::int64_t value = wrappingAdd(predict(row), m_residuals[row]);
                if (!std::in_range<T>(value)) {
                    m_place.fail(fmt::format("has {} in row {}, which must lie between {} and {}",
                                             value, row, std::numeric_limits<T>::min(),
                                             std::numeric_limits<T>::max()));
                    return;
                }
                values[row] = static_cast<T>(value);
            }
        }
    }

    Place& m_place;
    dom::object m_table;
    std::size_t m_rows = 0;
    std::size_t& m_bytes;
    std::vector<std::pair<std::int64_t, std::int64_t>> m_runs;
    std::vector<std::int64_t> m_residuals;
};

// Reads the columns of one table.
template<class Describe>
void readTable(Place& place, dom::object section, std::string_view name, std::size_t& bytes,
               Describe describe)
{
    if (place.error) {
        return;
    }
    if (const std::optional<dom::object> table = objectAt(place, section, name)) {
        const Enter enter(place, name);
        ColumnReader reader(place, *table, bytes);
        describe(reader);
    }
}

} // namespace

void readSection(Place& place, dom::object section, TraceBuilder& b)
{
    const std::optional<dom::object> info = objectAt(place, section, "info");
    if (!info) {
        return;
    }
    {
        const Enter enter(place, "info");
        InfoReader reader(place, *info);
        describe(reader, b.info);
    }
    if (place.error) {
        return;
    }
    if (const std::optional<dom::element> end = member(place, section, "end_ps")) {
        const Enter enter(place, "end_ps");
        std::int64_t value = 0;
        readInteger(place, *end, value);
        b.end = Picoseconds(value);
    }
    std::size_t bytes = 0;
    readTable(place, section, "steps", bytes, [&](auto& r) { describeSteps(r, b.steps); });
    readTable(place, section, "segments", bytes,
              [&](auto& r) { describeSegments(r, b.segments, b.steps, b.info); });
    readTable(place, section, "copies", bytes,
              [&](auto& r) { describeCopies(r, b.copies, b.steps, b.info); });
    readTable(place, section, "waits", bytes,
              [&](auto& r) { describeWaits(r, b.waits, b.steps, b.copies, b.info); });
    readTable(place, section, "visits", bytes,
              [&](auto& r) { describeVisits(r, b.visits, b.copies); });
    if (!b.info.semaphores.empty()) {
        readTable(place, section, "signals", bytes,
                  [&](auto& r) { describeSignals(r, b.signals); });
    }
    if (!b.info.loops.empty()) {
        readTable(place, section, "rounds", bytes, [&](auto& r) { describeRounds(r, b.rounds); });
    }
    if (!section.at_key("grid_blocks").error()) {
        readTable(place, section, "grid_blocks", bytes,
                  [&](auto& r) { describeGridBlocks(r, b.gridBlocks); });
    }
    if (!section.at_key("cache_changes").error()) {
        readTable(place, section, "cache_changes", bytes,
                  [&](auto& r) { describeCacheChanges(r, b.cacheChanges); });
    }
    if (!section.at_key("copy_ends").error()) {
        readTable(place, section, "copy_ends", bytes,
                  [&](auto& r) { describeCopyEnds(r, b.copyEnds); });
    }
}

} // namespace pallascope::trace_file
