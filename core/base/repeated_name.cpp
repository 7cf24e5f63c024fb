// Reads names with the JSON library, so that it compares them as every reader of the file
// understands them.
#include "core/base/repeated_name.h"

#include <nlohmann/json.hpp>

#include <set>
#include <vector>

namespace pallascope {

namespace {

using Json = nlohmann::json;

// Tracks where in the text the parser is, and stops it at the first repeated name.
class NameReader : public Json::json_sax_t
{
public:
    [[nodiscard]] const std::optional<std::string>& repeated() const { return m_repeated; }

    bool null() override { return passValue(); }

    bool boolean(bool) override { return passValue(); }

    bool number_integer(number_integer_t) override { return passValue(); }

    bool number_unsigned(number_unsigned_t) override { return passValue(); }

    bool number_float(number_float_t, const string_t&) override { return passValue(); }

    bool string(string_t&) override { return passValue(); }

    bool binary(binary_t&) override { return passValue(); }

    bool start_object(std::size_t) override { return enter(true); }

    bool start_array(std::size_t) override { return enter(false); }

    bool end_object() override { return leave(); }

    bool end_array() override { return leave(); }

    bool key(string_t& name) override
    {
        Level& level = m_levels.back();
        level.name = name;
        if (!level.names.insert(name).second) {
            m_repeated = pointer();
        }
        return !m_repeated;
    }

    bool parse_error(std::size_t, const std::string&, const Json::exception&) override
    {
        return false;
    }

private:
    // An object or array that contains the current position.
    struct Level
    {
        bool isObject = false;
        std::set<std::string> names;
        std::string name;      // the member that contains the position
        std::size_t index = 0; // the element that contains it
    };

    bool enter(bool isObject)
    {
        m_levels.emplace_back().isObject = isObject;
        return true;
    }

    bool leave()
    {
        m_levels.pop_back();
        return passValue();
    }

    bool passValue()
    {
        if (!m_levels.empty()) {
            ++m_levels.back().index;
        }
        return true;
    }

    [[nodiscard]] std::string pointer() const
    {
        std::string text;
        for (const Level& level : m_levels) {
            text += "/" + (level.isObject ? level.name : std::to_string(level.index));
        }
        return text;
    }

    std::vector<Level> m_levels;
    std::optional<std::string> m_repeated;
};

} // namespace

std::optional<std::string> repeatedName(std::string_view json)
{
    NameReader reader;
    Json::sax_parse(json.begin(), json.end(), &reader);
    return reader.repeated();
}

} // namespace pallascope
