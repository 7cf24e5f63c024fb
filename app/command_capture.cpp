#include "app/commands.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pallascope::app {

namespace {

// Is found, and so is JAX, which it needs.
constexpr const char* kLooksForPackage =
    "import importlib.util as i, sys; "
    "sys.exit(10 + 2 * (not i.find_spec('pallascope')) + (not i.find_spec('jax')))";
constexpr int kBothFound = 10, kNoJax = 11, kLastAnswer = 13;

// As a person would type it.
std::string quoted(const std::string& word)
{
    constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "_-./:=@%+,";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
        return word;
    }
    std::string text = "'";
    for (const char c : word) {
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text + "'";
}

// The exit code; 128 and the signal where one ended it.
Result<int> run(const std::vector<std::string>& command)
{
    std::vector<std::string> words = command;
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    pid_t process = 0;
    const int error =
        posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(), environ);
    if (error != 0) {
        return userError(fmt::format(
            "Cannot run the Python {}: {}; --python or PALLASCOPE_PYTHON says which is right.",
            command.front(), std::strerror(error)));
    }
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Status checkPython(const std::string& python)
{
    const Result<int> answer = run({python, "-c", kLooksForPackage});
    if (!answer) {
        return answer.error();
    }
    if (*answer == kBothFound) {
        return Done{};
    }
    if (*answer < kBothFound || *answer > kLastAnswer) {
        return userError(
            fmt::format("{} is no Python 3: it exits with {} when asked for a package; "
                        "--python or PALLASCOPE_PYTHON says which is right.",
                        python, *answer));
    }
    return userError(fmt::format("{} has no package {}; `{} -m pip install {}` installs it.",
                                 python, *answer == kNoJax ? "jax" : "pallascope", quoted(python),
                                 *answer == kNoJax ? "'jax[cpu]'" : "./kernels/jax 'jax[cpu]'"));
}

} // namespace

int captureCommand(const CaptureCommand& command)
{
    const char* const named = std::getenv("PALLASCOPE_PYTHON");
    const std::string python = !command.python.empty()           ? command.python
                               : named != nullptr && *named != 0 ? named
                                                                 : "python3";
    if (const Status found = checkPython(python); !found) {
        return complain(found.error());
    }
    std::vector<std::string> words{python, "-m", "pallascope", "capture", command.function};
    for (const std::string& argument : command.arguments) {
        words.insert(words.end(), {"--arg", argument});
    }
    words.insert(words.end(), {"--output", command.output});
    for (const auto& [option, value] : command.options) {
        if (!value.empty()) {
            words.insert(words.end(), {option, value});
        }
    }
    std::string line;
    for (const std::string& word : words) {
        line += " " + quoted(word);
    }
    fmt::print(stderr, "${}\n", line);
    const Result<int> code = run(words);
    return code ? *code : complain(code.error());
}

} // namespace pallascope::app
