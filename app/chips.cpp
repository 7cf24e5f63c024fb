#include "app/chips.h"

#include "core/base/check.h"
#include "resources/chip_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace pallascope::app {

const std::vector<chip::Chip>& builtInChips()
{
    static const std::vector<chip::Chip> kChips = [] {
        std::vector<chip::Chip> chips;
        for (const resources::ChipFile& file : resources::chipFiles()) {
            Result<chip::Chip> chip = chip::parse(file.text, file.name);
            PALLASCOPE_CHECK(chip.has_value());
            chips.push_back(std::move(*chip));
        }
        return chips;
    }();
    return kChips;
}

Result<std::string> readTextFile(const std::string& path)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        return userError("\"" + path + "\" is a folder; a file is right.");
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return userError("Cannot read \"" + path + "\": " + std::strerror(errno) + ".");
    }
    constexpr std::uintmax_t kLargest = 64U << 20U;
    if (std::filesystem::file_size(path, error) > kLargest && !error) {
        return userError("\"" + path + "\" is larger than 64 MiB, which no such file is.");
    }
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Result<chip::Chip> loadChip(const std::string& nameOrFile)
{
    std::string names;
    for (const chip::Chip& chip : builtInChips()) {
        const bool alias =
            std::find(chip.aliases.begin(), chip.aliases.end(), nameOrFile) != chip.aliases.end();
        if (chip.name == nameOrFile || alias) {
            return chip;
        }
        names += (names.empty() ? "" : ", ") + chip.name;
    }
    std::error_code error;
    if (!std::filesystem::exists(nameOrFile, error)) {
        return userError("There is no chip \"" + nameOrFile + "\", neither built in (" + names
                         + ") nor as a file.");
    }
    const Result<std::string> text = readTextFile(nameOrFile);
    if (!text) {
        return text.error();
    }
    return chip::parse(*text, nameOrFile);
}

} // namespace pallascope::app
