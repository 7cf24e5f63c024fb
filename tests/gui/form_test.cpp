// Kernel, chip and parameters: runs happen in the background, errors stand at their fields, and
// nothing typed is lost.
#include "app/window/fields.h"
#include "tests/gui/window_fixture.h"
#include "views/pointing.h"

#include <QLineEdit>

namespace pallascope::test {

namespace target = layout::target;

class FormTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    [[nodiscard]] app::KernelForm& form() const { return *window->docks().form(); }

    void type(const char* parameter, const QString& value) const
    {
        QWidget* field = form().field(QString::fromLatin1(parameter));
        field->setFocus();
        field->findChild<QLineEdit*>()->selectAll();
        QTest::keyClicks(field, value);
        QTest::keyClick(field, Qt::Key_Return);
    }

    [[nodiscard]] QString shown(const char* parameter) const
    {
        return form().field(QString::fromLatin1(parameter))->findChild<QLineEdit*>()->text();
    }

    // The fields that are framed as wrong.
    [[nodiscard]] QStringList framed() const
    {
        QStringList names;
        for (const char* name : {"kernel", "chip", "bm", "bn", "bk", "order"}) {
            const QString field = QString::fromLatin1(name);
            const auto* number = qobject_cast<app::NumberField*>(form().field(field));
            const auto* choice = qobject_cast<app::ChoiceField*>(form().field(field));
            if (number != nullptr ? number->isBad() : choice != nullptr && choice->isBad()) {
                names << field;
            }
        }
        return names;
    }

    [[nodiscard]] QString caption(const char* dock) const
    {
        return window->docks().dock(QString::fromLatin1(dock))->head()->caption();
    }

private Q_SLOTS:

    void init() { open(); }

    void cleanup() { close(); }

    void aChangedParameterRunsAgainAndShowsTheNewBudget()
    {
        QTRY_VERIFY(caption("kernel").contains(QStringLiteral("512")));
        QSignalSpy runs(&session().viewpoint(), &app::Viewpoint::runChanged);
        type("bm", QStringLiteral("1024"));
        QTRY_COMPARE(runs.count(), 1);
        const auto asked = FakeMachine::instance().asked().back();
        QCOMPARE(asked.parameters.at("bm"), std::string("1024"));
        QVERIFY(!asked.fullValues); // times do not need all values
        QTRY_VERIFY2(caption("kernel").contains(QStringLiteral("64")),
                     qPrintable(caption("kernel")));
        QVERIFY(caption("kernel").contains(QStringLiteral("16 MiB")));
        QCOMPARE(shown("bm"), QStringLiteral("1024"));
    }

    void theSameValueRunsNothing()
    {
        type("bm", QStringLiteral("512"));
        QCoreApplication::processEvents();
        QVERIFY(FakeMachine::instance().asked().empty());
    }

    // The run that is shown is of the kernel before until the new one is there.
    void aKernelFileHasNoParametersOfTheKernelBefore()
    {
        QVERIFY(form().field(QStringLiteral("bm")) != nullptr);
        session().runs().start({.kernel = "other.pallascope", .chip = "tpu_v5e"});
        QVERIFY(form().field(QStringLiteral("bm")) == nullptr);
        QTRY_VERIFY(!session().runs().job().running);
        QVERIFY(form().field(QStringLiteral("bm")) == nullptr);
        session().runs().undo();
        QVERIFY(form().field(QStringLiteral("bm")) != nullptr);
        session().runs().redo();
        QVERIFY(form().field(QStringLiteral("bm")) == nullptr);
    }

    void upInAFieldGoesToTheNextPowerOfTwo()
    {
        auto* field = form().field(QStringLiteral("bm"));
        field->setFocus();
        QTest::keyClick(field, Qt::Key_Up);
        QCOMPARE(shown("bm"), QStringLiteral("1024"));
        QTest::keyClick(field, Qt::Key_Down);
        QCOMPARE(shown("bm"), QStringLiteral("512"));
        auto* buffers = form().field(QStringLiteral("buffers"));
        buffers->setFocus();
        QTest::keyClick(buffers, Qt::Key_Up);
        QCOMPARE(shown("buffers"), QStringLiteral("3"));
    }

    void aBadValueIsSaidInPlaceAndTheLastRunStays_data()
    {
        QTest::addColumn<QString>("value");
        QTest::newRow("not a number") << QStringLiteral("many");
        QTest::newRow("zero") << QStringLiteral("0");
        QTest::newRow("negative") << QStringLiteral("-4");
        QTest::newRow("does not divide") << QStringLiteral("500");
    }

    void aBadValueIsSaidInPlaceAndTheLastRunStays()
    {
        QFETCH(QString, value);
        const auto before = session().runs().shown()->view;
        type("bn", value);
        QTRY_VERIFY(!session().runs().job().error.isEmpty());
        QCOMPARE(session().runs().shown()->view, before);
        QCOMPARE(session().runs().job().fields, QStringList{QStringLiteral("bn")});
        QVERIFY(form().errorText().size() > 10);
        QVERIFY(window->strip().message().startsWith(QStringLiteral("Not run: ")));
        QCOMPARE(shown("bn"), value); // what was typed stays there to be corrected
        type("bn", QStringLiteral("512"));
        QTRY_VERIFY(form().errorText().isEmpty());
        QVERIFY(window->strip().message().isEmpty());
    }

    // The errors of the stand-in have sentences that name other fields, or none.
    void theFieldThatAnErrorIsAboutIsFramed()
    {
        QVERIFY(framed().isEmpty());
        type("bm", QStringLiteral("300")); // the error is about bm and bn
        QTRY_COMPARE(framed(), QStringList{QStringLiteral("bm")});
        type("bm", QStringLiteral("512"));
        QTRY_VERIFY(framed().isEmpty());
        type("bn", QStringLiteral("300"));
        QTRY_COMPARE(framed(), QStringList{QStringLiteral("bn")});
        type("bn", QStringLiteral("512"));
        QTRY_VERIFY(framed().isEmpty());
        session().runs().setChip("none");
        QTRY_COMPARE(framed(), QStringList{QStringLiteral("chip")});
        QCOMPARE(form().errorText(), session().runs().job().error);
    }

    void changesAreUndoneAndRedone()
    {
        type("bm", QStringLiteral("1024"));
        QTRY_VERIFY(!session().runs().job().running);
        session().runs().setChip("none"); // is refused, and is undone like any other change
        QTRY_VERIFY(!session().runs().job().error.isEmpty());
        window->setFocus(); // a field has an undo of its own, for what is typed
        key(Qt::Key_Z, Qt::ControlModifier);
        QTRY_VERIFY(session().runs().job().error.isEmpty() && !session().runs().job().running);
        QCOMPARE(shown("bm"), QStringLiteral("1024"));
        key(Qt::Key_Z, Qt::ControlModifier);
        QTRY_COMPARE(shown("bm"), QStringLiteral("512"));
        QTRY_VERIFY(!session().runs().job().running);
        key(Qt::Key_Z, Qt::ControlModifier); // there is nothing before it
        QCOMPARE(shown("bm"), QStringLiteral("512"));
        key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_COMPARE(shown("bm"), QStringLiteral("1024"));
        QTRY_VERIFY(!session().runs().job().running);
        type("bm", QStringLiteral("256")); // what was undone is forgotten
        QTRY_VERIFY(!session().runs().job().running);
        window->setFocus();
        key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(shown("bm"), QStringLiteral("256"));
    }

    void withNothingTypedAFieldLeavesUndoToTheWindow()
    {
        QWidget* const bn = form().field(QStringLiteral("bn"));
        type("bm", QStringLiteral("1024"));
        QTRY_VERIFY(!session().runs().job().running);
        bn->setFocus();
        QTest::keyClick(bn, Qt::Key_Z, Qt::ControlModifier);
        QTRY_COMPARE(shown("bm"), QStringLiteral("512"));
        QTRY_VERIFY(!session().runs().job().running);
        QTest::keyClick(bn, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_COMPARE(shown("bm"), QStringLiteral("1024"));
        QTRY_VERIFY(!session().runs().job().running);
        QTest::keyClicks(bn, QStringLiteral("7"));
        QVERIFY(shown("bn") != QStringLiteral("512"));
        QTest::keyClick(bn, Qt::Key_Z, Qt::ControlModifier); // of what was typed
        QCOMPARE(shown("bn"), QStringLiteral("512"));
        QCOMPARE(shown("bm"), QStringLiteral("1024"));
    }

    void aKernelFileIsShownByItsName()
    {
        const QString path = QStringLiteral("/a/folder/far/away/attention.kernel.json");
        form().show({.kernel = path.toStdString()}, {});
        const auto* kernel =
            qobject_cast<app::ChoiceField*>(form().field(QStringLiteral("kernel")));
        QCOMPARE(kernel->currentText(), QStringLiteral("attention.kernel.json"));
        QCOMPARE(kernel->currentData().toString(), path);
        QCOMPARE(kernel->itemData(kernel->currentIndex(), Qt::ToolTipRole).toString(), path);
    }

    void aNewerRequestWinsAndTheStaleResultIsDropped()
    {
        FakeMachine::instance().slowMs = 200;
        QSignalSpy runs(&session().viewpoint(), &app::Viewpoint::runChanged);
        type("bm", QStringLiteral("1024"));
        type("bm", QStringLiteral("256"));
        QTRY_COMPARE(runs.count(), 1);
        QTRY_COMPARE(FakeMachine::instance().cancelled.load(), 1);
        QCoreApplication::processEvents(); // so that what the cancelled run has posted arrives
        QCOMPARE(runs.count(), 1);
        QCOMPARE(session().runs().shown()->request.parameters.at("bm"), std::string("256"));
    }

    void aLongRunShowsProgressAndCanBeCancelled()
    {
        FakeMachine::instance().slowMs = 5000;
        const auto before = session().runs().shown()->view;
        type("bm", QStringLiteral("1024"));
        QVERIFY(window->strip().message().isEmpty()); // short runs show no message
        QTRY_VERIFY(window->strip().message().contains(QStringLiteral("re-running…")));
        QTRY_VERIFY(state().stale);
        QTRY_VERIFY(caption("grid").endsWith(QStringLiteral("of the previous run")));
        const auto buttons = window->strip().findChildren<app::HeadButton*>();
        const auto found =
            std::find_if(buttons.begin(), buttons.end(), [](const app::HeadButton* button) {
                return button->text() == QStringLiteral("Cancel");
            });
        QVERIFY(found != buttons.end() && (*found)->isVisible());
        auto* cancel = *found;
        QTest::mouseClick(cancel, Qt::LeftButton);
        QVERIFY(!session().runs().job().running);
        QVERIFY(!state().stale);
        QCOMPARE(session().runs().shown()->view, before);
        QCOMPARE(shown("bm"), QStringLiteral("512"));
    }

    void escapeCancelsARun()
    {
        FakeMachine::instance().slowMs = 5000;
        session().runs().setParameter("bm", "1024");
        key(Qt::Key_Escape);
        QVERIFY(!session().runs().job().running);
        QTRY_COMPARE(FakeMachine::instance().cancelled.load(), 1);
    }

    void aClickOnAnAlternativeAppliesIt()
    {
        views::SceneView& strip = *window->strip().view();
        const QPoint place = placeOf(strip, layout::is<target::Alternative>);
        QVERIFY(place.x() >= 0);
        QSignalSpy runs(&session().viewpoint(), &app::Viewpoint::runChanged);
        QTest::mouseClick(&strip, Qt::LeftButton, {}, place);
        QTRY_COMPARE(runs.count(), 1);
        QCOMPARE(session().runs().shown()->request.parameters.at("bk"), std::string("1024"));
    }

    void theTimeOfTheRunTellsWhatItsBandRestsOn()
    {
        views::SceneView& strip = *window->strip().view();
        const QPoint place = placeOf(strip, layout::is<target::Time>);
        QVERIFY(place.x() >= 0);
        QTest::mouseMove(&strip, place);
        QTRY_VERIFY(!strip.pointing().tipLines().isEmpty());
        const QString lines = strip.pointing().tipLines().join(u' ');
        QVERIFY2(lines.contains(QStringLiteral("4 timings of products on TPU v5e lie within")),
                 qPrintable(lines));
        QTest::mouseMove(&strip, QPoint(2, 2));
    }

    void checkValuesAsksForEveryNumber()
    {
        key(Qt::Key_R, Qt::ControlModifier);
        QTRY_COMPARE(FakeMachine::instance().asked().size(), std::size_t(1));
        QVERIFY(FakeMachine::instance().asked().front().fullValues);
        QVERIFY(FakeMachine::instance().asked().front().check);
    }

    void checkingValuesKeepsThePlayhead()
    {
        key(Qt::Key_Right);
        const layout::ViewState before = state();
        QSignalSpy runs(&session().viewpoint(), &app::Viewpoint::runChanged);
        key(Qt::Key_R, Qt::ControlModifier);
        QTRY_COMPARE(runs.count(), 1);
        QCOMPARE(now(), before.now);
        QCOMPARE(state().visible, before.visible);
    }

    void anotherKernelGetsItsOwnFields()
    {
        auto* kernel = qobject_cast<app::ChoiceField*>(form().field(QStringLiteral("kernel")));
        kernel->setFocus();
        QTest::keyClick(kernel, Qt::Key_Down);
        QTRY_COMPARE(session().runs().request().kernel, std::string("add_vectors"));
        QTRY_VERIFY(form().field(QStringLiteral("bm")) == nullptr);
        QCOMPARE(shown("n"), QStringLiteral("1024"));
    }
};

PALLASCOPE_GUI_TEST("form", FormTest);

} // namespace pallascope::test

#include "form_test.moc"
