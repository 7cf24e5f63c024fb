// The plain v5e with some figures replaced, for tests.
#pragma once

#include "core/chip/chip.h"
#include "tests/chip/chip_file.h"

#include <nlohmann/json.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pallascope::chip {

using Figures = std::vector<std::pair<std::string, nlohmann::json>>; // JSON pointers and values

inline std::string editedText(const Figures& figures)
{
    nlohmann::json file = nlohmann::json::parse(plainText("tpu_v5e"));
    for (const auto& [pointer, value] : figures) {
        file[nlohmann::json::json_pointer(pointer)] = {
            {"value", value}, {"source", "a test"}, {"status", "assumed"}};
    }
    return file.dump();
}

// Throws the error's sentence if the figures are not valid.
inline Chip edited(const Figures& figures)
{
    Result<Chip> chip = parse(editedText(figures), "edited");
    if (!chip) {
        throw std::runtime_error(chip.error().message);
    }
    return *std::move(chip);
}

} // namespace pallascope::chip
