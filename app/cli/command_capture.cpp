// The command `capture`: runs the Python package that captures a kernel, and waits for it.
#include "app/cli/commands.h"
#include "app/process/diagnostics.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pallascope::app {

namespace {

constexpr const char* kSetBy = "--python";

// Gives a process that this one starts the usual signals, as this process had when it was started.
// Signals that this process ignores would otherwise be ignored there, too.
class UsualSignals
{
public:
    UsualSignals()
    {
        sigset_t signals = {};
        sigemptyset(&signals);
        for (const int usual : {SIGPIPE, SIGINT, SIGXFSZ}) {
            sigaddset(&signals, usual);
        }
        posix_spawnattr_init(&m_attributes);
        posix_spawnattr_setsigdefault(&m_attributes, &signals);
        posix_spawnattr_setflags(&m_attributes, POSIX_SPAWN_SETSIGDEF);
    }

    ~UsualSignals() { posix_spawnattr_destroy(&m_attributes); }

    UsualSignals(const UsualSignals&) = delete;
    UsualSignals& operator=(const UsualSignals&) = delete;

    [[nodiscard]] const posix_spawnattr_t* get() const { return &m_attributes; }

private:
    posix_spawnattr_t m_attributes{};
};

// Global, because the signal handler uses them.
std::atomic<pid_t> g_python{0};
std::atomic<int> g_heard{0}; // the last signal that asked for an end
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

// Ctrl-C reaches Python from the terminal, and Python says itself what it did. A signal to this
// process alone is passed on.
void passOn(int signal, siginfo_t* info, void* /*context*/)
{
    g_heard = signal;
    if (info->si_code != SI_KERNEL && g_python > 0) {
        ::kill(g_python, signal);
    }
}

void passSignalsOn()
{
    struct sigaction action = {};
    action.sa_sigaction = passOn;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        sigaction(signal, &action, nullptr);
    }
}

// Returns the exit code, or 128 plus the number of the signal that ended the process.
Result<int> run(const CaptureRequest& request, std::vector<std::string> words)
{
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    pid_t process = 0;
    const UsualSignals signals;
    const int error =
        posix_spawnp(&process, arguments[0], nullptr, signals.get(), arguments.data(), environ);
    if (error != 0) {
        return cannotRun(request, std::strerror(error), kSetBy);
    }
    g_python = process;
    if (const int heard = g_heard; heard != 0) { // before the handler knew whom to tell
        ::kill(process, heard);
    }
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    g_python = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The package uses the same exit codes as this program. A Python that was killed, or that the
// captured file ended, does not.
int codeOf(int ended)
{
    switch (ended) {
    case kFine:
    case kWrongInput:
    case kInternalError:
    case kInterrupted:
        return ended;
    case 128 + SIGTERM:
    case 128 + SIGHUP:
        return kInterrupted;
    default:
        return complain(userError(fmt::format(
            "Python ended with {} before it said whether the kernel is captured.", ended)));
    }
}

} // namespace

int captureCommand(const CaptureRequest& request)
{
    if (const Status writable = checkPlaces({request.output}); !writable) {
        return complain(writable.error());
    }
    passSignalsOn();
    prepareEnvironment();
    const Result<int> answer = run(request, questionWords(request));
    if (!answer) {
        return complain(answer.error());
    }
    if (g_heard != 0) {
        return kInterrupted;
    }
    if (const Status found = answerTo(request, *answer, kSetBy); !found) {
        return complain(found.error());
    }
    const std::vector<std::string> words = captureWords(request);
    say("$ " + typed(words));
    const Result<int> code = run(request, words);
    return code ? codeOf(*code) : complain(code.error());
}

} // namespace pallascope::app
