#include "app/cli/manual.h"

#include "app/capture/capture.h"
#include "views/layout/views.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <vector>

namespace pallascope::app {

namespace {

// Text for groff: hyphens that can be copied, no bare backslash, and no request at the beginning of
// a line.
std::string groff(const std::string& text)
{
    std::string found;
    for (const char c : text) {
        found += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    }
    return found.starts_with('.') || found.starts_with('\'') ? "\\&" + found : found;
}

std::string optionHead(const CLI::Option& option)
{
    if (option.get_positional()) {
        return fmt::format("\\fI{}\\fR", groff(option.get_name()));
    }
    std::string head;
    for (const std::string& name : option.get_snames()) {
        head += fmt::format("\\fB\\-{}\\fR, ", groff(name));
    }
    for (const std::string& name : option.get_lnames()) {
        head += fmt::format("\\fB\\-\\-{}\\fR", groff(name));
    }
    return head + (option.get_items_expected_max() > 0 ? " \\fIVALUE\\fR" : "");
}

// The options of a command and of its groups, which are subcommands without a name.
std::vector<const CLI::Option*> allOptions(const CLI::App& command)
{
    std::vector<const CLI::Option*> found = command.get_options();
    for (const CLI::App* group : command.get_subcommands({})) {
        if (group->get_name().empty()) {
            const std::vector<const CLI::Option*> inner = allOptions(*group);
            found.insert(found.end(), inner.begin(), inner.end());
        }
    }
    return found;
}

std::string optionsOf(const CLI::App& command)
{
    std::string text;
    for (const CLI::Option* option : allOptions(command)) {
        text +=
            fmt::format(".TP\n{}\n{}.\n", optionHead(*option), groff(option->get_description()));
    }
    return text;
}

std::vector<const CLI::App*> commandsOf(const CLI::App& app)
{
    std::vector<const CLI::App*> commands;
    for (const CLI::App* command : app.get_subcommands({})) {
        if (!command->get_name().empty()
            && !command->get_group().empty()) { // hidden commands have no group
            commands.push_back(command);
        }
    }
    return commands;
}

constexpr const char* kLastSections = R"(.SH EXIT STATUS
.TP
0
Fine.
.TP
1
Findings, failed checks or failed conditions.
.TP
2
Refused, or an output that cannot be written; one sentence on standard error says why.
.TP
3
A mistake of the program's own.
.TP
130
Interrupted.
.SH ENVIRONMENT
.TP
PALLASCOPE_PYTHON
The Python that \fBcapture\fR runs; without it, python3.
)";

} // namespace

std::string manualPage(const CLI::App& app, const std::string& version)
{
    std::string text = fmt::format(".TH PALLASCOPE 1 \"\" \"Pallascope {}\" \"User commands\"\n"
                                   ".SH NAME\npallascope \\- watch Pallas kernels run on a model "
                                   "of a chip\n.SH SYNOPSIS\n\\fBpallascope\\fR "
                                   "[\\fICOMMAND\\fR [\\fIOPTIONS\\fR]]\n.SH DESCRIPTION\n{}\n"
                                   ".SH COMMANDS\n",
                                   groff(version), groff(app.get_description()));
    for (const CLI::App* command : commandsOf(app)) {
        text += fmt::format(".SS \"{}\"\n{}.\n{}", groff(command->get_name()),
                            groff(command->get_description()), optionsOf(*command));
    }
    return text + kLastSections;
}

namespace {

// The words that may follow an option, or stand for an argument, if they are few.
struct Words
{
    const char* option;
    std::string words; // the words, or a shell command that prints them
    bool isCommand = false;
};

std::string viewWords()
{
    std::string words;
    for (const layout::View& view : layout::allViews()) {
        words += std::string(view.name) + " ";
    }
    return words + "window";
}

const std::vector<Words>& allWords()
{
    static const std::vector<Words> kWords = {
        {"what", "kernels chips settings"},
        {"kernel", "pallascope list kernels 2>/dev/null | cut -d' ' -f1", true},
        {"--chip", "pallascope list chips 2>/dev/null | cut -d' ' -f1", true},
        {"--values", "full needed"},
        {"--theme", "light dark"},
        {"--view", viewWords()},
        {"shell", "bash zsh fish"},
    };
    return kWords;
}

const Words* wordsOf(const CLI::App& command, const std::string& option)
{
    if (option == "what" && command.get_name() != "list") {
        return nullptr; // describe takes a file as well
    }
    for (const Words& words : allWords()) {
        if (option == words.option) {
            return &words;
        }
    }
    return nullptr;
}

std::string longName(const CLI::Option& option)
{
    return option.get_positional() ? option.get_name() : "--" + option.get_lnames().front();
}

std::string bashWords(const Words& words)
{
    return words.isCommand ? fmt::format("$({})", words.words) : words.words;
}

std::string bash(const CLI::App& app)
{
    std::string names, cases;
    for (const CLI::App* command : commandsOf(app)) {
        names += (names.empty() ? "" : " ") + command->get_name();
        std::string options, places, values;
        for (const CLI::Option* option : allOptions(*command)) {
            const std::string name = longName(*option);
            const Words* words = wordsOf(*command, name);
            if (option->get_positional()) {
                places = words != nullptr ? bashWords(*words) : places;
                continue;
            }
            options += (options.empty() ? "" : " ") + name;
            if (words != nullptr) {
                values += fmt::format("            {}) words=\"{}\" ;;\n", name, bashWords(*words));
            }
        }
        cases += fmt::format("    {})\n        words=\"{}\"\n        [[ $current == -* ]] && "
                             "words=\"{}\"\n        case $before in\n{}            *) ;;\n        "
                             "esac\n        ;;\n",
                             command->get_name(), places, options, values);
    }
    return fmt::format("# Completion of pallascope for bash.\n_pallascope() {{\n"
                       "    local current=${{COMP_WORDS[COMP_CWORD]}} "
                       "before=${{COMP_WORDS[COMP_CWORD - 1]}} words=\"\"\n"
                       "    case ${{COMP_WORDS[1]}} in\n{}    *) ;;\n    esac\n"
                       "    [[ $COMP_CWORD -eq 1 ]] && words=\"{}\"\n"
                       "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}}\n"
                       "complete -o default -F _pallascope pallascope\n",
                       cases, names);
}

// The text as one word of a shell.
std::string quoted(const std::string& text)
{
    return typed({text});
}

// Text for zsh's _arguments, where brackets and colons have a meaning.
std::string zshText(const std::string& text)
{
    std::string found;
    for (const char c : text) {
        found += c == '[' || c == ']' || c == ':' || c == '\\' ? std::string("\\") + c
                                                               : std::string(1, c);
    }
    return found;
}

std::string zsh(const CLI::App& app)
{
    std::string names, cases;
    for (const CLI::App* command : commandsOf(app)) {
        names += "        "
                 + quoted(command->get_name() + ":" + zshText(command->get_description())) + "\n";
        std::string options;
        for (const CLI::Option* option : allOptions(*command)) {
            const std::string name = longName(*option);
            const Words* words = wordsOf(*command, name);
            const std::string action = words == nullptr   ? "_files"
                                       : words->isCommand ? fmt::format("($({}))", words->words)
                                                          : fmt::format("({})", words->words);
            const std::string text = zshText(option->get_description());
            options += " \\\n            "
                       + quoted(option->get_positional() ? "*:" + name + ":" + action
                                : option->get_items_expected_max() == 0
                                    ? name + "[" + text + "]"
                                    : "*" + name + "[" + text + "]:value:" + action);
        }
        cases += fmt::format("    {})\n        _arguments -s{}\n        ;;\n", command->get_name(),
                             options);
    }
    return fmt::format(
        "#compdef pallascope\n# Completion of pallascope for zsh.\n_pallascope() {{\n"
        "    local -a commands=(\n{}    )\n"
        "    if (( CURRENT == 2 )); then\n        _describe command commands\n"
        "        return\n    fi\n    local command=$words[2]\n    shift words\n"
        "    (( CURRENT-- ))\n    case $command in\n{}    esac\n}}\n"
        "_pallascope \"$@\"\n",
        names, cases);
}

std::string fish(const CLI::App& app)
{
    std::string text = "# Completion of pallascope for fish.\n";
    for (const CLI::App* command : commandsOf(app)) {
        text += fmt::format("complete -c pallascope -n __fish_use_subcommand -a {} -d {}\n",
                            command->get_name(), quoted(command->get_description()));
        for (const CLI::Option* option : allOptions(*command)) {
            const std::string name = longName(*option);
            const Words* words = wordsOf(*command, name);
            const std::string values =
                words == nullptr ? ""
                : words->isCommand
                    ? fmt::format(" -a {}", quoted("(" + std::string(words->words) + ")"))
                    : fmt::format(" -a {}", quoted(words->words));
            const std::string head = fmt::format(
                "complete -c pallascope -n '__fish_seen_subcommand_from {}'", command->get_name());
            if (option->get_positional()) {
                text += values.empty() ? "" : head + values + "\n";
                continue;
            }
            text += fmt::format("{} -l {} -d {}{}{}\n", head, name.substr(2),
                                quoted(option->get_description()),
                                option->get_items_expected_max() > 0 ? " -r" : "", values);
        }
    }
    return text;
}

} // namespace

std::string completions(const CLI::App& app, const std::string& shell)
{
    return shell == "bash"   ? bash(app)
           : shell == "zsh"  ? zsh(app)
           : shell == "fish" ? fish(app)
                             : "";
}

} // namespace pallascope::app
