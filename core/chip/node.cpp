#include "core/chip/node.h"

#include "core/base/visible.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace pallascope::chip {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kStatuses{"datasheet", "measured", "derived", "assumed"};

const Json& jsonOf(const void* json)
{
    return *static_cast<const Json*>(json);
}

std::string nameOf(const Json& element)
{
    for (const char* key : {"name", "kind"}) {
        if (element.is_object() && element.contains(key) && element[key].is_string()) {
            return element[key].get<std::string>();
        }
    }
    return {};
}

} // namespace

Node::Node(const void* json, std::string pointer, std::string label,
           std::vector<UnknownFigure>& unknown)
    : m_json(json)
    , m_pointer(std::move(pointer))
    , m_label(std::move(label))
    , m_unknown(unknown)
{}

void Node::fail(const std::string& what) const
{
    std::string value = jsonOf(m_json).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (value.size() > 60) {
        value = value.substr(0, 57) + "...";
    }
    throw Bad{(m_pointer.empty() ? "the file" : m_pointer) + " is " + value + "; expected " + what};
}

bool Node::has(const std::string& key) const
{
    return jsonOf(m_json).is_object() && jsonOf(m_json).contains(key);
}

Node Node::operator[](const std::string& key) const
{
    if (!jsonOf(m_json).is_object()) {
        fail("an object");
    }
    if (!jsonOf(m_json).contains(key)) {
        throw Bad{"the key " + m_pointer + "/" + key + " is missing"};
    }
    return {&jsonOf(m_json).at(key), m_pointer + "/" + key,
            m_label.empty() ? key : m_label + "/" + key, m_unknown};
}

std::vector<Node> Node::list() const
{
    if (!jsonOf(m_json).is_array()) {
        fail("a list");
    }
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < jsonOf(m_json).size(); ++i) {
        nodes.push_back(Node(&jsonOf(m_json)[i], m_pointer + "/" + std::to_string(i),
                             nameOf(jsonOf(m_json)[i]), m_unknown));
    }
    return nodes;
}

double Node::number(double least, double most, const std::string& right) const
{
    const double value = jsonOf(m_json).is_number() ? jsonOf(m_json).get<double>() : std::nan("");
    if (!std::isfinite(value) || value < least || value > most) {
        fail(right);
    }
    return value;
}

std::string Node::text() const
{
    if (!jsonOf(m_json).is_string()) {
        fail("a text");
    }
    return visible(jsonOf(m_json).get_ref<const std::string&>());
}

double Node::figure(double least, double most, const std::string& right) const
{
    const Node value = sourced();
    if (!jsonOf(value.m_json).is_null()) {
        return value.number(least, most, right);
    }
    if (!has("stand_in")) {
        value.fail(right + ", or null beside a \"stand_in\"");
    }
    const double standIn = (*this)["stand_in"].number(least, most, right);
    m_unknown.push_back({m_pointer, m_label, (*this)["source"].text(), standIn});
    return standIn;
}

Node Node::sourced() const
{
    const Node value = (*this)["value"];
    if ((*this)["source"].text().empty()) {
        (*this)["source"].fail("a text that says where the figure comes from");
    }
    const std::string status = (*this)["status"].text();
    if (std::find(kStatuses.begin(), kStatuses.end(), status) == kStatuses.end()) {
        (*this)["status"].fail("datasheet, measured, derived or assumed");
    }
    if (has("also")) {
        for (const Node& other : (*this)["also"].list()) {
            if (jsonOf(other["value"].m_json).is_structured()
                    != jsonOf(value.m_json).is_structured()
                || other["source"].text().empty()) {
                other.fail("an object with another value and its source");
            }
        }
    }
    return value;
}

double Node::rate(const std::string& unit) const
{
    return figure(1, kLargest, "a number of " + unit + " from 1 to 1e18");
}

double Node::atLeastZero(const std::string& unit) const
{
    return figure(0, kMostCycles, "a number of " + unit + " from 0 to 1e6");
}

double Node::cycles() const
{
    return figure(1e-6, kMostCycles, "a number of cycles from 1e-6 to 1e6");
}

double Node::seconds() const
{
    return figure(0, kMostSeconds, "a number of seconds from 0 to 0.1");
}

std::int64_t Node::whole(std::int64_t most, const std::string& unit) const
{
    const std::string right = "a whole number of " + unit + " from 1 to " + std::to_string(most);
    const double number = figure(1, static_cast<double>(most), right);
    if (number != std::floor(number)) {
        failNumber(right);
    }
    return static_cast<std::int64_t>(number);
}

std::int64_t Node::powerOfTwo(std::int64_t most) const
{
    const std::string right = "a power of two from 2 to " + std::to_string(most);
    const double number = figure(2, static_cast<double>(most), right);
    if (number != std::exp2(std::round(std::log2(number)))) {
        failNumber(right);
    }
    return static_cast<std::int64_t>(number);
}

void Node::failNumber(const std::string& right) const
{
    (*this)[jsonOf((*this)["value"].m_json).is_null() ? "stand_in" : "value"].fail(right);
}

bool Node::isObject() const
{
    return jsonOf(m_json).is_object();
}

std::vector<std::string> Node::keys() const
{
    std::vector<std::string> names;
    if (isObject()) {
        for (const auto& [name, unused] : jsonOf(m_json).items()) {
            names.push_back(name);
        }
    }
    return names;
}

std::optional<std::int64_t> Node::integer() const
{
    const auto* const number = jsonOf(m_json).get_ptr<const Json::number_integer_t*>();
    return number == nullptr ? std::nullopt : std::optional<std::int64_t>(*number);
}

} // namespace pallascope::chip
