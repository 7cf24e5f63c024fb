// File → Capture in the window. A script stands in for Python; the tests of the command line use
// the real one.
#include "app/window/capture_dialog.h"
#include "app/window/fields.h"
#include "tests/gui/window_fixture.h"

#include <QClipboard>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTemporaryDir>

namespace pallascope::test {

using namespace Qt::StringLiterals;

class CaptureTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;

    [[nodiscard]] QString path(const QString& name) const { return m_dir.filePath(name); }

    [[nodiscard]] app::CaptureDialog& dialog() const { return window->captureDialog(); }

    // Answers the question for the packages with exit code `looks`; for the capture itself, does
    // `act`.
    void writePython(const QByteArray& act, int looks = 10) const
    {
        QFile file(path(u"python"_s));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/sh\nif [ \"$1\" = -c ]; then exit " + QByteArray::number(looks)
                   + "; fi\n" + act + "\n");
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }

    void type(const QString& field, const QString& text) const
    {
        auto* line = dialog().findChild<QLineEdit*>(field);
        line->selectAll();
        QTest::keyClick(line, Qt::Key_Backspace);
        QTest::keyClicks(line, text);
    }

    [[nodiscard]] QString shown(const QString& box) const
    {
        return dialog().findChild<QPlainTextEdit*>(box)->toPlainText();
    }

    [[nodiscard]] QString error() const
    {
        const auto* label = dialog().findChild<QLabel*>(u"error"_s);
        return label == nullptr ? QString() : label->text();
    }

    void click(const QString& button) const
    {
        auto* found = dialog().findChild<QPushButton*>(button);
        QVERIFY(found->isEnabled());
        QTest::mouseClick(found, Qt::LeftButton);
    }

private Q_SLOTS:

    void init()
    {
        QFile::remove(path(u"f.pallascope"_s));
        open();
        window->askCapture();
        QVERIFY(dialog().isVisible());
        type(u"file"_s, path(u"k.py"_s));
        type(u"function"_s, u"f"_s);
        type(u"python"_s, path(u"python"_s));
    }

    void cleanup() { close(); }

    void theCommandIsShownAsItIsTypedAndCanBeCopied()
    {
        type(u"arguments"_s, u"bf16[8, 128]  f32[]"_s);
        type(u"more"_s, u"--mesh x=8 --name 'a b'"_s);
        const QString command = path(u"python"_s) + u" -m pallascope capture "_s + path(u"k.py:f"_s)
                                + u" --arg 'bf16[8, 128]' --arg 'f32[]' --output "_s
                                + path(u"f.pallascope"_s)
                                + u" --chip tpu_v5e --mesh x=8 --name 'a b'"_s;
        QCOMPARE(shown(u"command"_s), command);
        click(u"copy"_s);
        QCOMPARE(QGuiApplication::clipboard()->text(), command);
    }

    // Of many chips the one that is shown, else the usual one, until another one is chosen.
    void theChipIsTheOneThatIsShown()
    {
        auto* chip = dialog().findChild<app::ChoiceField*>(u"chip"_s);
        chip->addItem(u"other"_s, u"other"_s);
        dialog().proposeChip("other");
        QCOMPARE(chip->currentData().toString(), u"other"_s);
        dialog().proposeChip("in/a/file.json");
        QCOMPARE(chip->currentData().toString(), u"tpu_v5e"_s);
        Q_EMIT chip->activated(chip->currentIndex());
        dialog().proposeChip("other");
        QCOMPARE(chip->currentData().toString(), u"tpu_v5e"_s);
    }

    void nothingRunsBeforeFileAndFunctionAreThere()
    {
        type(u"function"_s, {});
        QVERIFY(!dialog().findChild<QPushButton*>(u"start"_s)->isEnabled());
        QVERIFY(shown(u"command"_s).isEmpty());
    }

    void anOutputThatWasTypedStays()
    {
        type(u"output"_s, path(u"mine.pallascope"_s));
        type(u"function"_s, u"g"_s);
        QCOMPARE(dialog().findChild<QLineEdit*>(u"output"_s)->text(), path(u"mine.pallascope"_s));
    }

    void whatIsCapturedRunsOnItsChip()
    {
        writePython("printf '%s\\n' \"$@\" > \"$0.words\"");
        QSignalSpy runs(&session().viewpoint(), &app::Viewpoint::runChanged);
        click(u"start"_s);
        QTRY_COMPARE(runs.count(), 1);
        const app::RunRequest asked = FakeMachine::instance().asked().back();
        QCOMPARE(QString::fromStdString(asked.kernel), path(u"f.pallascope"_s));
        QCOMPARE(asked.chip, std::string("tpu_v5e"));
        QVERIFY(!asked.fullValues); // times do not need all values
        QVERIFY(!dialog().isVisible());
        QFile words(path(u"python.words"_s));
        QVERIFY(words.open(QIODevice::ReadOnly));
        QCOMPARE(QString::fromUtf8(words.readAll()),
                 u"-m\npallascope\ncapture\n%1\n--output\n%2\n--chip\ntpu_v5e\n"_s.arg(
                     path(u"k.py:f"_s), path(u"f.pallascope"_s)));
    }

    void everythingThatIsNotSupportedIsListed()
    {
        writePython("echo noise >&2; echo 'pallascope: 2 things in f cannot be captured:\n"
                    "  k.py:6 (kernel): primitive lgamma\n  k.py:7 (kernel): primitive digamma' "
                    ">&2; exit 1");
        const auto before = session().runs().shown()->view;
        click(u"start"_s);
        QTRY_COMPARE(error(), u"2 things in f cannot be captured:"_s);
        QCOMPARE(shown(u"said"_s), u"  k.py:6 (kernel): primitive lgamma\n"
                                   "  k.py:7 (kernel): primitive digamma"_s);
        QVERIFY(dialog().isVisible());
        QCOMPARE(session().runs().shown()->view, before);
        QVERIFY(dialog().findChild<QPushButton*>(u"start"_s)->isEnabled());
    }

    void aMistakeInPythonIsOneSentenceWithAllThatPythonSaidBelow()
    {
        writePython("echo 'Traceback:\n  File k.py\npallascope: k.py:3 (f): TypeError: no' >&2; "
                    "exit 2");
        click(u"start"_s);
        QTRY_COMPARE(error(), u"k.py:3 (f): TypeError: no"_s);
        QVERIFY(shown(u"said"_s).startsWith(u"Traceback:"_s));
    }

    void whatIsMissingIsSaid_data()
    {
        QTest::addColumn<int>("looks");
        QTest::addColumn<QString>("says");
        QTest::newRow("no JAX") << 11 << u"has no package jax; `"_s;
        QTest::newRow("no package") << 12 << u"has no package pallascope; `"_s;
        QTest::newRow("no Python") << 1 << u"is no Python 3: it exits with 1"_s;
    }

    void whatIsMissingIsSaid()
    {
        QFETCH(int, looks);
        QFETCH(QString, says);
        writePython("exit 0", looks);
        click(u"start"_s);
        QTRY_VERIFY2(error().contains(says), qPrintable(error()));
    }

    void aPythonThatIsNotThereIsSaid()
    {
        type(u"python"_s, path(u"none"_s));
        click(u"start"_s);
        QTRY_VERIFY(error().startsWith(u"Cannot run the Python "_s + path(u"none"_s) + u": "_s));
        QVERIFY2(
            error().endsWith(u"the field Python or PALLASCOPE_PYTHON says which one to use."_s),
            qPrintable(error()));
    }

    // The window answers while Python works, and an interrupt lets Python remove what it has begun
    // to write.
    void cancelEndsPythonAndLeavesNoFile()
    {
        writePython("touch \"$6.part\"; trap 'rm \"$6.part\"; exit 130' INT; "
                    "while :; do sleep 0.02; done");
        const QString part = path(u"f.pallascope.part"_s);
        click(u"start"_s);
        QTRY_VERIFY(QFileInfo::exists(part));
        QVERIFY(dialog().findChild<QLabel*>(u"hint"_s) != nullptr);
        key(Qt::Key_End); // the work does not block the window
        QElapsedTimer timer;
        timer.start();
        click(u"cancel"_s);
        QVERIFY(timer.elapsed() < 500);
        QTRY_VERIFY(!QFileInfo::exists(part));
        QVERIFY(!QFileInfo::exists(path(u"f.pallascope"_s)));
        QVERIFY(dialog().isVisible());
        QVERIFY(dialog().findChild<QPushButton*>(u"start"_s)->isEnabled());
    }

    void closingTheDialogCancels()
    {
        writePython("touch \"$0.began\"; trap 'touch \"$0.ended\"; exit 130' INT; "
                    "while :; do sleep 0.02; done");
        click(u"start"_s);
        QTRY_VERIFY(QFileInfo::exists(path(u"python.began"_s)));
        QTest::keyClick(&dialog(), Qt::Key_Escape);
        QVERIFY(!dialog().isVisible());
        QTRY_VERIFY(QFileInfo::exists(path(u"python.ended"_s)));
    }
};

PALLASCOPE_GUI_TEST("capture", CaptureTest);

} // namespace pallascope::test

#include "capture_test.moc"
