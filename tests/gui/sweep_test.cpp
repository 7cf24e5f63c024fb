// Run → Sweep, as a person uses it: fields, wrong values, rows as picture and table, opening one,
// cancelling. The machine behind this window is the real one.
#include "app/window/main_window.h"
#include "app/window/sweep_chart.h"
#include "app/window/sweep_dialog.h"
#include "app/window/sweep_fields.h"
#include "app/window/sweep_table.h"
#include "core/base/read_file.h"
#include "core/kernel_file/kernel_file.h"
#include "core/study/sweep_file.h"
#include "kernels/kernel.h"
#include "tests/gui/gui_test.h"
#include "views/pointing.h"

#include <QApplication>
#include <QFile>
#include <QMenuBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace pallascope::test {

using namespace Qt::StringLiterals;
namespace target = layout::target;

class SweepTest : public QObject
{
    Q_OBJECT

private:
    static app::RunRequest small()
    {
        app::RunRequest request;
        request.chip = "tpu_v5e";
        request.fullValues = request.check = false;
        for (const char* size : {"m", "n", "k"}) {
            request.parameters[size] = "512";
        }
        for (const char* block : {"bm", "bn", "bk"}) {
            request.parameters[block] = "256";
        }
        return request;
    }

    void open(const app::RunRequest& request = small())
    {
        QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s));
        m_window = std::make_unique<app::MainWindow>();
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        runs().start(request);
        QTRY_VERIFY_WITH_TIMEOUT(!runs().job().running, 10000);
        QTest::keyClick(m_window.get(), Qt::Key_F5, Qt::ShiftModifier);
        QTRY_VERIFY(dialog().isVisible());
        // Of the dialog, QTest::qWaitForWindowActive says what holds of the window behind it.
        QTRY_VERIFY(QApplication::activeWindow() == &dialog());
    }

    [[nodiscard]] app::Runs& runs() const { return m_window->session().runs(); }

    [[nodiscard]] app::SweepDialog& dialog() const { return m_window->sweepDialog(); }

    [[nodiscard]] app::SweepFields& fields() const { return dialog().fields(); }

    [[nodiscard]] app::SweepModel& rows() const { return dialog().table().rows(); }

    [[nodiscard]] QPushButton& button(const char* name) const
    {
        return *dialog().findChild<QPushButton*>(QString::fromLatin1(name));
    }

    [[nodiscard]] bool says(const QString& words) const
    {
        const QList<QLabel*> labels = dialog().findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
            return label->isVisible() && label->text().contains(words);
        });
    }

    // Types over what a field has.
    void type(const char* name, const QString& values) const
    {
        QLineEdit* field = fields().field(QString::fromLatin1(name));
        QVERIFY(field != nullptr);
        field->setFocus();
        field->selectAll();
        QTest::keyClick(field, Qt::Key_Delete);
        QTest::keyClicks(field, values);
    }

    void clearFields() const
    {
        for (const char* name : {"bm", "bn", "bk"}) {
            type(name, {});
        }
    }

    // Enter in a field starts.
    void start() const { QTest::keyClick(fields().field(u"chip"_s), Qt::Key_Return); }

    void sweepBlocks() const
    {
        clearFields();
        type("bm", u"128:512:*2"_s);
        type("bk", u"128,256"_s);
        start();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog().isRunning() && rows().rowCount() == 6, 10000);
    }

    [[nodiscard]] QPoint placeOf(std::size_t row) const
    {
        const layout::Target wanted = target::SweepRow{static_cast<std::int64_t>(row)};
        for (const layout::Hit& hit : dialog().chart().scene().hits) {
            if (hit.target == wanted) {
                return {static_cast<int>(hit.rect.x + hit.rect.w / 2),
                        static_cast<int>(hit.rect.y + hit.rect.h / 2)};
            }
        }
        return {-1, -1};
    }

    std::unique_ptr<app::MainWindow> m_window;

private Q_SLOTS:

    void cleanup() { m_window.reset(); }

    void itProposesBlocksAndCountsTheRuns()
    {
        open();
        QCOMPARE(fields().field(u"bm"_s)->text(), u"128,256,512"_s);
        QCOMPARE(fields().field(u"m"_s)->text(), QString());
        QCOMPARE(fields().field(u"m"_s)->placeholderText(), u"512"_s);
        QCOMPARE(fields().field(u"chip"_s)->placeholderText(), u"tpu_v5e"_s);
        QVERIFY(says(u"27 runs"_s));
        type("bk", {});
        type("chip", u"v5e, v6e"_s);
        QVERIFY(says(u"18 runs"_s));
        QVERIFY(!dialog().isModal());
    }

    void tabGoesFromTheFieldsToTheRows()
    {
        open();
        sweepBlocks();
        fields().field(u"m"_s)->setFocus();
        QStringList order;
        for (int i = 0; i < 16; ++i) {
            order.append(dialog().focusWidget()->objectName());
            QTest::keyClick(dialog().focusWidget(), Qt::Key_Tab);
        }
        QCOMPARE(order.join(u' '), u"m n k bm bn bk dtype buffers order chip cancel start chart "
                                   "table save export"_s);
        for (const QWidget* widget : fields().inOrder()) {
            QVERIFY(!widget->accessibleName().isEmpty());
        }
    }

    void aWrongValueIsSaidBelowItsField()
    {
        open();
        clearFields();
        const std::pair<const char*, QString> wrong[] = {{"bm", u"128:"_s},
                                                         {"bm", u"soon"_s},
                                                         {"dtype", u"bf16,f17"_s},
                                                         {"chip", u"v5e,v99"_s},
                                                         {"chip", u"v5e,tpu_v5e"_s}};
        for (const auto& [name, values] : wrong) {
            type(name, values);
            start();
            const QString sentence = fields().errorOf(QString::fromLatin1(name));
            QVERIFY2(sentence.endsWith(u'.'), qPrintable(values));
            QVERIFY2(says(sentence), qPrintable(values));
            QVERIFY(!dialog().isRunning());
            QVERIFY(fields().field(QString::fromLatin1(name))->hasFocus());
            type(name, {});
            QCOMPARE(fields().errorOf(QString::fromLatin1(name)), QString());
        }
        type("bm", u"128:"_s);
        start(); // in the words of the command line
        const auto axis = study::parseAxis("bm=128:");
        QCOMPARE(fields().errorOf(u"bm"_s), QString::fromStdString(axis.error().message));
    }

    void theRowsAreThoseOfTheCommandLine()
    {
        open();
        sweepBlocks();
        app::SweepRequest request{
            {"matmul"}, {"bm=128:512:*2", "bk=128,256"}, small().parameters, {}, "tpu_v5e", "test"};
        request.fixed.erase("bm");
        request.fixed.erase("bk");
        const auto job = app::sweepOf(request);
        QVERIFY(job.has_value());
        const auto expected = study::sweep(job->plan, {});
        QVERIFY(expected.has_value());
        const std::vector<study::SweepRow> found = rows().rows();
        for (std::size_t i = 0; i < found.size(); ++i) {
            QVERIFY(found[i] == (*expected)[i].value());
            const auto cells = study::tableCells(job->plan, found[i]);
            for (std::size_t column = 0; column < cells.size(); ++column) {
                const QModelIndex index =
                    rows().index(static_cast<int>(i), static_cast<int>(column));
                QCOMPARE(rows().data(index, Qt::DisplayRole).toString().toStdString(),
                         cells[column]);
            }
        }
        QVERIFY(dialog().chart().caption().starts_with("fastest |bm=")); // for screen readers
        QCOMPARE(dialog().table().chosen(), dialog().chart().fastest());
    }

    void aColumnSortsByItsNumbers()
    {
        open();
        sweepBlocks();
        dialog().table().sortByColumn(0, Qt::DescendingOrder);
        QCOMPARE(dialog().table().model()->index(0, 0).data().toString(), u"512"_s);
        const int time = 3; // behind bm, bk and the chip
        dialog().table().sortByColumn(time, Qt::AscendingOrder);
        dialog().table().selectRow(0);
        QCOMPARE(dialog().table().chosen(), dialog().chart().fastest());
    }

    void rowsThatDidNotRunComeLastBothWays()
    {
        open();
        clearFields();
        type("bm", u"64,128,524288"_s); // the last one does not fit
        start();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog().isRunning() && rows().rowCount() == 3, 10000);
        QVERIFY(!rows().ran(2));
        const auto blockAt = [this](int place) {
            return dialog().table().model()->index(place, 0).data().toString();
        };
        for (const int column : {0, 2, 4, 5, 6}) { // bm, time, share of the peak, bound, re-fetched
            for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
                dialog().table().sortByColumn(column, order);
                QCOMPARE(blockAt(2), u"524288"_s);
            }
        }
        dialog().table().sortByColumn(0, Qt::AscendingOrder);
        QCOMPARE(blockAt(0), u"64"_s); // as texts, 128 is before 64
    }

    void enterPressesTheButtonThatHasTheKeyboard()
    {
        open();
        sweepBlocks();
        button("cancel").setFocus(); // "Close" now
        QTest::keyClick(&button("cancel"), Qt::Key_Return);
        QVERIFY(!dialog().isVisible());
        QVERIFY(!dialog().isRunning());
        QCOMPARE(rows().rowCount(), 6);
    }

    void anotherTextSizeDoesNotLoseTheRows()
    {
        open();
        sweepBlocks();
        QSignalSpy asked(m_window.get(), &app::MainWindow::textSizeAsked);
        m_window->activateWindow();
        QTRY_VERIFY(QApplication::activeWindow() == m_window.get());
        QTest::keyClick(m_window.get(), Qt::Key_Plus, Qt::ControlModifier);
        QCOMPARE(asked.count(), 0);
        QVERIFY(m_window->session().runs().job().notice.contains(u"close the sweep first"_s));
        dialog().close();
        QTest::keyClick(m_window.get(), Qt::Key_Plus, Qt::ControlModifier);
        QCOMPARE(asked.count(), 1);
    }

    void pictureAndTableChooseTogether()
    {
        open();
        sweepBlocks();
        app::SweepChart& chart = dialog().chart();
        QTest::mouseClick(&chart, Qt::LeftButton, {}, placeOf(2));
        QCOMPARE(dialog().table().chosen(), std::optional<std::size_t>(2));
        QVERIFY(chart.state().selection == layout::Target(target::SweepRow{2}));
        dialog().table().selectRow(4);
        QVERIFY(chart.state().selection == layout::Target(target::SweepRow{4}));
        chart.setFocus();
        QTest::keyClick(&chart, Qt::Key_Left);
        const auto chosen = dialog().table().chosen();
        QVERIFY(chosen && chosen != std::optional<std::size_t>(4));
        const QStringList tip = chart.pointing().tipLines();
        QVERIFY(!tip.isEmpty() && tip.front().startsWith(u"bm="_s));
        QVERIFY(!chart.things().empty()); // which screen readers walk
        QCOMPARE(chart.tipLines(target::SweepRow{0}).front(), u"bm=128 bk=128 on tpu_v5e"_s);
    }

    void aRowOpensInTheWindowAndUndoComesBack()
    {
        open();
        sweepBlocks();
        const app::RunRequest before = runs().request();
        const auto isOpened = [&](const char* bm, const char* bk) {
            app::RunRequest expected = small();
            expected.parameters["bm"] = bm;
            expected.parameters["bk"] = bk;
            if (expected.parameters["bm"] == "512") {
                expected.parameters.erase("bm"); // which is the default
            }
            return runs().request() == expected;
        };
        dialog().table().choose(4);
        button("open").click();
        QVERIFY(isOpened("512", "128"));
        QTRY_VERIFY_WITH_TIMEOUT(!runs().job().running, 10000);
        QCOMPARE(runs().job().error, QString());
        QVERIFY(runs().shown()->request == runs().request());
        runs().undo();
        QVERIFY(runs().request() == before);
        dialog().table().choose(1);
        QTest::keyClick(&dialog().table(), Qt::Key_Return);
        QVERIFY(isOpened("128", "256"));
        QTest::mouseDClick(&dialog().chart(), Qt::LeftButton, {}, placeOf(4));
        QVERIFY(dialog().isVisible()); // to open others
    }

    void chipsVaryAndAreOpened()
    {
        open();
        clearFields();
        type("chip", u"v6e, v5p"_s);
        start();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog().isRunning() && rows().rowCount() == 2, 10000);
        dialog().table().choose(1);
        QTest::keyClick(&dialog().chart(), Qt::Key_Return);
        QCOMPARE(runs().request().chip, std::string("tpu_v5p"));
    }

    void whatDoesNotFitIsAmongTheRows()
    {
        app::RunRequest request = small();
        for (const char* size : {"m", "n", "k"}) {
            request.parameters[size] = "8192";
        }
        open(request);
        clearFields();
        type("bm", u"256,8192"_s);
        type("bn", u"256,8192"_s);
        start();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog().isRunning() && rows().rowCount() == 4, 10000);
        QVERIFY(!rows().find(3)->ran());
        const QStringList tip = dialog().chart().tipLines(target::SweepRow{3});
        QCOMPARE(tip.at(1), u"does not fit"_s);
        QVERIFY(dialog().table().chosen() != std::optional<std::size_t>(3));
    }

    void cancelKeepsTheRowsThatCame()
    {
        app::RunRequest request = small();
        for (const char* size : {"m", "n", "k"}) {
            request.parameters[size] = "4096";
        }
        open(request);
        clearFields();
        type("m", u"1024:9024:+16"_s);
        type("bm", u"16:256:*2"_s);
        start();
        QTRY_VERIFY_WITH_TIMEOUT(rows().rowCount() > 0, 10000);
        QVERIFY(dialog().isRunning());
        QCOMPARE(button("cancel").text(), u"Cancel"_s);
        QVERIFY(!fields().isEnabled());
        const int before = rows().rowCount();
        button("cancel").click();
        QVERIFY(!dialog().isRunning());
        QVERIFY(dialog().isVisible());
        const int came = rows().rowCount();
        QVERIFY(came >= before && came < 2505);
        QVERIFY(says(u"Cancelled after %1"_s.arg(came)));
        QVERIFY(button("save").isEnabled());
        start();
        QCOMPARE(rows().rowCount(), 0); // those before are of another sweep
        QVERIFY(dialog().isRunning());
        QTest::keyClick(&dialog(), Qt::Key_Escape); // closing cancels, too
        QVERIFY(!dialog().isVisible());
        QVERIFY(!dialog().isRunning());
    }

    void rowsAndPictureAreSaved()
    {
        const QTemporaryDir folder;
        open();
        QVERIFY(!button("save").isEnabled());
        sweepBlocks();
        QVERIFY(button("save").isEnabled());
        const QString file = folder.filePath(u"s.json"_s);
        dialog().saveRows(file);
        const auto text = readFile(file.toStdString(), 1 << 20);
        QVERIFY(text.has_value());
        const auto saved = study::rowsFromJson(*text, rows().job()->subject, file.toStdString());
        QVERIFY(saved.has_value());
        QVERIFY(saved->rows == rows().rows());
        dialog().savePictureAs(folder.filePath(u"s.svg"_s));
        dialog().savePictureAs(folder.filePath(u"s.png"_s));
        for (const QString& name : {u"s.svg"_s, u"s.png"_s}) {
            QVERIFY(QFile(folder.filePath(name)).size() > 1000);
        }
        dialog().saveRows(folder.filePath(u"no/s.json"_s));
        QVERIFY(says(u"no/s.json"_s));
    }

    void ofAKernelFileOnlyTheChipVaries()
    {
        const QTemporaryDir folder;
        const kernels::Kernel& add = *kernels::find("add_vectors");
        const auto arguments = kernels::arguments(add, {});
        const std::string path = folder.filePath(u"add.kernel.json"_s).toStdString();
        kernel_file::KernelFile file;
        file.program = add.build(*arguments).value();
        file.inputs = kernel_file::defaultInputs(file.program);
        QVERIFY(kernel_file::save(file, path).has_value());
        app::RunRequest request;
        request.kernel = path;
        request.fullValues = request.check = false;
        open(request);
        QVERIFY(fields().field(u"chip"_s) != nullptr);
        QVERIFY(fields().field(u"bm"_s) == nullptr);
        QVERIFY(says(u"only the chip varies"_s));
        type("chip", u"v5e,v6e"_s);
        start();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog().isRunning() && rows().rowCount() == 2, 10000);
        dialog().table().choose(1);
        button("open").click();
        QCOMPARE(runs().request().kernel, path);
        QCOMPARE(runs().request().chip, std::string("tpu_v6e"));
    }
};

PALLASCOPE_GUI_TEST("sweep", SweepTest);

} // namespace pallascope::test

#include "sweep_test.moc"
