// Writes the rows and errors of a validation as text, CSV and JSON. Reads and writes the expected
// errors as JSON.
#include "core/base/format.h"
#include "core/base/repeated_name.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/study/validation.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fmt/format.h>

namespace pallascope::study {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kValidationFormat = "pallascope.validation",
                     *kExpectedFormat = "pallascope.expected_errors";

// Rounds, so that files and sentences show only meaningful digits.
double percent(double share)
{
    constexpr double kDigits = 1000;
    return std::round(share * 100 * kDigits) / kDigits;
}

std::string signedPercent(double share)
{
    return fmt::format("{:+.1f} %", share * 100);
}

// To the picosecond below one second, without the extra digits of binary fractions.
std::string secondsText(Seconds seconds)
{
    return fmt::format("{:.12g}", seconds.value());
}

std::string inBandText(const ValidationRow& row)
{
    const std::optional<bool> isInBand = row.isInBand();
    return isInBand ? (*isInBand ? "yes" : "no") : "";
}

Json rowJson(const ValidationRow& row)
{
    const Measurement& measured = row.measured;
    Json json = {{"line", measured.line},
                 {"family", measured.family},
                 {"chip", row.chip},
                 {"kernel", measured.kernel},
                 {"parameters", measured.parameters},
                 {"measured_s", measured.measured.value()},
                 {"host_s", measured.host.value()},
                 {"error", row.error.empty() ? Json(nullptr) : Json(row.error)}};
    if (row.error.empty()) {
        json["predicted_s"] = row.predicted().value();
        json["off_percent"] = percent(row.off());
        json["bound_by"] = row.boundBy;
    }
    if (row.band) {
        json["low_s"] = (toSeconds(row.band->low) + measured.host).value();
        json["high_s"] = (toSeconds(row.band->high) + measured.host).value();
        json["in_band"] = *row.isInBand();
    }
    json["published"] = measured.published;
    json["source"] = measured.source;
    json["note"] = measured.note;
    return json;
}

Json familyJson(const FamilyErrors& errors)
{
    Json json = {{"family", errors.family}, {"rows", errors.rows}, {"ran", errors.ran}};
    if (errors.ran > 0) {
        json["mean_absolute_percent"] = percent(errors.meanAbsolute);
        json["median_percent"] = percent(errors.median);
        json["worst_percent"] = percent(errors.worst);
    }
    json["within_15_percent"] = errors.near;
    json["with_band"] = errors.banded;
    json["in_band"] = errors.inBand;
    return json;
}

} // namespace

Expectation expectationOf(const std::vector<FamilyErrors>& errors)
{
    Expectation expectation;
    for (const FamilyErrors& family : errors) {
        expectation[family.family] = {family.ran, family.meanAbsolute};
    }
    return expectation;
}

std::string toJson(const Expectation& expectation)
{
    Json json = {{"format", kExpectedFormat}, {"version", 1}, {"families", Json::object()}};
    for (const auto& [family, expected] : expectation) {
        json["families"][family] = {{"rows", expected.rows},
                                    {"mean_absolute_percent", percent(expected.meanAbsolute)}};
    }
    return json.dump(1) + "\n";
}

Result<Expectation> expectationFrom(const std::string& text, const std::string& file)
{
    if (bracketDepth(text) > 8) {
        return userError(file + " is nested more than 8 levels deep, which no such file is.");
    }
    try {
        const Json json = Json::parse(text);
        if (const std::optional<std::string> twice = repeatedName(text)) {
            return userError(file + " has " + *twice + " twice; expected it once.");
        }
        if (json.at("format") != kExpectedFormat || json.at("version") != 1) {
            return userError(file
                             + " is of another format; a file that --write-expected wrote is "
                               "right.");
        }
        Expectation expectation;
        for (const auto& [family, entry] : json.at("families").items()) {
            const ExpectedErrors expected{entry.at("rows").get<std::int64_t>(),
                                          entry.at("mean_absolute_percent").get<double>() / 100};
            if (expected.rows < 0 || !(expected.meanAbsolute >= 0)) {
                return userError(file + ": the family \"" + family
                                 + "\" has a number below 0; counts and errors from 0 on are "
                                   "right.");
            }
            expectation[family] = expected;
        }
        return expectation;
    } catch (const Json::exception&) {
        return userError(file + " is damaged; expected a file that --write-expected wrote.");
    }
}

std::vector<std::string> disagreements(const Expectation& expectation,
                                       const std::vector<FamilyErrors>& errors,
                                       const std::string& file)
{
    std::vector<std::string> sentences;
    Expectation left = expectation;
    for (const FamilyErrors& family : errors) {
        const auto expected = expectation.find(family.family);
        if (expected == expectation.end()) {
            sentences.push_back("The family " + family.family + " is not in " + file
                                + ", so nothing holds it; --write-expected records it.");
            continue;
        }
        left.erase(family.family);
        if (family.ran != expected->second.rows) {
            sentences.push_back(fmt::format("Of the family {} {} could be predicted, of {} that {} "
                                            "names.",
                                            family.family, counted(family.ran, "row", "rows"),
                                            expected->second.rows, file));
        } else if (family.meanAbsolute > expected->second.meanAbsolute + kAllowed) {
            sentences.push_back(fmt::format(
                "The family {} is {:.2f} % off, which is more than half a point above the {:.2f} % "
                "of {}.",
                family.family, family.meanAbsolute * 100, expected->second.meanAbsolute * 100,
                file));
        }
    }
    for (const auto& [family, expected] : left) {
        sentences.push_back("The family " + family + ", which " + file
                            + " names, has no rows in the table.");
    }
    return sentences;
}

std::string toText(const std::vector<ValidationRow>& rows)
{
    std::vector<std::vector<std::string>> table{
        {"family", "rows", "mean error", "median", "worst", "within 15 %", "in their band"}};
    std::vector<FamilyErrors> families = errorsByFamily(rows);
    if (families.size() > 1) {
        families.push_back(errorsOfAll(rows));
    }
    for (const FamilyErrors& one : families) {
        const bool any = one.ran > 0;
        table.push_back({one.family,
                         one.ran == one.rows ? std::to_string(one.rows)
                                             : fmt::format("{} of {}", one.ran, one.rows),
                         any ? fmt::format("{:.2f} %", one.meanAbsolute * 100) : "-",
                         any ? signedPercent(one.median) : "-",
                         any ? signedPercent(one.worst) : "-",
                         any ? fmt::format("{} of {}", one.near, one.ran) : "-",
                         one.banded > 0 ? fmt::format("{} of {}", one.inBand, one.banded) : "-"});
    }
    return alignedText(table);
}

std::string toCsv(const std::vector<ValidationRow>& rows)
{
    std::string text = "line,family,chip,kernel,parameters,measured_s,host_s,predicted_s,"
                       "off_percent,low_s,high_s,in_band,bound_by,published,source,note,error\n";
    for (const ValidationRow& row : rows) {
        const Measurement& measured = row.measured;
        std::string parameters;
        for (const auto& [name, value] : measured.parameters) {
            parameters += (parameters.empty() ? "" : " ") + name + "=" + value;
        }
        const bool ran = row.error.empty();
        const auto edge = [&](Picoseconds time) {
            return secondsText(toSeconds(time) + measured.host);
        };
        const std::vector<std::string> cells{std::to_string(measured.line),
                                             measured.family,
                                             row.chip,
                                             measured.kernel,
                                             parameters,
                                             secondsText(measured.measured),
                                             secondsText(measured.host),
                                             ran ? secondsText(row.predicted()) : "",
                                             ran ? fmt::format("{}", percent(row.off())) : "",
                                             row.band ? edge(row.band->low) : "",
                                             row.band ? edge(row.band->high) : "",
                                             inBandText(row),
                                             row.boundBy,
                                             measured.published,
                                             measured.source,
                                             measured.note,
                                             row.error};
        for (std::size_t i = 0; i < cells.size(); ++i) {
            text += csvCell(cells[i]) + (i + 1 < cells.size() ? "," : "\n");
        }
    }
    return text;
}

std::string toJson(const std::vector<ValidationRow>& rows,
                   const std::optional<std::vector<std::string>>& sentences)
{
    Json json = {{"format", kValidationFormat}, {"version", 1}};
    json["as_expected"] = sentences ? Json(sentences->empty()) : Json(nullptr);
    json["disagreements"] = sentences.value_or(std::vector<std::string>());
    json["families"] = Json::array();
    for (const FamilyErrors& family : errorsByFamily(rows)) {
        json["families"].push_back(familyJson(family));
    }
    json["all"] = familyJson(errorsOfAll(rows));
    json["rows"] = Json::array();
    for (const ValidationRow& row : rows) {
        json["rows"].push_back(rowJson(row));
    }
    return json.dump(1) + "\n";
}

} // namespace pallascope::study
