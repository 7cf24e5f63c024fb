// The window as a whole: places of docks, theme, keyboard, screen reader, findings.
#include "app/window/command_palette.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"

#include <QListWidget>

#include <set>

namespace pallascope::test {

using layout::Target;
namespace target = layout::target;

class WindowTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    [[nodiscard]] QRect place(const char* dock) const
    {
        return window->docks().dock(QString::fromLatin1(dock))->geometry();
    }

    static app::FinishedRun runWithFindings()
    {
        trace::TraceBuilder builder = mainJobBuilder();
        for (const std::int64_t step : {8, 16}) {
            trace::Finding finding;
            finding.kind = "output_revisited";
            finding.message = "Output block revisited after a gap.";
            finding.operand = "out";
            finding.step = step;
            builder.info.findings.push_back(finding);
        }
        auto trace = std::move(builder).finish();
        app::FinishedRun run = finishedRun();
        run.view = std::make_shared<const layout::RunView>(runViewOf(*trace));
        return run;
    }

private Q_SLOTS:

    void cleanup() { close(); }

    void theDocksStandWhereTheTableHasThem()
    {
        open(QSize(1280, 800));
        QCOMPARE(place("kernel"), QRect(0, 92, 232, 462));
        QCOMPARE(place("grid"), QRect(233, 92, 333, 462));
        QCOMPARE(place("memory"), QRect(567, 92, 347, 462));
        QCOMPARE(place("roofline"), QRect(915, 92, 365, 258));
        QCOMPARE(place("source"), QRect(915, 351, 365, 203));
        QCOMPARE(place("timeline"), QRect(0, 555, 1280, 245));
    }

    void aLargeWindowHasItsOwnTable()
    {
        open(QSize(1920, 1080));
        QCOMPARE(place("kernel"), QRect(0, 92, 304, 466));
        QCOMPARE(place("verdict"), QRect(0, 559, 304, 239));
        QCOMPARE(place("grid"), QRect(305, 92, 495, 706));
        QCOMPARE(place("memory"), QRect(801, 92, 449, 706));
        QCOMPARE(place("roofline"), QRect(1251, 92, 669, 360));
        QCOMPARE(place("source"), QRect(1251, 453, 669, 345));
        QCOMPARE(place("timeline"), QRect(0, 799, 1920, 281));
    }

    void aSmallWindowTabsRooflineAndSource()
    {
        open(QSize(1000, 680));
        app::Dock* roofline = window->docks().dock(QStringLiteral("roofline"));
        app::Dock* source = window->docks().dock(QStringLiteral("source"));
        QVERIFY(window->tabifiedDockWidgets(roofline).contains(source));
        window->resize(1280, 800);
        QTRY_VERIFY(window->tabifiedDockWidgets(roofline).isEmpty());
    }

    void resetLayoutBringsEverythingBack()
    {
        open();
        const QRect grid = place("grid");
        window->docks().dock(QStringLiteral("grid"))->close();
        window->docks().dock(QStringLiteral("source"))->setFloating(true);
        window->docks().arrange(window->size());
        QCoreApplication::processEvents();
        QTRY_COMPARE(place("grid"), grid);
        QVERIFY(!window->docks().dock(QStringLiteral("source"))->isFloating());
        QVERIFY(view("grid").isVisible());
    }

    void controlLTurnsTheColoursOver()
    {
        open();
        const auto corner = [this] { return view("grid").grab().toImage().pixelColor(1, 1); };
        const QColor light = corner();
        key(Qt::Key_L, Qt::ControlModifier);
        QCOMPARE(session().theme(), layout::Theme::Dark);
        QVERIFY(corner().lightness() < 60 && light.lightness() > 200);
        key(Qt::Key_L, Qt::ControlModifier);
        QCOMPARE(corner(), light);
    }

    void everyDockIsReachedByKeys()
    {
        open();
        std::set<int> digits;
        for (app::Dock* dock : window->docks().all()) {
            const int digit = app::keyOf(*dock);
            QVERIFY(digits.insert(digit).second);
            key(static_cast<Qt::Key>(Qt::Key_0 + digit), Qt::ControlModifier);
            QVERIFY2(dock->isVisible() && dock->isAncestorOf(QApplication::focusWidget()),
                     qPrintable(dock->objectName()));
        }
        std::set<QWidget*> seen;
        for (std::size_t i = 0; i < window->docks().all().size(); ++i) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6);
            seen.insert(QApplication::focusWidget());
        }
        // Values stand where Memory stood.
        QVERIFY(!window->docks().dock(QStringLiteral("memory"))->isVisible());
        QCOMPARE(seen.size(), window->docks().all().size() - 1);
        QWidget* last = QApplication::focusWidget();
        QTest::keyClick(last, Qt::Key_F6);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6, Qt::ShiftModifier);
        QCOMPARE(QApplication::focusWidget(), last);
    }

    void arrowsWalkThroughAFocusedGridAndPlayElsewhere()
    {
        open();
        key(Qt::Key_2, Qt::ControlModifier);
        QWidget* grid = QApplication::focusWidget();
        QCOMPARE(grid, static_cast<QWidget*>(&view("grid")));
        QTest::keyClick(grid, Qt::Key_Right);
        const Target first = state().hover;
        QVERIFY(!layout::isNothing(first));
        for (int i = 0; i < 3; ++i) {
            QTest::keyClick(grid, Qt::Key_Down);
        }
        QVERIFY(!(state().hover == first));
        QCOMPARE(now(), Picoseconds(0)); // the arrow keys belonged to the grid
        QVERIFY(!grid->accessibleDescription().isEmpty());
        QTest::keyClick(grid, Qt::Key_Return);
        QCOMPARE(state().selection, state().hover);
        QTest::mouseClick(&view("memory"), Qt::LeftButton, {}, QPoint(2, 2));
        key(Qt::Key_Right);
        QCOMPARE(now().value(), trace().steps().begin[1]);
    }

    void everyViewHasANameAndACaptionForTheScreenReader()
    {
        open();
        for (const char* name : {"grid", "memory", "roofline", "source", "timeline"}) {
            views::SceneView& scene = view(name);
            QTRY_VERIFY2(!scene.accessibleName().isEmpty(), name);
            QVERIFY2(
                scene.accessibleDescription().contains(QRegularExpression(QStringLiteral("[0-9]"))),
                name);
            QVERIFY(!scene.accessibleDescription().contains(QLatin1Char('|')));
        }
    }

    void captionsFollowThePlayhead()
    {
        open();
        app::DockHead* head = window->docks().dock(QStringLiteral("grid"))->head();
        QTRY_VERIFY(head->caption().startsWith(QStringLiteral("step |0|")));
        key(Qt::Key_Right);
        QTRY_VERIFY(head->caption().startsWith(QStringLiteral("step |1|")));
    }

    void aDoubleClickInTheGridGoesToTheNextUseOfTheBlock()
    {
        open();
        views::SceneView& grid = view("grid");
        const std::int32_t x = 0;
        QPoint place(-1, -1);
        for (const layout::Hit& hit : grid.scene().hits) {
            if (hit.target == Target(target::Block{x, 3})) {
                place = QRectF(hit.rect.x, hit.rect.y, hit.rect.w, hit.rect.h).center().toPoint();
            }
        }
        QVERIFY(place.x() >= 0);
        QTest::mouseDClick(&grid, Qt::LeftButton, {}, place);
        QCOMPARE(now().value(), trace().steps().bodyBegin[3]); // x(0,3) is used in step 3
        QTest::mouseDClick(&grid, Qt::LeftButton, {}, place);
        QCOMPARE(now().value(), trace().steps().bodyBegin[11]);
    }

    void aDoubleClickOnALineGoesToWhereItWaits()
    {
        open();
        trace::TraceBuilder builder = mainJobBuilder();
        const trace::SourceLine line = builder.info.pipelines[0].source;
        trace::Operation wait = builder.info.operations[0];
        wait.name = "dma_wait";
        wait.source = line;
        builder.info.operations.edit().push_back(wait);
        builder.waits.operation.assign(builder.waits.size(), trace::kNone);
        for (const std::size_t row : {3U, 7U}) {
            builder.waits.operation[row] =
                static_cast<std::int32_t>(builder.info.operations.size() - 1);
        }
        app::FinishedRun run = finishedRun();
        run.view =
            std::make_shared<const layout::RunView>(runViewOf(std::move(builder).finish().value()));
        session().runs().adopt(run);
        QCoreApplication::processEvents();
        views::SceneView& source = view("source");
        QPoint place(-1, -1);
        for (const layout::Hit& hit : source.scene().hits) {
            if (hit.target == Target(target::SourceLine{line.file, line.line})) {
                place = QRectF(hit.rect.x, hit.rect.y, hit.rect.w, hit.rect.h).center().toPoint();
            }
        }
        QVERIFY(place.x() >= 0);
        QTest::mouseDClick(&source, Qt::LeftButton, {}, place);
        QCOMPARE(now().value(), trace().waits().begin[3]);
        QTest::mouseDClick(&source, Qt::LeftButton, {}, place);
        QCOMPARE(now().value(), trace().waits().begin[7]);
    }

    void fGoesFromFindingToFinding()
    {
        open();
        session().runs().adopt(runWithFindings());
        key(Qt::Key_F);
        QCOMPARE(now().value(), trace().steps().begin[8]);
        key(Qt::Key_F);
        QCOMPARE(now().value(), trace().steps().begin[16]);
        QCOMPARE(state().selection, (Target(target::Finding{1})));
        key(Qt::Key_F, Qt::ShiftModifier);
        QCOMPARE(now().value(), trace().steps().begin[8]);
    }

    void theCommandPaletteRunsWhatIsTyped()
    {
        open();
        key(Qt::Key_K, Qt::ControlModifier);
        QVERIFY(window->palette().isVisible());
        QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("next wait"));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        QVERIFY(!window->palette().isVisible());
        QVERIFY(trace::waitAt(trace(), trace::AgentRow{0}, now()));
    }

    void theCommandPaletteGoesToThingsOfTheRun()
    {
        open();
        const auto type = [this](const QString& words) {
            key(Qt::Key_K, Qt::ControlModifier);
            QTest::keyClicks(QApplication::focusWidget(), words);
        };
        const auto enter = [] { QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return); };
        type(QStringLiteral("304"));
        QCOMPARE(window->palette().shown(), QStringList{QStringLiteral("step 304 (4,6,0)")});
        enter();
        QCOMPARE(now().value(), trace().steps().begin[304]);
        QCOMPARE(state().selection, (Target(target::Steps{304, 304})));
        type(QStringLiteral("y(2,3)"));
        enter();
        QCOMPARE(state().selection, (Target(target::Block{1, 2 * 8 + 3})));
        type(QStringLiteral("20 us"));
        enter();
        QCOMPARE(now(), Picoseconds(20'000'000));
        type(QStringLiteral("no such thing"));
        QVERIFY(window->palette().shown().isEmpty());
        const auto* list = window->palette().findChild<QListWidget*>();
        QCOMPARE(list->count(), 1);
        QCOMPARE(list->item(0)->text(), QStringLiteral("Nothing found"));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Down);
        enter();
        QCOMPARE(now(), Picoseconds(20'000'000));
        type(QStringLiteral("bm"));
        QVERIFY(window->palette().shown().contains(QStringLiteral("Change bm, now 512")));
        enter();
        const QWidget* field = window->docks().form()->field(QStringLiteral("bm"));
        QVERIFY(field->hasFocus() || field->isAncestorOf(QApplication::focusWidget()));
    }

    void theSourceFollowsUntilTheReaderScrolls()
    {
        open();
        views::SceneView& source = view("source");
        wheel(source, QPoint(100, 100), QPoint(0, -120));
        QVERIFY(state().firstSourceLine > 1);
        wheel(source, QPoint(100, 100), QPoint(0, 1200));
        QCOMPARE(state().firstSourceLine, std::int64_t(1));
    }

    void anEmptyWindowStandsBeforeTheFirstRun()
    {
        FakeMachine::instance().reset();
        window = std::make_unique<app::MainWindow>();
        window->show();
        QVERIFY(QTest::qWaitForWindowExposed(window.get()));
        key(Qt::Key_Space);
        key(Qt::Key_Right);
        key(Qt::Key_End);
        wheel(*window->docks().timeline(), QPoint(300, 60), QPoint(0, 120));
        QTest::mouseClick(window->docks().timeline(), Qt::LeftButton, {}, QPoint(300, 8));
        QVERIFY(!session().runs().shown());
        QSignalSpy runs(&session().viewpoint(), &app::Viewpoint::runChanged);
        session().runs().start({});
        QTRY_COMPARE(runs.count(), 1);
    }
};

PALLASCOPE_GUI_TEST("window", WindowTest);

} // namespace pallascope::test

#include "window_test.moc"
