// What the window keeps from one start to the next.
#include "app/window/remembered.h"
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
        window->openFile(path(name));
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
        QCOMPARE(window->folder(), QFileInfo(path(QStringLiteral("x"))).absolutePath());
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

} // namespace pallascope::test

PALLASCOPE_GUI_TEST_MAIN(pallascope::test::RememberedTest)
#include "remembered_test.moc"
