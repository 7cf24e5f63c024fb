// Parses conditions, finds their fields in a report's JSON and compares the values.
#include "core/study/condition.h"

#include "core/analysis/losses.h"
#include "core/base/format.h"
#include "core/study/amount.h"
#include "core/study/edit_distance.h"
#include "core/trace/findings.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace pallascope::study {

namespace {

using Json = nlohmann::ordered_json;

// The limit to which a percentage of VMEM refers.
constexpr const char* kLimit = "vmem_scoped_limit_bytes";
constexpr const char* kPeak = "vmem_peak_bytes";

// Where a field stands in the report.
std::string pathOf(const std::string& field)
{
    return field == "vmem" ? kPeak : field;
}

// What an element of a list may be called: a finding by its kind or its operand.
std::vector<std::string> elementNames(const Json& element)
{
    std::vector<std::string> names;
    for (const char* key : {"name", "kind", "what", "operand", "memory"}) {
        if (element.is_object() && element.contains(key) && element[key].is_string()) {
            names.push_back(element[key].get<std::string>());
        }
    }
    return names;
}

std::string elementName(const Json& element)
{
    const std::vector<std::string> names = elementNames(element);
    return names.empty() ? "" : names.front();
}

// Several elements of a list may have one name.
std::vector<const Json*> children(const Json& json, const std::string& name)
{
    if (json.is_object() && json.contains(name)) {
        return {&json[name]};
    }
    std::vector<const Json*> found;
    if (json.is_array()) {
        const std::optional<Amount> number = parseAmount(name, "");
        if (number && number->value >= 0 && number->value < static_cast<double>(json.size())) {
            return {&json[static_cast<std::size_t>(number->value)]};
        }
        for (const Json& element : json) {
            if (std::ranges::count(elementNames(element), name) > 0) {
                found.push_back(&element);
            }
        }
    }
    return found;
}

std::vector<const Json*> find(const Json& report, const std::string& path)
{
    std::vector<const Json*> all{&report};
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        std::vector<const Json*> inside;
        for (const Json* at : all) {
            const auto found = children(*at, path.substr(begin, end - begin));
            inside.insert(inside.end(), found.begin(), found.end());
        }
        all = std::move(inside);
        begin = end + 1;
    }
    return all;
}

// A list of which a run has only the elements that it has something to say about.
struct SparseList
{
    std::string_view name;
    std::vector<std::string> elements;       // all that there may be
    std::vector<std::string_view> ofNothing; // fields that are 0 for those that are not there
};

const std::vector<SparseList>& sparseLists()
{
    static const std::vector<SparseList> kLists = [] {
        std::vector<std::string> kinds;
        for (const trace::FindingEntry& entry : trace::findingTable()) {
            kinds.emplace_back(entry.name);
        }
        return std::vector<SparseList>{
            {"findings", std::move(kinds), {"count"}},
            {"beyond_roofline_s", analysis::lossNames(), {"time_s", "gain_s"}}};
    }();
    return kLists;
}

// The paths of the fields that are 0 if they are absent.
std::vector<std::string> fieldsOfNothing()
{
    std::vector<std::string> fields;
    for (const SparseList& list : sparseLists()) {
        for (const std::string& element : list.elements) {
            for (const std::string_view field : list.ofNothing) {
                fields.push_back(fmt::format("{}.{}.{}", list.name, element, field));
            }
        }
    }
    return fields;
}

// What a field says that is absent where there is nothing to say; null for others. A finding that a
// run does not have has shown 0 times, and a cause that it does not have takes no time.
Json meaningOfAbsent(const Json& report, const std::string& path)
{
    if (path == "stopped_by") {
        return "";
    }
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) {
        return {};
    }
    const std::string around = path.substr(0, dot), name = path.substr(dot + 1);
    const bool isNothing = std::ranges::count(fieldsOfNothing(), path) > 0;
    const bool isShare =
        (name == "padding_share" || name == "from_l1_bytes") && !find(report, around).empty();
    return isNothing || isShare ? Json(0) : Json();
}

void addOnce(std::vector<std::string>& fields, const std::string& field)
{
    if (std::ranges::count(fields, field) == 0) {
        fields.push_back(field);
    }
}

void collectFields(const Json& json, const std::string& path, std::vector<std::string>& fields)
{
    if (!json.is_structured()) {
        addOnce(fields, path);
        return;
    }
    for (const auto& [key, value] : json.items()) {
        const std::string named = json.is_array() ? elementName(value) : "";
        collectFields(value, (path.empty() ? "" : path + ".") + (named.empty() ? key : named),
                      fields);
    }
}

// The fields that this path may mean: those of as much of it as the report has, otherwise all.
std::vector<std::string> candidatesFor(const std::string& field, const Json& report)
{
    std::vector<std::string> fields;
    for (std::size_t dot = field.rfind('.'); dot != std::string::npos && dot > 0;
         dot = field.rfind('.', dot - 1)) {
        const std::string around = field.substr(0, dot);
        for (const Json* const inside : find(report, around)) {
            collectFields(*inside, around, fields);
        }
        for (const std::string& absent : fieldsOfNothing()) {
            if (absent.starts_with(around + ".") && report.contains(around)) {
                addOnce(fields, absent);
            }
        }
        if (!fields.empty()) {
            return fields;
        }
    }
    fields.emplace_back("vmem");
    collectFields(report, "", fields);
    return fields;
}

Error unknownField(const std::string& field, const Json& report)
{
    std::vector<std::string> fields = candidatesFor(field, report);
    const auto far = [&field](const std::string& candidate) {
        // A name that contains the field counts as near, as "traffic.x.refetch_factor" does for
        // "refetch". So does one that is like the last part of a path.
        const std::string last = candidate.substr(candidate.rfind('.') + 1);
        return candidate.find(field) != std::string::npos
                   ? 0
                   : std::min(editDistance(field, candidate), editDistance(field, last) + 1);
    };
    std::stable_sort(fields.begin(), fields.end(),
                     [&](const std::string& a, const std::string& b) { return far(a) < far(b); });
    fields.resize(std::min<std::size_t>(3, fields.size()));
    return userError("The report has no field \"" + field + "\"; perhaps " + orList(fields)
                     + " is meant.");
}

std::string_view lastPart(std::string_view path)
{
    return path.substr(path.rfind('.') + 1);
}

// Whether a field is a part of a whole, from 0 to 1.
bool isPart(const std::string& path)
{
    constexpr std::array<std::string_view, 3> kParts{"utilization", "padding_share", "hit_rate"};
    return std::ranges::count(kParts, lastPart(path)) > 0;
}

// Whether 50% of a field means something: these are numbers without a unit that are not counted.
bool isShare(const std::string& path)
{
    constexpr std::array<std::string_view, 5> kRatios{"refetch_factor", "low", "high", "ratio",
                                                      "max_rel_error"};
    return isPart(path) || std::ranges::count(kRatios, lastPart(path)) > 0;
}

// A part is never above 1, so that 80 can only mean 80 %.
Error aboveTheWhole(const Condition& condition, double number)
{
    const double percent = number <= 100 ? number : 50;
    return userError(fmt::format("The condition \"{}\" compares {}, which is from 0 to 1, with {}; "
                                 "expected a number such as {:.6g} or {:.6g}%.",
                                 condition.text, condition.field, condition.value, percent / 100,
                                 percent));
}

// JSON has no NaN. An error of a checked result that is null is one.
bool isNanError(const Json& report, const std::string& path, const Json& field)
{
    return field.is_null() && (path == "result.max_abs_error" || path == "result.max_rel_error")
           && report["result"].value("checked", false);
}

// Which value would be right for a field.
Error wrongNumber(const Condition& condition, double actual, bool vmem)
{
    const std::string inUnits = exampleAmount(vmem ? kPeak : condition.field);
    const std::string number =
        isShare(condition.field)
            ? "0.5 or 50%"
            : comparedText(actual, condition.comparator, actual, 6) + ", or another field";
    return userError("The condition \"" + condition.text + "\" compares a number with \""
                     + condition.value + "\"; expected a number such as "
                     + (inUnits.empty() ? number : inUnits) + ".");
}

// The number that a condition names: an amount, or another field of the report.
std::optional<Amount> amountOf(const Condition& condition, const Json& report)
{
    const std::string field = pathOf(condition.field), value = pathOf(condition.value);
    if (const auto amount = parseAmount(condition.value, field)) {
        return amount;
    }
    const std::vector<const Json*> other = find(report, value);
    return other.size() == 1 && other.front()->is_number() && haveOneUnit(field, value)
               ? std::optional(Amount{other.front()->get<double>()})
               : std::nullopt;
}

Result<Verdict> evaluatePercent(const Condition& condition, double actual, bool vmem,
                                const Json& report)
{
    const auto number = parseAmount(condition.value.substr(0, condition.value.size() - 1), "");
    if (!number) {
        return wrongNumber(condition, actual, vmem);
    }
    if (!vmem && !isShare(condition.field)) {
        return userError("The condition \"" + condition.text + "\" compares " + condition.field
                         + ", which is no share, with a percentage; expected a number such as "
                         + comparedText(actual, condition.comparator, actual, 6) + ".");
    }
    const double whole = vmem ? report.at(kLimit).get<double>() : 1;
    const double share = 100 * actual / whole;
    return Verdict{compared(share, condition.comparator, number->value),
                   fmt::format("{}%{}", comparedText(share, condition.comparator, number->value, 4),
                               vmem ? fmt::format(" of the limit of {:.0f} bytes", whole) : "")};
}

Result<Verdict> evaluateNumber(const Condition& condition, double actual, bool vmem,
                               const Json& report)
{
    if (condition.value.ends_with('%')) {
        return evaluatePercent(condition, actual, vmem, report);
    }
    const std::optional<Amount> amount = amountOf(condition, report);
    if (!amount) {
        return wrongNumber(condition, actual, vmem);
    }
    if (amount->value > 1 && amount->unit.empty() && isPart(condition.field)) {
        return aboveTheWhole(condition, amount->value);
    }
    const std::string shown = comparedText(actual / amount->unitSize, condition.comparator,
                                           amount->value / amount->unitSize, 6);
    return Verdict{compared(actual, condition.comparator, amount->value),
                   amount->unit.empty() ? shown : shown + " " + amount->unit};
}

Error noSingleValue(const std::string& name, const Json& field)
{
    std::string part = "NAME";
    if (!field.empty()) {
        const auto first = field.items().begin();
        const std::string named = field.is_array() ? elementName(first.value()) : "";
        part = named.empty() ? first.key() : named;
    }
    return userError(fmt::format("The field \"{0}\" of the report is {1}; name one of its parts, "
                                 "such as {0}.{2}.",
                                 name, field.is_array() ? "a list" : "an object", part));
}

Result<Verdict> evaluateField(const Condition& condition, const Json& field, bool vmem,
                              const Json& report)
{
    if (field.is_structured()) {
        return noSingleValue(condition.field, field);
    }
    if (field.is_number()) {
        return evaluateNumber(condition, field.get<double>(), vmem, report);
    }
    const bool isForEquality =
        condition.comparator == Comparator::Equal || condition.comparator == Comparator::NotEqual;
    if (!isForEquality && isNanError(report, condition.field, field)) {
        // Not less than anything: a guard against large errors must not let it pass.
        return Verdict{condition.comparator == Comparator::Greater
                           || condition.comparator == Comparator::GreaterOrEqual,
                       "NaN"};
    }
    if (!isForEquality) {
        return userError("The field \"" + condition.field + "\" is " + field.dump()
                         + ", which is not a number; use = or !=.");
    }
    const std::string actual = field.is_string() ? field.get<std::string>() : field.dump();
    const bool equal =
        actual == condition.value
        || (field.is_string() && actual.substr(0, actual.find('(')) == condition.value);
    return Verdict{equal == (condition.comparator == Comparator::Equal), actual};
}

} // namespace

Result<Condition> parseCondition(const std::string& text)
{
    if (std::optional<ParsedComparison> comparison = parseComparison(text)) {
        return Condition{text, std::move(comparison->left), comparison->comparator,
                         std::move(comparison->right)};
    }
    return userError("The condition \"" + text
                     + "\" is not understood; expected a field of the JSON report, one of > >= < "
                       "<= = !=, and a value, such as 'vmem>90%'.");
}

Result<std::string> fieldText(const std::string& field, const std::string& reportJson)
{
    const Json report = Json::parse(reportJson);
    const std::vector<const Json*> found = find(report, pathOf(field));
    const Json value = found.empty() ? meaningOfAbsent(report, field) : *found.front();
    if (found.size() > 1) {
        return userError(fmt::format("The report has {} fields \"{}\"; expected the number of one "
                                     "of them in its list.",
                                     found.size(), field));
    }
    if (value.is_structured()) {
        return noSingleValue(field, value);
    }
    return found.empty() && value.is_null() ? Result<std::string>(unknownField(field, report))
                                            : Result(value.dump());
}

Result<Verdict> evaluate(const Condition& condition, const std::string& reportJson)
{
    const Json report = Json::parse(reportJson);
    const std::string path = pathOf(condition.field);
    const bool vmem = path.rfind("vmem_", 0) == 0;
    std::optional<Verdict> first;
    for (const Json* field : find(report, path)) {
        Result<Verdict> verdict = evaluateField(condition, *field, vmem, report);
        if (!verdict || verdict->holds) {
            return verdict;
        }
        first = first ? first : std::move(*verdict);
    }
    if (first) {
        return std::move(*first);
    }
    const Json absent = meaningOfAbsent(report, path);
    return absent.is_null() ? unknownField(condition.field, report)
                            : evaluateField(condition, absent, vmem, report);
}

} // namespace pallascope::study
