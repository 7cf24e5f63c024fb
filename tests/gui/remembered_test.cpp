// What the window keeps from one start to the next.
#include "app/window/file_dialogs.h"
#include "app/window/remembered.h"
#include "app/window/text_size.h"
#include "tests/gui/window_fixture.h"

#include <QFile>
#include <QFileInfo>
#include <QMenu>
#include <QTemporaryDir>

namespace pallascope::test {

class RememberedTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_dir;
    app::Remembered* m_remembered = nullptr;

    [[nodiscard]] QString path(const QString& name) const { return m_dir->filePath(name); }

    void start()
    {
        open();
        m_remembered = new app::Remembered(*window, path(QStringLiteral("window.ini")));
        QCoreApplication::processEvents();
    }

    void startAgain()
    {
        window->close();
        close();
        start();
    }

    void saveAndOpen(const QString& name)
    {
        session().runs().saveTrace(path(name));
        QTRY_VERIFY(QFileInfo::exists(path(name)));
        window->files().open(path(name));
        QTRY_COMPARE(session().runs().file(), path(name));
    }

    [[nodiscard]] QStringList menu() const
    {
        QStringList names;
        for (const QAction* action : window->recentMenu()->actions()) {
            names << action->text();
        }
        return names;
    }

private Q_SLOTS:

    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void cleanup() { close(); }

    void themeSizeAndDocksComeBack()
    {
        start();
        QCOMPARE(session().theme(), layout::Theme::Light);
        session().setTheme(layout::Theme::Dark);
        window->resize(1400, 850);
        window->docks().dock(QStringLiteral("roofline"))->hide();
        QCoreApplication::processEvents();
        startAgain();
        QCOMPARE(session().theme(), layout::Theme::Dark);
        QCOMPARE(window->size(), QSize(1400, 850));
        QVERIFY(window->docks().dock(QStringLiteral("roofline"))->isHidden());
        QVERIFY(!window->docks().dock(QStringLiteral("grid"))->isHidden());
    }

    void filesAreInTheMenuAndOpenFromThere()
    {
        start();
        QVERIFY(!window->recentMenu()->isEnabled());
        saveAndOpen(QStringLiteral("first.trace.json"));
        saveAndOpen(QStringLiteral("second.trace.json"));
        startAgain();
        QCOMPARE(menu().mid(0, 2), QStringList({QStringLiteral("second.trace.json"),
                                                QStringLiteral("first.trace.json")}));
        QCOMPARE(window->files().folder(), QFileInfo(path(QStringLiteral("x"))).absolutePath());
        window->recentMenu()->actions()[1]->trigger();
        QTRY_COMPARE(session().runs().file(), path(QStringLiteral("first.trace.json")));
        QCOMPARE(menu().front(), QStringLiteral("first.trace.json"));
        window->recentMenu()->actions().back()->trigger();
        QVERIFY(!window->recentMenu()->isEnabled());
        QVERIFY(m_remembered->files().isEmpty());
    }

    void ofTwoFilesWithOneNameTheFolderIsSaid()
    {
        start();
        QVERIFY(QDir(m_dir->path()).mkdir(QStringLiteral("other")));
        saveAndOpen(QStringLiteral("run.trace.json"));
        saveAndOpen(QStringLiteral("other/run.trace.json"));
        QVERIFY(menu()[0].endsWith(QStringLiteral("/other")));
        QVERIFY(menu()[1].startsWith(QStringLiteral("run.trace.json in ")));
    }

    void theTitleNamesTheFile()
    {
        start();
        QCOMPARE(window->windowTitle(), QStringLiteral("matmul – Pallascope"));
        saveAndOpen(QStringLiteral("mine.trace.json"));
        QCOMPARE(window->windowTitle(), QStringLiteral("mine.trace.json – Pallascope"));
    }

    // The window asks for another one in its place, since all of it is magnified.
    void theSizeOfTextsIsAskedForByKeysAndKept()
    {
        start();
        QSignalSpy asked(window.get(), &app::MainWindow::textSizeAsked);
        QTest::keyClick(window.get(), Qt::Key_Plus, Qt::ControlModifier);
        QTest::keyClick(window.get(), Qt::Key_Minus, Qt::ControlModifier); // there is none smaller
        QCOMPARE(asked.count(), 1);
        QCOMPARE(asked[0][0].toInt(), 110);
        QCOMPARE(app::nextTextSize(150, 1), 150);
        QCOMPARE(app::nextTextSize(100, -1), 100);
        QCOMPARE(app::nextTextSize(125, -1), 110);
        m_remembered->keepTextSize(90); // as former versions could
        QCOMPARE(app::Remembered::textSize(path(QStringLiteral("window.ini"))), 100);
        m_remembered->keepTextSize(125);
        startAgain();
        const QSettings kept(path(QStringLiteral("window.ini")), QSettings::IniFormat);
        QCOMPARE(kept.value(QStringLiteral("text_size")).toInt(), 125);
    }

    void whatCannotBeReadCountsAsNotKept()
    {
        QFile file(path(QStringLiteral("window.ini")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("[General]\ntheme=17\ngeometry=@ByteArray(no)\ndocks=none\nfiles=\n\xff\xfe==");
        file.close();
        start();
        QCOMPARE(session().theme(), layout::Theme::Light);
        QCOMPARE(window->size(), QSize(1280, 800));
        QVERIFY(!window->docks().dock(QStringLiteral("roofline"))->isHidden());
    }
};

PALLASCOPE_GUI_TEST("remembered", RememberedTest);

} // namespace pallascope::test

#include "remembered_test.moc"
