// Reads what file_write.cpp wrote, and refuses everything else in a sentence.
#include "core/trace/file.h"
#include "core/trace/json_fault.h"
#include "core/trace/json_place.h"
#include "core/trace/read_bytes.h"

#include <new>

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
        return userError(fmt::format("{} is larger than 4 GiB, the most that can be read", name));
    case simdjson::MEMALLOC:
        return limitError(fmt::format("there is not enough memory to read {}", name));
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

Result<std::shared_ptr<const Trace>> fromJson(std::string text, const std::string& name)
{
    try {
        return parseTrace(std::move(text), name);
    } catch (const std::bad_alloc&) {
        return limitError(fmt::format("there is not enough memory to read {}", name));
    }
}

Result<std::shared_ptr<const Trace>> load(const std::filesystem::path& path)
{
    try {
        Result<std::string> text = readWholeFile(path, simdjson::SIMDJSON_PADDING);
        if (!text) {
            return text.error();
        }
        return parseTrace(std::move(text).value(), path.string());
    } catch (const std::bad_alloc&) {
        return limitError(fmt::format("there is not enough memory to read {}", path.string()));
    }
}

} // namespace pallascope::trace
