// The time line under wheel, drags, clicks, keys and hovering.
#include "tests/gui/window_fixture.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/timeline/timeline.h"
#include "views/navigation/partners.h"
#include "views/pointing.h"

namespace pallascope::test {

using layout::Target;
namespace target = layout::target;
using layout::TimeAxis;

class TimelineTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    [[nodiscard]] TimeAxis axis() const
    {
        return layout::timelineAxis(state(), {static_cast<double>(timeline().width()),
                                              static_cast<double>(timeline().height())});
    }

    [[nodiscard]] double picosecondsPerPixel() const
    {
        const TimeAxis now = axis();
        return static_cast<double>((now.range.end - now.range.begin).value()) / now.width;
    }

private Q_SLOTS:

    void init() { open(); }

    void cleanup() { close(); }

    // The marks of prints lie on the ruler, where a click elsewhere sets the playhead to the
    // pointer's place.
    void aClickOnTheMarkOfAPrintGoesThere()
    {
        trace::TraceBuilder builder = mainJobBuilder();
        const Picoseconds time(builder.steps.bodyEnd[2]);
        builder.info.prints = {{"x = 7", 2, 0, time, {0, 4}}};
        app::FinishedRun run = finishedRun();
        run.view =
            std::make_shared<const layout::RunView>(runViewOf(std::move(builder).finish().value()));
        session().runs().adopt(run);
        QCoreApplication::processEvents();
        const QPoint mark = placeOf(timeline(), target::Print{0});
        QVERIFY(mark.x() > 0);
        QTest::mouseClick(&timeline(), Qt::LeftButton, {}, mark);
        QCOMPARE(now(), time);
        QCOMPARE(state().selection, (Target(target::Print{0})));
    }

    void wheelZoomKeepsTheTimeUnderTheCursor_data()
    {
        QTest::addColumn<QPoint>("angle");
        QTest::addColumn<QPoint>("pixels");
        QTest::newRow("wheel in") << QPoint(0, 120) << QPoint();
        QTest::newRow("wheel out, two notches") << QPoint(0, -240) << QPoint();
        QTest::newRow("touch pad in") << QPoint(0, 40) << QPoint(0, 25);
    }

    void wheelZoomKeepsTheTimeUnderTheCursor()
    {
        QFETCH(QPoint, angle);
        QFETCH(QPoint, pixels);
        session().viewpoint().setNow(Picoseconds(trace().end().value() / 2));
        session().viewpoint().changeRange(navigation::framed(navigation::Frame::Steps));
        const layout::TimeRange range = state().visible;
        const QPoint cursor(700, 80);
        const auto before = axis().toTime(cursor.x());
        wheel(timeline(), cursor, angle, pixels);
        QVERIFY(!(state().visible == range));
        const bool closer = angle.y() > 0;
        QCOMPARE(state().visible.end - state().visible.begin < range.end - range.begin, closer);
        const auto after = axis().toTime(cursor.x());
        QVERIFY(std::abs(static_cast<double>((after - before).value())) <= picosecondsPerPixel());
    }

    void sidewaysWheelPans()
    {
        session().viewpoint().setNow(Picoseconds(trace().end().value() / 2));
        const layout::TimeRange before = state().visible;
        wheel(timeline(), QPoint(600, 80), QPoint(-120, 0));
        QVERIFY(state().visible.begin > before.begin);
        QCOMPARE(state().visible.end - state().visible.begin, before.end - before.begin);
    }

    void dragPans()
    {
        session().viewpoint().setNow(Picoseconds(trace().end().value() / 2));
        const layout::TimeRange before = state().visible;
        const double scale = picosecondsPerPixel();
        drag(timeline(), QPoint(800, 60), QPoint(700, 60));
        const auto moved = static_cast<double>((state().visible.begin - before.begin).value());
        QVERIFY(std::abs(moved - 100 * scale) <= scale);
        QCOMPARE(state().selection, Target{}); // a drag is not a click
    }

    void draggingStopsAtTheBeginningOfTheRun()
    {
        const layout::TimeRange before = state().visible;
        drag(timeline(), QPoint(600, 60), QPoint(900, 60));
        QCOMPARE(state().visible, before);
    }

    void clickOnTheRulerSetsThePlayhead()
    {
        const int x = 640;
        const Picoseconds expected = axis().toTime(x);
        QTest::mouseClick(&timeline(), Qt::LeftButton, {}, QPoint(x, 8));
        QCOMPARE(now(), expected);
    }

    void clickInALaneSelectsAndEscapeClears()
    {
        const QPoint place = placeOf(timeline(), target::Copy{2});
        QVERIFY(place.x() >= 0);
        QTest::mouseClick(&timeline(), Qt::LeftButton, {}, place);
        QCOMPARE(state().selection, (Target(target::Copy{2})));
        QCOMPARE(now(), Picoseconds(0));
        key(Qt::Key_Return);
        QCOMPARE(now().value(), trace().copies().start[2]);
        key(Qt::Key_Escape);
        QCOMPARE(state().selection, Target{});
    }

    void shiftDragMeasuresInTimeAndSteps()
    {
        const auto& steps = trace().steps();
        const int from = static_cast<int>(std::lround(axis().toX(Picoseconds(steps.begin[1]))));
        const int to = static_cast<int>(std::lround(axis().toX(Picoseconds(steps.begin[3]))));
        const layout::TimeRange before = state().visible;
        QTest::mouseMove(&timeline(), placeOf(timeline(), target::Copy{1}));
        QTRY_VERIFY(!timeline().pointing().tipLines().isEmpty());
        drag(timeline(), QPoint(to, 60), QPoint(from, 60), Qt::ShiftModifier);
        QCOMPARE(state().visible, before);
        QVERIFY(timeline().pointing().tipLines().isEmpty()); // it would lie over the totals
        const QString measure = timeline().measureText();
        QVERIFY2(measure.contains(QStringLiteral(" · 2.0"))
                     || measure.contains(QStringLiteral(" · 1.9")),
                 qPrintable(measure));
        const QStringList totals = timeline().measureLines();
        QVERIFY2(totals.join(u'\n').contains(QStringLiteral("busy  MXU ")),
                 qPrintable(totals.join(u'\n')));
        QVERIFY(totals.join(u'\n').contains(QStringLiteral("moved  x ")));
        QTest::mouseClick(&timeline(), Qt::LeftButton, {}, QPoint(600, 60));
        QVERIFY(timeline().measureText().isEmpty());
        QVERIFY(timeline().measureLines().isEmpty());
    }

    void keysZoomPanAndFrame()
    {
        session().viewpoint().setNow(Picoseconds(trace().end().value() / 2));
        const layout::TimeRange start = state().visible;
        key(Qt::Key_Plus);
        QVERIFY(state().visible.end - state().visible.begin < start.end - start.begin);
        key(Qt::Key_Minus);
        QVERIFY(std::abs((state().visible.begin - start.begin).value())
                < 1000); // back where it was, within rounding
        key(Qt::Key_D);
        QVERIFY(state().visible.begin > start.begin);
        key(Qt::Key_A);
        QVERIFY(std::abs((state().visible.begin - start.begin).value()) < 1000);
        key(Qt::Key_0, Qt::ShiftModifier);
        QCOMPARE(state().visible, (layout::TimeRange{Picoseconds(0), trace().end()}));
        key(Qt::Key_0);
        QCOMPARE(state().visible, layout::frameAround(trace(), now()));
    }

    void hoveringACopyFramesItsPartnersInEveryView()
    {
        session().viewpoint().setNow(
            Picoseconds((trace().copies().start[2] + trace().copies().end[2]) / 2));
        QCoreApplication::processEvents();
        const QImage memoryBefore = view("memory").grab().toImage();
        const QImage gridBefore = view("grid").grab().toImage();
        const QImage rooflineBefore = view("roofline").grab().toImage();
        QTest::mouseMove(&timeline(), placeOf(timeline(), target::Copy{2}));
        QTRY_COMPARE(state().hover, (Target(target::Copy{2})));
        QVERIFY(view("memory").grab().toImage() != memoryBefore); // the slot that the copy goes to
        QVERIFY(view("grid").grab().toImage() != gridBefore);     // the block that it brings
        QVERIFY(view("roofline").grab().toImage() == rooflineBefore);

        const navigation::Partners partners(*session().runs().shown()->view, state(),
                                            state().hover);
        const auto& copies = trace().copies();
        QVERIFY(partners.contains(target::Block{copies.operand[2], copies.block[2]}));
        QVERIFY(!partners.contains(target::Block{copies.operand[2], copies.block[2] + 1}));
        QVERIFY(!partners.contains(target::Copy{3}));
        QTest::mouseMove(&timeline(), QPoint(2, timeline().height() - 2));
    }

    void tooltipTellsAfterAMoment()
    {
        QTest::mouseMove(&timeline(), placeOf(timeline(), target::Copy{1}));
        QTRY_VERIFY(!timeline().pointing().tipLines().isEmpty());
        QVERIFY2(timeline().pointing().tipLines().first().contains(QStringLiteral("y(0,0)")),
                 qPrintable(timeline().pointing().tipLines().first()));
        QTest::mouseMove(&timeline(), QPoint(2, 2));
    }

    // A double click on the ruler means the same as a click.
    void aDoubleClickOnTheRulerGoesToThePointer()
    {
        const QPoint place(static_cast<int>(axis().left) + 300, 5);
        // The first click of the double click.
        QTest::mouseClick(&timeline(), Qt::LeftButton, {}, place);
        QTest::mouseDClick(&timeline(), Qt::LeftButton, {}, place);
        QCOMPARE(now(), axis().toTime(place.x()));
        QVERIFY(now().value() > 0);
    }

    // Tries both sides of each zoom at which the level of detail changes.
    void theSwitchSaysHowNearThePictureIs()
    {
        app::DockHead* head = window->docks().dock(QStringLiteral("timeline"))->head();
        const auto zoomTo = [this](double pxPerStep) {
            const double mean = static_cast<double>(trace().end().value())
                                / static_cast<double>(trace().steps().size());
            const double length = mean * axis().width / pxPerStep;
            session().viewpoint().setVisible({Picoseconds(0), Picoseconds(std::llround(length))});
            QCoreApplication::processEvents();
        };
        for (const double px : {900.0, 410.0, 390.0, 41.0, 39.0, 7.0, 3.0}) {
            zoomTo(px);
            const auto level = layout::timeline::zoomOf(trace(), axis()).level;
            const int word = level == layout::timeline::Level::Operations ? 0
                             : level == layout::timeline::Level::Steps    ? 1
                                                                          : 2;
            for (int i = 0; i < 3; ++i) {
                QVERIFY2(head->button(i)->isChecked() == (i == word),
                         qPrintable(QStringLiteral("%1 px, word %2").arg(px).arg(i)));
            }
        }
        zoomTo(405);
        QVERIFY(head->button(0)->isChecked());
        window->resize(1100, 800); // the same range on fewer pixels
        QTRY_VERIFY(head->button(1)->isChecked());
    }

    void theHeadSaysHowNearItIs()
    {
        app::DockHead* head = window->docks().dock(QStringLiteral("timeline"))->head();
        QTest::mouseClick(head->button(2), Qt::LeftButton); // the button "run"
        QCOMPARE(state().visible, (layout::TimeRange{Picoseconds(0), trace().end()}));
        QVERIFY(head->button(2)->isChecked());
        QTest::mouseClick(head->button(0), Qt::LeftButton); // the button "op"
        QVERIFY(head->button(0)->isChecked());
        QVERIFY(!head->button(2)->isChecked());
    }
};

PALLASCOPE_GUI_TEST("timeline", TimelineTest);

} // namespace pallascope::test

#include "timeline_test.moc"

#include <cmath>
