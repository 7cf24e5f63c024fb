// A lesson in the window: its steps show their runs, its tasks follow what the user changes, and it
// can be left. The machine behind this window is the real one.
#include "app/window/docks.h"
#include "app/window/fields.h"
#include "app/window/main_window.h"
#include "app/window/verdict_strip.h"
#include "core/base/whole_file.h"
#include "tests/gui/gui_test.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace pallascope::test {

using namespace Qt::StringLiterals;

class LessonTest : public QObject
{
    Q_OBJECT

private:
    [[nodiscard]] app::Runs& runs() const { return m_window->session().runs(); }

    [[nodiscard]] app::LessonGuide& guide() const { return m_window->session().lesson(); }

    [[nodiscard]] app::LessonPanel& panel() const { return *m_window->docks().lesson(); }

    [[nodiscard]] const std::string& valueOf(const char* name) const
    {
        static const std::string kNone;
        const auto& given = runs().shown()->request.parameters;
        const auto found = given.find(name);
        return found == given.end() ? kNone : found->second;
    }

    void settle() const
    {
        QTRY_VERIFY_WITH_TIMEOUT(!runs().job().running, 60000);
        QCoreApplication::processEvents();
    }

    void change(const char* name, const char* value)
    {
        runs().setParameter(name, value);
        settle();
    }

    void begin(const char* name)
    {
        guide().open(QString::fromLatin1(name));
        settle();
        QVERIFY(guide().lesson().has_value());
    }

    void press(app::HeadButton* button)
    {
        QVERIFY(button->isVisible() && button->isEnabled());
        QTest::mouseClick(button, Qt::LeftButton);
        settle();
    }

    std::unique_ptr<app::MainWindow> m_window;

private Q_SLOTS:

    void init()
    {
        m_window = std::make_unique<app::MainWindow>();
        m_window->resize(1280, 800);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }

    void cleanup() { m_window.reset(); }

    void itsDockShowsThoseThatThereAreAndBeginsOne()
    {
        QVERIFY(m_window->docks().lessonDock()->isHidden());
        m_window->docks().lessonDock()->toggleViewAction()->trigger();
        QVERIFY(m_window->docks().lessonDock()->isVisible());
        QCOMPARE(panel().caption(), u"choose one of |%1|"_s.arg(app::builtInLessons().size()));
        press(panel().offer(1));
        QCOMPARE(guide().lesson()->name, "tiling");
        QCOMPARE(runs().shown()->request.kernel, "matmul");
        QVERIFY(panel().stepText()->text().contains(u"64"_s)); // steps: a figure of the run
        QVERIFY(panel().caption().contains(u"step |1| of |7|"_s));
    }

    void stepsShowTheirRunsAndWhatTheyAreComparedWith()
    {
        begin("tiling");
        QVERIFY(!panel().back()->isEnabled());
        QCOMPARE(m_window->session().viewpoint().state().now, Picoseconds(0));
        const auto first = runs().shown()->view;
        press(panel().next());
        QCOMPARE(runs().shown()->view, first); // of the same run, which is not made again
        QCOMPARE(m_window->session().viewpoint().state().now, first->trace->end());
        QVERIFY(m_window->session().viewpoint().state().kept == nullptr);
        press(panel().next());
        QCOMPARE(runs().shown()->view->report.steps, 16);
        QVERIFY(m_window->session().viewpoint().state().kept != nullptr);
        QVERIFY(panel().stepText()->text().contains(u"16"_s));
        press(panel().next());
        QVERIFY(m_window->session().viewpoint().state().kept == nullptr);
        press(panel().back()); // as before, with what it is compared with
        QCOMPARE(guide().number(), 2U);
        QCOMPARE(valueOf("m"), "1024");
        QVERIFY(m_window->session().viewpoint().state().kept != nullptr);
        QVERIFY(!panel().stepText()->text().contains(u"…"_s));
    }

    void aTaskFollowsWhatTheUserChanges()
    {
        begin("roofline");
        for (int i = 0; i < 3; ++i) {
            QTest::keyClick(m_window.get(), Qt::Key_PageDown, Qt::ControlModifier);
            settle();
        }
        QCOMPARE(guide().number(), 3U);
        QVERIFY(guide().progress() && !guide().progress()->isReached());
        QVERIFY(panel().task()->text().contains(u"not yet: it is memory(HBM)"_s));
        QVERIFY(!panel().again()->isEnabled());
        // What would be faster is the answer; the run itself knows it.
        QVERIFY(m_window->session().viewpoint().run()->alternatives.empty());
        QVERIFY(!runs().shown()->view->alternatives.empty());
        change("bm", "256");
        QVERIFY(m_window->session().viewpoint().run()->alternatives.empty());
        QVERIFY(!guide().progress()->isReached());
        QVERIFY(panel().again()->isEnabled());
        change("bm", "1024");
        change("n", "2048"); // which the task does not allow
        QVERIFY(panel().task()->text().contains(u"n is 2048 here; the task keeps it at 4096."_s));
        change("n", "4096");
        change("bn", "1024");
        QVERIFY(guide().progress()->isReached());
        QVERIFY(panel().task()->text().contains(u"Reached."_s));
        press(panel().again());
        QVERIFY(guide().isOwnRun());
        QVERIFY(!guide().progress()->isReached());
        press(panel().answer());
        QVERIFY(guide().progress()->isReached());
        QVERIFY(panel().task()->text().contains(u"bk=512, bm=1024, bn=1024"_s));
        press(panel().next());
        press(panel().back());
        QVERIFY(!panel().task()->text().contains(u"bk=512, bm=1024, bn=1024"_s));
        press(panel().leave());
        QVERIFY(!m_window->session().viewpoint().run()->alternatives.empty());
        begin("roofline");
        for (int i = 0; i < 3; ++i) {
            press(panel().next());
        }
        runs().setKernel("add_vectors");
        settle();
        QVERIFY(panel().task()->text().contains(u"The kernel is add_vectors here"_s));
    }

    void everyAnswerReachesItsTask()
    {
        for (const char* name : {"roofline", "tiling", "pipelining", "hopper"}) {
            begin(name);
            for (std::size_t i = 0; i < guide().count(); ++i) {
                QVERIFY(guide().isOwnRun());
                QVERIFY2(!panel().stepText()->text().contains(u"…"_s),
                         qPrintable(panel().stepText()->text()));
                if (guide().step().task) {
                    QVERIFY(!guide().progress()->isReached());
                    press(panel().answer());
                    QVERIFY(guide().progress()->isReached());
                }
                guide().go(1);
                settle();
            }
        }
    }

    void aRunThatIsAwaitedKeepsTheNextStepBack()
    {
        begin("roofline");
        guide().go(1);
        QVERIFY(runs().job().running);
        QVERIFY(!panel().next()->isEnabled());
        QVERIFY(panel().stepText()->text().contains(u"…"_s)); // its figures are not known yet
        QVERIFY(!panel().again()->isHidden());
        guide().go(1);
        QCOMPARE(guide().number(), 1U);
        settle();
        QVERIFY(panel().next()->isEnabled());
    }

    void aRunThatIsCancelledIsSaidAndCanBeMadeAgain()
    {
        begin("roofline");
        guide().go(1);
        runs().cancel();
        settle();
        QVERIFY(panel().task()->text().contains(u"not this step's"_s));
        press(panel().again());
        QVERIFY(guide().isOwnRun());
        QVERIFY(panel().task()->isHidden());
        QVERIFY(!panel().stepText()->text().contains(u"…"_s));
    }

    void aChangeWhileItsRunIsAwaitedCanBeUndone()
    {
        begin("roofline");
        guide().go(1);
        runs().setParameter("block", "32");
        settle();
        QVERIFY(!guide().isOwnRun());
        QVERIFY(panel().stepText()->text().contains(u"…"_s));
        runs().undo();
        settle();
        QVERIFY(guide().isOwnRun());
        QVERIFY(!panel().stepText()->text().contains(u"…"_s));
    }

    void whatTheUserKeepsStays()
    {
        begin("tiling");
        press(panel().next());
        press(panel().next());
        change("bm", "256");
        m_window->session().keepRun();
        const auto kept = m_window->session().viewpoint().state().kept->run;
        press(panel().leave());
        QVERIFY(m_window->session().viewpoint().state().kept != nullptr);
        QCOMPARE(m_window->session().viewpoint().state().kept->run, kept);
    }

    void aStepThatIsEnteredByAKeyShowsItsDock()
    {
        begin("roofline");
        m_window->docks().lessonDock()->hide();
        QTest::keyClick(m_window.get(), Qt::Key_PageDown, Qt::ControlModifier);
        settle();
        QCOMPARE(guide().number(), 1U);
        QVERIFY(m_window->docks().lessonDock()->isVisible());
    }

    void itsDockIsAsHighAsItsTextsNeed()
    {
        begin("roofline");
        const int high = m_window->docks().lessonDock()->height();
        m_window->resize(960, 640);
        QCoreApplication::processEvents();
        m_window->resize(1280, 800);
        QCoreApplication::processEvents();
        QCOMPARE(m_window->docks().lessonDock()->height(), high);
        m_window->addDockWidget(Qt::RightDockWidgetArea, m_window->docks().lessonDock());
        QCoreApplication::processEvents();
        QVERIFY(m_window->docks().lessonDock()->height() > 2 * high);
    }

    void leavingLetsGoOfWhatWasKept()
    {
        begin("tiling");
        press(panel().next());
        press(panel().next());
        QVERIFY(m_window->session().viewpoint().state().kept != nullptr);
        press(panel().leave());
        QVERIFY(!guide().lesson());
        QVERIFY(m_window->session().viewpoint().state().kept == nullptr);
        QVERIFY(panel().offer(0)->isVisible());
        guide().go(1); // does nothing
        change("bm", "256");
        QVERIFY(!guide().progress());
    }

    void anotherWindowGoesOnWithIt()
    {
        begin("roofline");
        for (int i = 0; i < 3; ++i) {
            press(panel().next());
        }
        change("bm", "1024");
        const app::MainWindow::State state = m_window->state();
        const QString text = panel().stepText()->text(), task = panel().task()->text();
        init();
        m_window->goOn(state);
        settle();
        QVERIFY(m_window->docks().lessonDock()->isVisible());
        QCOMPARE(panel().stepText()->text(), text);
        QCOMPARE(panel().task()->text(), task);
        QCOMPARE(valueOf("bm"), "1024");
    }

    void aFileOfALessonIsOpenedAndAWrongOneIsSaid()
    {
        const QTemporaryDir folder;
        const std::string file = folder.filePath(u"own.json"_s).toStdString();
        const std::string head = R"({"format": "pallascope.lesson", "version": 1, "title": "Own",)";
        QVERIFY(writeFile(file, head + R"("about": "A.", "steps": [{"title": "one",
                "text": "{steps} <b> {nothing}", "run": {"kernel": "add_vectors"}}]})"));
        m_window->session().open(QString::fromStdString(file));
        settle();
        QCOMPARE(guide().lesson()->lesson.title, "Own");
        QVERIFY(panel().stepText()->text().contains(u"no field"_s)); // why there is no text
        QVERIFY(writeFile(file, head + R"("about": "A.", "steps": []})"));
        m_window->session().open(QString::fromStdString(file));
        QVERIFY(m_window->strip().message().contains(u"steps has 0 elements"_s));
        QCOMPARE(guide().lesson()->lesson.title, "Own"); // the one before is still there
    }

    void itIsReachedByTheKeyboard()
    {
        begin("roofline");
        bool reached = false;
        for (int i = 0; i < 14 && !reached; ++i) {
            QTest::keyClick(m_window.get(), Qt::Key_F6);
            const QWidget* focused = QApplication::focusWidget();
            reached = focused != nullptr && panel().isAncestorOf(focused);
        }
        QVERIFY(reached);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Space);
        settle();
        QCOMPARE(guide().number(), 1U);
    }

    void resettingTheLayoutLeavesItInSight()
    {
        begin("roofline");
        m_window->docks().arrange(m_window->size());
        QVERIFY(m_window->docks().lessonDock()->isVisible());
        m_window->resize(960, 640);
        QCoreApplication::processEvents();
        QVERIFY(m_window->docks().lessonDock()->isVisible());
        QVERIFY(panel().next()->isVisible());
    }
};

PALLASCOPE_GUI_TEST("lesson", LessonTest);

} // namespace pallascope::test

#include "lesson_test.moc"
