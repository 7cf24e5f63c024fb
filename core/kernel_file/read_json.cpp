// Reads kernel.json into a Document and verifies its program. write_json.cpp is its counterpart.
#include "core/base/format.h"
#include "core/base/json_pointer.h"
#include "core/base/repeated_name.h"
#include "core/base/visible.h"
#include "core/ir/verify.h"
#include "core/kernel_file/document.h"
#include "core/kernel_file/params.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <utility>

namespace pallascope::kernel_file {

namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 512;               // brackets inside each other
constexpr std::size_t kLargest = 8U << 20U; // bytes of text; parsed, it takes some 20 times that

struct Place
{
    std::string pointer;        // RFC 6901
    std::optional<Error> error; // the first one, without the file's name

    void fail(const std::string& what)
    {
        if (!error) {
            error = userError(fmt::format("{} {}", pointer.empty() ? "/" : pointer, what));
        }
    }

    void failWrong(const std::string& wanted, const Json& found)
    {
        constexpr std::size_t kShown = 60;
        std::string text = found.is_object() ? "an object"
                           : found.is_array()
                               ? "a list"
                               : found.dump(-1, ' ', false, Json::error_handler_t::replace);
        if (text.size() > kShown) {
            text = text.substr(0, kShown) + "...";
        }
        fail(fmt::format("must be {}, not {}", wanted, text));
    }
};

template<class T>
void read(Place& place, const Json& json, T& value);

void read(Place& place, const Json& json, bool& value)
{
    if (!json.is_boolean()) {
        place.failWrong("true or false", json);
        return;
    }
    value = json.get<bool>();
}

void read(Place& place, const Json& json, double& value)
{
    if (json.is_number()) {
        value = json.get<double>();
        return;
    }
    const std::string word = json.is_string() ? json.get<std::string>() : "";
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (word != "nan" && word != "inf" && word != "-inf") {
        place.failWrong("a number, \"nan\", \"inf\" or \"-inf\"", json);
        return;
    }
    value = word == "nan"   ? std::numeric_limits<double>::quiet_NaN()
            : word == "inf" ? kInfinity
                            : -kInfinity;
}

void read(Place& place, const Json& json, std::string& value)
{
    if (!json.is_string()) {
        place.failWrong("a text", json);
        return;
    }
    value = visible(json.get_ref<const std::string&>(),
                    place.pointer.ends_with("/text") ? Lines::Several : Lines::One);
}

void read(Place& place, const Json& json, DType& value)
{
    const std::optional<DType> dtype =
        json.is_string() ? dtypeFromName(json.get<std::string>()) : std::nullopt;
    if (!dtype) {
        place.failWrong("the name of a dtype (" + dtypeNames() + ")", json);
        return;
    }
    value = *dtype;
}

void read(Place& place, const Json& json, ir::OpCode& value)
{
    const std::optional<ir::OpCode> code =
        json.is_string() ? ir::opFromName(json.get<std::string>()) : std::nullopt;
    if (!code) {
        place.failWrong("the name of an operation, such as add or get", json);
        return;
    }
    value = *code;
}

void read(Place& place, const Json& json, ir::ValueId& value)
{
    read(place, json, value.index);
}

void read(Place& place, const Json& json, ir::LocationId& value)
{
    read(place, json, value.index);
}

template<class T>
void read(Place& place, const Json& json, std::optional<T>& value)
{
    read(place, json, value.emplace());
}

template<class T>
void read(Place& place, const Json& json, std::vector<T>& list)
{
    if (!json.is_array()) {
        place.failWrong("a list", json);
        return;
    }
    list.reserve(json.size());
    for (const Json& entry : json) {
        const Enter enter(place, std::to_string(list.size()));
        read(place, entry, list.emplace_back());
        if (place.error) {
            return;
        }
    }
}

void read(Place& place, const Json& json, Shape& value)
{
    std::vector<Extent> extents;
    read(place, json, extents);
    value = Shape(std::move(extents));
}

class ObjectReader
{
public:
    ObjectReader(Place& place, const Json& object)
        : m_place(place)
        , m_object(object)
    {}

    template<class T>
    void operator()(std::string_view key, T& value)
    {
        m_known.emplace_back(key);
        const auto found = m_object.find(m_known.back());
        if (found != m_object.end() && !m_place.error) {
            const Enter enter(m_place, key);
            read(m_place, *found, value);
        }
    }

    template<class T>
    void required(std::string_view key, T& value)
    {
        if (!m_place.error && !m_object.contains(std::string(key))) {
            const Enter enter(m_place, key);
            m_place.fail("is missing");
        }
        (*this)(key, value);
    }

    void params(std::string_view key, ir::OpCode code, ir::Params& params)
    {
        if (m_place.error) {
            return;
        }
        params = paramsFor(code);
        std::visit(
            [&]<class P>(P& alternative) {
                if constexpr (!std::same_as<P, std::monostate>) {
                    const std::string name(key);
                    static const Json kNone = Json::object();
                    m_known.push_back(name);
                    const Enter enter(m_place, key);
                    read(m_place, m_object.contains(name) ? m_object[name] : kNone, alternative);
                }
            },
            params);
    }

    void refuseOthers()
    {
        for (const auto& [key, value] : m_object.items()) {
            if (!m_place.error && std::find(m_known.begin(), m_known.end(), key) == m_known.end()) {
                m_place.fail(fmt::format(
                    "has \"{}\", which is not known here; {}", shown(key),
                    m_known.empty() ? "nothing is expected"
                                    : fmt::format("{} may be there", fmt::join(m_known, ", "))));
            }
        }
    }

private:
    static std::string shown(const std::string& key)
    {
        constexpr std::size_t kShown = 60;
        return key.size() <= kShown ? key : key.substr(0, kShown) + "...";
    }

    Place& m_place;
    const Json& m_object;
    std::vector<std::string> m_known;
};

template<class E>
void readEnum(Place& place, const Json& json, E& value)
{
    std::vector<std::string_view> names;
    for (std::underlying_type_t<E> i = 0; !enumName(static_cast<E>(i)).empty(); ++i) {
        names.push_back(enumName(static_cast<E>(i)));
        if (json.is_string() && names.back() == json.get_ref<const std::string&>()) {
            value = static_cast<E>(i);
            return;
        }
    }
    place.failWrong(fmt::format("one of {}", fmt::join(names, ", ")), json);
}

template<class T>
void readInteger(Place& place, const Json& json, T& value)
{
    const bool fits = json.is_number_unsigned()
                          ? std::in_range<T>(json.get<std::uint64_t>())
                          : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    if (!fits) {
        place.failWrong(fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(),
                                    std::numeric_limits<T>::max()),
                        json);
        return;
    }
    value = json.get<T>();
}

template<class T>
void read(Place& place, const Json& json, T& value)
{
    if constexpr (std::is_enum_v<T>) {
        readEnum(place, json, value);
    } else if constexpr (std::is_integral_v<T>) {
        readInteger(place, json, value);
    } else if (!json.is_object()) {
        place.failWrong("an object", json);
    } else {
        ObjectReader reader(place, json);
        fields(reader, value);
        reader.refuseOthers();
    }
}

// Refuses texts that are nested too deeply before the parser starts, because the parser's results
// are nested like the text.
int depthOf(std::string_view text)
{
    int depth = 0, deepest = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inString) {
            i += c == '\\' ? 1 : 0;
            inString = c != '"';
        } else if (c == '"') {
            inString = true;
        } else if (c == '{' || c == '[') {
            deepest = std::max(deepest, ++depth);
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return deepest;
}

Result<Json> parseText(std::string_view text)
{
    if (text.size() > kLargest) {
        return userError(fmt::format("has {} of JSON; {} at most are read",
                                     bytesText(Bytes(static_cast<std::int64_t>(text.size()))),
                                     bytesText(Bytes(static_cast<std::int64_t>(kLargest)))));
    }
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return userError("is empty");
    }
    if (const int depth = depthOf(text); depth > kDeepest) {
        return userError(
            fmt::format("is nested {} levels deep; {} at most are read", depth, kDeepest));
    }
    try {
        Json json = Json::parse(text);
        if (const std::optional<std::string> twice = repeatedName(text)) {
            return userError(fmt::format("has {} twice; expected it once", *twice));
        }
        return json;
    } catch (const Json::parse_error& error) {
        const std::string_view before = text.substr(0, std::min(error.byte, text.size()));
        return userError(fmt::format("is not JSON from line {} on",
                                     1 + std::count(before.begin(), before.end(), '\n')));
    } catch (const Json::exception&) {
        return userError("holds a number that is out of range");
    }
}

Status readHeader(const Json& json)
{
    if (!json.is_object() || !json.contains("format") || json["format"] != kFormat) {
        return userError(fmt::format("is no kernel: its \"format\" is not \"{}\"", kFormat));
    }
    Place place;
    std::int32_t version = 0;
    if (json.contains("version")) {
        read(place, json["version"], version);
    }
    if (version != kVersion) {
        return userError(fmt::format("is of another version of the format; this program reads "
                                     "\"version\": {}",
                                     kVersion));
    }
    return Done{};
}

// Shortens a message that starts with a pointer, which may be long if regions are nested.
Error placed(const std::string& file, const std::string& message)
{
    constexpr std::size_t kStart = 60, kEnd = 120;
    const std::size_t length = std::min(message.find(' '), message.size());
    const std::string pointer = length <= kStart + kEnd ? message.substr(0, length)
                                                        : message.substr(0, kStart) + "..."
                                                              + message.substr(length - kEnd, kEnd);
    return userError(fmt::format("{}: {}{}", file, pointer, message.substr(length)));
}

// Numbers the operations. The location of each becomes its place in the file, together with the
// author's line, which `program` knows.
void number(ir::Region& region, const std::string& pointer, std::int32_t& next,
            std::vector<ir::Location>* places, const ir::Program& program)
{
    for (std::size_t i = 0; i < region.operations.size(); ++i) {
        ir::Operation& operation = region.operations[i];
        const std::string here =
            places == nullptr ? "" : fmt::format("{}/operations/{}", pointer, i);
        operation.id = next++;
        if (places != nullptr) {
            const bool known = operation.location.index >= 0;
            const std::string line = known ? " (" + program.where(operation.location) + ")" : "";
            operation.location.index = static_cast<std::int32_t>(places->size());
            places->push_back({here + line, 0, "", {}});
        }
        for (std::size_t inner = 0; inner < operation.regions.size(); ++inner) {
            number(operation.regions[inner], fmt::format("{}/regions/{}", here, inner), next,
                   places, program);
        }
    }
}

// The number of products of a dot_general that has passed the verifier.
double productsOf(const ir::Program& program, const ir::Operation& operation)
{
    const ir::Type& lhs = program.type(operation.operands[0]);
    double products = 1;
    for (const Extent extent : program.type(operation.results[0]).shape.extents()) {
        products *= static_cast<double>(extent);
    }
    for (const std::int32_t axis : std::get<ir::DotParams>(operation.params).lhsContracting) {
        products *= static_cast<double>(lhs.shape[static_cast<std::size_t>(axis)]);
    }
    return products;
}

// Runs ir::verify so that errors name the place in the file, and limits the work of one operation.
Status verifyPlaced(const ir::Program& program)
{
    ir::Program placed = program;
    placed.locations.clear();
    std::int32_t next = 0;
    number(placed.body, "/body", next, &placed.locations, program);
    if (Status legal = ir::verify(placed); !legal) {
        return legal;
    }
    Status status = Done{};
    ir::forEachOperation(placed.body, [&](const ir::Operation& operation) {
        // 4096 cubed; no on-chip memory holds such operands.
        constexpr double kMostProducts = 68'719'476'736;
        if (status && operation.code == ir::OpCode::DotGeneral
            && productsOf(placed, operation) > kMostProducts) {
            status = userError(
                fmt::format("{}: dot_general takes {:.1e} products; expected at most 4096\u00b3",
                            placed.where(operation.location), productsOf(placed, operation)));
        }
    });
    return status;
}

} // namespace

Result<ir::Operation> operationFromJson(std::string_view text)
{
    const Result<Json> json = parseText(text);
    if (!json) {
        return json.error();
    }
    Place place;
    ir::Operation operation;
    read(place, *json, operation);
    return place.error ? Result<ir::Operation>(*place.error) : Result<ir::Operation>(operation);
}

namespace {

// Reads and checks only the members.
Result<Document> readDocument(std::string_view text, const std::string& file)
{
    const Result<Json> json = parseText(text);
    if (!json) {
        return userError(fmt::format("{} {}", file, json.error().message));
    }
    if (const Status header = readHeader(*json); !header) {
        return userError(fmt::format("{} {}", file, header.error().message));
    }
    Place place;
    Document document;
    read(place, *json, document);
    if (place.error) {
        return placed(file, place.error->message);
    }
    return document;
}

} // namespace

Result<Document> fromJson(std::string_view text, const std::string& file)
{
    Result<Document> document = readDocument(text, file);
    if (!document) {
        return document;
    }
    ir::Program& program = document->program;
    program.operationCount = 0;
    number(program.body, "", program.operationCount, nullptr, program);
    if (const Status sound = checkProgram(program); !sound) {
        return placed(file, sound.error().message);
    }
    if (const Status legal = verifyPlaced(program); !legal) {
        return placed(file, legal.error().message);
    }
    return document;
}

} // namespace pallascope::kernel_file
