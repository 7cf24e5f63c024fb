#include "app/capture/capture.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

namespace pallascope::app {

namespace {

namespace fs = std::filesystem;

// Looks for the package pallascope and for JAX, which it needs.
constexpr const char* kLooksForPackage =
    "import importlib.util as i, sys; "
    "sys.exit(10 + 2 * (not i.find_spec('pallascope')) + (not i.find_spec('jax')))";
constexpr int kBothFound = 10, kNoJax = 11, kLastAnswer = 13;

std::string pythonOf(const CaptureRequest& request)
{
    const char* const named = std::getenv("PALLASCOPE_PYTHON");
    return !request.python.empty()           ? request.python
           : named != nullptr && *named != 0 ? named
                                             : "python3";
}

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

} // namespace

std::vector<std::string> captureWords(const CaptureRequest& request)
{
    std::vector<std::string> words{pythonOf(request), "-m", "pallascope", "capture",
                                   request.function};
    for (const std::string& argument : request.arguments) {
        words.insert(words.end(), {"--arg", argument});
    }
    words.insert(words.end(), {"--output", request.output});
    words.insert(words.end(), request.more.begin(), request.more.end());
    return words;
}

std::vector<std::string> questionWords(const CaptureRequest& request)
{
    return {pythonOf(request), "-c", kLooksForPackage};
}

void prepareEnvironment()
{
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        ::setenv("PALLASCOPE_PROGRAM", program.c_str(), 1);
    }
    const fs::path folder = program.parent_path().parent_path() / "share/pallascope/python";
    if (error || !fs::is_regular_file(folder / "pallascope/__main__.py", error)) {
        return; // the program runs from a build folder
    }
    const char* const named = std::getenv("PYTHONPATH");
    std::string all = named == nullptr ? "" : named;
    if ((":" + all + ":").find(":" + folder.string() + ":") == std::string::npos) {
        all += (all.empty() ? "" : ":") + folder.string();
        ::setenv("PYTHONPATH", all.c_str(), 1);
    }
}

Status answerTo(const CaptureRequest& request, int exitCode, const std::string& setBy)
{
    if (exitCode == kBothFound) {
        return Done{};
    }
    const std::string python = pythonOf(request);
    if (exitCode < kBothFound || exitCode > kLastAnswer) {
        return userError(fmt::format("{} is no Python 3: it exits with {} when asked for a "
                                     "package; {} or PALLASCOPE_PYTHON says which one to use.",
                                     python, exitCode, setBy));
    }
    // It recommends a virtual environment because Debian's own Python lets pip install nothing
    // outside of one.
    const std::string packages = exitCode == kNoJax ? "'jax[cpu]'" : "./kernels/jax 'jax[cpu]'";
    return userError(fmt::format(
        "{} has no package {}; `{} -m venv jax && jax/bin/pip install {}` makes a Python "
        "that has it, and {} or PALLASCOPE_PYTHON=jax/bin/python names it.",
        python, exitCode == kNoJax ? "jax" : "pallascope", quoted(python), packages, setBy));
}

Error cannotRun(const CaptureRequest& request, const std::string& why, const std::string& setBy)
{
    return userError(
        fmt::format("Cannot run the Python {}: {}; {} or PALLASCOPE_PYTHON says which one to use.",
                    pythonOf(request), why, setBy));
}

std::string typed(const std::vector<std::string>& words)
{
    std::string line;
    for (const std::string& word : words) {
        line += (line.empty() ? "" : " ") + quoted(word);
    }
    return line;
}

std::vector<std::string> wordsOf(const std::string& text)
{
    std::vector<std::string> words;
    std::string word;
    char quote = 0;
    int depth = 0;
    bool open = false; // whether a word has begun; an empty word in quotes counts
    for (const char c : text) {
        const bool mark = c == '\'' || c == '"';
        if (mark && (quote == 0 || quote == c)) {
            quote = quote == 0 ? c : '\0';
            open = true;
            continue;
        }
        depth += quote != 0 ? 0 : c == '[' ? 1 : c == ']' && depth > 0 ? -1 : 0;
        if (quote == 0 && depth == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            if (open) {
                words.push_back(std::move(word));
            }
            word.clear();
            open = false;
            continue;
        }
        word += c;
        open = true;
    }
    if (open) {
        words.push_back(word);
    }
    return words;
}

std::string lastWords(const std::string& standardError)
{
    constexpr const char* kPrefix = "pallascope: ";
    std::string text = standardError.substr(0, standardError.find_last_not_of(" \n") + 1);
    const std::size_t own = text.rfind(std::string("\n") + kPrefix);
    const std::size_t begin = own == std::string::npos ? 0 : own + 1;
    if (text.compare(begin, std::string(kPrefix).size(), kPrefix) == 0) {
        return text.substr(begin + std::string(kPrefix).size());
    }
    // If there is no newline, npos + 1 is 0: the whole text.
    return text.substr(text.rfind('\n') + 1);
}

} // namespace pallascope::app
