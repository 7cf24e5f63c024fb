// Breakpoints in a live window with the real machine behind it: set beside the source, typed, gone
// through in both directions, played into, kept.
#include "app/window/break_menu.h"
#include "app/window/docks.h"
#include "app/window/main_window.h"
#include "app/window/remembered.h"
#include "app/window/verdict_strip.h"
#include "core/trace/lookup.h"
#include "tests/gui/gui_test.h"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace pallascope::test {

using namespace layout;

class BreakpointsTest : public QObject
{
    Q_OBJECT

private:
    using BreakTimes = navigation::BreakTimes;
    static constexpr const char* kAttention = PALLASCOPE_DOCS "/examples/attention.kernel.json";

    void open(bool fullValues = true, const QString& settings = {})
    {
        m_window = std::make_unique<app::MainWindow>();
        if (!settings.isEmpty()) {
            new app::Remembered(*m_window, settings); // which the window owns
        }
        m_window->resize(1920, 1080);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        session().runs().start({.kernel = kAttention, .fullValues = fullValues, .check = false});
        QTRY_VERIFY_WITH_TIMEOUT(!session().runs().job().running, 60000);
        QVERIFY2(session().runs().job().error.isEmpty(), qPrintable(session().runs().job().error));
        session().viewpoint().home();
        QCoreApplication::processEvents(); // the views take the new moment
    }

    [[nodiscard]] app::Session& session() const { return m_window->session(); }

    [[nodiscard]] app::Breakpoints& breakpoints() const { return session().breakpoints(); }

    [[nodiscard]] app::BreakList& list() const { return *m_window->docks().breakpoints(); }

    [[nodiscard]] views::SourceView& source() const { return *m_window->docks().source(); }

    [[nodiscard]] std::int64_t now() const { return session().viewpoint().state().now.value(); }

    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) const
    {
        QTest::keyClick(m_window.get(), key, modifiers);
        QCoreApplication::processEvents();
    }

    void type(const char* text) const
    {
        key(Qt::Key_B, Qt::ControlModifier);
        QVERIFY(list().field()->hasFocus());
        QTest::keyClicks(list().field(), QString::fromLatin1(text));
        QTest::keyClick(list().field(), Qt::Key_Return);
        QCoreApplication::processEvents();
    }

    // Beside the code of a line of the source.
    [[nodiscard]] QPoint besideLine(std::int64_t line) const
    {
        for (const Rect& rect : framesOf(source().scene(), target::SourceLine{0, line})) {
            return QPoint(static_cast<int>(rect.x) + 20, static_cast<int>(rect.y + rect.h / 2));
        }
        return {-1, -1};
    }

    [[nodiscard]] BreakTimes stopsOf(std::size_t index) const
    {
        return breakpoints().entries()[index].stops;
    }

    std::unique_ptr<app::MainWindow> m_window;

private Q_SLOTS:

    void cleanup() { m_window.reset(); }

    void aClickBesideALineSetsAndRemovesOne()
    {
        open();
        const QPoint beside = besideLine(14);
        QVERIFY(source().rect().contains(beside));
        QTest::mouseClick(&source(), Qt::LeftButton, Qt::NoModifier, beside);
        QCOMPARE(breakpoints().entries().size(), 1U);
        QCOMPARE(breakpoints().entries()[0].name(), QStringLiteral("line:attention.py:14"));
        QCOMPARE(list().statusText(0), QStringLiteral("4 stops"));
        QTest::mouseClick(&source(), Qt::LeftButton, Qt::NoModifier, beside);
        QVERIFY(breakpoints().entries().empty());
        QVERIFY(!source().breakLineAt(besideLine(10))); // `def weigh(...)` runs nothing
        QTest::mouseClick(&source(), Qt::LeftButton, Qt::NoModifier, besideLine(10));
        QVERIFY(breakpoints().entries().empty());
    }

    // A click on its tag goes to the very moment, not to where the pointer is.
    void itIsMarkedOnTheStripAndOnTheRuler()
    {
        open();
        session().toggleBreakpoint(target::SourceLine{0, 14});
        views::TimelineView& timeline = *m_window->docks().timeline();
        const std::int64_t stop = stopsOf(0)[1];
        session().viewpoint().setVisible(
            {Picoseconds(stop - stop / 100), Picoseconds(stop + stop / 100)});
        QCoreApplication::processEvents();
        const target::Time tag{Picoseconds(stop)};
        QCOMPARE(framesOf(timeline.scene(), tag).size(), std::size_t(1));
        const Rect place = framesOf(timeline.scene(), tag).front();
        QTest::mouseClick(&timeline, Qt::LeftButton, Qt::NoModifier,
                          QPoint(static_cast<int>(place.x + place.w - 2),
                                 static_cast<int>(place.y + place.h / 2)));
        QCOMPARE(now(), stop);
        session().toggleBreakpoint(target::SourceLine{0, 14});
        QCoreApplication::processEvents();
        QVERIFY(framesOf(timeline.scene(), tag).empty());
    }

    void itIsGoneThroughInBothDirections()
    {
        open();
        session().toggleBreakpoint(target::SourceLine{0, 14});
        type("grid:2");
        QCOMPARE(breakpoints().entries().size(), 2U);
        std::vector<std::int64_t> all = stopsOf(0);
        const BreakTimes grid = stopsOf(1);
        all.insert(all.end(), grid.begin(), grid.end());
        std::sort(all.begin(), all.end());
        QVERIFY(all.size() >= 6);
        for (const std::int64_t time : all) {
            key(Qt::Key_F8);
            QCOMPARE(now(), time);
        }
        key(Qt::Key_F8);
        QCOMPARE(now(), all.back());
        QCOMPARE(m_window->strip().message(),
                 QStringLiteral("No breakpoint stops the run after this moment"));
        for (std::size_t i = all.size() - 1; i > 0; --i) {
            key(Qt::Key_F8, Qt::ShiftModifier);
            QCOMPARE(now(), all[i - 1]);
        }
        list().tag(0)->click(); // off
        session().viewpoint().home();
        key(Qt::Key_F8);
        QCOMPARE(now(), grid.front());
        list().remover(1)->click();
        QCOMPARE(breakpoints().entries().size(), 1U);
    }

    void playingStopsThere()
    {
        open();
        session().toggleBreakpoint(target::SourceLine{0, 20});
        session().viewpoint().playback().setSpeed(100); // the fastest
        key(Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(!session().viewpoint().state().playing, 10000);
        QCOMPARE(now(), stopsOf(0).front());
        key(Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(!session().viewpoint().state().playing, 10000);
        QCOMPARE(now(), stopsOf(0)[1]);
    }

    void whatNeedsValuesIsLookedForInTheBackground()
    {
        open();
        type("first:nan");
        type("when:scores[0,3]<-5");
        QTRY_VERIFY_WITH_TIMEOUT(!breakpoints().isLooking(), 30000);
        QCOMPARE(list().statusText(0), QStringLiteral("1 stop"));
        QCOMPARE(list().statusText(1), QStringLiteral("2 stops"));
        key(Qt::Key_Escape);
        key(Qt::Key_F8);
        QCOMPARE(now(), stopsOf(0).front());
    }

    void whatIsNotKnownIsSaid()
    {
        open(false);
        type("first:nan");
        QTRY_VERIFY_WITH_TIMEOUT(!breakpoints().isLooking(), 30000);
        QCOMPARE(list().statusText(0), QStringLiteral("not in this run"));
        QVERIFY(list().noteText().startsWith(QStringLiteral("The first NaN is not known")));
        key(Qt::Key_Escape);
        key(Qt::Key_F8);
        QCOMPARE(now(), 0);
    }

    void aWrongTextStaysAndIsExplained()
    {
        open();
        type("line:3");
        QVERIFY(breakpoints().entries().empty());
        QVERIFY(list().noteText().contains(QStringLiteral("expected a line such as")));
        QCOMPARE(list().field()->text(), QStringLiteral("line:3"));
    }

    void theMenuOfAThingRunsToItAndBreaksThere()
    {
        open();
        std::unique_ptr<QMenu> menu(
            app::makeBreakMenu(session(), target::SourceLine{0, 16}, std::nullopt, m_window.get()));
        QCOMPARE(menu->actions().size(), 2);
        menu->actions().back()->trigger();
        QCOMPARE(breakpoints().entries()[0].name(), QStringLiteral("line:attention.py:16"));
        menu->actions().front()->trigger();
        QCOMPARE(now(), stopsOf(0).front());
        menu.reset(
            app::makeBreakMenu(session(), target::Steps{1, 1}, std::nullopt, m_window.get()));
        menu->actions().front()->trigger();
        QCOMPARE(now(), session().viewpoint().run()->trace->steps().bodyBegin[1]);
        menu.reset(app::makeBreakMenu(session(), {}, Picoseconds(1234), m_window.get()));
        QVERIFY(!menu->actions().back()->isEnabled());
        menu->actions().front()->trigger();
        QCOMPARE(now(), 1234);
        menu.reset();
        QContextMenuEvent event(QContextMenuEvent::Mouse, besideLine(14),
                                source().mapToGlobal(besideLine(14)));
        QApplication::sendEvent(&source(), &event);
        QVERIFY(qobject_cast<QMenu*>(QApplication::activePopupWidget()) != nullptr);
        QApplication::activePopupWidget()->close();
    }

    void theyAreKeptForTheKernel()
    {
        const QTemporaryDir folder;
        const QString settings = folder.filePath(QStringLiteral("window.ini"));
        // No callouts of a first start.
        QSettings(settings, QSettings::IniFormat).setValue("first_minute_seen", true);
        open(true, settings);
        type("line:14");
        type("first:stall");
        list().tag(0)->click();
        session().runs().start({.kernel = "matmul", .fullValues = false, .check = false});
        QTRY_VERIFY_WITH_TIMEOUT(!session().runs().job().running, 60000);
        QVERIFY(breakpoints().entries().empty()); // of another kernel
        m_window->close();
        m_window.reset();
        open(true, settings);
        QCOMPARE(breakpoints().entries().size(), 2U);
        QVERIFY(!breakpoints().entries()[0].isOn);
        QVERIFY(breakpoints().entries()[1].isOn);
        QCOMPARE(list().statusText(0), QStringLiteral("4 stops"));
    }
};

PALLASCOPE_GUI_TEST("breakpoints", BreakpointsTest);

} // namespace pallascope::test

#include "breakpoints_test.moc"
