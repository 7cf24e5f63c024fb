// Findings in the window: their links, their places, their number and their marks.
#include "app/window/scrolled_view.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"

#include <set>

namespace pallascope::test {

using layout::Target;
namespace target = layout::target;

class FindingsTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    static trace::Finding finding(const char* kind, std::int64_t step)
    {
        trace::Finding result;
        result.kind = kind;
        result.message = "A sentence with numbers that says what is wrong, where, how often it is "
                         "and how to mend it, so long that it takes some lines of a narrow dock.";
        result.operand = "out";
        result.step = step;
        return result;
    }

    void show(const std::vector<trace::Finding>& findings)
    {
        trace::TraceBuilder builder = mainJobBuilder();
        builder.info.findings = findings;
        app::FinishedRun run = finishedRun();
        run.view =
            std::make_shared<const layout::RunView>(runViewOf(std::move(builder).finish().value()));
        session().runs().adopt(run);
        QCoreApplication::processEvents();
    }

    // The page of the source's dock in a small window, a dock in a large one.
    [[nodiscard]] app::ScrolledView& scroll() const
    {
        for (auto* each : window->findChildren<app::ScrolledView*>()) {
            if (each->isVisible()) {
                return *each;
            }
        }
        qFatal("no findings are shown");
    }

    [[nodiscard]] views::SceneView& list() const
    {
        return *qobject_cast<views::SceneView*>(scroll().widget());
    }

    void openFindings(QSize size)
    {
        open(size);
        if (size.width() < 1600) {
            QTest::mouseClick(window->docks().dock(QStringLiteral("source"))->head()->button(2),
                              Qt::LeftButton);
        }
    }

    static void sizes()
    {
        QTest::addColumn<QSize>("size");
        QTest::newRow("small") << QSize(1280, 800);
        QTest::newRow("large") << QSize(1920, 1080);
    }

    [[nodiscard]] trace::SourceLine lineOfTheDot() const
    {
        for (const trace::Operation& operation : trace().info().operations) {
            if (operation.source.line > 0) {
                return operation.source;
            }
        }
        qFatal("no operation has a line");
    }

    static std::multiset<layout::Role> marks(const layout::Scene& scene)
    {
        std::multiset<layout::Role> found;
        for (const layout::Item& item : scene.items) {
            const auto* polygon = std::get_if<layout::PolygonItem>(&item);
            if (polygon != nullptr && polygon->fill.role != layout::Role::Focus) {
                found.insert(polygon->fill.role);
            }
        }
        return found;
    }

private Q_SLOTS:

    void cleanup() { close(); }

    void aClickOnTheirNumberShowsTheList_data() { sizes(); }

    void aClickOnTheirNumberShowsTheList()
    {
        QFETCH(QSize, size);
        open(size);
        show({finding("output_revisited", 8)});
        views::SceneView& strip = *window->strip().view();
        const QPoint place = placeOf(
            strip, [](const Target& target) { return layout::is<target::Finding>(target); });
        QVERIFY(place.x() >= 0);
        QTest::mouseClick(&strip, Qt::LeftButton, {}, place);
        QTRY_VERIFY(list().isVisible());
        QCOMPARE(now().value(), trace().steps().begin[8]);
        QVERIFY(window->docks().source()->isVisible() == (size.width() >= 1600));
    }

    void oneClickOnALinkGoesToTheStep_data() { sizes(); }

    void oneClickOnALinkGoesToTheStep()
    {
        QFETCH(QSize, size);
        openFindings(size);
        show({finding("output_revisited", 8)});
        const QPoint place = placeOf(list(), target::Steps{8, 8});
        QVERIFY(place.x() >= 0);
        QTest::mouseClick(&list(), Qt::LeftButton, {}, place);
        QCOMPARE(now().value(), trace().steps().begin[8]);
        QTest::mouseClick(&list(), Qt::LeftButton, {}, place); // again, from elsewhere
        session().viewpoint().home();
        QTest::mouseClick(&list(), Qt::LeftButton, {}, place);
        QCOMPARE(now().value(), trace().steps().begin[8]);
    }

    void oneClickOnALinkShowsTheLine_data() { sizes(); }

    void oneClickOnALinkShowsTheLine()
    {
        QFETCH(QSize, size);
        openFindings(size);
        trace::Finding wrong = finding("output_revisited", 8);
        wrong.source = lineOfTheDot();
        show({wrong});
        const Target line = target::SourceLine{wrong.source.file, wrong.source.line};
        const QPoint place = placeOf(list(), line);
        QVERIFY(place.x() >= 0);
        QTest::mouseClick(&list(), Qt::LeftButton, {}, place);
        views::SourceView& source = *window->docks().source();
        QTRY_VERIFY(source.isVisible());
        QVERIFY(placeOf(source, line).x() >= 0);
        QCOMPARE(state().selection, line);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Right);
        QCOMPARE(state().firstSourceLine, std::int64_t(0)); // follows the playhead again
    }

    // From wherever the reader has scrolled.
    void aChosenFindingShowsItsLine_data() { sizes(); }

    void aChosenFindingShowsItsLine()
    {
        QFETCH(QSize, size);
        open(size);
        trace::Finding wrong = finding("copy_not_awaited", -1);
        wrong.source = {lineOfTheDot().file, 1};
        show({wrong});
        session().viewpoint().setFirstSourceLine(20);
        session().activate(target::Finding{0});
        QCoreApplication::processEvents();
        QCOMPARE(state().firstSourceLine, std::int64_t(0));
        const Target line = target::SourceLine{wrong.source.file, wrong.source.line};
        QVERIFY(placeOf(*window->docks().source(), line).x() >= 0);
    }

    void fGoesThroughAllPlacesOfAllFindings()
    {
        open();
        trace::Finding pair = finding("output_revisited", 16);
        pair.relatedStep = 8;
        trace::Finding without = finding("race", -1); // as of a program without grid steps
        without.source = lineOfTheDot();
        show({pair, without, finding("over_scoped_limit", -1)});
        const auto begin = [this](std::size_t step) {
            return Picoseconds(trace().steps().begin[step]);
        };
        const auto press = [this](Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_F, modifiers);
        };
        session().viewpoint().end();
        press();
        QCOMPARE(now(), begin(8));
        QCOMPARE(state().selection, Target(target::Finding{0}));
        press();
        QCOMPARE(now(), begin(16));
        QCOMPARE(state().selection, Target(target::Finding{0}));
        press();
        QCOMPARE(state().selection, Target(target::Finding{1}));
        const Picoseconds line = now();
        QVERIFY(line > Picoseconds(0) && line < begin(8)); // where the line first runs
        press();
        QCOMPARE(state().selection, Target(target::Finding{2}));
        QCOMPARE(now(), Picoseconds(0));
        press();
        QCOMPARE(now(), begin(8));
        press(Qt::ShiftModifier);
        QCOMPARE(state().selection, Target(target::Finding{2}));
        press(Qt::ShiftModifier);
        QCOMPARE(now(), line);
        press(Qt::ShiftModifier);
        QCOMPARE(now(), begin(16));
    }

    void everyFindingIsReachedByScrolling_data() { sizes(); }

    void everyFindingIsReachedByScrolling()
    {
        QFETCH(QSize, size);
        openFindings(size);
        constexpr std::int64_t kFindings = 12;
        std::vector<trace::Finding> all;
        for (std::int64_t i = 0; i < kFindings; ++i) {
            all.push_back(finding("output_revisited", 8 * (i + 1)));
        }
        show(all);
        QVERIFY(list().height() > scroll().viewport()->height());
        const layout::Scene& scene = list().scene();
        for (std::int64_t i = 0; i < kFindings; ++i) {
            QVERIFY2(!layout::framesOf(scene, target::Finding{i}).empty(),
                     qPrintable(QString::number(i)));
        }
        for (const layout::Item& item : scene.items) {
            const auto* text = std::get_if<layout::TextItem>(&item);
            QVERIFY(text == nullptr || text->text.find("more finding") == std::string::npos);
        }
        for (std::int64_t i = 0; i < kFindings; ++i) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_F);
            const layout::Rect rect = layout::framesOf(list().scene(), target::Finding{i}).front();
            const int top = static_cast<int>(rect.y) + list().y();
            QVERIFY2(top >= 0 && top < scroll().viewport()->height(),
                     qPrintable(QStringLiteral("finding %1 at %2").arg(i).arg(top)));
        }
    }

    void aSeverityHasOneMarkEverywhere_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<int>("role");
        QTest::newRow("error") << QStringLiteral("race") << static_cast<int>(layout::Role::Error);
        QTest::newRow("warning") << QStringLiteral("over_scoped_limit")
                                 << static_cast<int>(layout::Role::Warning);
    }

    void aSeverityHasOneMarkEverywhere()
    {
        QFETCH(QString, kind);
        QFETCH(int, role);
        openFindings(QSize(1920, 1080));
        show({finding(qPrintable(kind), 3)});
        const std::multiset<layout::Role> one{static_cast<layout::Role>(role)};
        QCOMPARE(marks(window->strip().view()->scene()), one);
        QCOMPARE(marks(list().scene()), one);
    }

    void theStripShowsTheWorst()
    {
        open();
        show({finding("over_scoped_limit", 3), finding("race", 3)});
        QCOMPARE(marks(window->strip().view()->scene()).count(layout::Role::Error), std::size_t(1));
        QCOMPARE(marks(window->strip().view()->scene()).count(layout::Role::Warning),
                 std::size_t(0));
    }
};

PALLASCOPE_GUI_TEST("findings", FindingsTest);

} // namespace pallascope::test

#include "findings_test.moc"
