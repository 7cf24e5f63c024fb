// Reads what file_write.cpp wrote, and refuses everything else in a sentence.
#include "core/base/read_file.h"
#include "core/base/sentence.h"
#include "core/trace/file.h"
#include "core/trace/json_fault.h"
#include "core/trace/json_place.h"
#include "core/trace/read_bytes.h"

#include <new>
#include <set>
#include <string_view>

namespace pallascope::trace {

namespace {

namespace dom = simdjson::dom;

void checkVersion(Place& place, dom::object section)
{
    std::string_view format;
    std::int64_t version = 0;
    if (const std::optional<dom::element> element = member(place, section, "format")) {
        if (element->get(format) != simdjson::SUCCESS || format != "pallascope.trace") {
            const Enter enter(place, "format");
            place.failWrong("\"pallascope.trace\"", *element);
        }
    }
    if (const std::optional<dom::element> element = member(place, section, "version")) {
        if (element->get(version) != simdjson::SUCCESS || version != kTraceVersion) {
            const Enter enter(place, "version");
            place.failWrong(fmt::format("{}, the version that this program reads", kTraceVersion),
                            *element);
        }
    }
}

Error parseError(const std::string& name, simdjson::error_code code, std::string_view text)
{
    switch (code) {
    case simdjson::EMPTY:
        return userError(fmt::format("{} is empty; a trace is a JSON file", name));
    case simdjson::CAPACITY:
        return userError(
            fmt::format("{} is larger than 4 GiB, the most that is read of a trace", name));
    case simdjson::MEMALLOC:
        return limitError(fmt::format("There is not enough memory to read {}.", name));
    case simdjson::UTF8_ERROR:
        return userError(fmt::format("{} is not UTF-8 text, so it is not a trace", name));
    default:
        return userError(fmt::format("{} {}", name, whyNotJson(text)));
    }
}

Error foreign(const std::string& name)
{
    return userError(fmt::format(
        "{} is JSON but not a Pallascope trace: it has no \"pallascope\" section; traces that "
        "Pallascope saves have one",
        name));
}

// JSON says nothing of two values for one name, so readers differ in which they take. Columns,
// which are lists of numbers, are passed over.
void checkNames(Place& place, dom::element element)
{
    if (dom::object object; element.get(object) == simdjson::SUCCESS) {
        std::set<std::string_view> names;
        for (const auto& [name, value] : object) {
            const Enter enter(place, name);
            if (!names.insert(name).second) {
                place.fail("is there twice; once is right");
            }
            checkNames(place, value);
        }
    } else if (dom::array array; element.get(array) == simdjson::SUCCESS) {
        std::size_t index = 0;
        for (const dom::element item : array) {
            if (!item.is_object() && !item.is_array()) {
                break;
            }
            const Enter enter(place, index++);
            checkNames(place, item);
        }
    }
}

Result<std::shared_ptr<const Trace>> parseTrace(std::string text, const std::string& name)
{
    dom::parser parser;
    dom::element document;
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING); // the parser reads past the end
    const simdjson::error_code code = parser.parse(text.data(), text.size(), false).get(document);
    if (code != simdjson::SUCCESS) {
        return parseError(name, code, text);
    }
    text = std::string(); // the document has its own copy
    dom::object root;
    dom::element sectionElement;
    if (document.get(root) != simdjson::SUCCESS
        || root.at_key("pallascope").get(sectionElement) != simdjson::SUCCESS) {
        return foreign(name);
    }
    Place place;
    place.file = name;
    TraceBuilder builder;
    if (const std::optional<dom::object> section = objectAt(place, root, "pallascope")) {
        const Enter enter(place, "pallascope");
        checkNames(place, sectionElement);
        checkVersion(place, *section);
        if (!place.error) {
            readSection(place, *section, builder);
        }
    }
    if (!place.error) {
        checkEvents(place, root);
    }
    if (place.error) {
        return *place.error;
    }
    Result<std::shared_ptr<const Trace>> trace = std::move(builder).finish();
    if (!trace) {
        return userError(
            fmt::format("{}: /pallascope is not sound: {}", name, trace.error().message));
    }
    return trace;
}

} // namespace

bool isTraceFile(const std::string& path)
{
    const std::string start = firstBytes(path, 256);
    return isGzip(start) || start.find("\"traceEvents\"") != std::string::npos;
}

Result<std::shared_ptr<const Trace>> fromJson(std::string text, const std::string& name)
{
    try {
        return asSentence(parseTrace(std::move(text), name));
    } catch (const std::bad_alloc&) {
        return limitError(fmt::format("There is not enough memory to read {}.", name));
    }
}

Result<std::shared_ptr<const Trace>> load(const std::filesystem::path& path)
{
    try {
        Result<std::string> text = readWholeFile(path, simdjson::SIMDJSON_PADDING);
        if (!text) {
            return asSentence(text.error());
        }
        return asSentence(parseTrace(std::move(text).value(), path.string()));
    } catch (const std::bad_alloc&) {
        return limitError(fmt::format("There is not enough memory to read {}.", path.string()));
    }
}

} // namespace pallascope::trace
