// Reads kernel.json into a Document and verifies its program. write_json.cpp is its counterpart.
#include "core/base/json_pointer.h"
#include "core/base/repeated_name.h"
#include "core/base/visible.h"
#include "core/kernel_file/document.h"
#include "core/kernel_file/params.h"
#include "core/kernel_file/text_limits.h"
#include "core/kernel_file/verify_placed.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <utility>

namespace pallascope::kernel_file {

namespace {

using Json = nlohmann::json;

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

Result<Json> parseText(std::string_view text)
{
    if (Status status = checkLimits(text); !status) {
        return status.error();
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
    numberOperations(program);
    if (const Status sound = checkProgram(program); !sound) {
        return placed(file, sound.error().message);
    }
    if (const Status legal = verifyPlaced(program); !legal) {
        return placed(file, legal.error().message);
    }
    return document;
}

} // namespace pallascope::kernel_file
