// Writes the rows of a sweep as text, CSV and JSON, and reads and checks the JSON.
#include "core/study/sweep_file.h"

#include "core/analysis/band.h"
#include "core/base/format.h"
#include "core/base/repeated_name.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/visible.h"
#include "core/study/fastest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace pallascope::study {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "pallascope.sweep";

std::string joined(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : " ") + word;
    }
    return text;
}

std::string remarksOf(const SweepRow& row)
{
    const std::string findings = joined(row.findings);
    return row.passedBlocks == 0 ? findings
                                 : findings + (findings.empty() ? "" : ", ")
                                       + countText(row.passedBlocks) + " blocks passed over";
}

Json rowJson(const SweepRow& row, Standing standing)
{
    Json json = {{"parameters", row.parameters},
                 {"chip", row.chip},
                 {"fits", row.error.empty() ? Json(row.fits) : Json(nullptr)}};
    json["error"] = row.error.empty() ? Json(nullptr) : Json(row.error);
    json["vmem_bytes"] = row.vmem.value();
    if (row.ran()) {
        json["time_s"] = toSeconds(row.time).value();
        json["time_ps"] = row.time.value();
        json["time_low_s"] = row.band ? Json(toSeconds(row.band->low).value()) : Json(nullptr);
        json["time_high_s"] = row.band ? Json(toSeconds(row.band->high).value()) : Json(nullptr);
        json["time_support"] = Json::parse(analysis::supportJson(row.band));
        const std::string fastest = nameOf(standing);
        json["fastest"] = fastest.empty() ? Json(nullptr) : Json(fastest);
        json["utilization"] = row.utilization;
        json["bound_by"] = row.boundBy;
        json["refetched_bytes"] = row.refetched.value();
        json["steps"] = row.steps;
        json["findings"] = row.findings;
        if (row.passedBlocks > 0) {
            json["passed_blocks"] = row.passedBlocks;
        }
    }
    return json;
}

struct Damaged
{};

// The text in a form that is safe to show on a terminal.
std::string textFrom(const Json& json)
{
    return visible(json.get<std::string>());
}

// Computes the band again from the time and what supports it, so that a file cannot contradict
// itself. Older files have no band.
std::optional<analysis::Band> bandFrom(const Json& json, Picoseconds time)
{
    const Json support = json.value("time_support", Json(nullptr));
    if (support.is_null()) {
        return std::nullopt;
    }
    const auto share = [&](const char* key, double least, double most) {
        const double found = support.at(key).get<double>();
        if (found < least || found > most) { // no chip file allows such a figure
            throw Damaged{};
        }
        return found;
    };
    constexpr double kMost = 100;
    chip::Residual residual{.work = textFrom(support.at("work")),
                            .rows = support.at("timings").get<std::int64_t>(),
                            .low = share("low", -0.99, 0),
                            .high = share("high", 0, kMost),
                            .source = textFrom(support.at("source"))};
    if (!support.at("ratio").is_null()) {
        residual.ratio = share("ratio", 0, kMost);
    }
    return analysis::bandOf(time, textFrom(support.at("kind")), residual);
}

SweepRow rowFrom(const Json& json)
{
    SweepRow row{.parameters = json.at("parameters").get<Parameters>(),
                 .chip = json.at("chip").get<std::string>()};
    row.error = json.at("error").is_null() ? "" : textFrom(json.at("error"));
    row.fits = json.at("fits").is_null() || json.at("fits").get<bool>();
    row.vmem = Bytes(json.at("vmem_bytes").get<std::int64_t>());
    if (row.ran()) {
        row.time = Picoseconds(json.at("time_ps").get<std::int64_t>());
        row.band = bandFrom(json, row.time);
        row.utilization = json.at("utilization").get<double>();
        row.boundBy = textFrom(json.at("bound_by"));
        row.refetched = Bytes(json.at("refetched_bytes").get<std::int64_t>());
        row.steps = json.at("steps").get<std::int64_t>();
        row.passedBlocks = json.value("passed_blocks", std::int64_t{0});
        for (const auto& finding : json.at("findings").get<std::vector<std::string>>()) {
            row.findings.push_back(visible(finding));
        }
    }
    return row;
}

std::string parametersText(const Parameters& parameters)
{
    std::string text;
    for (const auto& [name, value] : parameters) {
        text += (text.empty() ? "" : " ") + name + "=" + value;
    }
    return text.empty() ? "no parameters" : text;
}

// The cells time_low_s, time_high_s and time_support of a CSV line.
std::string bandCells(const std::optional<analysis::Band>& band)
{
    return band ? fmt::format("{},{},{}", toSeconds(band->low).value(),
                              toSeconds(band->high).value(), csvCell(analysis::timingsText(*band)))
                : ",,";
}

// Says which row is the best and which may be as fast. Empty if there is no row without findings.
std::string bestText(const std::vector<SweepRow>& rows)
{
    constexpr std::size_t kMostNamed = 6;
    std::string text;
    std::vector<std::string> perhaps;
    const std::vector<Standing> standing = standings(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string name = rows[i].parameters.empty()
                                     ? rows[i].chip
                                     : parametersText(rows[i].parameters) + " on " + rows[i].chip;
        if (standing[i] == Standing::Best) {
            text = "best: " + name + ", " + timeText(rows[i].time) + "\n";
        } else if (standing[i] == Standing::Shortest) {
            text = "shortest: " + name + ", " + timeText(rows[i].time)
                   + "; no timings say how far that is off\n";
        } else if (standing[i] == Standing::Perhaps) {
            perhaps.push_back(name);
        }
    }
    if (!perhaps.empty()) {
        const std::size_t more = perhaps.size() - std::min(perhaps.size(), kMostNamed);
        perhaps.resize(perhaps.size() - more);
        text += fmt::format("not told apart from it, within the error of ratios: {}{}\n",
                            fmt::join(perhaps, ", "),
                            more > 0 ? fmt::format(" and {} more", more) : "");
    }
    return text.empty() ? text
                        : text
                              + "values were not computed: `pallascope run` looks for NaN, Inf and "
                                "undefined elements\n";
}

} // namespace

void Fingerprint::add(std::string_view bytes)
{
    for (const char c : bytes) {
        m_hash = (m_hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3U;
    }
}

std::string Fingerprint::text() const
{
    return fmt::format("{:016x}", m_hash);
}

SweepSubject subjectOf(const std::string& kernel, const Parameters& fixed,
                       const std::string& version, const machine::Settings& settings,
                       const std::vector<chip::Chip>& chips, const std::string& fileFingerprint)
{
    const bool anyGpu = std::any_of(chips.begin(), chips.end(), [](const chip::Chip& chip) {
        return chip.multiprocessor.has_value();
    });
    SweepSubject subject{kernel, fixed,          version, machine::namesOf(settings, anyGpu),
                         {},     fileFingerprint};
    for (const chip::Chip& chip : chips) {
        Fingerprint fingerprint;
        fingerprint.add(chip.json);
        subject.chips[chip.name] = fingerprint.text();
    }
    return subject;
}

namespace {

// Of the memory whose bytes a sweep lists: that of the blocks.
std::string onChipName(const std::vector<chip::Chip>& chips)
{
    const auto gpus = std::count_if(chips.begin(), chips.end(), [](const chip::Chip& chip) {
        return chip.multiprocessor.has_value();
    });
    return gpus == 0 ? "VMEM" : std::cmp_equal(gpus, chips.size()) ? "SMEM a block" : "on chip";
}

} // namespace

std::vector<std::string> tableHead(const SweepPlan& plan)
{
    std::vector<std::string> head;
    for (const Axis& axis : plan.axes) {
        head.push_back(axis.name);
    }
    head.insert(head.end(), {"chip", "time", "band", "of peak", "bound by", "re-fetched",
                             onChipName(plan.chips), "remarks"});
    return head;
}

std::vector<std::string> tableCells(const SweepPlan& plan, const SweepRow& row)
{
    std::vector<std::string> cells;
    for (const Axis& axis : plan.axes) {
        cells.push_back(row.parameters.at(axis.name));
    }
    cells.push_back(row.chip);
    if (row.ran()) {
        cells.insert(cells.end(),
                     {timeText(row.time), row.band ? analysis::bandText(*row.band) : "-",
                      percentText(row.utilization, 1), row.boundBy, bytesText(row.refetched),
                      bytesText(row.vmem), remarksOf(row)});
    } else {
        const bool isTooLarge = row.error.empty();
        cells.insert(cells.end(), {"-", "-", "-", "-", "-", isTooLarge ? bytesText(row.vmem) : "-",
                                   isTooLarge ? "does not fit" : row.error});
    }
    return cells;
}

std::string toText(const SweepPlan& plan, const std::vector<SweepRow>& rows)
{
    std::vector<std::vector<std::string>> table{tableHead(plan)};
    for (const SweepRow& row : rows) {
        table.push_back(tableCells(plan, row));
    }
    return alignedText(table) + (rows.size() > 1 ? bestText(rows) : "");
}

std::string toCsv(const SweepPlan& plan, const std::vector<SweepRow>& rows)
{
    std::string text;
    for (const Axis& axis : plan.axes) {
        text += csvCell(axis.name) + ",";
    }
    text += "chip,time_s,time_low_s,time_high_s,time_support,fastest,utilization,bound_by,fits,"
            "refetched_bytes,vmem_bytes,steps,findings,error,passed_blocks,time_ps\n";
    const std::vector<Standing> standing = standings(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const SweepRow& row = rows[i];
        for (const Axis& axis : plan.axes) {
            text += csvCell(row.parameters.at(axis.name)) + ",";
        }
        text += csvCell(row.chip) + ",";
        if (row.ran()) {
            text += fmt::format("{},{},{},{},{},yes,{},{},{},{},,{},{}\n",
                                toSeconds(row.time).value(), bandCells(row.band),
                                nameOf(standing[i]), row.utilization, csvCell(row.boundBy),
                                row.refetched.value(), row.vmem.value(), row.steps,
                                csvCell(joined(row.findings)), row.passedBlocks, row.time.value());
        } else if (row.error.empty()) {
            text += fmt::format(",,,,,,,no,,{},,,,,\n", row.vmem.value());
        } else {
            text += ",,,,,,,,,,,," + csvCell(row.error) + ",,\n";
        }
    }
    return text;
}

std::string toJson(const SweepSubject& subject, const std::vector<SweepRow>& rows)
{
    Json json = {{"format", kFormat},
                 {"version", 1},
                 {"program_version", subject.version},
                 {"kernel", subject.kernel},
                 {"parameters", subject.fixed},
                 {"settings", subject.settings},
                 {"chips", subject.chips},
                 {"file", subject.file},
                 {"rows", Json::array()}};
    const std::vector<Standing> standing = standings(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        json["rows"].push_back(rowJson(rows[i], standing[i]));
    }
    return json.dump(1) + "\n";
}

Result<SavedRows> rowsFromJson(const std::string& text, const SweepSubject& subject,
                               const std::string& file)
{
    const std::string who = "The saved sweep " + file;
    if (bracketDepth(text) > 64) {
        return userError(who + " is nested more than 64 levels deep, which none is.");
    }
    try {
        const Json json = Json::parse(text);
        if (const std::optional<std::string> twice = repeatedName(text)) {
            return userError(who + " has " + *twice + " twice; expected it once.");
        }
        if (json.at("format") != kFormat || json.at("version") != 1) {
            return userError(who + " is of another format; expected a file that --save wrote.");
        }
        const SweepSubject found{
            json.at("kernel").get<std::string>(),
            json.at("parameters").get<Parameters>(),
            json.at("program_version").get<std::string>(),
            json.value("settings", machine::namesOf({}, false)), // older files have none
            json.at("chips").get<std::map<std::string, std::string>>(),
            json.value("file", std::string()) /* older files had none */};
        if (found.kernel != subject.kernel || found.fixed != subject.fixed) {
            return userError(who + " is of " + found.kernel + " with " + parametersText(found.fixed)
                             + ", not of " + subject.kernel + " with "
                             + parametersText(subject.fixed) + ".");
        }
        if (found.file != subject.file) {
            return userError(who + " was made when " + subject.kernel
                             + " had other contents; start a new sweep.");
        }
        if (found.settings != subject.settings) {
            return userError(who + " was made with " + parametersText(found.settings)
                             + ", this one with " + parametersText(subject.settings) + ".");
        }
        if (found.version != subject.version) {
            return userError(who + " was saved by version " + found.version + ", this is "
                             + subject.version + "; start a new sweep.");
        }
        SavedRows saved;
        for (const Json& row : json.at("rows")) {
            SweepRow read = rowFrom(row);
            const std::string& was = found.chips.at(read.chip);
            const auto is = subject.chips.find(read.chip);
            if (is != subject.chips.end() && is->second != was) {
                saved.changed.insert(read.chip);
                continue;
            }
            saved.chips[read.chip] = was;
            saved.rows.push_back(std::move(read));
        }
        return saved;
    } catch (const Json::exception&) {
    } catch (const std::out_of_range&) { // a row of a chip that the file does not list
    } catch (const Damaged&) {
    }
    return userError(who + " is damaged; expected a file that --save wrote.");
}

} // namespace pallascope::study
