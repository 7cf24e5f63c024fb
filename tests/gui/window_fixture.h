// A window with the synthetic main job, used as a person uses it: with real keys, clicks, wheels
// and drags.
#pragma once

#include "app/window/docks.h"
#include "app/window/main_window.h"
#include "app/window/transport_bar.h"
#include "app/window/verdict_strip.h"
#include "core/trace/lookup.h"
#include "tests/gui/fake_run_job.h"
#include "tests/gui/gui_test.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <QApplication>
#include <QDropEvent>
#include <QMimeData>
#include <QSignalSpy>
#include <QTest>
#include <QUrl>
#include <QWheelEvent>

#include <functional>
#include <memory>

namespace pallascope::test {

class WindowFixture
{
public:
    void open(QSize size = QSize(1280, 800))
    {
        // The offscreen platform warns about what it lacks. Any other warning fails the test.
        QTest::failOnWarning(
            QRegularExpression(QStringLiteral("^(?!This plugin does not support)")));
        FakeMachine::instance().reset();
        window = std::make_unique<app::MainWindow>();
        window->resize(size);
        window->show();
        session().runs().adopt(finishedRun());
        window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        QCoreApplication::processEvents();
    }

    void close() { window.reset(); }

    [[nodiscard]] app::Session& session() const { return window->session(); }

    [[nodiscard]] const layout::ViewState& state() const { return session().viewpoint().state(); }

    [[nodiscard]] const trace::Trace& trace() const
    {
        return *session().runs().shown()->view->trace;
    }

    [[nodiscard]] Picoseconds now() const { return state().now; }

    [[nodiscard]] views::TimelineView& timeline() const { return *window->docks().timeline(); }

    [[nodiscard]] views::SceneView& view(const char* dock) const
    {
        if (QLatin1String(dock) == QLatin1String("source")) {
            return *window->docks().source(); // it shares its dock with the findings
        }
        auto* widget = window->docks().dock(QString::fromLatin1(dock))->widget();
        return *qobject_cast<views::SceneView*>(widget);
    }

    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) const
    {
        QTest::keyClick(window.get(), key, modifiers);
    }

    void wheel(QWidget& widget, QPoint at, QPoint angle, QPoint pixels = {},
               Qt::KeyboardModifiers modifiers = Qt::NoModifier) const
    {
        QWheelEvent event(at, widget.mapToGlobal(at), pixels, angle, Qt::NoButton, modifiers,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(&widget, &event);
    }

    void drop(const QStringList& files) const
    {
        QMimeData data;
        QList<QUrl> urls;
        for (const QString& file : files) {
            urls.append(QUrl::fromLocalFile(file));
        }
        data.setUrls(urls);
        const QPoint at(400, 400);
        QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window.get(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent event(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window.get(), &event);
    }

    static void drag(QWidget& widget, QPoint from, QPoint to,
                     Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QTest::mousePress(&widget, Qt::LeftButton, modifiers, from);
        // QTest::mouseMove cannot press buttons, which a drag needs.
        const QPoint steps[] = {from + (to - from) / 2, to};
        for (const QPoint& at : steps) {
            QMouseEvent move(QEvent::MouseMove, at, widget.mapToGlobal(at), Qt::NoButton,
                             Qt::LeftButton, modifiers);
            QApplication::sendEvent(&widget, &move);
        }
        QTest::mouseRelease(&widget, Qt::LeftButton, modifiers, to);
    }

    // The middle of the first place in a view whose target is wanted.
    static QPoint placeOf(views::SceneView& view,
                          const std::function<bool(const layout::Target&)>& wanted)
    {
        for (const layout::Hit& hit : view.scene().hits) {
            const double x = hit.rect.x + hit.rect.w / 2;
            const double y = hit.rect.y + hit.rect.h / 2;
            if (wanted(layout::hitTest(view.scene(), x, y))) {
                return {static_cast<int>(x), static_cast<int>(y)};
            }
        }
        return {-1, -1};
    }

    static QPoint placeOf(views::SceneView& view, const layout::Target& target)
    {
        return placeOf(view, [&](const layout::Target& found) { return found == target; });
    }

    std::unique_ptr<app::MainWindow> window;
};

} // namespace pallascope::test
