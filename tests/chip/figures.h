// All figures of a chip file.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace pallascope::chip {

using nlohmann::json;

// Collects every figure of a file: an object with a value and a source.
inline void collectFigures(const json& node, const json::json_pointer& at,
                           std::vector<json::json_pointer>& found)
{
    if (node.is_object() && node.contains("value")) {
        found.push_back(at);
    } else if (node.is_object() || node.is_array()) {
        for (const auto& [key, value] : node.items()) {
            collectFigures(value, node.is_array() ? at / std::stoul(key) : at / key, found);
        }
    }
}

inline void collectBareNumbers(const json& node, const json::json_pointer& at,
                               std::vector<std::string>& found)
{
    if (node.is_number()) {
        found.push_back(at.to_string());
    } else if (node.is_object() && !node.contains("value")) {
        for (const auto& [key, value] : node.items()) {
            collectBareNumbers(value, at / key, found);
        }
    } else if (node.is_array()) {
        for (std::size_t i = 0; i < node.size(); ++i) {
            collectBareNumbers(node[i], at / i, found);
        }
    }
}

} // namespace pallascope::chip
