// Reads lessons, and holds runs to what they state and ask for.
#include "core/study/lesson.h"

#include "core/base/format.h"
#include "core/base/repeated_name.h"
#include "core/base/text.h"
#include "core/base/visible.h"
#include "core/study/condition.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace pallascope::study {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kLessonFormat = "pallascope.lesson";
constexpr std::size_t kMostSteps = 100;

struct BadLesson
{
    std::string sentence;
};

// A place in a lesson, such as steps[2].task.
struct Place
{
    const Json& json;
    std::string path;

    [[noreturn]] void fail(const std::string& expected) const
    {
        throw BadLesson{
            fmt::format("{} is {}; expected {}.", path, oneLine(json.dump()), expected)};
    }

    [[nodiscard]] std::string pathOf(const std::string& key) const
    {
        return path.empty() ? key : path + "." + key;
    }

    [[nodiscard]] bool has(const std::string& key) const { return json.contains(key); }

    [[nodiscard]] Place operator[](const std::string& key) const
    {
        if (!has(key)) {
            throw BadLesson{pathOf(key) + " is missing."};
        }
        return {json.at(key), pathOf(key)};
    }

    // An object with no keys but these.
    const Place& object(const std::vector<std::string>& keys) const
    {
        if (!json.is_object()) {
            fail("an object");
        }
        for (const auto& [key, value] : json.items()) {
            if (std::ranges::count(keys, key) == 0) {
                throw BadLesson{fmt::format("{} is not known; expected {}.", oneLine(pathOf(key)),
                                            orList(keys))};
            }
        }
        return *this;
    }

    [[nodiscard]] std::string text() const
    {
        if (!json.is_string() || json.get<std::string>().empty()) {
            fail("a text");
        }
        return visible(json.get<std::string>());
    }

    [[nodiscard]] std::string textOr(const std::string& key, const std::string& otherwise) const
    {
        return has(key) ? (*this)[key].text() : otherwise;
    }

    [[nodiscard]] std::vector<Place> list() const
    {
        if (!json.is_array()) {
            fail("a list");
        }
        std::vector<Place> places;
        for (std::size_t i = 0; i < json.size(); ++i) {
            places.push_back({json[i], fmt::format("{}[{}]", path, i)});
        }
        return places;
    }

    [[nodiscard]] std::vector<std::string> texts() const
    {
        std::vector<std::string> texts;
        for (const Place& each : list()) {
            texts.push_back(each.text());
        }
        return texts;
    }

    // Numbers may stand as numbers.
    [[nodiscard]] std::map<std::string, std::string> values() const
    {
        if (!json.is_object()) {
            fail("an object of parameters");
        }
        std::map<std::string, std::string> values;
        for (const auto& [key, value] : json.items()) {
            const Place place{value, pathOf(key)};
            if (!value.is_number_integer() && !value.is_string()) {
                place.fail("a whole number or a text");
            }
            values[key] = value.is_string() ? place.text() : value.dump();
        }
        return values;
    }
};

std::vector<std::string> conditionsFrom(const Place& place)
{
    std::vector<std::string> conditions = place.texts();
    for (const std::string& text : conditions) {
        if (const auto condition = parseCondition(text); !condition) {
            throw BadLesson{place.path + ": " + condition.error().message};
        }
    }
    return conditions;
}

// What stands in braces.
std::vector<std::string_view> figuresIn(std::string_view text)
{
    std::vector<std::string_view> figures;
    for (std::size_t begin = text.find('{'); begin != std::string_view::npos;
         begin = text.find('{', begin + 1)) {
        figures.push_back(text.substr(begin, text.find('}', begin) - begin));
    }
    return figures;
}

// The first step has no run before it.
std::string markedText(const Place& place, bool isFirst)
{
    std::string text = place.text();
    if (const auto parts = lessonText(text, {}); !parts) {
        throw BadLesson{place.path + ": " + parts.error().message};
    }
    const bool compares = std::ranges::any_of(figuresIn(text), [](std::string_view figure) {
        return figure.find("before.") != std::string_view::npos;
    });
    if (isFirst && compares) {
        throw BadLesson{place.path + " compares with the run before, which the first step lacks."};
    }
    return text;
}

LessonTask taskFrom(const Place& place, bool isFirst)
{
    place.object({"text", "until", "vary", "answer"});
    LessonTask task{markedText(place["text"], isFirst), conditionsFrom(place["until"]),
                    place["vary"].texts(), place["answer"].values()};
    if (task.until.empty()) {
        place["until"].fail("at least one condition");
    }
    for (const auto& [name, value] : task.answer) {
        if (std::ranges::count(task.vary, name) == 0) {
            throw BadLesson{fmt::format("{}.{} is not among the parameters that may vary: {}.",
                                        place["answer"].path, name, fmt::join(task.vary, ", "))};
        }
    }
    return task;
}

// The run of the step before, or one that names a kernel, with other parameters.
LessonRun runFrom(const Place& place, const LessonRun* before)
{
    place.object({"kernel", "chip", "parameters"});
    if (before == nullptr && !place.has("kernel")) {
        throw BadLesson{place.pathOf("kernel") + " is missing: the first step names one."};
    }
    LessonRun run = place.has("kernel") ? LessonRun{} : *before;
    run.kernel = place.textOr("kernel", run.kernel);
    run.chip = place.textOr("chip", run.chip);
    if (place.has("parameters")) {
        for (const auto& [name, value] : place["parameters"].values()) {
            run.parameters[name] = value;
        }
    }
    return run;
}

double shareFrom(const Place& place)
{
    const std::string text = place.text();
    const char* const end = text.data() + text.size();
    double percent = -1;
    const auto [rest, error] = std::from_chars(text.data(), end, percent);
    if (error != std::errc() || std::string_view(rest, end) != "%"
        || !(percent >= 0 && percent <= 100)) {
        place.fail("a share of the run, such as \"30%\"");
    }
    return percent / 100;
}

LessonStep stepFrom(const Place& place, const LessonRun* before)
{
    place.object({"title", "text", "run", "keep", "look", "at", "holds", "task"});
    LessonStep step;
    step.title = place["title"].text();
    step.text = markedText(place["text"], before == nullptr);
    if (before == nullptr || place.has("run")) {
        step.run = runFrom(place["run"], before);
    } else {
        step.run = *before;
    }
    if (place.has("keep")) {
        const Place keep = place["keep"];
        if (!keep.json.is_boolean() || before == nullptr) {
            keep.fail(before == nullptr ? "none in the first step, before which there is no run"
                                        : "true or false");
        }
        step.keepsBefore = keep.json.get<bool>();
    }
    step.view = place.textOr("look", "");
    step.at = place.has("at") ? shareFrom(place["at"]) : 0;
    step.holds = place.has("holds") ? conditionsFrom(place["holds"]) : std::vector<std::string>();
    if (place.has("task")) {
        step.task = taskFrom(place["task"], before == nullptr);
    }
    return step;
}

Lesson lessonFrom(const Json& json)
{
    const Place place{json, ""};
    if (!json.is_object() || json.value("format", Json()) != kLessonFormat) {
        throw BadLesson{
            fmt::format("it is no lesson: its \"format\" is not \"{}\".", kLessonFormat)};
    }
    place.object({"format", "version", "title", "about", "steps"});
    if (place["version"].json != 1) {
        place["version"].fail("1");
    }
    Lesson lesson{place["title"].text(), place["about"].text(), {}};
    const std::vector<Place> steps = place["steps"].list();
    if (steps.empty() || steps.size() > kMostSteps) {
        throw BadLesson{
            fmt::format("steps has {} elements; expected 1 to {}.", steps.size(), kMostSteps)};
    }
    for (const Place& each : steps) {
        lesson.steps.push_back(
            stepFrom(each, lesson.steps.empty() ? nullptr : &lesson.steps.back().run));
    }
    return lesson;
}

std::string saidOf(const Json& value)
{
    return value.is_string() ? value.get<std::string>() : value.dump();
}

} // namespace

Result<Lesson> parseLesson(std::string_view json, const std::string& name)
{
    constexpr int kDeepest = 32;
    const std::string called = oneLine(name) + ": ";
    if (bracketDepth(json) > kDeepest) {
        return userError(called + "it is nested too deeply for a lesson.");
    }
    try {
        const Json parsed = Json::parse(json);
        if (const auto twice = repeatedName(json)) {
            return userError(called + oneLine(*twice) + " occurs twice.");
        }
        return lessonFrom(parsed);
    } catch (const BadLesson& bad) {
        return userError(called + bad.sentence);
    } catch (const Json::parse_error& error) {
        const std::string_view before = json.substr(0, std::min(error.byte, json.size()));
        return userError(fmt::format("{}it is not JSON from line {} on; expected a lesson.", called,
                                     1 + std::ranges::count(before, '\n')));
    } catch (const Json::exception&) {
        return userError(called + "it holds a number that is out of range.");
    }
}

Result<std::vector<LessonClaim>> claimsOf(const std::vector<std::string>& conditions,
                                          const std::string& report)
{
    std::vector<LessonClaim> claims;
    for (const std::string& text : conditions) {
        const Result<Condition> condition = parseCondition(text);
        if (!condition) {
            return condition.error();
        }
        const Result<Verdict> verdict = evaluate(*condition, report);
        if (!verdict) {
            return verdict.error();
        }
        claims.push_back({text, verdict->holds, verdict->actual});
    }
    return claims;
}

bool LessonProgress::isReached() const
{
    return apart.empty()
           && std::ranges::all_of(claims, [](const LessonClaim& claim) { return claim.holds; });
}

Result<LessonProgress> progressOf(const LessonTask& task, const std::string& stepReport,
                                  const std::string& report)
{
    const Json asked = Json::parse(stepReport), tried = Json::parse(report);
    LessonProgress progress;
    for (const char* key : {"kernel", "chip"}) {
        const bool mayVary = std::ranges::count(task.vary, key) > 0;
        if (progress.apart.empty() && !mayVary && asked.at(key) != tried.at(key)) {
            progress.apart = fmt::format("The {} is {} here; the task is about {}.", key,
                                         saidOf(tried.at(key)), saidOf(asked.at(key)));
        }
    }
    if (!progress.apart.empty()) {
        return progress;
    }
    for (const auto& [name, value] : asked.at("parameters").items()) {
        const Json other = tried.at("parameters").value(name, Json());
        if (progress.apart.empty() && other != value && std::ranges::count(task.vary, name) == 0) {
            progress.apart = fmt::format("{} is {} here; the task keeps it at {}.", name,
                                         saidOf(other), saidOf(value));
        }
    }
    Result<std::vector<LessonClaim>> claims = claimsOf(task.until, report);
    if (!claims) {
        return claims.error();
    }
    progress.claims = std::move(*claims);
    return progress;
}

} // namespace pallascope::study
