#include "app/cli/complaint.h"

#include "core/base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

namespace pallascope::app {

namespace {

template<class Kind>
bool is(const CLI::ParseError& error)
{
    return dynamic_cast<const Kind*>(&error) != nullptr;
}

// The command whose words are refused: the program itself before any command.
const CLI::App& commandOf(const CommandLine& line)
{
    const std::vector<CLI::App*> commands = line.app.get_subcommands();
    return commands.empty() ? line.app : *commands.front();
}

bool isGiven(const CLI::Option& option)
{
    return option.count() > 0;
}

// What must be given and is not.
const CLI::Option* missingOf(const CLI::App& command)
{
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_required() && !isGiven(*option)) {
            return option;
        }
    }
    return nullptr;
}

// The option that a text of the parser is about, which has its name in front of a colon.
const CLI::Option* optionIn(std::string_view text, const CLI::App& command)
{
    for (const CLI::Option* option : command.get_options()) {
        const std::string name = option->get_name();
        const std::size_t at = text.find(name);
        const std::string_view behind =
            at == std::string_view::npos ? "" : text.substr(at + name.size());
        if (name.starts_with("--") && (behind.starts_with(":") || behind.starts_with(" ="))) {
            return option;
        }
    }
    return nullptr;
}

std::string typeText(const CLI::Option& option)
{
    const std::string type = option.get_type_name();
    return type == "INT" || type == "UINT" ? "a whole number" : type == "FLOAT" ? "a number" : type;
}

std::string needed(const CLI::Option& option)
{
    const int count = std::max(1, option.get_items_expected_min());
    return count == 1 ? "a value" : fmt::format("{} values", count);
}

// Of words that the command does not know, behind its name.
std::string aboutUnknown(const std::vector<std::string>& words, const CLI::App& command,
                         const CommandLine& line)
{
    const std::string& first = words.front();
    const std::string all = fmt::format("{}", fmt::join(words, " "));
    if (first.starts_with('-') || &command == &line.app) {
        return "does not know " + all;
    }
    if (first.find('=') != std::string::npos
        && command.get_option_no_throw("--parameter") != nullptr) {
        return fmt::format("takes each parameter of a kernel behind a -p, as in -p {}", first);
    }
    return "takes no further word such as " + all;
}

} // namespace

std::string complaintAbout(const CommandLine& line, const CLI::ParseError& error)
{
    const CLI::App& command = commandOf(line);
    const std::string name = line.commandName();
    const std::string said = oneLine(error.what());
    const std::vector<std::string> unknown = line.app.remaining(true);
    std::string text = "The command line is not understood: " + said;
    if (const CLI::Option* missing = missingOf(command);
        missing != nullptr && is<CLI::RequiredError>(error)) {
        text =
            fmt::format("`{}` needs {}: {}", name, missing->get_name(), missing->get_description());
    } else if (const CLI::Option* option = optionIn(said, command);
               option != nullptr && is<CLI::ArgumentMismatch>(error)) {
        text = fmt::format("{} needs {}: {}", option->get_name(), needed(*option),
                           option->get_description());
    } else if (option != nullptr && is<CLI::ConversionError>(error)) {
        text = fmt::format("{} cannot be {}; expected {}: {}", option->get_name(),
                           fmt::join(option->results(), " "), typeText(*option),
                           option->get_description());
    } else if (is<CLI::ExtrasError>(error) && !unknown.empty()) {
        text = fmt::format("`{}` {}", name, aboutUnknown(unknown, command, line));
    }
    return fmt::format("{}; `{} --help` says what it understands.", text, name);
}

} // namespace pallascope::app
