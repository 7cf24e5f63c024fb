// Writes a Document as kernel.json, laid out for people to read and edit. The same document always
// gives the same bytes.
#include "core/base/check.h"
#include "core/kernel_file/document.h"
#include "core/kernel_file/params.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace pallascope::kernel_file {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kWidth = 120;

template<class T>
OrderedJson toValue(const T& value);

OrderedJson toValue(bool value)
{
    return value;
}

OrderedJson toValue(double value)
{
    constexpr double kWhole = 9007199254740992.0; // 2^53; doubles above skip integers
    const bool whole = std::floor(value) == value && std::fabs(value) < kWhole;
    if (whole && !(value == 0 && std::signbit(value))) {
        return static_cast<std::int64_t>(value);
    }
    if (std::isfinite(value)) {
        return value;
    }
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

OrderedJson toValue(const std::string& value)
{
    return value;
}

OrderedJson toValue(DType value)
{
    return dtypeName(value);
}

OrderedJson toValue(ir::OpCode value)
{
    return ir::opName(value);
}

OrderedJson toValue(ir::ValueId value)
{
    return value.index;
}

OrderedJson toValue(ir::LocationId value)
{
    return value.index;
}

OrderedJson toValue(const Shape& value)
{
    return value.extents();
}

template<class T>
OrderedJson toValue(const std::optional<T>& value)
{
    return value ? toValue(*value) : OrderedJson();
}

template<class T>
OrderedJson toValue(const std::vector<T>& list)
{
    OrderedJson json = OrderedJson::array();
    for (const T& entry : list) {
        json.push_back(toValue(entry));
    }
    return json;
}

class ObjectWriter
{
public:
    template<class T>
    void operator()(std::string_view key, const T& value)
    {
        m_object[std::string(key)] = toValue(value);
    }

    template<class T>
    void required(std::string_view key, const T& value)
    {
        (*this)(key, value);
        m_required.emplace_back(key);
    }

    void params(std::string_view key, ir::OpCode code, const ir::Params& params)
    {
        PALLASCOPE_CHECK(params.index() == paramsFor(code).index());
        std::visit(
            [&]<class P>(const P& alternative) {
                if constexpr (!std::same_as<P, std::monostate>) {
                    OrderedJson json = toValue(alternative);
                    if (!json.empty()) {
                        m_object[std::string(key)] = std::move(json);
                    }
                }
            },
            params);
    }

    // Without the members that are equal to those of `defaults`.
    [[nodiscard]] OrderedJson less(const ObjectWriter& defaults) const
    {
        OrderedJson result = OrderedJson::object();
        for (const auto& [key, value] : m_object.items()) {
            const bool always =
                std::find(m_required.begin(), m_required.end(), key) != m_required.end();
            const auto same = defaults.m_object.find(key);
            if (always || same == defaults.m_object.end() || *same != value) {
                result[key] = value;
            }
        }
        return result;
    }

private:
    OrderedJson m_object = OrderedJson::object();
    std::vector<std::string> m_required;
};

template<class T>
OrderedJson toValue(const T& value)
{
    if constexpr (std::is_enum_v<T>) {
        const std::string_view name = enumName(value);
        PALLASCOPE_CHECK(!name.empty());
        return name;
    } else if constexpr (std::is_integral_v<T>) {
        return value;
    } else {
        static const ObjectWriter kDefaults = [] {
            ObjectWriter writer;
            const T defaults{};
            fields(writer, defaults);
            return writer;
        }();
        ObjectWriter writer;
        fields(writer, value);
        return writer.less(kDefaults);
    }
}

// Prints on one line if it fits, otherwise one line for each entry.
void print(const OrderedJson& json, std::size_t indent, std::string& out)
{
    const std::string line = json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    if (indent + line.size() <= kWidth || !json.is_structured() || json.empty()) {
        out += line;
        return;
    }
    out += json.is_object() ? "{" : "[";
    bool first = true;
    for (const auto& [key, value] : json.items()) {
        out += first ? "\n" : ",\n";
        first = false;
        out.append(indent + 1, ' ');
        if (json.is_object()) {
            out += '"' + key + "\": "; // fields.h defines the keys, so they need no escapes
        }
        print(value, indent + 1, out);
    }
    out += '\n' + std::string(indent, ' ') + (json.is_object() ? '}' : ']');
}

} // namespace

std::string toJson(const Document& document)
{
    std::string text;
    print(toValue(document), 0, text);
    return text + '\n';
}

std::string operationToJson(const ir::Operation& operation)
{
    return toValue(operation).dump();
}

} // namespace pallascope::kernel_file
