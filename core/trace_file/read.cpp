// Reads what write.cpp wrote, and refuses everything else with a sentence.
#include "core/base/read_file.h"
#include "core/base/sentence.h"
#include "core/trace_file/json_cutter.h"
#include "core/trace_file/json_fault.h"
#include "core/trace_file/json_place.h"
#include "core/trace_file/read_bytes.h"
#include "core/trace_file/trace_file.h"

#include <new>
#include <set>
#include <string_view>

namespace pallascope::trace_file {

using namespace trace;

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

// JSON leaves open what two values for one name mean, and readers differ in which they take. So
// repeated names are refused. Columns are lists of numbers and are skipped.
void checkNames(Place& place, dom::element element)
{
    if (dom::object object; element.get(object) == simdjson::SUCCESS) {
        std::set<std::string_view> names;
        for (const auto& [name, value] : object) {
            const Enter enter(place, name);
            if (!names.insert(name).second) {
                place.fail("is there twice; expected it once");
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

simdjson::error_code parse(dom::parser& parser, std::string& text, dom::element& element)
{
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING); // the parser reads past the end
    return parser.parse(text.data(), text.size(), false).get(element);
}

// Explains why a text that could not be cut or parsed is not a trace.
Error whyNotTrace(const std::string& name, std::string text)
{
    constexpr std::size_t kMostParsed = std::size_t{256}
                                        << 20U; // parsing a whole text takes several times its size
    if (text.size() > kMostParsed) {
        return userError(fmt::format("{} {}", name, whyNotJson(text)));
    }
    dom::parser parser;
    dom::element document;
    const simdjson::error_code code = parse(parser, text, document);
    return code == simdjson::SUCCESS ? foreign(name) : parseError(name, code, text);
}

// Reads a trace while its text arrives. Events of the Chrome half are checked and dropped, so that
// only the "pallascope" section is in memory as a whole.
class TraceReader
{
public:
    explicit TraceReader(const std::string& name) { m_section.file = m_events.file = name; }

    // Returns false if the text is not a JSON object.
    [[nodiscard]] bool feed(std::string_view text) { return m_cutter.feed(text).has_value(); }

    [[nodiscard]] bool finish() { return m_cutter.finish().has_value(); }

    // The trace. Call it only if the text was valid.
    [[nodiscard]] Result<std::shared_ptr<const Trace>> trace();

private:
    [[nodiscard]] Status takeValue(const std::string& key, std::string& text);
    [[nodiscard]] Status takeEvents(std::int64_t first, std::string& text);
    void takeName(const std::string& name); // refuses a member name that has occurred before
    void readPallascope(dom::element element);

    JsonCutter m_cutter{
        "traceEvents",
        {.value = [this](const std::string& key,
                         std::string& text) { return takeValue(key, text); },
         .elements = [this](std::int64_t first,
                            std::string& text) { return takeEvents(first, text); }}};
    dom::parser m_parser;
    std::set<std::string> m_keys; // member names so far
    Place m_section, m_events;    // these hold the first error of each half
    TraceBuilder m_builder;
};

Status TraceReader::takeValue(const std::string& key, std::string& text)
{
    dom::element element;
    std::string quoted = '"' + key + '"';
    std::string_view unescaped;
    if (parse(m_parser, quoted, element) != simdjson::SUCCESS
        || element.get(unescaped) != simdjson::SUCCESS) {
        return JsonCutter::notSound();
    }
    const std::string name(unescaped); // a copy, because the parser's text ends with the next parse
    takeName(name);
    if (parse(m_parser, text, element) != simdjson::SUCCESS) {
        return JsonCutter::notSound();
    }
    dom::array events;
    if (name == "pallascope") {
        text = std::string(); // freed, because the parser has its own copy
        readPallascope(element);
    } else if (name == "traceEvents" && element.get(events) == simdjson::SUCCESS) {
        checkEvents(m_events, events, 0); // not cut: its name is written with escapes
    } else if (name == "traceEvents") {
        const Enter enter(m_events, name);
        m_events.failWrong("a list of events", element);
    }
    return Done{};
}

void TraceReader::takeName(const std::string& name)
{
    if (!m_keys.insert(name).second) {
        const Enter enter(m_section, name);
        m_section.fail("is there twice; expected it once");
    }
}

void TraceReader::readPallascope(dom::element element)
{
    const Enter enter(m_section, "pallascope");
    dom::object section;
    if (element.get(section) != simdjson::SUCCESS) {
        m_section.failWrong("an object", element);
        return;
    }
    checkNames(m_section, element);
    checkVersion(m_section, section);
    if (!m_section.error) {
        readSection(m_section, section, m_builder);
    }
    m_parser = dom::parser();
}

Status TraceReader::takeEvents(std::int64_t first, std::string& text)
{
    dom::element element;
    dom::array events;
    if (parse(m_parser, text, element) != simdjson::SUCCESS
        || element.get(events) != simdjson::SUCCESS) {
        return JsonCutter::notSound();
    }
    if (first == 0) {
        takeName("traceEvents");
    }
    if (!m_events.error) {
        checkEvents(m_events, events, static_cast<std::size_t>(first));
    }
    return Done{};
}

Result<std::shared_ptr<const Trace>> TraceReader::trace()
{
    const std::string& name = m_section.file;
    if (!m_keys.contains("pallascope") && !m_section.error) {
        return foreign(name);
    }
    if (!m_keys.contains("traceEvents")) {
        const Enter enter(m_events, "traceEvents");
        m_events.fail("is missing");
    }
    for (const Place* place : {&m_section, &m_events}) {
        if (place->error) {
            return *place->error;
        }
    }
    Result<std::shared_ptr<const Trace>> trace = std::move(m_builder).finish();
    if (!trace) {
        return userError(
            fmt::format("{}: /pallascope is not sound: {}", name, trace.error().message));
    }
    return trace;
}

Result<std::shared_ptr<const Trace>> readTrace(const std::filesystem::path& path,
                                               const std::function<bool(double)>& progress)
{
    Result<TraceText> text = TraceText::open(path);
    if (!text) {
        return text.error();
    }
    TraceReader reader(path.string());
    bool isSound = true;
    for (;;) {
        const Result<std::string_view> piece = text->next();
        if (!piece) {
            return piece.error();
        }
        isSound = isSound && (piece->empty() ? reader.finish() : reader.feed(*piece));
        if (piece->empty()) {
            break;
        }
        if (progress && !progress(text->share())) {
            return cancelled();
        }
    }
    if (isSound) {
        return reader.trace();
    }
    if (!isOrdinaryFile(path.string())) { // a pipe cannot be read a second time
        return userError(fmt::format("{} is not JSON", path.string()));
    }
    Result<std::string> whole = readWholeFile(path);
    return whole ? whyNotTrace(path.string(), std::move(*whole)) : whole.error();
}

} // namespace

bool isTraceFile(const std::string& path)
{
    const std::string start = firstBytes(path, 256);
    return isGzip(start) || start.find("\"traceEvents\"") != std::string::npos;
}

Error givenATrace(const std::string& path, std::string_view expected)
{
    return userError(fmt::format("\"{}\" is a trace; expected {}. `pallascope report` and "
                                 "`pallascope open` take traces.",
                                 path, expected),
                     {{Subject::File, path}});
}

Result<std::shared_ptr<const Trace>> fromJson(const std::string& text, const std::string& name)
{
    try {
        TraceReader reader(name);
        return aboutFile(
            asSentence(reader.feed(text) && reader.finish()
                           ? reader.trace()
                           : Result<std::shared_ptr<const Trace>>(whyNotTrace(name, text))),
            name);
    } catch (const std::bad_alloc&) {
        return limitError(fmt::format("There is not enough memory to read {}.", name));
    }
}

Result<std::shared_ptr<const Trace>> load(const std::filesystem::path& path,
                                          const std::function<bool(double)>& progress)
{
    try {
        return aboutFile(asSentence(readTrace(path, progress)), path.string());
    } catch (const std::bad_alloc&) {
        return limitError(fmt::format("There is not enough memory to read {}.", path.string()),
                          {{Subject::File, path.string()}});
    }
}

} // namespace pallascope::trace_file
