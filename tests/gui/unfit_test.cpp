// A kernel whose blocks do not fit: its form, its budget and what would fit are there to be
// clicked, whether it is the first thing that the window is asked to show or not. The machine
// behind this window is the real one.
#include "app/window/docks.h"
#include "app/window/fields.h"
#include "app/window/main_window.h"
#include "app/window/transport_bar.h"
#include "app/window/verdict_strip.h"
#include "core/base/whole_file.h"
#include "core/kernel_file/kernel_file.h"
#include "kernels/kernel.h"
#include "tests/gui/gui_test.h"
#include "views/layout/run/run_view.h"

#include <QApplication>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <map>
#include <memory>

namespace pallascope::test {

namespace target = layout::target;

class UnfitTest : public QObject
{
    Q_OBJECT

private:
    static app::RunRequest request(const char* block)
    {
        app::RunRequest request;
        request.chip = "tpu_v5e";
        request.fullValues = request.check = false;
        for (const char* size : {"m", "n", "k"}) {
            request.parameters[size] = "8192";
        }
        for (const char* name : {"bm", "bn", "bk"}) {
            request.parameters[name] = block;
        }
        return request;
    }

    void open(const char* block)
    {
        m_window = std::make_unique<app::MainWindow>();
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        run(block);
    }

    void run(const char* block)
    {
        runs().start(request(block));
        QTRY_VERIFY_WITH_TIMEOUT(!runs().job().running, 60000);
        QCoreApplication::processEvents();
    }

    [[nodiscard]] app::Runs& runs() const { return m_window->session().runs(); }

    [[nodiscard]] QString caption(const char* dock) const
    {
        return m_window->docks().dock(QString::fromLatin1(dock))->head()->caption();
    }

    // The middle of the choice with this number.
    static QPoint placeOf(views::SceneView& view, std::int64_t choice)
    {
        for (const layout::Hit& hit : view.scene().hits) {
            const auto* found = std::get_if<target::Alternative>(&hit.target);
            if (found != nullptr && found->index == choice) {
                return {static_cast<int>(hit.rect.x + hit.rect.w / 2),
                        static_cast<int>(hit.rect.y + hit.rect.h / 2)};
            }
        }
        return {-1, -1};
    }

    [[nodiscard]] bool isFramed(const char* name) const
    {
        const auto* field = qobject_cast<app::NumberField*>(
            m_window->docks().form()->field(QString::fromLatin1(name)));
        return field != nullptr && field->isBad();
    }

    void clickRuns(views::SceneView& view)
    {
        const QPoint place = placeOf(view, 0);
        QVERIFY(place.x() >= 0);
        QSignalSpy ran(&runs(), &app::Runs::adopted);
        QTest::mouseClick(&view, Qt::LeftButton, {}, place);
        QTRY_COMPARE_WITH_TIMEOUT(ran.count(), 1, 60000);
        QVERIFY(!runs().unfit());
        QTRY_VERIFY2(caption("kernel").contains(QStringLiteral("over the limit")),
                     qPrintable(caption("kernel")));
        QVERIFY(!isFramed("bm"));
        QVERIFY(m_window->strip().message().isEmpty());
    }

    std::unique_ptr<app::MainWindow> m_window;

private Q_SLOTS:

    void cleanup() { m_window.reset(); }

    void openedFirstItShowsWhatWasAskedForAndWhatFits()
    {
        open("4096");
        QVERIFY(!runs().shown());
        QVERIFY(m_window->strip().message().startsWith(QStringLiteral("Not run: ")));
        for (const char* name : {"bm", "bn", "bk"}) {
            QVERIFY2(isFramed(name), name);
        }
        QVERIFY(!isFramed("m"));
        QTRY_VERIFY2(caption("kernel").contains(QStringLiteral("256 MiB| of 128 MiB")),
                     qPrintable(caption("kernel")));
        QVERIFY(caption("kernel").contains(QStringLiteral("does not fit")));
        QVERIFY(caption("grid").contains(QStringLiteral("|8| steps of 4096-blocks")));
        QCOMPARE(m_window->transport().positionText(), QStringLiteral("not run"));
        QVERIFY(!m_window->transport().playButton()->isEnabled());
        QVERIFY(m_window->docks().form()->errorText().contains(QStringLiteral("128 MiB more")));
        for (const char* key : {"grid", "memory", "roofline", "timeline"}) {
            auto* view = qobject_cast<views::SceneView*>(
                m_window->docks().dock(QString::fromLatin1(key))->widget());
            QVERIFY2(view->scene().items.size() > 5, key);
        }
    }

    void aClickOnTheNearestInTheMemoryRunsIt()
    {
        open("4096");
        clickRuns(*qobject_cast<views::SceneView*>(
            m_window->docks().dock(QStringLiteral("memory"))->widget()));
    }

    void aClickOnTheNearestInTheKernelRunsIt()
    {
        open("4096");
        clickRuns(*m_window->docks().budget());
    }

    void afterARunTheViewsKeepItAndTheBudgetIsOfWhatFailed()
    {
        open("512");
        QVERIFY(runs().shown());
        QTRY_VERIFY(caption("kernel").contains(QStringLiteral("4 MiB")));
        const QString grid = caption("grid");
        run("4096");
        QVERIFY(runs().unfit());
        QTRY_VERIFY2(caption("kernel").contains(QStringLiteral("256 MiB")),
                     qPrintable(caption("kernel")));
        QCOMPARE(caption("grid"), grid);
        QVERIFY(isFramed("bm"));
        clickRuns(*m_window->docks().budget());
        QCOMPARE(runs().shown()->request.parameters.at("m"), std::string("8192"));
        QVERIFY(!caption("grid").contains(QStringLiteral("4096-blocks")));
    }

    // The budget of what does not fit has none of the copies of the run that the views keep.
    void pointingAtACopyOfTheRunBeforeLeavesTheBudgetAlone()
    {
        open("512");
        run("4096");
        QVERIFY(runs().unfit());
        app::Viewpoint& viewpoint = m_window->session().viewpoint();
        const auto copy = static_cast<std::int64_t>(runs().shown()->view->trace->copies().size());
        QVERIFY(copy > 0);
        viewpoint.setHover(target::Copy{copy - 1});
        QCoreApplication::processEvents();
        viewpoint.select(target::Copy{copy - 1});
        run("512"); // and what is pointed at stays while another takes its place
        viewpoint.setHover(target::Copy{copy - 1});
        run("4096");
        QVERIFY(runs().unfit());
    }

    // The blocks of a file are fixed, but another chip may have the room.
    void aKernelFileThatDoesNotFitOffersOtherChips()
    {
        QTemporaryDir folder;
        const auto path = [&](const char* name) {
            return folder.filePath(QString::fromLatin1(name)).toStdString();
        };
        open("512");
        QVERIFY(runs().shown());
        std::string chip = runs().shown()->view->trace->info().chipJson;
        for (const auto& [from, to] : std::map<std::string, std::string>{
                 {"134217728", "1048576"}, {"16777216", "524288"}}) { // VMEM and what a kernel gets
            const std::size_t at = chip.find(from);
            QVERIFY(at != std::string::npos);
            chip.replace(at, from.size(), to);
        }
        QVERIFY(writeFile(path("small.json"), chip).has_value());
        const kernels::Kernel* matmul = kernels::find("matmul");
        auto program = matmul->build(kernels::arguments(*matmul, {}).value());
        QVERIFY(program.has_value());
        kernel_file::KernelFile file;
        file.program = std::move(*program);
        file.inputs = kernel_file::defaultInputs(file.program);
        QVERIFY(kernel_file::save(file, path("matmul.kernel.json")).has_value());

        m_window = std::make_unique<app::MainWindow>();
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        runs().start({.kernel = path("matmul.kernel.json"), .chip = path("small.json")});
        QTRY_VERIFY_WITH_TIMEOUT(!runs().job().running, 60000);
        QVERIFY(runs().unfit());
        QTRY_VERIFY2(caption("kernel").contains(QStringLiteral("4 MiB| of 1 MiB")),
                     qPrintable(caption("kernel")));
        auto& memory = *qobject_cast<views::SceneView*>(
            m_window->docks().dock(QStringLiteral("memory"))->widget());
        const QPoint place = placeOf(memory, 0);
        QVERIFY(place.x() >= 0);
        QTest::mouseClick(&memory, Qt::LeftButton, {}, place);
        QTRY_VERIFY_WITH_TIMEOUT(runs().shown().has_value(), 60000);
        QVERIFY(runs().shown()->request.chip != path("small.json"));
        QTRY_VERIFY2(caption("kernel").contains(QStringLiteral("fits")),
                     qPrintable(caption("kernel")));
    }

    // A kernel for GPUs does not begin with an error about the TPU that was chosen before.
    void aKernelOfAnotherKindOfChipBringsItsOwn()
    {
        open("512");
        for (const auto& [kernel, chip] : std::vector<std::pair<std::string, std::string>>{
                 {"gpu_add_vectors", "h100_sxm"}, {"add_vectors", "tpu_v5e"}}) {
            runs().setKernel(kernel);
            QTRY_VERIFY_WITH_TIMEOUT(!runs().job().running, 60000);
            QCOMPARE(runs().job().error, QString());
            QCOMPARE(runs().shown()->request.kernel, kernel);
            QCOMPARE(runs().request().chip, chip);
            const auto* field = qobject_cast<app::ChoiceField*>(
                m_window->docks().form()->field(QStringLiteral("chip")));
            QCOMPARE(field->currentData().toString().toStdString(), chip);
        }
    }

    // Long names of parameters leave their fields room for what is chosen.
    void choicesAreReadable()
    {
        open("512");
        runs().setKernel("hopper_matmul");
        QTRY_VERIFY_WITH_TIMEOUT(!runs().job().running, 60000);
        const app::KernelForm& form = *m_window->docks().form();
        for (const char* name : {"dtype", "warp_specialized", "cluster"}) {
            const QWidget* field = form.field(QString::fromLatin1(name));
            QVERIFY2(field->width() >= 44, name);
            QVERIFY2(field->geometry().right() < form.width(), name);
        }
    }

    // A form that scrolls is narrower by its scroll bar.
    void numbersAreReadableInANarrowForm()
    {
        open("512");
        runs().setKernel("hopper_matmul");
        QTRY_VERIFY_WITH_TIMEOUT(!runs().job().running, 60000);
        app::KernelForm& form = *m_window->docks().form();
        for (const int width : {233, 221, 205}) {
            form.resize(width, form.height());
            for (const char* name :
                 {"m", "k", "bm", "bn", "bk", "stages", "epilogue", "persistent"}) {
                const QWidget* field = form.field(QString::fromLatin1(name));
                const auto* edit = field->findChild<const QLineEdit*>();
                const int number = edit->fontMetrics().horizontalAdvance(edit->text());
                constexpr int kAround = 8; // px of margins
                QVERIFY2(edit->width() >= number + kAround,
                         qPrintable(QStringLiteral("%1 at %2").arg(edit->text()).arg(width)));
                QVERIFY2(field->geometry().right() < form.width(), name);
            }
        }
    }

    void keysAndClicksDoNothingWhereNothingRan()
    {
        open("4096");
        for (const Qt::Key key : {Qt::Key_Right, Qt::Key_End, Qt::Key_Space, Qt::Key_F, Qt::Key_0,
                                  Qt::Key_Plus, Qt::Key_Home}) {
            QTest::keyClick(QApplication::focusWidget(), key);
        }
        QVERIFY(!m_window->session().viewpoint().state().playing);
        QCOMPARE(m_window->session().viewpoint().state().now, Picoseconds(0));
        for (views::SceneView* view : m_window->docks().views()) {
            QTest::mouseMove(view, QPoint(view->width() / 2, view->height() / 2));
            QTest::mouseClick(view, Qt::LeftButton, {}, QPoint(2, view->height() - 2));
        }
        QVERIFY(!runs().shown());
    }
};

PALLASCOPE_GUI_TEST("unfit", UnfitTest);

} // namespace pallascope::test

#include "unfit_test.moc"
