#include "app/window/main_window.h"

#include "app/window/capture_dialog.h"
#include "app/window/command_palette.h"
#include "app/window/docks.h"
#include "app/window/file_dialogs.h"
#include "app/window/first_minute.h"
#include "app/window/help.h"
#include "app/window/palette_entries.h"
#include "app/window/run_title.h"
#include "app/window/sweep_dialog.h"
#include "app/window/text_size.h"
#include "app/window/transport_bar.h"
#include "app/window/verdict_strip.h"
#include "app/window/window_app.h"
#include "core/base/format.h"
#include "views/fonts.h"
#include "views/layout/program/program.h"
#include "views/layout/scene/header.h"
#include "views/layout/views.h"
#include "views/style.h"

#include <QApplication>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenuBar>
#include <QMimeData>
#include <QVBoxLayout>

namespace pallascope::app {
namespace {

using namespace Qt::StringLiterals;

constexpr QSize kFirstSize(1280, 800);
constexpr QSize kLeastSize(960, 640);
constexpr int kMenuHeight = 25;

// With large texts the window must fit on a screen of 1280x800 all the same.
QSize leastSize()
{
    constexpr double kFits = 125; // percent
    return kLeastSize * std::min(1.0, kFits / textSize());
}

QStringList localFiles(const QMimeData& data)
{
    QStringList paths;
    for (const QUrl& url : data.urls()) {
        if (url.isLocalFile()) {
            paths.append(url.toLocalFile());
        }
    }
    return paths;
}

} // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent)
{
    setWindowTitle(u"Pallascope"_s);
    setFont(views::font(11));
    setMinimumSize(leastSize());
    setAcceptDrops(true);
    setDockNestingEnabled(true);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    setContextMenuPolicy(Qt::DefaultContextMenu);
    m_docks = new Docks(m_session, *this);
    buildBars();
    m_palette = new CommandPalette(this);
    m_firstMinute = new FirstMinute(*this);
    m_files = new FileDialogs(m_session, *this);
    m_capture = new CaptureDialog(this);
    m_sweep = new SweepDialog(this);
    connectSession();
    connectFocus();
    applyTheme();
    resize(kFirstSize * kUsualTextSize / textSize()); // on the screen the same
    m_docks->arrange(size());
}

MainWindow::~MainWindow() = default;

MainWindow::State MainWindow::state() const
{
    return {m_session.state(), m_docks->values()->state()};
}

void MainWindow::goOn(const State& state)
{
    m_session.goOn(state.session);
    m_docks->values()->goOn(state.values);
}

// The menu, the transport and the verdict form one block on top; the docks fill the rest.
void MainWindow::buildBars()
{
    auto* block = new QWidget(this);
    auto* bar = new QMenuBar(block);
    bar->setFixedHeight(kMenuHeight);
    bar->setNativeMenuBar(false);
    m_title = new RunTitle(block);
    m_transport = new TransportBar(m_session, block);
    m_strip = new VerdictStrip(m_session, block);
    m_program =
        new views::SceneView(layout::layoutProgramStrip, views::SceneView::Use::Fixed, block);
    m_program->setOptions({.cursorKeys = true});
    m_program->setObjectName(u"program"_s);
    m_program->setVisible(false);
    auto* first = new QHBoxLayout;
    first->setContentsMargins(0, 0, 0, 0);
    first->setSpacing(0);
    first->addWidget(bar);
    first->addWidget(m_title, 1);
    auto* column = new QVBoxLayout(block);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(first);
    column->addWidget(m_transport);
    column->addWidget(m_strip);
    column->addWidget(m_program);
    setMenuWidget(block);
    m_actions = makeActions(*this, m_session, *m_docks, *bar);
}

std::vector<views::SceneView*> MainWindow::allViews() const
{
    std::vector<views::SceneView*> all = m_docks->views();
    all.push_back(m_transport->overview());
    all.push_back(m_strip->view());
    all.push_back(m_program);
    return all;
}

void MainWindow::connectSession()
{
    for (const auto signal :
         {&Viewpoint::nowChanged, &Viewpoint::rangeChanged, &Viewpoint::hoverChanged,
          &Viewpoint::selectionChanged, &Viewpoint::deviceChanged, &Viewpoint::playingChanged,
          &Viewpoint::sourceScrolled, &Viewpoint::staleChanged, &Viewpoint::keptChanged,
          &Viewpoint::breaksChanged}) {
        connect(&m_session.viewpoint(), signal, this, &MainWindow::pushState);
    }
    connect(&m_session.viewpoint(), &Viewpoint::runChanged, this, &MainWindow::pushRun);
    connect(&m_session.viewpoint(), &Viewpoint::keptChanged, this, &MainWindow::followKept);
    connect(&m_session.runs(), &Runs::unfitChanged, this, &MainWindow::pushUnfit);
    connect(&m_session, &Session::themeChanged, this, &MainWindow::applyTheme);
    KernelForm* form = m_docks->form();
    connect(&m_session.runs(), &Runs::requestChanged, form, [this, form] {
        const auto run =
            m_session.runs().unfit() ? m_session.runs().unfit() : m_session.viewpoint().run();
        form->show(m_session.runs().request(), run ? run->fields : std::vector<layout::Field>{});
    });
    connect(&m_session.runs(), &Runs::jobChanged, form, [this, form] {
        const JobStatus& job = m_session.runs().job();
        const bool here = !job.running && !job.fields.isEmpty();
        form->setError(here ? job.fields : QStringList(), here ? formError() : QString());
        m_actions.cancel->setEnabled(job.running);
    });
    connect(form, &KernelForm::kernelChosen, &m_session,
            [this](const QString& kernel) { m_session.runs().setKernel(kernel.toStdString()); });
    connect(form, &KernelForm::chipChosen, &m_session,
            [this](const QString& chip) { m_session.runs().setChip(chip.toStdString()); });
    connect(form, &KernelForm::parameterChosen, &m_session,
            [this](const QString& name, const QString& value) {
                m_session.runs().setParameter(name.toStdString(), value.toStdString());
            });
    connect(m_capture, &CaptureDialog::captured, &m_session,
            [this](const QString& file, const QString& chip) {
                m_session.runs().openTrace(file, chip);
            });
    connect(m_sweep, &SweepDialog::opened, &m_session,
            [this](const RunRequest& request) { m_session.runs().start(request); });
    connect(m_strip->view(), &views::SceneView::clicked, m_docks,
            [this](const layout::Target& target) {
                if (layout::is<layout::target::Finding>(target)) {
                    m_docks->showFindings();
                }
            });
    for (views::SceneView* view : {m_strip->view(), m_program}) {
        connect(view, &views::SceneView::clicked, &m_session, &Session::activate);
        connect(view, &views::SceneView::hovered, &m_session.viewpoint(), &Viewpoint::setHover);
    }
}

// Arrows belong to the transport unless a field or a view was given the keyboard: at first, after
// a click into a view, and when what had the keyboard has given it up.
void MainWindow::connectFocus()
{
    for (views::SceneView* view : allViews()) {
        connect(view, &views::SceneView::pressed, this, [this, view] {
            if (!view->hasFocus()) {
                m_docks->focusTimeline();
            }
        });
    }
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, const QWidget* now) {
        if (now == nullptr && isActiveWindow()) {
            m_docks->focusTimeline();
        }
    });
}

// A budget of what does not fit is of another run, which may lack what the state names.
void MainWindow::pushState()
{
    const layout::ViewState& state = m_session.viewpoint().state();
    const layout::ViewState none{.stale = state.stale};
    for (views::SceneView* view : allViews()) {
        view->setState(m_docks->isOfTheRun(view) ? state : none);
    }
}

void MainWindow::pushRun()
{
    for (views::SceneView* view : allViews()) {
        view->setRun(m_session.viewpoint().run());
    }
    pushState();
    const layout::RunView& run = *m_session.viewpoint().run();
    m_program->setFixedHeight(
        static_cast<int>(layout::headerHeight(width()) + layout::program::kHeight));
    m_program->setVisible(run.notRun.empty() && layout::isProgram(run));
    m_title->setText(views::text(layout::runTitle(*m_session.viewpoint().run())));
    showFile();
}

// The title of the window names the file or, of a kernel that is built in, the kernel.
void MainWindow::showFile()
{
    const QString file = m_session.runs().file();
    const QString kernel = m_session.runs().shown()
                               ? views::text(m_session.runs().shown()->request.kernel)
                               : QString();
    const QString name = file.isEmpty() ? kernel : QFileInfo(file).fileName();
    setWindowTitle(name.isEmpty() ? u"Pallascope"_s : name + u" – Pallascope"_s);
    setWindowFilePath(file);
}

// The kernel's budget is that of what was asked for last, as its form.
void MainWindow::pushUnfit()
{
    const auto unfit = m_session.runs().unfit();
    m_docks->budget()->setState({}); // that of the run before would name what this one lacks
    m_docks->showBudget(unfit ? unfit : m_session.viewpoint().run());
    pushState();
}

void MainWindow::followKept()
{
    const layout::ViewState& state = m_session.viewpoint().state();
    m_actions.letGo->setEnabled(state.kept != nullptr);
    m_actions.bySteps->setChecked(state.isKeptBySteps);
}

// What the form says of an error. Beside a budget that is over its memory few words are enough.
QString MainWindow::formError() const
{
    const auto unfit = m_session.runs().unfit();
    const Bytes over = unfit ? unfit->report.vmemPeak - unfit->report.vmemCapacity : Bytes(0);
    return over > Bytes(0) ? tr("needs %1 more than the chip has").arg(views::text(bytesText(over)))
                           : m_session.runs().job().error;
}

void MainWindow::applyTheme()
{
    const layout::Theme theme = m_session.theme();
    QApplication::setPalette(views::palette(theme)); // for dialogs and popups as well
    setStyleSheet(views::styleSheet(theme));
    m_docks->setTheme(theme);
    m_transport->setTheme(theme);
    m_transport->overview()->setTheme(theme);
    m_strip->setTheme(theme);
    m_strip->view()->setTheme(theme);
    m_program->setTheme(theme);
    m_title->setTheme(theme);
    m_capture->setTheme(theme);
    m_sweep->setTheme(theme);
    m_firstMinute->setTheme(theme);
    m_actions.dark->setChecked(theme == layout::Theme::Dark);
}

void MainWindow::askCapture()
{
    m_capture->proposeChip(m_session.runs().request().chip);
    m_capture->open();
}

void MainWindow::askSweep()
{
    m_sweep->ask(m_session.runs().request());
}

void MainWindow::askPicture(const QString& view)
{
    if (const QString path = m_files->askPicture(view); !path.isEmpty()) {
        savePictureOf(view, path);
    }
}

void MainWindow::savePictureOf(const QString& view, const QString& path)
{
    if (!m_session.runs().shown()) {
        return;
    }
    Status status = Done{};
    if (view == u"window"_s) {
        status = saveImage(grab().toImage(), path.toStdString());
    } else if (view == u"values"_s && !m_docks->values()->isVisible()) {
        status = userError("Values shows nothing as long as it is hidden; open it and export its "
                           "picture then.");
    } else if (view == u"values"_s) { // of what is known now
        status = savePicture(layout::withHeader(m_docks->values()->picture()->scene()),
                             m_session.theme(), path.toStdString());
    } else {
        const bool isStrip = view == m_program->objectName(); // which may be hidden
        const QWidget* content = isStrip ? this : m_docks->dock(view)->widget();
        const double width = content->width();
        const double height = isStrip ? layout::program::kHeight : content->height();
        // What is hidden has no size of its own.
        const layout::Size size = content->isVisible()
                                      ? layout::Size{width, height + layout::headerHeight(width)}
                                      : layout::findView(view.toStdString())->pictureSize;
        const auto scene = layout::picture(view.toStdString(), *m_session.viewpoint().run(),
                                           m_session.viewpoint().state(), size);
        status = scene ? savePicture(*scene, m_session.theme(), path.toStdString())
                       : Status(scene.error());
    }
    if (!status) {
        m_session.runs().report(views::text(status.error().message));
    }
}

void MainWindow::openPalette()
{
    m_palette->open([this](const QString& words) {
        return paletteEntries(m_actions.all, *m_docks->form(), m_session, words);
    });
}

void MainWindow::showKeys()
{
    app::showKeys(*this, m_actions.all);
}

void MainWindow::showAbout()
{
    app::showAbout(*this);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!localFiles(*event->mimeData()).isEmpty()) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QStringList paths = localFiles(*event->mimeData());
    if (!paths.isEmpty()) {
        event->acceptProposedAction();
        m_files->openAll(paths);
    }
}

// "=" is "+" without Shift on many keyboards. As a shortcut it would make Shift+0 ambiguous on
// those where it stands above the 0.
void MainWindow::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Equal && event->modifiers() == Qt::NoModifier) {
        m_session.viewpoint().changeRange(navigation::zoomedBy(kZoomOfKeys));
    } else {
        QMainWindow::keyPressEvent(event);
    }
}

void MainWindow::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    m_docks->follow(event->size());
}

} // namespace pallascope::app
