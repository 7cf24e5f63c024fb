// The first minute: four callouts, one after the other, beside what they are about; skipped, shown
// again from Help, and remembered as seen.
#include "app/window/first_minute.h"
#include "app/window/remembered.h"
#include "tests/gui/window_fixture.h"

#include <QMenu>
#include <QMenuBar>
#include <QTemporaryDir>

namespace pallascope::test {

class FirstMinuteTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    [[nodiscard]] app::FirstMinute& minute() const { return window->firstMinute(); }

    void showFromHelp() const
    {
        for (QAction* action : window->findChildren<QAction*>()) {
            if (action->text().remove(QLatin1Char('&')) == QStringLiteral("First minute")) {
                action->trigger();
            }
        }
    }

    void expectPlaced() const
    {
        const QRect callout = minute().callout(), thing = minute().thing();
        QVERIFY(!thing.isEmpty());
        QVERIFY2(!callout.intersects(thing), qPrintable(QString::number(minute().shown())));
        QVERIFY2(window->rect().contains(callout), qPrintable(QString::number(minute().shown())));
    }

private Q_SLOTS:

    void init() { open(); }

    void cleanup() { close(); }

    void noCalloutIsThereUnlessItIsAskedFor() { QVERIFY(!minute().isShown()); }

    void eachStandsBesideWhatItIsAboutAtEverySize_data()
    {
        QTest::addColumn<QSize>("size");
        for (const QSize size : {QSize(960, 640), QSize(1280, 800), QSize(1920, 1080)}) {
            QTest::addRow("%d", size.width()) << size;
        }
    }

    void eachStandsBesideWhatItIsAboutAtEverySize()
    {
        QFETCH(QSize, size);
        showFromHelp();
        window->resize(size);
        QCoreApplication::processEvents();
        for (int number = 0; number < app::FirstMinute::count(); ++number) {
            QCoreApplication::processEvents();
            QCOMPARE(minute().shown(), number);
            expectPlaced();
            minute().next();
        }
        QVERIFY(!minute().isShown());
    }

    void theyFollowTheWindow()
    {
        minute().show(2);
        const QRect before = minute().thing();
        window->resize(1700, 950);
        QTRY_VERIFY(minute().thing() != before);
        QTRY_VERIFY(!minute().callout().intersects(minute().thing()));
        expectPlaced();
    }

    void aClickGoesOnAndEscEndsAllOfThem()
    {
        showFromHelp();
        QTest::mouseClick(window->childAt(minute().callout().topLeft() + QPoint(6, 6)),
                          Qt::LeftButton);
        QCOMPARE(minute().shown(), 1);
        key(Qt::Key_Escape);
        QVERIFY(!minute().isShown());
        showFromHelp();
        QCOMPARE(minute().shown(), 0);
    }

    void thePictureStaysLiveMeanwhile()
    {
        showFromHelp();
        const Picoseconds before = now();
        key(Qt::Key_Right);
        QVERIFY(now() > before);
        QVERIFY(minute().isShown());
    }

    void theyAreShownAtTheFirstStartAndNotAtTheNext()
    {
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("window.ini"));
        new app::Remembered(*window, file);
        session().runs().adopt(finishedRun());
        QTRY_VERIFY(minute().isShown());
        key(Qt::Key_Escape);
        close();
        open();
        new app::Remembered(*window, file);
        session().runs().adopt(finishedRun());
        QTest::qWait(50); // time in which it must not come
        QVERIFY(!minute().isShown());
    }
};

PALLASCOPE_GUI_TEST("first_minute", FirstMinuteTest);

} // namespace pallascope::test

#include "first_minute_test.moc"
