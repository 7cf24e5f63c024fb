// Two GPUs that send rows to each other, in the window with the real machine behind it: the chosen
// SM is the same in all views, and every moment looks the same whichever way one comes to it.
#include "app/window/docks.h"
#include "app/window/main_window.h"
#include "core/trace/agents.h"
#include "tests/gui/gui_test.h"
#include "views/scene_view.h"
#include "views/timeline_view.h"

#include <QApplication>
#include <QTest>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

namespace pallascope::test {

class GpusTest : public QObject
{
    Q_OBJECT

private:
    [[nodiscard]] app::Viewpoint& viewpoint() const { return m_window->session().viewpoint(); }

    [[nodiscard]] views::SceneView& view(const char* dock) const
    {
        return *qobject_cast<views::SceneView*>(
            m_window->docks().dock(QString::fromLatin1(dock))->widget());
    }

    // Clicks where the time line shows a target; whether it does.
    [[nodiscard]] bool clickInTimeline(const layout::Target& target) const
    {
        views::TimelineView& timeline = *m_window->docks().timeline();
        const std::vector<layout::Hit> hits = timeline.scene().hits;
        const auto hit = std::find_if(hits.rbegin(), hits.rend(),
                                      [&](const layout::Hit& one) { return one.target == target; });
        if (hit == hits.rend()) {
            return false;
        }
        const layout::Rect& rect = hit->rect;
        QTest::mouseClick(
            &timeline, Qt::LeftButton, {},
            QPoint(static_cast<int>(rect.x + rect.w / 2), static_cast<int>(rect.y + rect.h / 2)));
        QCoreApplication::processEvents();
        return true;
    }

    // What the views say of the present moment.
    [[nodiscard]] std::string said() const
    {
        QCoreApplication::processEvents();
        std::string all = m_window->docks().timeline()->scene().caption;
        for (const char* dock : {"grid", "memory", "devices", "roofline"}) {
            all += "\n" + view(dock).scene().caption;
        }
        return all;
    }

private Q_SLOTS:

    void init()
    {
        m_window = std::make_unique<app::MainWindow>();
        m_window->resize(1920, 1080);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        app::RunRequest request;
        request.kernel = PALLASCOPE_DOCS "/../tests/golden/two_gpus.kernel.json";
        request.chip = "h100_sxm";
        request.fullValues = request.check = false;
        m_window->session().runs().start(request);
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->session().runs().job().running, 60000);
        QCoreApplication::processEvents();
        QVERIFY(viewpoint().run());
        QCOMPARE(viewpoint().run()->index->agents().sms.size(), std::size_t(4));
        viewpoint().setVisible({Picoseconds(0), viewpoint().run()->trace->end()});
    }

    void cleanup() { m_window.reset(); }

    void aClickOnAStripChoosesTheSmInAllViews()
    {
        QVERIFY(clickInTimeline(layout::target::Sm{3}));
        QCOMPARE(viewpoint().state().device, 1);
        QCOMPARE(viewpoint().state().sm, 1);
        QVERIFY(said().find("|device 1 SM 1|") != std::string::npos);
        // Within a device, too.
        QVERIFY(clickInTimeline(layout::target::Sm{2}));
        QCOMPARE(viewpoint().state().device, 1);
        QCOMPARE(viewpoint().state().sm, 0);
        QVERIFY(view("memory").caption().find("|device 1 SM 0|") != std::string::npos);
    }

    void everyMomentLooksTheSameInBothDirections()
    {
        std::map<std::int64_t, std::string> before;
        viewpoint().setDevice(1);
        viewpoint().home();
        const Picoseconds end = viewpoint().run()->trace->end();
        for (int step = 0; step < 500 && viewpoint().state().now < end; ++step) {
            before[viewpoint().state().now.value()] = said();
            viewpoint().step(app::StepUnit::Operation, 1);
        }
        QVERIFY(before.size() > 10);
        for (int step = 0; step < 500 && viewpoint().state().now > Picoseconds(0); ++step) {
            viewpoint().step(app::StepUnit::Operation, -1);
            const auto same = before.find(viewpoint().state().now.value());
            QVERIFY(same != before.end());
            QCOMPARE(said(), same->second);
        }
        QCOMPARE(viewpoint().state().now, Picoseconds(0));
    }

    // What is copied is in L2 from then on, and is not on the way back.
    void theBarOfL2ChangesWithAStep()
    {
        viewpoint().home();
        const auto bar = [&] {
            QCoreApplication::processEvents();
            const layout::Scene& scene = view("memory").scene();
            std::string said;
            for (const layout::Hit& hit : scene.hits) {
                const auto* share = std::get_if<layout::target::Cached>(&hit.target);
                said += share != nullptr ? std::to_string(share->operand) + " at "
                                               + std::to_string(hit.rect.x) + " "
                                         : "";
            }
            for (const layout::Fact& fact : scene.facts) {
                said += fact.kind == layout::FactKind::BytesInL2
                            ? std::to_string(fact.value) + " bytes "
                            : "";
            }
            return said;
        };
        std::vector<std::string> bars{bar()};
        QVERIFY(bars.front().find(" at ") == std::string::npos);
        const Picoseconds end = viewpoint().run()->trace->end();
        while (bars.size() < 500 && viewpoint().state().now < end) {
            viewpoint().step(app::StepUnit::Event, 1);
            bars.push_back(bar());
        }
        QVERIFY(bars.back().find(" at ") != std::string::npos);
        for (std::size_t step = bars.size() - 1; step > 0; --step) {
            QCOMPARE(bar(), bars[step]);
            viewpoint().step(app::StepUnit::Event, -1);
        }
        QCOMPARE(bar(), bars.front());
    }

private:
    std::unique_ptr<app::MainWindow> m_window;
};

PALLASCOPE_GUI_TEST("gpus", GpusTest);

} // namespace pallascope::test

#include "gpus_test.moc"
