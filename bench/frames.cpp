// Measures how long the window's thread is busy for one frame while a run plays, at 1920 x 1080,
// and how soon after the window opens its first picture is there. Run it under an X server
// (xvfb-run): the offscreen platform does not paint to a screen. A file may be named, which is
// played as well. On a machine that others use too, the processor's time says more than that of the
// clock.
#include "app/run_job/run_job.h"
#include "app/window/main_window.h"
#include "views/style.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QWindow>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace pallascope;

constexpr int kFrames = 300;

double milliseconds(const QElapsedTimer& timer)
{
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

double processorMilliseconds() // of this thread
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Times // ms of each frame
{
    std::vector<double> clock, processor;
};

// Everything that a change of the playhead leads to: layout, painting, and sending it to the
// screen.
void frame(app::MainWindow& window, Picoseconds now, Times& times)
{
    QElapsedTimer timer;
    timer.start();
    const double begin = processorMilliseconds();
    window.session().viewpoint().setNow(now);
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
    times.processor.push_back(processorMilliseconds() - begin);
    times.clock.push_back(milliseconds(timer));
}

void print(const char* what, std::vector<double> times)
{
    std::sort(times.begin(), times.end());
    std::printf("; %s: median %.1f ms, p99 %.1f ms, largest %.1f ms", what, times[times.size() / 2],
                times[times.size() * 99 / 100], times.back());
}

void measure(const std::string& name, const app::FinishedRun& run)
{
    QElapsedTimer timer;
    timer.start();
    app::MainWindow window;
    window.resize(1920, 1080);
    window.show();
    window.session().runs().adopt(run);
    while (!window.windowHandle()->isExposed()) {
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
    const double first = milliseconds(timer);
    const std::int64_t end = run.view->trace->end().value();
    Times times;
    for (int i = 0; i < kFrames; ++i) {
        frame(window, Picoseconds(end / kFrames * i), times);
    }
    std::printf("%s: first frame %.0f ms", name.c_str(), first);
    print("by the clock", std::move(times.clock));
    print("of the processor", std::move(times.processor));
    std::printf("\n");
    std::fflush(stdout);
}

bool measure(const std::string& name, const Result<app::FinishedRun>& run)
{
    if (!run) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), run.error().message.c_str());
        return false;
    }
    measure(name, *run);
    return true;
}

app::RunRequest matmul(const char* size, const char* block)
{
    app::RunRequest request{.chip = "tpu_v5e", .check = false};
    request.fullValues = false;
    for (const char* axis : {"m", "n", "k"}) {
        request.parameters[axis] = size;
        request.parameters[std::string("b") + axis] = block;
    }
    return request;
}

} // namespace

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    views::dressApplication();
    const std::string platform = QGuiApplication::platformName().toStdString();
    if (platform != "xcb") {
        std::printf("skipped: the platform is %s, and frames are measured on xcb (xvfb-run)\n",
                    platform.c_str());
        return 0;
    }
    bool fine = measure("matmul 4096\u00b3 in 512-blocks", app::runKernel(matmul("4096", "512")));
    fine = measure("262 144 steps", app::runKernel(matmul("8192", "128"))) && fine;
    for (int i = 1; i < argc; ++i) {
        fine = measure(argv[i], app::openFile(argv[i])) && fine;
    }
    return fine ? 0 : 1;
}
