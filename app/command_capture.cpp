#include "app/commands.h"
#include "app/diagnostics.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pallascope::app {

namespace {

constexpr const char* kSetBy = "--python";

// The exit code; 128 and the signal where one ended it.
Result<int> run(const CaptureRequest& request, std::vector<std::string> words)
{
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    pid_t process = 0;
    const int error =
        posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(), environ);
    if (error != 0) {
        return cannotRun(request, std::strerror(error), kSetBy);
    }
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

int captureCommand(const CaptureRequest& request)
{
    const Result<int> answer = run(request, questionWords(request));
    if (!answer) {
        return complain(answer.error());
    }
    if (const Status found = answerTo(request, *answer, kSetBy); !found) {
        return complain(found.error());
    }
    const std::vector<std::string> words = captureWords(request);
    say("$ " + typed(words));
    const Result<int> code = run(request, words);
    return code ? *code : complain(code.error());
}

} // namespace pallascope::app
