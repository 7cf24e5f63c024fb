// Traces and pictures in the window: opening, saving, dropping, and what it says if that does not
// work.
#include "app/window/window_app.h"
#include "tests/gui/window_fixture.h"
#include "views/scene_painter.h"

#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

namespace pallascope::test {

class FilesTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;

    [[nodiscard]] QString path(const char* name) const
    {
        return m_dir.filePath(QString::fromLatin1(name));
    }

private Q_SLOTS:

    void init() { open(); }

    void cleanup() { close(); }

    void aSavedTraceOpensAgain()
    {
        session().runs().adopt(finishedRun(1024));
        session().runs().saveTrace(path("run.trace.json.gz"));
        QTRY_VERIFY(QFileInfo::exists(path("run.trace.json.gz")));
        QTRY_VERIFY(window->strip().message().startsWith(QStringLiteral("Saved ")));
        const trace::Trace saved = trace();
        session().runs().adopt(finishedRun(512));
        QSignalSpy runs(&session().viewpoint(), &app::Viewpoint::runChanged);
        session().runs().openTrace(path("run.trace.json.gz"));
        QTRY_COMPARE(runs.count(), 1);
        QVERIFY(trace() == saved);
    }

    void droppingATraceOpensIt()
    {
        session().runs().adopt(finishedRun(1024));
        session().runs().saveTrace(path("drop.trace.json"));
        QTRY_VERIFY(QFileInfo::exists(path("drop.trace.json")));
        session().runs().adopt(finishedRun(512));
        QSignalSpy runs(&session().viewpoint(), &app::Viewpoint::runChanged);
        drop({path("drop.trace.json")});
        QTRY_COMPARE(runs.count(), 1);
        QCOMPARE(trace().steps().size(), std::size_t(64));
    }

    void whatCannotBeOpenedIsSaidInPlaceAndTheRunStays()
    {
        const auto before = session().runs().shown()->view;
        QFile file(path("broken.trace.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"traceEvents\": [");
        file.close();
        drop({path("broken.trace.json")});
        QTRY_VERIFY(window->strip().message().contains(QStringLiteral("broken.trace.json")));
        QVERIFY(window->strip().message().startsWith(QStringLiteral("Not opened: ")));
        QCOMPARE(session().runs().shown()->view, before);
        QVERIFY(!session().runs().job().running);
        QVERIFY2(window->docks().form()->errorText().isEmpty(), "the form does not name that file");
        QTest::keyClick(window.get(), Qt::Key_Escape);
        QVERIFY(session().runs().job().error.isEmpty());
        QVERIFY(!window->strip().message().contains(QStringLiteral("broken.trace.json")));
    }

    void whatCannotBeSavedIsSaidInPlace()
    {
        session().runs().saveTrace(path("no/such/folder/run.trace.json"));
        QTRY_VERIFY(window->strip().message().startsWith(QStringLiteral("Not saved: ")));
        QVERIFY(!session().runs().job().error.isEmpty());
    }

    void picturesOfEveryViewAreSaved_data()
    {
        QTest::addColumn<QString>("view");
        QTest::addColumn<QString>("ending");
        for (const char* view : {"window", "kernel", "grid", "memory", "timeline", "roofline",
                                 "source", "verdict", "devices", "program"}) {
            QTest::newRow(view) << QString::fromLatin1(view) << QStringLiteral(".png");
        }
        QTest::newRow("svg") << QStringLiteral("timeline") << QStringLiteral(".svg");
    }

    void picturesOfEveryViewAreSaved()
    {
        QFETCH(QString, view);
        QFETCH(QString, ending);
        const QString file = m_dir.filePath(view + ending);
        window->savePictureOf(view, file);
        QVERIFY2(session().runs().job().error.isEmpty(), qPrintable(session().runs().job().error));
        if (ending == QStringLiteral(".png")) {
            const QImage image(file);
            QVERIFY(image.width() > 100 && image.height() > 40);
        } else {
            QFile svg(file);
            QVERIFY(svg.open(QIODevice::ReadOnly));
            QVERIFY(svg.readAll().contains("</svg>"));
        }
    }

    void theWholeWindowIsNotSavedAsSvg()
    {
        const QString file = path("window.svg");
        window->savePictureOf(QStringLiteral("window"), file);
        QVERIFY(!QFile::exists(file));
        QVERIFY(session().runs().job().error.contains(QStringLiteral(".png only")));
    }

    void aPictureThatCannotBeWrittenIsSaidInPlaceAndLeavesNothing()
    {
        window->savePictureOf(QStringLiteral("grid"), path("no/such/grid.png"));
        QVERIFY(window->strip().message().contains(QStringLiteral("grid.png")));
        QVERIFY(!QFileInfo::exists(path("no")));
    }

    void theWindowPictureHasTheAskedSizeAndTime()
    {
        layout::ViewState look;
        look.now = Picoseconds(trace().end().value() / 2);
        const QString early = path("early.png");
        const QString late = path("late.png");
        QVERIFY(app::saveWindowPicture(finishedRun(), {}, {1280, 800}, layout::Theme::Light,
                                       early.toStdString())
                    .has_value());
        QVERIFY(app::saveWindowPicture(finishedRun(), look, {1280, 800}, layout::Theme::Light,
                                       late.toStdString())
                    .has_value());
        QCOMPARE(QImage(early).size(), QSize(1280, 800));
        QVERIFY(QImage(early) != QImage(late));
        const auto bad =
            app::saveWindowPicture(finishedRun(), {}, {0, 800}, layout::Theme::Light, "x.png");
        QVERIFY(!bad.has_value());
    }

    // Qt cuts what it paints on a device with fewer pixels than units.
    void smallTextsLeaveNothingCut()
    {
        const QString small = path("small.png"), usual = path("usual.png");
        for (const int percent : {50, 100}) {
            const app::FinishedRun run = finishedRun();
            QVERIFY(app::saveWindowPicture(run, {}, {1280, 800}, layout::Theme::Light,
                                           (percent == 50 ? small : usual).toStdString(), 0,
                                           percent)
                        .has_value());
        }
        const QImage image(small);
        QCOMPARE(image.size(), QSize(1280, 800));
        QVERIFY(image != QImage(usual));
        int black = 0;
        for (int i = 0; i < image.width() * image.height(); ++i) {
            const bool is = image.pixel(i % image.width(), i / image.width()) == qRgb(0, 0, 0);
            black += is ? 1 : 0;
        }
        QVERIFY2(black < 1000, qPrintable(QString::number(black)));

        layout::Scene scene{200, 100, {}, {}};
        const layout::Color ink(layout::Role::Text);
        scene.items.emplace_back(layout::FillItem{{150, 50, 50, 50}, ink});
        const QImage half = views::render(scene, layout::Theme::Light, 0.5);
        QCOMPARE(half.size(), QSize(100, 50));
        QCOMPARE(half.pixelColor(98, 48), views::color(ink, layout::Theme::Light));
        QVERIFY(half.pixelColor(70, 48) != half.pixelColor(98, 48));
    }
};

PALLASCOPE_GUI_TEST("files", FilesTest);

} // namespace pallascope::test

#include "files_test.moc"
