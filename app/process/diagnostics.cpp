#include "app/process/diagnostics.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace pallascope::app {

namespace {

// Uses fwrite because fmt::print throws if the stream fails.
void write(const std::string& text)
{
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
    (void)std::fflush(stderr);
}

} // namespace

void holdStandardStreams()
{
    // Standard output is opened for reading only, so that writing a report to it still fails.
    constexpr std::array<int, 3> kModes{O_RDONLY, O_RDONLY, O_WRONLY};
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
            // open() takes the lowest free descriptor, which is this one.
            (void)::open("/dev/null", kModes[static_cast<std::size_t>(descriptor)]);
        }
    }
    // A reader of standard error that has gone away must not end a run.
    std::signal(SIGPIPE, SIG_IGN);
    // A file over the shell's size limit counts as one that cannot be written; the signal would end
    // the process.
    std::signal(SIGXFSZ, SIG_IGN);
}

void say(std::string_view line)
{
    write(std::string(line) + "\n");
}

void showOnTerminal(std::string_view text)
{
    if (isatty(STDERR_FILENO) != 0) {
        write("\r" + std::string(text) + "\033[K");
    }
}

bool flushOutput(int fault)
{
    static bool g_told = false; // it is said only once
    errno = fault;
    const bool failed = std::fflush(stdout) != 0;
    if (!failed && std::ferror(stdout) == 0) {
        return true;
    }
    const int reason = errno;
    if (reason == EPIPE) { // `| head` has seen enough: the process ends as any other program does
        std::signal(SIGPIPE, SIG_DFL);
        (void)std::raise(SIGPIPE);
    }
    if (!g_told) {
        say("Cannot write to standard output: " + std::string(std::strerror(reason)) + ".");
    }
    g_told = true;
    return false;
}

} // namespace pallascope::app
