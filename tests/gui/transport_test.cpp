// Playing and stepping by keys, by buttons and in the strip of the whole run.
#include "app/window/fields.h"
#include "tests/gui/window_fixture.h"

#include <map>

namespace pallascope::test {

using app::StepUnit;

class TransportTest : public QObject, private WindowFixture
{
    Q_OBJECT

private Q_SLOTS:

    void init() { open(); }

    void cleanup() { close(); }

    void startsPausedAtZeroFramedOnTheFirstSteps()
    {
        QCOMPARE(now(), Picoseconds(0));
        QVERIFY(!state().playing);
        QCOMPARE(state().visible.begin, Picoseconds(0));
        QVERIFY(state().visible.end.value() > trace().steps().begin[4]);
        QVERIFY(state().visible.end.value() < trace().steps().begin[5]);
    }

    void spacePlaysAndPauses()
    {
        key(Qt::Key_Space);
        QVERIFY(state().playing);
        QCOMPARE(window->transport().playButton()->icon(), app::TransportIcon::Pause);
        QTRY_VERIFY(now().value() > 0);
        key(Qt::Key_Space);
        QVERIFY(!state().playing);
        const Picoseconds stopped = now();
        QVERIFY(!session().viewpoint().playback().isPlaying()); // so nothing moves the playhead
        QCoreApplication::processEvents();
        QCOMPARE(now(), stopped);
    }

    void playsOneSteadyStepInOneAndAHalfSeconds()
    {
        const auto& view = *session().runs().shown()->view;
        const double step =
            static_cast<double>(view.periodTime.value()) / static_cast<double>(view.period);
        QCOMPARE(session().viewpoint().playback().picosecondsPerSecond() * 1.5, std::floor(step));
    }

    void arrowsMoveOneStepAndBackAgain()
    {
        for (std::size_t step = 1; step <= 3; ++step) {
            key(Qt::Key_Right);
            QCOMPARE(now().value(), trace().steps().begin[step]);
        }
        for (std::size_t step = 3; step-- > 0;) {
            key(Qt::Key_Left);
            QCOMPARE(now().value(), trace().steps().begin[step]);
        }
    }

    void controlArrowsMoveOneCopyAndBackAgain()
    {
        for (std::size_t copy = 1; copy <= 4; ++copy) {
            key(Qt::Key_Right, Qt::ControlModifier);
            QCOMPARE(now().value(), trace().copies().start[copy]);
        }
        for (std::size_t copy = 4; copy-- > 0;) {
            key(Qt::Key_Left, Qt::ControlModifier);
            QCOMPARE(now().value(), trace().copies().start[copy]);
        }
    }

    void shiftArrowsMoveOneOperationAndBackAgain()
    {
        session().viewpoint().setNow(Picoseconds(trace().steps().bodyBegin[1]));
        std::vector<Picoseconds> stops{now()};
        std::vector<trace::OptionalRow<trace::OperationRow>> operations{
            trace::operationAt(trace(), trace::AgentRow{0}, now())};
        for (int i = 0; i < 4; ++i) {
            key(Qt::Key_Right, Qt::ShiftModifier);
            QVERIFY(now() > stops.back());
            stops.push_back(now());
            operations.push_back(trace::operationAt(trace(), trace::AgentRow{0}, now()));
            // Each press goes exactly one operation on.
            QVERIFY(operations.back() != operations[operations.size() - 2]);
        }
        for (std::size_t i = stops.size() - 1; i-- > 0;) {
            key(Qt::Key_Left, Qt::ShiftModifier);
            QCOMPARE(now(), stops[i]);
        }
    }

    void altArrowsGoFromWaitToWait()
    {
        key(Qt::Key_Right, Qt::AltModifier);
        const Picoseconds wait = now();
        QVERIFY(trace::waitAt(trace(), trace::AgentRow{0}, wait));
        key(Qt::Key_Right, Qt::AltModifier);
        QVERIFY(now() > wait);
        key(Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(now(), wait);
    }

    void homeAndEndGoToFirstAndLast()
    {
        key(Qt::Key_End);
        QCOMPARE(now(), trace().end());
        key(Qt::Key_Right);
        QCOMPARE(now(), trace().end());
        key(Qt::Key_Home);
        QCOMPARE(now(), Picoseconds(0));
        key(Qt::Key_Left);
        QCOMPARE(now(), Picoseconds(0));
    }

    void steppingEndsPlaying()
    {
        key(Qt::Key_Space);
        key(Qt::Key_Right);
        QVERIFY(!state().playing);
    }

    void buttonsMoveByTheChosenUnit()
    {
        auto* unit = window->transport().findChild<app::ChoiceField*>();
        QTest::keyClick(unit, Qt::Key_Down); // now by operation
        QTest::keyClick(unit, Qt::Key_Down); // now by copy
        QCOMPARE(session().viewpoint().unit(), StepUnit::Copy);
        const auto buttons = window->transport().findChildren<app::TransportButton*>();
        QTest::mouseClick(buttons[3], Qt::LeftButton);
        QCOMPARE(now().value(), trace().copies().start[1]);
        QTest::mouseClick(buttons[1], Qt::LeftButton);
        QCOMPARE(now().value(), trace().copies().start[0]);
    }

    // Also in a run whose steps are far longer or shorter than a microsecond.
    void bracketsGoFromTheSlowestToAsFastAsPossible_data()
    {
        QTest::addColumn<int>("block");
        QTest::newRow("short steps") << 128;
        QTest::newRow("as usual") << 512;
        QTest::newRow("long steps") << 2048;
    }

    void bracketsGoFromTheSlowestToAsFastAsPossible()
    {
        QFETCH(int, block);
        session().runs().adopt(finishedRun(block));
        const app::Playback& playback = session().viewpoint().playback();
        const auto* speed = window->transport().findChildren<app::ChoiceField*>().at(1);
        std::vector<double> rates{playback.picosecondsPerSecond()};
        const auto press = [&](Qt::Key bracket, double direction) {
            for (double before = 0; before != rates.back();) {
                before = rates.back();
                key(bracket);
                rates.push_back(playback.picosecondsPerSecond());
                QVERIFY2((rates.back() - before) * direction >= 0,
                         qPrintable(speed->currentText()));
                QCOMPARE(speed->currentText(),
                         playback.speeds()[static_cast<std::size_t>(playback.speed())].label);
            }
        };
        press(Qt::Key_BracketRight, 1);
        QCOMPARE(speed->currentText(), QStringLiteral("as fast as possible"));
        const std::size_t up = rates.size();
        QVERIFY(up > 6);
        press(Qt::Key_BracketLeft, -1);
        QVERIFY(rates.size() - up >= playback.speeds().size());
        QCOMPARE(playback.speed(), 0);
    }

    void theSpeedStaysWithAnotherRun()
    {
        const auto label = [this] {
            const app::Playback& playback = session().viewpoint().playback();
            return playback.speeds()[static_cast<std::size_t>(playback.speed())].label;
        };
        const QString first = label();
        session().runs().adopt(finishedRun(2048));
        QCOMPARE(label(), first);
    }

    void shiftZeroFramesTheWholeRun()
    {
        const layout::TimeRange whole{Picoseconds(0), trace().end()};
        QVERIFY(!(state().visible == whole));
        key(Qt::Key_0, Qt::ShiftModifier);
        QCOMPARE(state().visible, whole);
        key(Qt::Key_0);
        QVERIFY(!(state().visible == whole));
    }

    void plusAndEqualsZoomIn()
    {
        for (const Qt::Key zoom : {Qt::Key_Plus, Qt::Key_Equal}) {
            const Picoseconds length = state().visible.end - state().visible.begin;
            QTest::keyClick(QApplication::focusWidget(), zoom);
            QVERIFY(state().visible.end - state().visible.begin < length);
        }
    }

    void noKeyBelongsToTwoActions()
    {
        std::map<QString, QString> owners;
        for (const QAction* action : window->findChildren<QAction*>()) {
            for (const QKeySequence& keys : action->shortcuts()) {
                const auto [owner, isFirst] = owners.emplace(keys.toString(), action->text());
                QVERIFY2(isFirst, qPrintable(keys.toString() + QStringLiteral(": ") + owner->second
                                             + QStringLiteral(", ") + action->text()));
            }
        }
        QVERIFY(owners.size() > 40);
        // What Shift+0 is called on an American and on a German keyboard.
        QVERIFY(!owners.contains(QStringLiteral(")")));
        QVERIFY(!owners.contains(QStringLiteral("=")));
    }

    void bracketsChangeTheSpeed()
    {
        const double before = session().viewpoint().playback().picosecondsPerSecond();
        key(Qt::Key_BracketRight);
        QVERIFY(session().viewpoint().playback().picosecondsPerSecond() > before);
        key(Qt::Key_BracketLeft);
        QCOMPARE(session().viewpoint().playback().picosecondsPerSecond(), before);
    }

    void draggingOnTheStripScrubs()
    {
        QWidget& strip = *window->transport().overview();
        const int middle = strip.height() / 2;
        QTest::mousePress(&strip, Qt::LeftButton, {}, QPoint(strip.width() / 4, middle));
        const double first = ratio(now(), trace().end());
        QVERIFY(std::abs(first - 0.25) < 0.01);
        QTest::mouseRelease(&strip, Qt::LeftButton, {}, QPoint(strip.width() / 4, middle));
        drag(strip, QPoint(strip.width() / 4, middle), QPoint(strip.width() / 2, middle));
        QVERIFY(std::abs(ratio(now(), trace().end()) - 0.5) < 0.01);
        QVERIFY(state().visible.begin <= now()
                && now() <= state().visible.end); // the time line has moved along
    }

    void shiftDragOnTheStripFramesARange()
    {
        QWidget& strip = *window->transport().overview();
        drag(strip, QPoint(strip.width() * 3 / 4, 16), QPoint(strip.width() / 2, 16),
             Qt::ShiftModifier);
        QVERIFY(std::abs(ratio(state().visible.begin, trace().end()) - 0.5) < 0.01);
        QVERIFY(std::abs(ratio(state().visible.end, trace().end()) - 0.75) < 0.01);
        QCOMPARE(now(), Picoseconds(0));
    }

    void playingHoldsTheTimeLineUntilThreeQuartersThenScrollsIt()
    {
        const layout::TimeRange range = state().visible;
        const std::int64_t length = (range.end - range.begin).value();
        Q_EMIT session().viewpoint().playback().advanced(Picoseconds(length * 74 / 100));
        QCOMPARE(state().visible, range);
        Q_EMIT session().viewpoint().playback().advanced(Picoseconds(length / 2));
        QVERIFY(state().visible.begin > range.begin);
        QCOMPARE((state().visible.end - state().visible.begin).value(), length);
        const double at = ratio(now() - state().visible.begin, Picoseconds(length));
        QVERIFY(std::abs(at - 0.75) < 0.001);
    }

    void playingStopsAtTheEndAndStartsAgainFromTheBeginning()
    {
        key(Qt::Key_End);
        key(Qt::Key_Left);
        key(Qt::Key_Space);
        Q_EMIT session().viewpoint().playback().advanced(trace().end());
        QVERIFY(!state().playing);
        QCOMPARE(now(), trace().end());
        key(Qt::Key_Space);
        QVERIFY(state().playing);
        QVERIFY(ratio(now(), trace().end()) < 0.1);
    }

    void positionNamesTimeAndStep()
    {
        key(Qt::Key_Right);
        key(Qt::Key_Right);
        QVERIFY(window->transport().positionText().contains(QStringLiteral("step |2| of 512")));
    }
};

PALLASCOPE_GUI_TEST("transport", TransportTest);

} // namespace pallascope::test

#include "transport_test.moc"
