// Nothing lies over anything else: progress and notices beside the verdict, fields and what they
// hold; and the tooltip speaks of what lies under the pointer.
#include "app/window/fields.h"
#include "tests/gui/window_fixture.h"
#include "views/navigation/partners.h"
#include "views/pointing.h"
#include "views/scene_painter.h"

#include <QLineEdit>
#include <QPaintEvent>
#include <QTemporaryDir>

namespace pallascope::test {

using layout::Target;

class OverlapTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    // The verdict ends before what stands right of it, and has all its texts within its width.
    void verifyStrip() const
    {
        const app::VerdictStrip& strip = window->strip();
        QVERIFY(!strip.message().isEmpty());
        const views::SceneView& verdict = *strip.view();
        std::vector<QRect> beside;
        for (const QWidget* child : strip.findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) {
            if (child != &verdict && child->isVisible()) {
                beside.push_back(child->geometry());
            }
        }
        QVERIFY(!beside.empty());
        for (std::size_t i = 0; i < beside.size(); ++i) {
            QVERIFY(beside[i].left() >= verdict.geometry().right());
            QVERIFY(beside[i].right() < strip.width());
            for (std::size_t other = 0; other < i; ++other) {
                QVERIFY(!beside[i].intersects(beside[other]));
            }
        }
        bool counted = false;
        for (const layout::Item& item : strip.view()->scene().items) {
            if (const auto* text = std::get_if<layout::TextItem>(&item)) {
                QVERIFY2(text->rect.right() <= verdict.width() + 1, text->text.c_str());
                counted = counted || text->text.find("finding") != std::string::npos;
            }
        }
        QVERIFY(counted); // the count never goes
    }

    static void sizesAndThemes()
    {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<bool>("dark");
        for (const QSize size : {QSize(960, 640), QSize(1280, 800), QSize(1920, 1080)}) {
            for (const bool dark : {false, true}) {
                const QString name = QStringLiteral("%1 %2").arg(size.width()).arg(dark);
                QTest::newRow(qPrintable(name)) << size << dark;
            }
        }
    }

    void openIn(QSize size, bool dark)
    {
        open(size);
        session().setTheme(dark ? layout::Theme::Dark : layout::Theme::Light);
        QCoreApplication::processEvents();
    }

private Q_SLOTS:

    void cleanup() { close(); }

    void progressStandsBesideTheFindings()
    {
        open();
        FakeMachine::instance().slowMs = 20000;
        session().runs().setParameter("bm", "1024");
        QTRY_VERIFY(window->strip().message().startsWith(QStringLiteral("re-running")));
        verifyStrip();
        session().runs().cancel();
    }

    void aNoticeStandsBesideWhatTheStripSuggests()
    {
        QTemporaryDir folder;
        open();
        session().runs().saveTrace(folder.filePath(QStringLiteral("run.trace.json.gz")));
        QTRY_VERIFY(window->strip().message().startsWith(QStringLiteral("Saved")));
        verifyStrip();
    }

    void theFirstRunIsNotOfAPreviousOne()
    {
        FakeMachine::instance().reset();
        FakeMachine::instance().slowMs = 20000;
        window = std::make_unique<app::MainWindow>();
        window->show();
        QVERIFY(QTest::qWaitForWindowExposed(window.get()));
        QSignalSpy stale(&session().runs(), &app::Runs::staleChanged);
        session().runs().start({});
        QTRY_COMPARE(stale.count(), 1);
        QVERIFY(!stale.front().front().toBool());
        QVERIFY(!state().stale);
        session().runs().cancel();
    }

    void aLaterRunSaysOnceThatViewsAreOfThePreviousOne()
    {
        open();
        FakeMachine::instance().slowMs = 20000;
        session().runs().setParameter("bm", "1024");
        QTRY_VERIFY(state().stale);
        QCoreApplication::processEvents();
        for (const char* dock : {"grid", "memory", "timeline"}) {
            const QString caption =
                window->docks().dock(QString::fromLatin1(dock))->head()->caption();
            QVERIFY2(caption.count(QStringLiteral("of the previous run")) == 1,
                     qPrintable(caption));
        }
        session().runs().cancel();
        QTRY_VERIFY(!window->docks()
                         .dock(QStringLiteral("grid"))
                         ->head()
                         ->caption()
                         .contains(QStringLiteral("previous")));
    }

    void theTooltipFollowsTheZoom()
    {
        open();
        views::TimelineView& line = timeline();
        const QPoint place = placeOf(
            line, [](const Target& found) { return layout::is<layout::target::Copy>(found); });
        QVERIFY(place.x() >= 0);
        QTest::mouseMove(&line, place);
        QTRY_VERIFY(!line.pointing().tipLines().isEmpty());
        const QString before = line.pointing().tipLines().first();
        int changes = 0;
        for (int notch = 0; notch < 12; ++notch) {
            wheel(line, QPoint(line.width() - 4, place.y()), QPoint(0, -120)); // away from it
            QCoreApplication::processEvents();
            QCoreApplication::processEvents();
            const Target under = layout::hitTest(line.scene(), place.x(), place.y());
            const bool isThing = !layout::isNothing(under)
                                 && !layout::is<layout::target::Lane>(under)
                                 && !layout::is<layout::target::Time>(under);
            QCOMPARE(state().hover, isThing ? under : Target{});
            changes +=
                line.pointing().tipLines().isEmpty() || line.pointing().tipLines().first() != before
                    ? 1
                    : 0;
        }
        QVERIFY(changes > 0);
    }

    void fieldsKeepTheirBorders_data() { sizesAndThemes(); }

    void fieldsKeepTheirBorders()
    {
        QFETCH(QSize, size);
        QFETCH(bool, dark);
        openIn(size, dark);
        const layout::Theme theme = session().theme();
        const QColor edge = views::color(layout::Color(layout::Role::Edge), theme);
        for (const char* name : {"kernel", "m", "bk", "buffers", "dtype"}) {
            QWidget* field = window->docks().form()->field(QString::fromLatin1(name));
            const QImage picture = field->grab().toImage();
            const int right = picture.width() - 1, bottom = picture.height() - 1;
            for (int x = 1; x < right; ++x) {
                QVERIFY2(picture.pixelColor(x, 0) == edge && picture.pixelColor(x, bottom) == edge,
                         qPrintable(QStringLiteral("%1 at x %2").arg(QLatin1String(name)).arg(x)));
            }
            for (int y = 1; y < bottom; ++y) {
                QVERIFY2(picture.pixelColor(0, y) == edge && picture.pixelColor(right, y) == edge,
                         qPrintable(QStringLiteral("%1 at y %2").arg(QLatin1String(name)).arg(y)));
            }
        }
    }

    void fieldsShowTheirNumbers_data() { sizesAndThemes(); }

    void fieldsShowTheirNumbers()
    {
        QFETCH(QSize, size);
        QFETCH(bool, dark);
        openIn(size, dark);
        session().runs().adopt(finishedRun(128));
        QCoreApplication::processEvents();
        for (const char* name : {"m", "n", "k", "bm", "bn", "bk", "buffers"}) {
            QWidget* field = window->docks().form()->field(QString::fromLatin1(name));
            const auto* edit = field->findChild<QLineEdit*>();
            const int text = edit->fontMetrics().horizontalAdvance(edit->text());
            const int room = edit->width() - edit->textMargins().left() - 4;
            QVERIFY2(!edit->text().isEmpty() && room >= text,
                     qPrintable(QStringLiteral("%1: %2 px for %3")
                                    .arg(QLatin1String(name))
                                    .arg(room)
                                    .arg(text)));
            QVERIFY(field->geometry().right() <= field->parentWidget()->width());
        }
    }

    // Also the gap before it, in which a longer position of another run stood.
    void thePositionIsPaintedAfresh()
    {
        open();
        session().viewpoint().end();
        QCoreApplication::processEvents();

        struct Painted : QObject
        {
            QRegion region;

            bool eventFilter(QObject* /*watched*/, QEvent* event) override
            {
                if (event->type() == QEvent::Paint) {
                    region += static_cast<QPaintEvent*>(event)->region();
                }
                return false;
            }
        } painted;

        app::TransportBar& transport = window->transport();
        const int before = transport.overview()->geometry().right();
        transport.installEventFilter(&painted);
        session().runs().adopt(finishedRun(2048)); // of few steps
        QTRY_VERIFY(!painted.region.isEmpty());
        transport.removeEventFilter(&painted);
        const int left = transport.overview()->geometry().right() + 1;
        QVERIFY(left > before + 1); // the position is narrower
        const QRect gap(left, 1, transport.width() - left, transport.height() - 2);
        QVERIFY((QRegion(gap) - painted.region).isEmpty());
    }
};

PALLASCOPE_GUI_TEST("overlap", OverlapTest);

} // namespace pallascope::test

#include "overlap_test.moc"
