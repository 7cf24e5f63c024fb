#include "app/window/window_app.h"

#include "app/process/diagnostics.h"
#include "app/process/exit_codes.h"
#include "app/run_job/chips.h"
#include "app/window/docks.h"
#include "app/window/first_minute.h"
#include "app/window/main_window.h"
#include "app/window/qt_messages.h"
#include "app/window/remembered.h"
#include "app/window/text_size.h"
#include "core/base/check.h"
#include "core/base/whole_file.h"
#include "views/fonts.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"
#include "views/layout/scene/svg.h"
#include "views/scene_painter.h"
#include "views/style.h"

#include <QApplication>
#include <QBuffer>
#include <QFile>
#include <QImage>
#include <QPainter>
#include <QProcess>
#include <QScreen>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

namespace pallascope::app {
namespace {

constexpr double kMostPixels =
    16384; // of a side; with more, QImage cannot allocate on small machines

bool hasDisplay()
{
    const auto set = [](const char* name) {
        const char* value = std::getenv(name);
        return value != nullptr && *value != '\0';
    };
    return set("DISPLAY") || set("WAYLAND_DISPLAY") || set("QT_QPA_PLATFORM");
}

// Makes an application for pictures. In the window and in tests there is one already; otherwise it
// does not need a display.
std::unique_ptr<QApplication> applicationForPictures()
{
    if (QCoreApplication::instance() != nullptr) {
        return nullptr;
    }
    takeQtMessages(QtMessages::Dropped);
    qputenv("QT_QPA_PLATFORM", "offscreen");
    // So that Qt does not make this folder, which pictures do not need.
    qputenv("XDG_RUNTIME_DIR", "/dev/null");
    static int count = 1;
    static char name[] = "pallascope";
    static char* arguments[] = {name, nullptr};
    auto application = std::make_unique<QApplication>(count, arguments);
    views::dressApplication();
    return application;
}

} // namespace

void openAnother(const std::string& file)
{
    // Without a QApplication, only Linux says where the program lies.
    QProcess::startDetached(QFile::symLinkTarget(QStringLiteral("/proc/self/exe")),
                            {QStringLiteral("open"), QString::fromStdString(file)});
}

namespace {

// One window from its start to its end; `shown` is what it begins with, if anything, and what it
// showed last. Returns the size of texts with which another one is to begin; none: the program
// ends.
std::optional<int> runOneWindow(int& argc, char** argv, const std::optional<RunRequest>& request,
                                const std::optional<std::string>& file,
                                std::optional<MainWindow::State>& shown)
{
    QApplication application(argc, argv);
    views::dressApplication();
    MainWindow window;
    auto* remembered = new Remembered(window); // the window owns it
    Session& session = window.session();
    std::optional<int> next;
    QObject::connect(&window, &MainWindow::textSizeAsked, &window, [&](int size) {
        next = size;
        remembered->keepTextSize(size);
        shown = window.state();
        window.close();
        QCoreApplication::quit();
    });
    if (shown) { // with larger texts it would be larger than the screen
        window.resize(window.size().boundedTo(window.screen()->availableSize()));
    }
    window.show();
    if (shown) {
        window.goOn(*shown);
    } else if (file) {
        session.open(views::text(*file));
    } else {
        // The times of the main job do not need all values.
        session.runs().start(
            request.value_or(RunRequest{.chip = kUsualChip, .fullValues = false, .check = false}));
    }
    const int code = QApplication::exec();
    PALLASCOPE_CHECK(code == kFine);
    return next;
}

} // namespace

int runWindow(int argc, char** argv, std::optional<RunRequest> request,
              std::optional<std::string> file)
{
    if (!hasDisplay()) {
        say("There is no display to open a window on; `pallascope run matmul` works without one.");
        return kWrongInput;
    }
    takeQtMessages(QtMessages::Shown);
    std::optional<MainWindow::State> shown;
    for (std::optional<int> size = Remembered::textSize(); size;) {
        scaleApplication(*size);
        size = runOneWindow(argc, argv, request, file, shown);
    }
    return kFine;
}

Status saveWindowPicture(const FinishedRun& run, const layout::ViewState& state, layout::Size size,
                         layout::Theme theme, const std::string& path, int callout, int textPercent,
                         const LessonPlace& lesson)
{
    if (!(size.width >= 1 && size.height >= 1 && size.width <= kMostPixels
          && size.height <= kMostPixels)) {
        return userError("A picture of the window needs a size from 1x1 to 16384x16384 pixels.");
    }
    if (QCoreApplication::instance() == nullptr) {
        scaleApplication(std::max(textPercent, kUsualTextSize));
    }
    const auto application = applicationForPictures();
    const QSize pixels(static_cast<int>(size.width), static_cast<int>(size.height));
    // What is smaller than usual is painted so: Qt cuts what has fewer pixels than units.
    const double painted = std::min(1.0, static_cast<double>(textPercent) / kUsualTextSize);
    const double scale = painted * textSize() / kUsualTextSize;
    MainWindow window;
    window.setAttribute(Qt::WA_DontShowOnScreen);
    window.setMinimumSize(1, 1);
    window.resize(static_cast<int>(std::ceil(pixels.width() / scale)),
                  static_cast<int>(std::ceil(pixels.height() / scale)));
    window.session().setTheme(theme);
    window.show();
    window.session().runs().adopt(run);
    window.session().lesson().goOn(lesson);
    for (std::size_t i = 0; state.breaks != nullptr && i < state.breaks->size(); ++i) {
        if (Status added = window.session().breakpoints().add((*state.breaks)[i].name); !added) {
            return added;
        }
    }
    window.session().viewpoint().look(state);
    if (lesson.lesson) {
        window.docks().reveal(views::text(window.session().lesson().step().view));
    }
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
    if (callout > 0) {
        window.firstMinute().show(callout - 1);
        QCoreApplication::processEvents();
    }
    if (painted < 1) {
        QImage image(pixels, QImage::Format_RGB32);
        QPainter painter(&image);
        painter.scale(painted, painted);
        window.render(&painter);
        painter.end();
        return saveImage(image, path);
    }
    return saveImage(window.grab().toImage().copy(QRect(QPoint(0, 0), pixels)), path);
}

Status savePicture(const layout::Scene& scene, layout::Theme theme, const std::string& path,
                   double scale)
{
    if (path.ends_with(".svg")) {
        return writeFile(path, layout::toSvg(scene, theme, scale));
    }
    const double width = scene.width * scale, height = scene.height * scale;
    if (!(width >= 1 && height >= 1 && width <= kMostPixels && height <= kMostPixels)) {
        return userError("A picture needs a size from 1x1 to 16384x16384 pixels.");
    }
    const auto application = applicationForPictures();
    return saveImage(views::render(scene, theme, scale), path);
}

Status saveImage(const QImage& image, const std::string& path)
{
    if (path.ends_with(".svg")) {
        return userError("The whole window is saved as .png only; single views also as .svg.");
    }
    QByteArray bytes;
    QBuffer buffer(&bytes);
    if (!buffer.open(QIODevice::WriteOnly) || !image.save(&buffer, "PNG")) {
        return userError("Cannot write \"" + path + "\": the picture has no pixels.");
    }
    return writeFile(path, {bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

} // namespace pallascope::app
