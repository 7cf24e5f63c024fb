// Who has the keyboard: the time line at first and whenever nothing else was given it, so that the
// arrows step through the run.
#include "app/window/fields.h"
#include "tests/gui/window_fixture.h"

#include <QDialog>
#include <QLineEdit>

namespace pallascope::test {

class FocusTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    // What a person does: the key goes to whatever has the keyboard.
    static void press(Qt::Key key)
    {
        QWidget* focused = QApplication::focusWidget();
        QVERIFY(focused != nullptr);
        QTest::keyClick(focused, key);
    }

    void arrowSteps() const
    {
        const Picoseconds before = now();
        press(Qt::Key_Right);
        QVERIFY2(now() > before, "the arrow did not step");
        press(Qt::Key_Left);
        QCOMPARE(now(), before);
    }

private Q_SLOTS:

    void cleanup() { close(); }

    void atFirstStartTheArrowSteps()
    {
        FakeMachine::instance().reset();
        window = std::make_unique<app::MainWindow>();
        window->show();
        QSignalSpy runs(&session().viewpoint(), &app::Viewpoint::runChanged);
        session().runs().start({});
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        QTRY_COMPARE(runs.count(), 1);
        QTRY_COMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&timeline()));
        arrowSteps();
    }

    void aClickIntoAViewKeepsTheArrowsStepping_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"grid", "memory", "roofline", "source", "timeline", "kernel"}) {
            QTest::newRow(name) << QString::fromLatin1(name);
        }
    }

    void aClickIntoAViewKeepsTheArrowsStepping()
    {
        QFETCH(QString, name);
        open();
        QWidget* content = window->docks().dock(name)->widget();
        auto* clicked = name == QStringLiteral("source")
                            ? static_cast<views::SceneView*>(window->docks().source())
                            : qobject_cast<views::SceneView*>(content);
        clicked = clicked != nullptr ? clicked : content->findChild<views::SceneView*>();
        QTest::mouseClick(clicked, Qt::LeftButton, {}, QPoint(3, clicked->height() - 3));
        arrowSteps();
    }

    void aClickEndsTheWorkInAField()
    {
        open();
        QWidget* field = window->docks().form()->field(QStringLiteral("bm"));
        field->setFocus();
        QTest::mouseClick(&view("grid"), Qt::LeftButton, {}, QPoint(2, 2));
        arrowSteps();
        field->setFocus();
        QTest::mouseClick(window->transport().overview(), Qt::LeftButton, {}, QPoint(30, 16));
        session().viewpoint().home();
        arrowSteps();
        field->setFocus();
        press(Qt::Key_Escape);
        arrowSteps();
    }

    void theKeysOfTheHelpComeBack()
    {
        open();
        press(Qt::Key_F1);
        QWidget* help = nullptr;
        for (QDialog* each : window->findChildren<QDialog*>()) {
            help = each->isVisible() ? each : help;
        }
        QVERIFY(help != nullptr);
        QVERIFY(QTest::qWaitForWindowActive(help));
        help->close();
        window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        arrowSteps();
    }

    void anotherWindowGivesThemBackToWhoHadThem()
    {
        open();
        QTest::mouseClick(&view("grid"), Qt::LeftButton, {}, QPoint(2, 2));
        QWidget other;
        QLineEdit edit(&other);
        other.show();
        other.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&other));
        window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        arrowSteps();
        view("grid").setFocus(Qt::TabFocusReason); // walks its blocks, as before
        other.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&other));
        window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&view("grid")));
    }

    void layoutsKeepTheKeyboard()
    {
        open();
        window->docks().arrange(window->size());
        arrowSteps();
        window->resize(1000, 680);
        QCoreApplication::processEvents();
        arrowSteps();
        QWidget* field = window->docks().form()->field(QStringLiteral("bm"));
        field->setFocus();
        window->docks().arrange(window->size());
        QCOMPARE(QApplication::focusWidget(), field);
    }

    void aKernelThatWasChosenInTheFormKeepsTheField()
    {
        open();
        QWidget* kernel = window->docks().form()->field(QStringLiteral("kernel"));
        kernel->setFocus();
        press(Qt::Key_Down);
        QTRY_COMPARE(session().runs().request().kernel, std::string("add_vectors"));
        QCOMPARE(QApplication::focusWidget(),
                 window->docks().form()->field(QStringLiteral("kernel")));
    }
};

PALLASCOPE_GUI_TEST("focus", FocusTest);

} // namespace pallascope::test

#include "focus_test.moc"
