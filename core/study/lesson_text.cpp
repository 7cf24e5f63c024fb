// The texts of lessons, with figures of reports in them.
#include "core/base/format.h"
#include "core/study/amount.h"
#include "core/study/condition.h"
#include "core/study/lesson.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::study {

namespace {

using Json = nlohmann::ordered_json;
using Kind = LessonPart::Kind;

constexpr std::string_view kBefore = "before.";
constexpr const char* kUnknown = "…";

struct Reports
{
    const std::string& own;
    const std::string& before;
};

// Null if that run has not ended.
Result<Json> valueOf(std::string field, const Reports& reports)
{
    const bool isBefore = field.starts_with(kBefore);
    const std::string& report = isBefore ? reports.before : reports.own;
    if (report.empty()) {
        return Json();
    }
    const Result<std::string> found =
        fieldText(isBefore ? field.substr(kBefore.size()) : field, report);
    return found ? Result(Json::parse(*found)) : Result<Json>(found.error());
}

std::string_view trimmed(std::string_view text)
{
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string_view::npos
               ? std::string_view()
               : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string withUnit(const std::string& field, const Json& value)
{
    if (value.is_number()) {
        return amountText(field, value.get<double>());
    }
    return value.is_string() ? value.get<std::string>()
                             : (value.is_null() ? kUnknown : value.dump());
}

// {a/b} and {a:b}.
Result<std::string> ratioText(const std::string& above, char sign, const std::string& below,
                              const Reports& reports)
{
    const Result<Json> first = valueOf(above, reports), second = valueOf(below, reports);
    if (!first || !second) {
        return first ? second.error() : first.error();
    }
    if (first->is_null() || second->is_null()) { // of a run that has not ended
        return std::string(kUnknown);
    }
    if (!first->is_number() || !second->is_number() || second->get<double>() == 0
        || !haveOneUnit(above, below)) {
        return userError(fmt::format("{{{}{}{}}} is no ratio: {} is {}, {} is {}.", above, sign,
                                     below, above, first->dump(), below, second->dump()));
    }
    const double ratio = first->get<double>() / second->get<double>();
    return sign == '/' ? percentText(ratio, 1) : significant(ratio, 3);
}

Result<std::string> figureText(std::string_view inside, const Reports& reports)
{
    const std::size_t at = inside.find_first_of("/:");
    if (at != std::string_view::npos) {
        return ratioText(std::string(trimmed(inside.substr(0, at))), inside[at],
                         std::string(trimmed(inside.substr(at + 1))), reports);
    }
    std::string field(trimmed(inside));
    const Result<Json> value = valueOf(field, reports);
    if (!value) {
        return value.error();
    }
    return withUnit(field.starts_with(kBefore) ? field.substr(kBefore.size()) : field, *value);
}

} // namespace

Result<std::vector<LessonPart>> lessonText(const std::string& text, const std::string& report,
                                           const std::string& before)
{
    std::vector<LessonPart> parts;
    const auto add = [&](std::string stretch, Kind kind) {
        if (!stretch.empty()) {
            parts.push_back({std::move(stretch), kind});
        }
    };
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t mark = std::min(text.find_first_of("{`", at), text.size());
        add(text.substr(at, mark - at), Kind::Plain);
        if (mark == text.size()) {
            break;
        }
        const bool isFigure = text[mark] == '{';
        const std::size_t end = text.find(isFigure ? '}' : '`', mark + 1);
        if (end == std::string::npos) {
            return userError(fmt::format("\"{}\" has {} that nothing closes; expected {}.",
                                         text.substr(mark, 40), isFigure ? "a {" : "a `",
                                         isFigure ? "}" : "another `"));
        }
        std::string inside = text.substr(mark + 1, end - mark - 1);
        if (isFigure) {
            Result<std::string> figure = figureText(inside, {report, before});
            if (!figure) {
                return figure.error();
            }
            inside = std::move(*figure);
        }
        add(std::move(inside), isFigure ? Kind::Figure : Kind::Name);
        at = end + 1;
    }
    return parts;
}

} // namespace pallascope::study
