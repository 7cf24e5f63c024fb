// Parses the columns and cells of tables of measured times.
#include "core/study/measurements.h"

#include "core/base/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace pallascope::study {

namespace {

constexpr std::array<const char*, 7> kTexts{"family",    "chip",   "kernel", "parameters",
                                            "published", "source", "note"};
constexpr std::array<const char*, 2> kTimes{"measured", "host"};

struct TimeUnit
{
    const char* name;
    double perSecond; // a divisor, so that it rounds once: 1.8 ms is 0.0018 s
};

// A column of times has the unit in its cells or in its name: "measured_ms".
constexpr std::array<TimeUnit, 6> kUnits{
    {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"\u00b5s", 1e6}, {"\u03bcs", 1e6}, {"ns", 1e9}}};

constexpr double kLongest = 1e6; // s; every run is shorter

struct Column
{
    std::string name; // as written in the table
    std::string what; // without its unit
    std::string unit; // empty if the unit is in the cells
};

std::string known()
{
    std::string names = "expected ";
    for (const char* name : kTexts) {
        names += std::string(name) + ", ";
    }
    return names
           + "measured (with a unit in each cell, or as measured_s, measured_ms, measured_us "
             "or measured_ns) and host (likewise)";
}

// Absent if there is no such column.
std::optional<Column> columnOf(const std::string& name)
{
    if (std::find(kTexts.begin(), kTexts.end(), name) != kTexts.end()) {
        return Column{name, name, ""};
    }
    for (const std::string what : kTimes) {
        if (name == what) {
            return Column{name, what, ""};
        }
        for (const std::string unit : {"s", "ms", "us", "ns"}) {
            if (name == what + "_" + unit) {
                return Column{name, what, unit};
            }
        }
    }
    return std::nullopt;
}

Result<std::vector<Column>> columnsOf(const CsvRow& head, const std::string& file)
{
    std::vector<Column> columns;
    const std::string who = file + ", line " + std::to_string(head.line);
    for (const std::string& name : head.cells) {
        std::optional<Column> column = columnOf(name);
        if (!column) {
            return userError(who + " names a column \"" + name + "\"; " + known() + ".");
        }
        for (const Column& other : columns) {
            if (other.what == column->what) {
                return userError(who + " names the columns " + other.name + " and " + name
                                 + "; keep one of them.");
            }
        }
        columns.push_back(std::move(*column));
    }
    for (const std::string needed : {"kernel", "measured"}) {
        const auto same = [&](const Column& column) { return column.what == needed; };
        if (std::none_of(columns.begin(), columns.end(), same)) {
            return userError(who + " names no column " + needed + "; " + known() + ".");
        }
    }
    return columns;
}

// Absent if the text is not a time.
std::optional<double> secondsOf(const std::string& text, std::string unit)
{
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    std::string behind(rest, end);
    if (error != std::errc() || !std::isfinite(number) || number < 0) {
        return std::nullopt;
    }
    if (unit.empty()) {
        unit = behind.erase(0, behind.find_first_not_of(' '));
    } else if (!behind.empty()) {
        return std::nullopt;
    }
    for (const TimeUnit& known : kUnits) {
        if (unit == known.name && number / known.perSecond < kLongest) {
            return number / known.perSecond;
        }
    }
    return std::nullopt;
}

// "m=4096 bm=512", separated by spaces.
Result<Parameters> parametersOf(const std::string& text, const std::string& who)
{
    Parameters parameters;
    std::size_t begin = 0;
    while ((begin = text.find_first_not_of(' ', begin)) != std::string::npos) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0) {
            return userError(who + ": \"" + word
                             + "\" is not a parameter; expected NAME=VALUE, separated by spaces, "
                               "such as m=4096 bm=512.");
        }
        if (!parameters.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
            return userError(who + ": the parameter " + word.substr(0, equals)
                                 + " is given twice; keep one.",
                             {{Subject::Parameter, word.substr(0, equals)}});
        }
        begin = end;
    }
    return parameters;
}

Status takeTime(const Column& column, const std::string& cell, const std::string& who,
                Measurement& row)
{
    const bool isMeasured = column.what == "measured";
    if (cell.empty() && !isMeasured) {
        return Done{};
    }
    const std::optional<double> seconds = secondsOf(cell, column.unit);
    if (!seconds || (isMeasured && *seconds == 0)) {
        return userError(who + ": \"" + cell + "\" is not a "
                         + (isMeasured ? "time above 0" : "time")
                         + " below a million seconds; expected a number "
                         + (column.unit.empty() ? "with s, ms, us or ns, such as 0.89 ms."
                                                : "without a unit, such as 0.89."));
    }
    (isMeasured ? row.measured : row.host) = Seconds(*seconds);
    return Done{};
}

Status take(const Column& column, const std::string& cell, const std::string& who, Measurement& row)
{
    if (column.what == "measured" || column.what == "host") {
        return takeTime(column, cell, who, row);
    }
    if (column.what == "parameters") {
        Result<Parameters> parameters = parametersOf(cell, who);
        if (!parameters) {
            return parameters.error();
        }
        row.parameters = std::move(*parameters);
        return Done{};
    }
    std::string& text = column.what == "family"      ? row.family
                        : column.what == "chip"      ? row.chip
                        : column.what == "kernel"    ? row.kernel
                        : column.what == "published" ? row.published
                        : column.what == "source"    ? row.source
                                                     : row.note;
    text = cell;
    return Done{};
}

} // namespace

std::string cellName(const std::string& file, std::int64_t line, const std::string& column)
{
    return file + ", line " + std::to_string(line) + ", column \"" + column + "\"";
}

Result<std::vector<Measurement>> measurementsFrom(const std::string& text, const std::string& file)
{
    const Result<std::vector<CsvRow>> table = parseCsv(text, file);
    if (!table) {
        return table.error();
    }
    if (table->size() < 2) {
        return userError(file
                         + " has no rows; expected a line with the names of the columns and one "
                           "for each kernel that was timed.");
    }
    const Result<std::vector<Column>> columns = columnsOf(table->front(), file);
    if (!columns) {
        return columns.error();
    }
    std::vector<Measurement> rows;
    for (std::size_t number = 1; number < table->size(); ++number) {
        const CsvRow& line = (*table)[number];
        Measurement row{.line = line.line};
        for (std::size_t i = 0; i < columns->size(); ++i) {
            const Column& column = (*columns)[i];
            const std::string who = cellName(file, line.line, column.name);
            if (Status taken = take(column, line.cells[i], who, row); !taken) {
                return taken.error();
            }
        }
        if (row.kernel.empty()) {
            return userError(cellName(file, line.line, "kernel")
                             + " is empty; expected the name of a built-in kernel or the path of a "
                               "kernel file.");
        }
        if (row.host >= row.measured) {
            return userError(cellName(file, line.line, "host")
                             + ": time outside the device is part of the measured time; expected "
                               "less than that.");
        }
        row.family = row.family.empty() ? row.kernel : row.family;
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace pallascope::study
