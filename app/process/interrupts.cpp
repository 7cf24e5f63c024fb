#include "app/process/interrupts.h"

#include "app/process/diagnostics.h"
#include "app/process/exit_codes.h"
#include "core/base/whole_file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>

namespace pallascope::app {

namespace {

// These are global because the signal handler uses them.
std::atomic<bool> g_interrupted{false}, g_heard{false};
std::atomic<int> g_wake{-1}; // the end of a pipe to which the handler writes
// The function of BeforeEnding. The mutex is held while it runs.
std::function<std::string()> g_last;
std::mutex g_lastMutex;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void note(int /*signal*/)
{
    const int kept = errno;
    g_interrupted = true;
    const char any = 0;
    [[maybe_unused]] const ssize_t written = ::write(g_wake, &any, 1);
    errno = kept;
}

// Waits for a signal, and then for somebody to call interrupted().
void watch(int wake)
{
    char any = 0;
    ssize_t count = 0;
    do {
        count = ::read(wake, &any, 1);
    } while (count < 0 && errno == EINTR);
    if (count != 1) {
        return;
    }
    constexpr std::chrono::milliseconds kPatience(150), kBetween(10);
    for (auto waited = kBetween; waited <= kPatience && !g_heard; waited += kBetween) {
        std::this_thread::sleep_for(kBetween);
    }
    if (!g_heard) {                              // one long operation keeps the process busy
        const std::lock_guard lock(g_lastMutex); // kept until the process ends
        const std::string line = g_last ? g_last() : "Interrupted.";
        removeTemporaryFiles();
        say(line);
        ::_exit(kInterrupted);
    }
}

} // namespace

void catchInterrupts()
{
    if (g_wake >= 0) {
        return;
    }
    std::array<int, 2> ends{};
    // Without a pipe, signals are noticed only where interrupted() is called.
    if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
        g_wake = ends[1];
        std::thread(watch, ends[0]).detach();
    }
    struct sigaction action = {};
    action.sa_handler = note;
    // With this flag a second Ctrl-C ends the process at once.
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool interrupted()
{
    g_heard = g_heard || g_interrupted;
    return g_interrupted;
}

BeforeEnding::BeforeEnding(std::function<std::string()> last)
{
    const std::lock_guard lock(g_lastMutex);
    g_last = std::move(last);
}

BeforeEnding::~BeforeEnding()
{
    const std::lock_guard lock(g_lastMutex);
    g_last = {};
}

} // namespace pallascope::app
