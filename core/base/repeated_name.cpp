#include "core/base/repeated_name.h"

#include <set>
#include <vector>

namespace pallascope {

namespace {

// An object or list around the place.
struct Level
{
    bool object = false;
    bool nameIsNext = false;
    std::set<std::string_view> names;
    std::string_view name; // of the value that the place is in
    std::size_t index = 0;
};

std::string pointerOf(const std::vector<Level>& levels)
{
    std::string pointer;
    for (const Level& level : levels) {
        pointer += level.object ? "/" + std::string(level.name) : "/" + std::to_string(level.index);
    }
    return pointer;
}

// Behind the string that begins at `begin`.
std::size_t endOfString(std::string_view json, std::size_t begin)
{
    std::size_t at = begin + 1;
    while (at < json.size() && json[at] != '"') {
        at += json[at] == '\\' ? 2U : 1U;
    }
    return at + 1;
}

} // namespace

std::optional<std::string> repeatedName(std::string_view json)
{
    std::vector<Level> levels;
    for (std::size_t at = 0; at < json.size(); ++at) {
        const char c = json[at];
        if (c == '{' || c == '[') {
            levels.push_back({.object = c == '{', .nameIsNext = c == '{'});
        } else if (levels.empty()) {
            continue;
        } else if (c == '}' || c == ']') {
            levels.pop_back();
        } else if (c == ',') {
            levels.back().nameIsNext = levels.back().object;
            ++levels.back().index;
        } else if (c == '"') {
            const std::size_t end = endOfString(json, at);
            if (Level& level = levels.back(); level.nameIsNext) {
                level.nameIsNext = false;
                level.name = json.substr(at + 1, end - at - 2);
                if (!level.names.insert(level.name).second) {
                    return pointerOf(levels);
                }
            }
            at = end - 1;
        }
    }
    return std::nullopt;
}

} // namespace pallascope
