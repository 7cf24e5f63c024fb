// A kernel that copies in a loop instead of having a grid is gone through by the rounds of that
// loop. The machine behind this window is the real one.
#include "app/window/docks.h"
#include "app/window/fields.h"
#include "app/window/main_window.h"
#include "app/window/transport_bar.h"
#include "core/trace/loop_rounds.h"
#include "tests/gui/gui_test.h"
#include "views/layout/run/run_view.h"

#include <QApplication>
#include <QTest>

#include <memory>

namespace pallascope::test {

using app::StepUnit;

class RoundsTest : public QObject
{
    Q_OBJECT

private:
    [[nodiscard]] app::Viewpoint& viewpoint() const { return m_window->session().viewpoint(); }

    [[nodiscard]] const trace::Trace& trace() const { return *viewpoint().run()->trace; }

    [[nodiscard]] std::int64_t now() const { return viewpoint().state().now.value(); }

    [[nodiscard]] app::ChoiceField& unit() const
    {
        return *m_window->transport().findChild<app::ChoiceField*>();
    }

    [[nodiscard]] QStringList units() const
    {
        QStringList names;
        for (int item = 0; item < unit().count(); ++item) {
            names.append(unit().itemText(item));
        }
        return names;
    }

    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) const
    {
        QTest::keyClick(m_window.get(), key, modifiers);
    }

    void run(const char* kernel, std::map<std::string, std::string> parameters)
    {
        app::RunRequest request;
        request.kernel = kernel;
        request.chip = "tpu_v5e";
        request.fullValues = request.check = false;
        request.parameters = std::move(parameters);
        m_window->session().runs().start(request);
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->session().runs().job().running, 60000);
        QCoreApplication::processEvents();
    }

private Q_SLOTS:

    void init()
    {
        m_window = std::make_unique<app::MainWindow>();
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        run("add_by_hand", {{"rows", "64"}, {"block", "8"}});
        QCOMPARE(trace().info().loops.size(), std::size_t(1));
        QCOMPARE(trace().rounds().size(), std::size_t(8));
    }

    void cleanup() { m_window.reset(); }

    void theArrowGoesFromRoundToRound()
    {
        const trace::Rounds& rounds = trace().rounds();
        QCOMPARE(unit().currentText(), QStringLiteral("by loop round"));
        QVERIFY(!units().contains(QStringLiteral("by step")));
        key(Qt::Key_Home);
        while (now() < rounds.begin[0]) { // what is copied before the loop
            key(Qt::Key_Right);
        }
        for (std::size_t round = 0; round < rounds.size(); ++round) {
            QCOMPARE(now(), rounds.begin[round]);
            QVERIFY(m_window->transport().positionText().contains(
                QStringLiteral("round |%1| of 8").arg(round)));
            key(Qt::Key_Right);
        }
        QCOMPARE(now(), rounds.end.back());
        key(Qt::Key_Left);
        QCOMPARE(now(), rounds.begin.back());
    }

    void aLoopOfTheKernelViewLeadsToItsNextRound()
    {
        const trace::Rounds& rounds = trace().rounds();
        views::SceneView& budget = *m_window->docks().budget();
        viewpoint().jumpTo(Picoseconds(rounds.begin[2]));
        QCoreApplication::processEvents();
        const auto places = layout::framesOf(budget.scene(), layout::target::Round{3});
        QCOMPARE(places.size(), std::size_t(1));
        const QPoint at(static_cast<int>(places[0].x) + 20,
                        static_cast<int>(places[0].y + places[0].h / 2));
        QVERIFY(budget.rect().contains(at));
        QTest::mouseClick(&budget, Qt::LeftButton, Qt::NoModifier, at);
        QCOMPARE(now(), rounds.begin[3]);
    }

    void theUnitOfTheTransportIsThatOfTheArrows()
    {
        unit().setFocus();
        QTest::keyClick(&unit(), Qt::Key_Down); // by operation
        QTest::keyClick(&unit(), Qt::Key_Down); // by copy
        QCOMPARE(viewpoint().unit(), StepUnit::Copy);
        QCOMPARE(unit().currentText(), QStringLiteral("by copy"));
        viewpoint().home();
        viewpoint().step(viewpoint().unit(), 1);
        QCOMPARE(now(), trace().copies().start[0]);
    }

    void everyUnitHasAKey()
    {
        key(Qt::Key_Home);
        key(Qt::Key_Right, Qt::ControlModifier | Qt::ShiftModifier);
        const std::int64_t round = now();
        QVERIFY(round > 0);
        key(Qt::Key_Period);
        const std::int64_t event = now();
        QVERIFY(event > round);
        key(Qt::Key_Comma);
        QCOMPARE(now(), round);
        key(Qt::Key_L);
        QVERIFY(now() > round);
        key(Qt::Key_L, Qt::ShiftModifier);
        QVERIFY(now() <= round);
    }

    // Every run begins with the unit that it goes by; a choice stays as long as it means something.
    void theUnitIsThatOfTheRunUntilOneIsChosen()
    {
        run("matmul", {{"m", "512"},
                       {"n", "512"},
                       {"k", "512"},
                       {"bm", "256"},
                       {"bn", "256"},
                       {"bk", "256"}});
        QCOMPARE(unit().currentText(), QStringLiteral("by step"));
        QVERIFY(!units().contains(QStringLiteral("by loop round")));
        viewpoint().setUnit(StepUnit::Wait);
        run("add_by_hand", {{"rows", "64"}, {"block", "8"}});
        QCOMPARE(viewpoint().unit(), StepUnit::Wait);
        viewpoint().setUnit(StepUnit::Round);
        run("matmul", {{"m", "512"},
                       {"n", "512"},
                       {"k", "512"},
                       {"bm", "256"},
                       {"bn", "256"},
                       {"bk", "256"}});
        QCOMPARE(viewpoint().unit(), StepUnit::Step);
    }

    void aMarkedLoopIsNamedByThePosition()
    {
        viewpoint().markLoop(0);
        QCOMPARE(viewpoint().unit(), StepUnit::Round);
        QCOMPARE(viewpoint().state().loop, 0);
        QVERIFY(m_window->transport().positionText().contains(QStringLiteral("round |")));
    }

private:
    std::unique_ptr<app::MainWindow> m_window;
};

PALLASCOPE_GUI_TEST("rounds", RoundsTest);

} // namespace pallascope::test

#include "rounds_test.moc"
