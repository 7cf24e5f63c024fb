#include "app/window/actions.h"

#include "app/window/docks.h"
#include "app/window/file_dialogs.h"
#include "app/window/first_minute.h"
#include "app/window/main_window.h"
#include "app/window/session.h"
#include "app/window/sweep_dialog.h"
#include "app/window/text_size.h"
#include "views/fonts.h"

#include <QMenu>
#include <QMenuBar>

namespace pallascope::app {
namespace {

using namespace Qt::StringLiterals;

using Keys = QList<QKeySequence>;

class Maker
{
public:
    Maker(MainWindow& window, Session& session, Docks& docks, QMenuBar& bar)
        : m_window(window)
        , m_session(session)
        , m_docks(docks)
        , m_bar(bar)
    {}

    Actions make()
    {
        fileMenu();
        viewMenu();
        runMenu();
        goMenu();
        compareMenu();
        helpMenu();
        return m_actions;
    }

private:
    static QString tr(const char* text) { return MainWindow::tr(text); }

    QAction* add(const QString& name, const Keys& keys, std::function<void()> act)
    {
        auto* action = new QAction(name, &m_window);
        action->setShortcuts(keys);
        QObject::connect(action, &QAction::triggered, &m_window, std::move(act));
        m_menu->addAction(action);
        m_actions.all.push_back(action);
        return action;
    }

    void step(const QString& name, const Keys& keys, StepUnit unit, int direction)
    {
        Session& session = m_session;
        add(name, keys, [&session, unit, direction] { session.viewpoint().step(unit, direction); });
    }

    void fileMenu();
    void exportMenu();
    void viewMenu();
    void zoomActions();
    void textActions();
    void runMenu();
    void goMenu();
    void compareMenu();
    void breakActions();
    void helpMenu();
    void lessonMenu();

    MainWindow& m_window;
    Session& m_session;
    Docks& m_docks;
    QMenuBar& m_bar;
    QMenu* m_menu = nullptr;
    Actions m_actions;
};

void Maker::fileMenu()
{
    MainWindow& window = m_window;
    m_menu = m_bar.addMenu(tr("&File"));
    add(tr("&Open trace…"), {QKeySequence::Open}, [&window] { window.files().askOpen(); });
    m_actions.recent = m_menu->addMenu(tr("Open &recent"));
    m_actions.recent->setEnabled(false);
    add(tr("&Capture…"), {}, [&window] { window.askCapture(); });
    add(tr("&Save trace…"), {QKeySequence::Save}, [&window] { window.files().askSave(); });
    exportMenu();
    m_menu->addSeparator();
    add(tr("&Quit"), {QKeySequence(Qt::CTRL | Qt::Key_Q)}, [&window] { window.close(); });
}

void Maker::exportMenu()
{
    MainWindow& window = m_window;
    QMenu* file = m_menu;
    m_menu = file->addMenu(tr("&Export picture"));
    add(tr("Export picture of the window…"), {}, [&window] { window.askPicture(u"window"_s); });
    for (const Dock* dock : m_docks.all()) {
        add(tr("Export picture of %1…").arg(dock->windowTitle()), {},
            [&window, name = dock->objectName()] { window.askPicture(name); });
    }
    add(tr("Export picture of %1…").arg(tr("Program")), {},
        [&window] { window.askPicture(u"program"_s); });
    m_menu = file;
}

void Maker::viewMenu()
{
    Session& session = m_session;
    Docks& docks = m_docks;
    MainWindow& window = m_window;
    m_menu = m_bar.addMenu(tr("&View"));
    for (Dock* dock : docks.all()) {
        const int key = keyOf(*dock);
        QAction* toggle = dock->toggleViewAction();
        m_menu->addAction(toggle);
        auto* focus = new QAction(tr("Go to %1").arg(dock->windowTitle()), &window);
        focus->setShortcut(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + key)));
        QObject::connect(focus, &QAction::triggered, dock, [dock, &docks] { docks.goTo(*dock); });
        window.addAction(focus);
        m_actions.all.push_back(focus);
    }
    m_menu->addAction(docks.lessonDock()->toggleViewAction());
    QAction* program = new QAction(tr("Go to Program"), &window);
    program->setShortcut(QKeySequence(
        Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + layout::findView("program")->key)));
    QObject::connect(program, &QAction::triggered, &window,
                     [&window] { window.program().setFocus(Qt::ShortcutFocusReason); });
    window.addAction(program);
    m_actions.all.push_back(program);
    m_menu->addSeparator();
    add(tr("Next dock"), {QKeySequence(Qt::Key_F6)}, [&docks] { docks.focusNext(1); });
    add(tr("Previous dock"), {QKeySequence(Qt::SHIFT | Qt::Key_F6)},
        [&docks] { docks.focusNext(-1); });
    add(tr("Reset layout"), {}, [&docks, &window] { docks.arrange(window.size()); });
    m_menu->addSeparator();
    zoomActions();
    m_menu->addSeparator();
    textActions();
    m_actions.dark = add(tr("Dark"), {QKeySequence(Qt::CTRL | Qt::Key_L)}, [&session] {
        const bool dark = session.theme() == layout::Theme::Dark;
        session.setTheme(dark ? layout::Theme::Light : layout::Theme::Dark);
    });
    m_actions.dark->setCheckable(true);
    QAction* calm = add(tr("Reduce motion"), {}, [&session] {
        session.viewpoint().playback().setReducedMotion(
            !session.viewpoint().playback().reducedMotion());
    });
    calm->setCheckable(true);
    QObject::connect(&session.viewpoint().playback(), &Playback::reducedMotionChanged, calm,
                     &QAction::setChecked);
    add(tr("Command palette…"), {QKeySequence(Qt::CTRL | Qt::Key_K)},
        [&window] { window.openPalette(); });
}

// The keys that other programs have for it; without Ctrl they zoom the time line.
void Maker::textActions()
{
    MainWindow& window = m_window;
    QMenu* const view = m_menu;
    m_menu = view->addMenu(tr("Text size"));
    const auto ask = [&window, &session = m_session](int size) {
        if (window.sweepDialog().hasRows()) {
            session.runs().note(
                tr("Another text size makes the window anew: close the sweep first"));
        } else if (size != textSize()) {
            Q_EMIT window.textSizeAsked(size);
        }
    };
    add(tr("Larger text"),
        {QKeySequence(Qt::CTRL | Qt::Key_Plus), QKeySequence(Qt::CTRL | Qt::Key_Equal)},
        [ask] { ask(nextTextSize(textSize(), 1)); });
    add(tr("Smaller text"), {QKeySequence(Qt::CTRL | Qt::Key_Minus)},
        [ask] { ask(nextTextSize(textSize(), -1)); });
    add(tr("Normal text"), {}, [ask] { ask(kUsualTextSize); });
    m_menu = view;
}

void Maker::zoomActions()
{
    constexpr double kPan = 0.2; // of the range
    const auto show = [&session = m_session](const navigation::NextRange& next) {
        return [&session, next] { session.viewpoint().changeRange(next); };
    };
    using navigation::Frame;
    add(tr("Zoom in"),
        {QKeySequence(Qt::Key_Plus), QKeySequence(Qt::Key_W)}, // "=": MainWindow::keyPressEvent
        show(navigation::zoomedBy(kZoomOfKeys)));
    add(tr("Zoom out"), {QKeySequence(Qt::Key_Minus), QKeySequence(Qt::Key_S)},
        show(navigation::zoomedBy(1 / kZoomOfKeys)));
    add(tr("Frame four steps"), {QKeySequence(Qt::Key_0)}, show(navigation::framed(Frame::Steps)));
    add(tr("Frame the whole run"),
        {QKeySequence(Qt::SHIFT | Qt::Key_0)}, // alone: with ")" beside it the key is ambiguous
        show(navigation::framed(Frame::Run)));
    add(tr("Pan earlier"), {QKeySequence(Qt::Key_A)}, show(navigation::pannedBy(-kPan)));
    add(tr("Pan later"), {QKeySequence(Qt::Key_D)}, show(navigation::pannedBy(kPan)));
}

void Maker::runMenu()
{
    Session& session = m_session;
    m_menu = m_bar.addMenu(tr("&Run"));
    add(tr("Undo the change of the kernel"), {QKeySequence::Undo},
        [&session] { session.runs().undo(); });
    add(tr("Redo the change of the kernel"),
        {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)},
        [&session] { session.runs().redo(); });
    m_menu->addSeparator();
    add(tr("&Run again"), {QKeySequence(Qt::Key_F5)},
        [&session] { session.runs().start(session.runs().request()); });
    add(tr("&Sweep…"), {QKeySequence(Qt::SHIFT | Qt::Key_F5)},
        [&window = m_window] { window.askSweep(); });
    add(tr("Copy values as NumPy"), {}, [&docks = m_docks] { docks.values()->copy(); });
    add(tr("Save values as .npy…"), {}, [&docks = m_docks] { docks.values()->save(); });
    add(tr("&Check values"), {QKeySequence(Qt::CTRL | Qt::Key_R)},
        [&session] { session.runs().checkValues(); });
    m_actions.cancel = add(tr("C&ancel"), {}, [&session] { session.runs().cancel(); });
    m_actions.cancel->setEnabled(false);
}

void Maker::goMenu()
{
    Session& session = m_session;
    m_menu = m_bar.addMenu(tr("&Go"));
    m_actions.play = add(tr("Play or pause"), {QKeySequence(Qt::Key_Space)}, [&session] {
        session.viewpoint().setPlaying(!session.viewpoint().state().playing);
    });
    add(tr("Slower"), {QKeySequence(Qt::Key_BracketLeft)},
        [&session] { session.viewpoint().playback().changeSpeed(-1); });
    add(tr("Faster"), {QKeySequence(Qt::Key_BracketRight)},
        [&session] { session.viewpoint().playback().changeSpeed(1); });
    m_menu->addSeparator();
    add(tr("First"), {QKeySequence(Qt::Key_Home)}, [&session] { session.viewpoint().home(); });
    add(tr("Last"), {QKeySequence(Qt::Key_End)}, [&session] { session.viewpoint().end(); });
    m_menu->addSeparator();
    const auto keys = [](Qt::KeyboardModifiers modifier, Qt::Key key) {
        return Keys{QKeySequence(QKeyCombination(modifier, key))};
    };
    add(tr("Next step"), keys(Qt::NoModifier, Qt::Key_Right),
        [&session] { session.viewpoint().step(session.viewpoint().unit(), 1); });
    add(tr("Previous step"), keys(Qt::NoModifier, Qt::Key_Left),
        [&session] { session.viewpoint().step(session.viewpoint().unit(), -1); });
    step(tr("Next loop round"), keys(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_Right),
         StepUnit::Round, 1);
    step(tr("Previous loop round"), keys(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_Left),
         StepUnit::Round, -1);
    step(tr("Next operation"), keys(Qt::ShiftModifier, Qt::Key_Right), StepUnit::Operation, 1);
    step(tr("Previous operation"), keys(Qt::ShiftModifier, Qt::Key_Left), StepUnit::Operation, -1);
    step(tr("Next copy"), keys(Qt::ControlModifier, Qt::Key_Right), StepUnit::Copy, 1);
    step(tr("Previous copy"), keys(Qt::ControlModifier, Qt::Key_Left), StepUnit::Copy, -1);
    step(tr("Next wait"), keys(Qt::AltModifier, Qt::Key_Right), StepUnit::Wait, 1);
    step(tr("Previous wait"), keys(Qt::AltModifier, Qt::Key_Left), StepUnit::Wait, -1);
    step(tr("Next line"), keys(Qt::NoModifier, Qt::Key_L), StepUnit::Line, 1);
    step(tr("Previous line"), keys(Qt::ShiftModifier, Qt::Key_L), StepUnit::Line, -1);
    step(tr("Next event"), keys(Qt::NoModifier, Qt::Key_Period), StepUnit::Event, 1);
    step(tr("Previous event"), keys(Qt::NoModifier, Qt::Key_Comma), StepUnit::Event, -1);
    m_menu->addSeparator();
    const auto goToFinding = [&session, &docks = m_docks](int direction) {
        if (session.viewpoint().nextFinding(direction)) {
            docks.showFindings(); // which say what it is
        }
    };
    add(tr("Next finding"), {QKeySequence(Qt::Key_F)}, [goToFinding] { goToFinding(1); });
    add(tr("Previous finding"), {QKeySequence(Qt::SHIFT | Qt::Key_F)},
        [goToFinding] { goToFinding(-1); });
    breakActions();
    add(tr("Go to the selected thing"), {QKeySequence(Qt::Key_Return), QKeySequence(Qt::Key_Enter)},
        [&session] { session.viewpoint().goTo(session.viewpoint().state().selection); });
    add(tr("Clear selection or error, cancel run"), {QKeySequence(Qt::Key_Escape)},
        [&session, &window = m_window] {
            if (window.firstMinute().isShown()) {
                window.firstMinute().end();
                return;
            }
            if (session.runs().job().running) {
                session.runs().cancel();
            } else if (!session.runs().dismissError()) {
                session.viewpoint().select({});
            }
        });
}

void Maker::compareMenu()
{
    Session& session = m_session;
    MainWindow& window = m_window;
    m_menu = m_bar.addMenu(tr("&Compare"));
    add(tr("&Keep this run"), {QKeySequence(Qt::Key_K)}, [&session] { session.keepRun(); });
    m_actions.letGo = add(tr("&Let go of the kept run"), {QKeySequence(Qt::SHIFT | Qt::Key_K)},
                          [&session] { session.letGo(); });
    m_actions.letGo->setEnabled(false);
    m_menu->addSeparator();
    m_actions.bySteps = add(tr("Align time lines by &step"), {QKeySequence(Qt::Key_T)}, [&session] {
        session.viewpoint().alignBySteps(!session.viewpoint().state().isKeptBySteps);
    });
    m_actions.bySteps->setCheckable(true);
    m_menu->addSeparator();
    add(tr("&Compare files…"), {}, [&window] { window.files().askCompare(); });
}

void Maker::breakActions()
{
    Session& session = m_session;
    m_menu->addSeparator();
    add(tr("Continue to the next breakpoint"), {QKeySequence(Qt::Key_F8)},
        [&session] { session.goToBreakpoint(1); });
    add(tr("Back to the previous breakpoint"), {QKeySequence(Qt::SHIFT | Qt::Key_F8)},
        [&session] { session.goToBreakpoint(-1); });
    add(tr("Set or remove a breakpoint here"), {QKeySequence(Qt::Key_F9)},
        [&session] { session.toggleBreakpointHere(); });
    add(tr("Add a breakpoint…"), {QKeySequence(Qt::CTRL | Qt::Key_B)},
        [&docks = m_docks] { docks.askBreakpoint(); });
    m_menu->addSeparator();
}

void Maker::lessonMenu()
{
    QMenu* const help = m_menu;
    LessonGuide& guide = m_session.lesson();
    m_menu = help->addMenu(tr("&Lessons"));
    for (const NamedLesson& each : builtInLessons()) {
        add(tr("Lesson: %1").arg(views::text(each.lesson.title)), {},
            [&guide, &each] { guide.begin(each); });
    }
    m_menu->addSeparator();
    add(tr("Next step of the lesson"), {QKeySequence(Qt::CTRL | Qt::Key_PageDown)},
        [&guide] { guide.go(1); });
    add(tr("Previous step of the lesson"), {QKeySequence(Qt::CTRL | Qt::Key_PageUp)},
        [&guide] { guide.go(-1); });
    add(tr("Leave the lesson"), {}, [&guide] { guide.leave(); });
    m_menu = help;
}

void Maker::helpMenu()
{
    MainWindow& window = m_window;
    m_menu = m_bar.addMenu(tr("&Help"));
    add(tr("&Keys"), {QKeySequence(Qt::Key_F1)}, [&window] { window.showKeys(); });
    add(tr("&First minute"), {}, [&window] { window.firstMinute().show(); });
    lessonMenu();
    add(tr("&About Pallascope"), {}, [&window] { window.showAbout(); });
}

} // namespace

Actions makeActions(MainWindow& window, Session& session, Docks& docks, QMenuBar& bar)
{
    return Maker(window, session, docks, bar).make();
}

} // namespace pallascope::app
