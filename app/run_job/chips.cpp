#include "app/run_job/chips.h"

#include "core/base/check.h"
#include "core/base/read_file.h"
#include "core/trace_file/trace_file.h"
#include "resources/chip_files.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <utility>

namespace pallascope::app {

namespace {

// An embedded chip, read when it is first asked for, by any thread: a run needs one of many.
class Embedded
{
public:
    [[nodiscard]] const chip::Chip& read(const resources::EmbeddedFile& file)
    {
        std::call_once(m_once, [&] {
            Result<chip::Chip> chip = chip::parse(file.text, file.name);
            PALLASCOPE_CHECK(chip.has_value());
            m_chip = std::move(*chip);
        });
        return m_chip;
    }

private:
    std::once_flag m_once;
    chip::Chip m_chip;
};

const chip::Chip& embedded(std::size_t number)
{
    static std::vector<Embedded> chips(resources::chipFiles().size());
    return chips[number].read(resources::chipFiles()[number]);
}

// The chip with this name or alias, or null.
const chip::Chip* builtIn(const std::string& name)
{
    const std::string quoted = '"' + name + '"';
    for (std::size_t i = 0; i < resources::chipFiles().size(); ++i) {
        if (resources::chipFiles()[i].text.find(quoted) == std::string_view::npos) {
            continue; // its name and aliases are in its text
        }
        const chip::Chip& chip = embedded(i);
        if (chip.name == name
            || std::find(chip.aliases.begin(), chip.aliases.end(), name) != chip.aliases.end()) {
            return &chip;
        }
    }
    return nullptr;
}

} // namespace

const std::vector<chip::Chip>& builtInChips()
{
    static const std::vector<chip::Chip> kChips = [] {
        std::vector<chip::Chip> chips;
        for (std::size_t i = 0; i < resources::chipFiles().size(); ++i) {
            chips.push_back(embedded(i));
        }
        // TPUs first: most of what is built in is for them.
        std::stable_partition(chips.begin(), chips.end(),
                              [](const chip::Chip& chip) { return !chip.multiprocessor; });
        return chips;
    }();
    return kChips;
}

namespace {

std::string builtInNames()
{
    std::string names;
    for (const chip::Chip& chip : builtInChips()) {
        names += (names.empty() ? "" : ", ") + chip.name;
    }
    return names;
}

} // namespace

Result<chip::Chip> loadChip(const std::string& nameOrFile)
{
    if (const chip::Chip* known = builtIn(nameOrFile); known != nullptr) {
        return *known;
    }
    std::error_code error;
    if (!std::filesystem::exists(nameOrFile, error)) {
        return userError("There is no chip \"" + nameOrFile + "\", neither built in ("
                             + builtInNames() + ") nor as a file.",
                         {{Subject::Chip, nameOrFile}});
    }
    if (trace_file::isTraceFile(nameOrFile)) {
        return trace_file::givenATrace(nameOrFile, "a chip");
    }
    const Result<std::string> text = readFile(nameOrFile, kMostWrittenBytes);
    if (!text) {
        return text.error();
    }
    return aboutFile(chip::parse(*text, nameOrFile), nameOrFile);
}

Result<chip::Chip> chipOf(const ir::Program& program)
{
    const chip::Chip* chip = builtIn(program.chip.empty() ? kUsualChip : program.chip);
    if (chip == nullptr) {
        return userError("The kernel " + program.name + " is for the chip \"" + program.chip
                             + "\", which is none of " + builtInNames()
                             + "; --chip says on which to run it.",
                         {{Subject::Chip, program.chip}});
    }
    return *chip;
}

} // namespace pallascope::app
