// What a screen reader meets: the things of every view with names, everything that takes the
// keyboard with a name, and the Tab key going from the form over the views to the transport.
#include "app/window/kernel_form.h"
#include "tests/gui/window_fixture.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QComboBox>
#include <QLineEdit>

namespace pallascope::test {

class AccessibleTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    static QAccessibleInterface* accessible(QObject& object)
    {
        return QAccessible::queryAccessibleInterface(&object);
    }

    // The first thing of a view whose name begins like this.
    static QAccessibleInterface* thing(views::SceneView& view, const QString& name)
    {
        QAccessibleInterface* of = accessible(view);
        for (int i = 0; i < of->childCount(); ++i) {
            if (of->child(i)->text(QAccessible::Name).startsWith(name)) {
                return of->child(i);
            }
        }
        return nullptr;
    }

    // 0: the form, 1: the views, 2: the transport, -1: elsewhere.
    [[nodiscard]] int groupOf(QWidget* widget) const
    {
        for (QWidget* each = widget; each != nullptr; each = each->parentWidget()) {
            if (each == window->docks().form()) {
                return 0;
            }
            if (each == &window->transport()) {
                return 2;
            }
            if (qobject_cast<app::Dock*>(each) != nullptr) {
                return 1;
            }
        }
        return -1;
    }

private Q_SLOTS:

    void cleanup() { close(); }

    void theThingsOfAViewAreItsChildren_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"grid", "memory", "source", "timeline"}) {
            QTest::newRow(name) << QString::fromLatin1(name);
        }
    }

    void theThingsOfAViewAreItsChildren()
    {
        QFETCH(QString, name);
        open();
        session().viewpoint().setNow(Picoseconds(trace().steps().bodyBegin[5] + 1));
        QCoreApplication::processEvents();
        views::SceneView& shown = view(name.toLatin1().constData());
        QAccessibleInterface* of = accessible(shown);
        QVERIFY(of != nullptr && of->childCount() > 0);
        for (int i = 0; i < std::min(of->childCount(), 200); ++i) {
            QAccessibleInterface* child = of->child(i);
            QVERIFY(child != nullptr && child->isValid());
            QVERIFY2(!child->text(QAccessible::Name).isEmpty(), qPrintable(QString::number(i)));
            QCOMPARE(of->indexOfChild(child), i);
            QCOMPARE(child->parent()->object(), static_cast<QObject*>(&shown));
            QVERIFY(!child->rect().isEmpty());
        }
        QCOMPARE(of->child(of->childCount()), nullptr);
    }

    void aThingIsPressedThroughItsAction()
    {
        open();
        QAccessibleInterface* block = thing(view("grid"), QStringLiteral("x(0,0)"));
        QVERIFY(block != nullptr);
        QVERIFY(!block->state().selected);
        QVERIFY(!block->text(QAccessible::Description).isEmpty());
        block->actionInterface()->doAction(QAccessibleActionInterface::pressAction());
        QCOMPARE(state().selection, layout::Target(layout::target::Block{0, 0}));
        QCoreApplication::processEvents();
        QVERIFY(thing(view("grid"), QStringLiteral("x(0,0)"))->state().selected);
        const QPoint middle = block->rect().center();
        QAccessibleInterface* there = accessible(view("grid"))->childAt(middle.x(), middle.y());
        QVERIFY(there != nullptr);
        QCOMPARE(there->text(QAccessible::Name), block->text(QAccessible::Name));
    }

    void whateverTakesTheKeyboardHasAName()
    {
        open();
        for (QWidget* widget : window->findChildren<QWidget*>()) {
            const bool isNamed = qobject_cast<QComboBox*>(widget) != nullptr
                                 || qobject_cast<QAbstractButton*>(widget) != nullptr
                                 || qobject_cast<QLineEdit*>(widget) != nullptr
                                 || qobject_cast<QAbstractSpinBox*>(widget) != nullptr
                                 || qobject_cast<views::SceneView*>(widget) != nullptr;
            const bool isPart = qobject_cast<QComboBox*>(widget->parent()) != nullptr
                                || qobject_cast<QAbstractSpinBox*>(widget->parent()) != nullptr;
            if (isNamed && !isPart && widget->isVisible() && widget->focusPolicy() != Qt::NoFocus) {
                QVERIFY2(
                    !accessible(*widget)->text(QAccessible::Name).isEmpty(),
                    qPrintable(QString::fromLatin1(widget->metaObject()->className())
                               + QStringLiteral(" in ")
                               + QString::fromLatin1(widget->parent()->metaObject()->className())));
            }
        }
    }

    void tabGoesFromTheFormOverTheViewsToTheTransport()
    {
        open();
        QWidget* first = window->docks().form()->field(QStringLiteral("bm"));
        first->setFocus(Qt::TabFocusReason);
        QVERIFY(QApplication::focusWidget() != nullptr);
        std::vector<int> groups;
        for (int presses = 0; presses < 100; ++presses) {
            const int group = groupOf(QApplication::focusWidget());
            if (group >= 0 && (groups.empty() || groups.back() != group)) {
                groups.push_back(group);
            }
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            if (QApplication::focusWidget() == first) {
                break;
            }
        }
        if (groups.back() == 0) { // the fields before the one that was begun with
            groups.pop_back();
        }
        QCOMPARE(groups, (std::vector<int>{0, 1, 2}));
    }
};

PALLASCOPE_GUI_TEST("accessible", AccessibleTest);

} // namespace pallascope::test

#include "accessible_test.moc"
