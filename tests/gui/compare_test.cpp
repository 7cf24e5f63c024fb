// Keeping a run and comparing the next ones with it: by keys, through changes and undo, by dropping
// two files, and letting it go.
#include "app/window/dock.h"
#include "core/base/format.h"
#include "tests/gui/window_fixture.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/view_parts.h"
#include "views/scene_pointer.h"

#include <QFileInfo>
#include <QTemporaryDir>

#include <algorithm>

namespace pallascope::test {

class CompareTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    [[nodiscard]] QString caption(const char* dock) const
    {
        QCoreApplication::processEvents();
        return window->docks().dock(QString::fromLatin1(dock))->head()->caption();
    }

    void ask(const char* block) const
    {
        QSignalSpy runs(&session().viewpoint(), &app::Viewpoint::runChanged);
        session().runs().setParameter("bm", block);
        QTRY_COMPARE(runs.count(), 1);
    }

    [[nodiscard]] QString save(const QTemporaryDir& folder, const char* name, int block) const
    {
        const QString path = folder.filePath(QString::fromLatin1(name));
        session().runs().adopt(finishedRun(block));
        session().runs().saveTrace(path);
        [&] { QTRY_VERIFY(QFileInfo::exists(path)); }();
        return path;
    }

private Q_SLOTS:

    void init() { open(); }

    void cleanup() { close(); }

    void theNextRunShowsDifferencesInEveryCaptionUntilTheRunIsLetGo()
    {
        const auto first = session().runs().shown()->view;
        QVERIFY(state().kept == nullptr);
        key(Qt::Key_K);
        QVERIFY(state().kept != nullptr);
        QVERIFY(caption("timeline").contains(QStringLiteral("as kept")));
        ask("1024");
        QVERIFY(state().kept->run == first);
        const QString said =
            QString::fromStdString(timeText(session().runs().shown()->view->report.time));
        QVERIFY2(caption("timeline").startsWith(QStringLiteral("|%1|, |").arg(said)),
                 qPrintable(caption("timeline")));
        for (const char* dock : {"kernel", "grid", "memory", "timeline", "roofline"}) {
            QVERIFY2(caption(dock).contains(QStringLiteral("kept")), dock);
        }
        key(Qt::Key_K, Qt::ShiftModifier);
        QVERIFY(state().kept == nullptr);
        for (const char* dock : {"kernel", "grid", "memory", "timeline", "roofline"}) {
            QVERIFY2(!caption(dock).contains(QStringLiteral("kept")), dock);
        }
    }

    void undoComparesAsWell()
    {
        const auto first = session().runs().shown()->view;
        key(Qt::Key_K);
        ask("1024");
        ask("256");
        QSignalSpy runs(&session().viewpoint(), &app::Viewpoint::runChanged);
        session().runs().undo();
        QTRY_COMPARE(runs.count(), 1);
        QCOMPARE(trace().steps().size(), std::size_t(64));
        QVERIFY(state().kept->run == first);
        QCOMPARE(state().kept->figure("steps").b, 64.0);
    }

    // Another text size makes another window.
    void anotherWindowGoesOnFromWhereThisOneIs()
    {
        const auto first = session().runs().shown()->view;
        key(Qt::Key_K);
        ask("1024");
        session().viewpoint().setUnit(app::StepUnit::Copy);
        session().viewpoint().step(app::StepUnit::Copy, 1);
        session().viewpoint().step(app::StepUnit::Copy, 1);
        session().viewpoint().playback().setSpeed(2);
        const auto calm = [](app::MainWindow& of) {
            for (QAction* action : of.findChildren<QAction*>()) {
                if (action->text() == QStringLiteral("Reduce motion")) {
                    return action;
                }
            }
            return static_cast<QAction*>(nullptr);
        };
        calm(*window)->trigger();
        QVERIFY(state().now.value() > 0);
        app::MainWindow next;
        app::Session& other = next.session();
        next.goOn(window->state());
        QVERIFY(other.viewpoint().run() == session().viewpoint().run());
        QVERIFY(other.viewpoint().state().kept->run == first);
        QCOMPARE(other.viewpoint().state().now.value(), state().now.value());
        QVERIFY(other.viewpoint().state().visible == state().visible);
        QCOMPARE(other.viewpoint().unit(), app::StepUnit::Copy);
        QCOMPARE(other.viewpoint().playback().speed(), 2);
        QVERIFY(other.viewpoint().playback().reducedMotion());
        QVERIFY(calm(next)->isChecked());
        calm(next)->trigger();
        QVERIFY(!other.viewpoint().playback().reducedMotion());
        other.runs().undo();
        QTRY_VERIFY(other.runs().shown()->request == session().runs().state().history.undo());
        other.runs().redo();
        QTRY_VERIFY(other.runs().shown()->request == session().runs().request());
        QVERIFY(!other.runs().state().history.redo());
    }

    void theStripAlignsAndLetsGo()
    {
        key(Qt::Key_K);
        key(Qt::Key_T);
        QVERIFY(state().isKeptBySteps);
        QVERIFY(layout::isBySteps(state()));
        QVERIFY(caption("timeline").endsWith(QStringLiteral("aligned by step")));
        app::HeadButton* letGo = nullptr;
        for (auto* button : window->strip().findChildren<app::HeadButton*>()) {
            if (button->text() == QStringLiteral("let go")) {
                letGo = button;
            }
        }
        QVERIFY(letGo != nullptr && letGo->isVisible());
        QTest::mouseClick(letGo, Qt::LeftButton);
        QVERIFY(state().kept == nullptr);
        QVERIFY(!letGo->isVisible());
    }

    void theTimeLineReachesToTheEndOfTheLongerRun()
    {
        session().runs().adopt(finishedRun(256)); // takes longer
        const Picoseconds longer = trace().end();
        key(Qt::Key_K);
        session().runs().adopt(finishedRun(1024));
        QVERIFY(trace().end() < longer);
        key(Qt::Key_0, Qt::ShiftModifier);
        QCOMPARE(state().visible.end, longer);
        key(Qt::Key_K, Qt::ShiftModifier);
        QCOMPARE(state().visible.end, trace().end());
    }

    // They are pointed at and chosen as those of the present run, and named as the kept run's.
    void theLanesOfTheKeptRunArePointedAtAndChosen()
    {
        session().runs().adopt(finishedRun(512));
        key(Qt::Key_K);
        session().runs().adopt(finishedRun(1024));
        const auto& hits = timeline().scene().hits;
        const auto copy = std::find_if(hits.begin(), hits.end(), [](const layout::Hit& hit) {
            const auto* kept = std::get_if<layout::target::Kept>(&hit.target);
            return kept != nullptr && layout::is<layout::target::Copy>(layout::ofKept(*kept))
                   && hit.rect.w >= 6;
        });
        QVERIFY(copy != hits.end());
        const layout::Target target = copy->target;
        const QPoint place = placeOf(timeline(), target);
        QVERIFY(place.y() > timeline().height() / 2);
        QTest::mouseMove(&timeline(), place);
        QTRY_COMPARE(state().hover, target);
        const QStringList lines =
            views::tipLines(timeline().run().get(), timeline().state(), target);
        QVERIFY(!lines.isEmpty());
        QVERIFY2(lines.first().contains(QStringLiteral("kept run (")), qPrintable(lines[0]));
        QTest::mouseClick(&timeline(), Qt::LeftButton, {}, place);
        QCOMPARE(state().selection, target);
        QTest::mouseClick(&timeline(), Qt::LeftButton, {}, place);
        QCOMPARE(state().selection, layout::Target{});
    }

    void twoDroppedFilesAreCompared()
    {
        const QTemporaryDir folder;
        const QString first = save(folder, "a.trace.json", 512);
        const QString second = save(folder, "b.trace.json", 1024);
        session().runs().adopt(finishedRun(256));
        drop({first, second});
        QTRY_VERIFY(state().kept != nullptr && session().runs().file() == second);
        QCOMPARE(state().kept->run->trace->steps().size(), std::size_t(512));
        QCOMPARE(trace().steps().size(), std::size_t(64));
        QVERIFY(caption("timeline").contains(QStringLiteral("than kept")));
    }

    void aFirstFileThatCannotBeOpenedLeavesAllAsItWas()
    {
        const QTemporaryDir folder;
        const QString second = save(folder, "b.trace.json", 1024);
        const auto before = session().runs().shown()->view;
        drop({folder.filePath(QStringLiteral("missing.trace.json")), second});
        QTRY_VERIFY(window->strip().message().contains(QStringLiteral("missing.trace.json")));
        QVERIFY(session().runs().shown()->view == before);
        QVERIFY(state().kept == nullptr);
    }
};

PALLASCOPE_GUI_TEST("compare", CompareTest);

} // namespace pallascope::test

#include "compare_test.moc"
