// Makes the error sentences of a reader of traces.
#include "core/trace_file/json_place.h"

namespace pallascope::trace_file {

namespace {

namespace dom = simdjson::dom;

// A value in the form in which an error shows it.
std::string shown(dom::element element)
{
    if (element.is_object() || element.is_array()) {
        return element.is_object() ? "an object" : "a list";
    }
    constexpr std::size_t kShown = 60;
    const std::string text = simdjson::minify(element);
    return text.size() <= kShown ? text : fmt::format("{}...", text.substr(0, kShown));
}

} // namespace

void Place::fail(const std::string& what)
{
    if (!error) {
        error = userError(fmt::format("{}: {} {}", file, pointer.empty() ? "/" : pointer, what));
    }
}

void Place::failWrong(const std::string& wanted, dom::element found)
{
    fail(fmt::format("must be {}, not {}", wanted, shown(found)));
}

std::optional<dom::element> member(Place& place, dom::object object, std::string_view key)
{
    dom::element result;
    if (object.at_key(key).get(result) != simdjson::SUCCESS) {
        const Enter enter(place, key);
        place.fail("is missing");
        return std::nullopt;
    }
    return result;
}

std::optional<dom::object> objectAt(Place& place, dom::object parent, std::string_view key)
{
    const std::optional<dom::element> element = member(place, parent, key);
    dom::object result;
    if (!element) {
        return std::nullopt;
    }
    if (element->get(result) != simdjson::SUCCESS) {
        const Enter enter(place, key);
        place.failWrong("an object", *element);
        return std::nullopt;
    }
    return result;
}

} // namespace pallascope::trace_file
