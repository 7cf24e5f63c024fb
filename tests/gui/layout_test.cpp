// The docks of a live window, at four sizes: after everything that arranges them each has its head
// with its caption and is filled by its view.
#include "tests/gui/window_fixture.h"
#include "views/layout/scene/header.h"
#include "views/scene_painter.h"

namespace pallascope::test {

class LayoutTest : public QObject, private WindowFixture
{
    Q_OBJECT

private:
    // Whether a dock is on top of those that share its place.
    static bool isSeen(const app::Dock& dock)
    {
        return dock.isVisible() && !dock.visibleRegion().isEmpty();
    }

    // Heads and views fill their docks; what is wrong, or nothing.
    [[nodiscard]] QString wrongHead() const
    {
        int seen = 0;
        for (const app::Dock* dock : window->docks().all()) {
            if (!isSeen(*dock)) {
                continue;
            }
            ++seen;
            const app::DockHead& head = *dock->head();
            const auto high = static_cast<int>(layout::headerHeight(dock->width()));
            const QRect content = dock->widget()->geometry();
            const QString place = QStringLiteral("%1 %2x%3: head %4x%5, content from %6 to %7")
                                      .arg(dock->objectName())
                                      .arg(dock->width())
                                      .arg(dock->height())
                                      .arg(head.width())
                                      .arg(head.height())
                                      .arg(content.top())
                                      .arg(content.bottom());
            if (!head.isVisible() || head.height() != high || head.width() < dock->width() - 2) {
                return place;
            }
            if (content.top() - head.geometry().bottom() > 2 || content.top() < head.height()
                || dock->height() - content.bottom() > 2 || content.width() < dock->width() - 2) {
                return place;
            }
            if (head.caption().isEmpty()) {
                return dock->objectName() + QStringLiteral(" has no caption");
            }
        }
        return seen >= 4 ? QString() : QStringLiteral("only %1 docks are seen").arg(seen);
    }

    // A place of 4 by 4 px that no dock covers, below the bars.
    [[nodiscard]] QString band() const
    {
        constexpr int kWide = 4;
        const int top =
            window->strip().mapTo(window.get(), QPoint(0, 0)).y() + window->strip().height();
        QRegion bare(0, top, window->width(), window->height() - top);
        for (const app::Dock* dock : window->docks().all()) {
            if (isSeen(*dock) && !dock->isFloating()) {
                bare -= dock->geometry();
            }
        }
        for (const QWidget* bar : window->findChildren<QTabBar*>()) {
            bare -= QRect(bar->mapTo(window.get(), QPoint(0, 0)), bar->size());
        }
        for (const QRect& rect : bare) {
            if (rect.width() >= kWide && rect.height() >= kWide) {
                return QStringLiteral("a band of %1x%2 at %3,%4")
                    .arg(rect.width())
                    .arg(rect.height())
                    .arg(rect.x())
                    .arg(rect.y());
            }
        }
        return {};
    }

    [[nodiscard]] QString wrong() const
    {
        const QString head = wrongHead();
        return head.isEmpty() ? band() : head;
    }

    void resizeTo(QSize size) const
    {
        window->resize(size);
        QTRY_COMPARE(window->size(), size);
        QCoreApplication::processEvents();
    }

    static void sizes()
    {
        QTest::addColumn<QSize>("size");
        for (const QSize size :
             {QSize(960, 640), QSize(1280, 800), QSize(1920, 1080), QSize(3840, 2160)}) {
            QTest::newRow(qPrintable(QStringLiteral("%1x%2").arg(size.width()).arg(size.height())))
                << size;
        }
    }

private Q_SLOTS:

    void cleanup() { close(); }

    void openedInThisSize_data() { sizes(); }

    void openedInThisSize()
    {
        QFETCH(QSize, size);
        open(size);
        QTRY_VERIFY2(wrong().isEmpty(), qPrintable(wrong()));
    }

    void grownAndShrunkToIt_data() { sizes(); }

    void grownAndShrunkToIt()
    {
        QFETCH(QSize, size);
        open(QSize(1280, 800));
        resizeTo(size);
        QTRY_VERIFY2(wrong().isEmpty(), qPrintable(wrong()));
        resizeTo(QSize(3840, 2160));
        QTRY_VERIFY2(wrong().isEmpty(), qPrintable(wrong()));
        resizeTo(size);
        QTRY_VERIFY2(wrong().isEmpty(), qPrintable(wrong()));
    }

    void theLayoutReset_data() { sizes(); }

    void theLayoutReset()
    {
        QFETCH(QSize, size);
        open(size);
        for (int time = 0; time < 2; ++time) {
            window->docks().arrange(window->size());
            QTRY_VERIFY2(wrong().isEmpty(), qPrintable(wrong()));
        }
    }

    void floatedAndDockedBack_data() { sizes(); }

    void floatedAndDockedBack()
    {
        QFETCH(QSize, size);
        open(size);
        for (app::Dock* dock : window->docks().all()) {
            if (dock->isVisible()) {
                dock->setFloating(true);
                dock->resize(1000, 300); // wide: its head has one row
                QCoreApplication::processEvents();
                QTRY_COMPARE(dock->head()->height(), 26);
                dock->setFloating(false);
                QTRY_VERIFY2(wrong().isEmpty(), qPrintable(wrong()));
            }
        }
    }

    void maximisedAndBack_data() { sizes(); }

    void maximisedAndBack()
    {
        QFETCH(QSize, size);
        open(size);
        window->showMaximized();
        QTRY_VERIFY(window->isMaximized());
        QCoreApplication::processEvents();
        QTRY_VERIFY2(wrong().isEmpty(), qPrintable(wrong()));
        window->showNormal();
        QTRY_VERIFY(!window->isMaximized());
        resizeTo(size);
        QTRY_VERIFY2(wrong().isEmpty(), qPrintable(wrong()));
    }

    void activatedAgain_data() { sizes(); }

    void activatedAgain()
    {
        QFETCH(QSize, size);
        open(size);
        QWidget other;
        other.show();
        other.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&other));
        window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        QTRY_VERIFY2(wrong().isEmpty(), qPrintable(wrong()));
    }
};

PALLASCOPE_GUI_TEST("layout", LayoutTest);

} // namespace pallascope::test

#include "layout_test.moc"
