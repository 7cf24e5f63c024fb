// The Values dock of a live window with the real machine behind it: a ref is chosen, the playhead
// moves, NaN is shown, and what is not known is said.
#include "app/run_job/values_source.h"
#include "app/window/docks.h"
#include "app/window/main_window.h"
#include "app/window/values_panel.h"
#include "core/ir/builder.h"
#include "core/kernel_file/kernel_file.h"
#include "core/study/element_history.h"
#include "core/trace_file/trace_file.h"
#include "kernels/kernel.h"
#include "tests/gui/gui_test.h"

#include <QApplication>
#include <QClipboard>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include <algorithm>
#include <limits>
#include <memory>

namespace pallascope::test {

class ValuesTest : public QObject
{
    Q_OBJECT

private:
    static app::RunRequest request(bool fullValues)
    {
        app::RunRequest request;
        request.chip = "tpu_v5e";
        request.fullValues = fullValues;
        request.check = false;
        for (const char* size : {"m", "n", "k"}) {
            request.parameters[size] = "256";
        }
        for (const char* name : {"bm", "bn", "bk"}) {
            request.parameters[name] = "128";
        }
        return request;
    }

    // A matmul of which row 3 of x has an Inf that meets a zero of y.
    static void saveWithNan(const std::string& path)
    {
        const kernels::Kernel& kernel = *kernels::find("matmul");
        auto program = kernel.build(kernels::arguments(kernel, request(true).parameters).value());
        QVERIFY(program.has_value());
        kernel_file::KernelFile file;
        file.program = std::move(*program);
        for (const std::uint64_t seed : {1U, 2U}) {
            Array array = normalArray(DType::BF16, {256, 256}, seed);
            array.as<std::uint16_t>()[seed == 1 ? 3 * 256 + 7 : 7 * 256 + 5] =
                floatToBf16(seed == 1 ? std::numeric_limits<float>::infinity() : 0);
            file.inputs.emplace_back(array);
        }
        QVERIFY(kernel_file::save(file, path).has_value());
    }

    // Adds the blocks of x up in scratch that nobody sets to zero.
    static void saveWithoutZeros(const std::string& path)
    {
        const pl::BlockSpec block = pl::block({8, 128}, [](auto i) { return pl::at(i, 0); });
        const auto body = [](pl::Ref x, pl::Ref out, pl::Ref sum) {
            sum[pl::all] += x[pl::all];
            out[pl::all] = sum[pl::all] * 2;
        };
        kernel_file::KernelFile file;
        file.program =
            pl::kernel("sums",
                       {pl::in("x", DType::F32, {64, 128}), pl::out("out", DType::F32, {64, 128})},
                       [&](pl::Ref x, pl::Ref out) {
                           pl::pallasCall({.grid = {8},
                                           .in = {block},
                                           .out = {block},
                                           .scratch = {{"sum", DType::F32, {8, 128}}}},
                                          body)(x, out);
                       })
                .value();
        file.inputs.emplace_back(normalArray(DType::F32, {64, 128}, 1));
        QVERIFY(kernel_file::save(file, path).has_value());
    }

    void open()
    {
        m_window = std::make_unique<app::MainWindow>();
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }

    void run(const app::RunRequest& asked)
    {
        runs().start(asked);
        finish();
    }

    void finish()
    {
        QTRY_VERIFY_WITH_TIMEOUT(!runs().job().running, 60000);
        QVERIFY2(runs().job().error.isEmpty(), qPrintable(runs().job().error));
    }

    void showValues()
    {
        QTest::mouseClick(dock("memory").head()->button(1), Qt::LeftButton);
        QVERIFY(dock("values").isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(picture().sight() || caption().contains(u"no values"), 30000);
    }

    // Its results, at the end of its run; the file is in the folder.
    void showNan(const QTemporaryDir& folder)
    {
        const std::string path = folder.filePath(QStringLiteral("nan.pallascope")).toStdString();
        saveWithNan(path);
        open();
        run({.kernel = path, .chip = "tpu_v5e", .check = false});
        m_window->session().viewpoint().end();
        showValues();
    }

    [[nodiscard]] app::Runs& runs() const { return m_window->session().runs(); }

    [[nodiscard]] app::Dock& dock(const char* name) const
    {
        return *m_window->docks().dock(QString::fromLatin1(name));
    }

    [[nodiscard]] app::ValuesPanel& panel() const { return *m_window->docks().values(); }

    [[nodiscard]] views::ValuesPicture& picture() const { return *panel().picture(); }

    [[nodiscard]] QString caption() const { return dock("values").head()->caption(); }

    [[nodiscard]] const trace::Trace& trace() const { return *runs().shown()->view->trace; }

    // The picture of a ref has come, whichever moment it is of.
    [[nodiscard]] bool shows(const char* name, const char* memory) const
    {
        const auto& sight = picture().sight();
        return sight && sight->name == name && sight->memory == memory;
    }

    [[nodiscard]] bool says(const char* words) const
    {
        const auto& sight = picture().sight();
        return sight && sight->unknown.find(words) != std::string::npos;
    }

    void clickRow(int row) const
    {
        QTreeWidget& list = *panel().history()->list();
        const QRect place = list.visualItemRect(list.topLevelItem(row));
        QVERIFY(place.isValid());
        QTest::mouseClick(list.viewport(), Qt::LeftButton, {},
                          QPoint(place.x() + 20, place.center().y()));
    }

    // How often a run touches an element of x in VMEM.
    static std::size_t touchesOfX(std::vector<std::int64_t> index)
    {
        auto replay = app::startReplay(request(true));
        const auto found = study::elementHistory(**replay, {"x", std::move(index), "vmem", {}});
        return found.value().has_value() ? found.value()->size() : 0;
    }

    std::unique_ptr<app::MainWindow> m_window;

private Q_SLOTS:

    void cleanup() { m_window.reset(); }

    void theNumbersAreThoseOfAReplayAtThePlayhead()
    {
        open();
        run(request(true));
        showValues();
        QVERIFY(shows("out", "HBM"));
        const Picoseconds now(trace().steps().bodyBegin[3]);
        m_window->session().viewpoint().setNow(now);
        QVERIFY(panel().choose("x", "VMEM"));
        QTRY_VERIFY_WITH_TIMEOUT(shows("x", "VMEM") && picture().sight()->unknown.empty(), 30000);
        QVERIFY2(caption().contains(QStringLiteral("x |bf16[128,128]| in VMEM")),
                 qPrintable(caption()));

        auto replay = app::startReplay(request(true));
        QVERIFY(replay.has_value() && *(*replay)->seekTime(now));
        const std::vector<machine::Replay::AgentPlace> places = (*replay)->places();
        for (const ir::ValueId id : places[0].refs) {
            const ir::Value& value = (*replay)->program().value(id);
            if (value.name == "x" && value.type.space == ir::MemorySpace::Vmem) {
                const auto contents = (*replay)->contents(0, id);
                const auto& sight = *picture().sight();
                QCOMPARE(sight.numbers.front().value, contents.elements.at(0));
                QCOMPARE(sight.all.values, std::int64_t{128 * 128});
                return;
            }
        }
        QFAIL("the replay has no x in VMEM");
    }

    // Blocks that are in VMEM are framed; the caption compares with a run that was looked at before
    // it was kept, and says nothing of one that was not.
    void blocksInVmemAreFramedAndTheKeptRunIsInTheCaption()
    {
        open();
        run(request(true));
        showValues();
        QVERIFY(panel().choose("x", "HBM"));
        const Picoseconds now(trace().steps().bodyBegin[3]);
        m_window->session().viewpoint().setNow(now);
        QTRY_VERIFY_WITH_TIMEOUT(shows("x", "HBM") && !picture().sight()->resident.empty(), 30000);
        const auto inUse = std::count_if(
            picture().sight()->resident.begin(), picture().sight()->resident.end(),
            [](const auto& one) { return one.how == layout::values::Residence::InUse; });
        QCOMPARE(inUse, 1);
        m_window->session().keepRun();
        app::RunRequest next = request(true);
        next.parameters["bk"] = "256";
        run(next);
        QTRY_VERIFY_WITH_TIMEOUT(shows("x", "HBM") && picture().sight()->kept.has_value(), 30000);
        QVERIFY2(caption().contains(QStringLiteral("mean and NaN count of the kept run")),
                 qPrintable(caption()));
        m_window->session().letGo();
        m_window->session().viewpoint().setNow(Picoseconds(0));
        QTRY_VERIFY_WITH_TIMEOUT(!caption().contains(QStringLiteral("kept")), 30000);
    }

    void theArrowsMoveTheChosenElementAndTheClipboardGetsNumbersForPython()
    {
        open();
        run(request(true));
        showValues();
        QVERIFY(panel().choose("x", "HBM"));
        QTRY_VERIFY_WITH_TIMEOUT(shows("x", "HBM"), 30000);
        const auto& map = picture().sight()->frame.map;
        QTest::mouseClick(
            &picture(), Qt::LeftButton, {},
            QPoint(static_cast<int>(map.x + map.w / 2), static_cast<int>(map.y + map.h / 2)));
        QTRY_VERIFY(picture().sight()->element > 100 * 256);
        const std::int64_t chosen = picture().sight()->element;
        const Picoseconds now = m_window->session().viewpoint().state().now;
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Right);
        QTRY_COMPARE(picture().sight()->element, chosen + 1);
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Down);
        QTRY_COMPARE(picture().sight()->element, chosen + 1 + 256);
        QCOMPARE(m_window->session().viewpoint().state().now,
                 now); // the arrows are not the playhead's
        QApplication::clipboard()->clear();
        QTest::keyClick(m_window->focusWidget(), Qt::Key_C, Qt::ControlModifier);
        QTRY_VERIFY(QApplication::clipboard()->text().contains(
            QStringLiteral("dtype=ml_dtypes.bfloat16)")));
    }

    void theWheelZoomsAndKeepsWhatIsUnderThePointer()
    {
        open();
        run(request(true));
        showValues();
        QVERIFY(panel().choose("x", "HBM"));
        QTRY_VERIFY_WITH_TIMEOUT(shows("x", "HBM"), 30000);
        const std::int64_t before = picture().sight()->frame.side;
        QVERIFY(before > 1);
        const auto& map = picture().sight()->frame.map;
        const QPointF at(map.x + map.w * 0.7, map.y + map.h * 0.4);
        QWheelEvent notch(at, picture().mapToGlobal(at), {}, QPoint(0, 120), Qt::NoButton,
                          Qt::NoModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(&picture(), &notch);
        QTRY_VERIFY(picture().sight()->frame.side < before);
        const auto& region = picture().sight()->frame.region;
        QVERIFY(region.rows < 256 || region.columns < 256);
        QVERIFY(region.row <= 102 && 102 <= region.row + region.rows);
    }

    // Its refs come later than the run, and keys may come between.
    void keysInTheFieldOfRefsWhileANewRunComes()
    {
        open();
        run(request(true));
        showValues();
        QTRY_VERIFY_WITH_TIMEOUT(picture().sight(), 30000);
        QVERIFY(panel().refField()->count() > 1);
        int keys = 0;
        connect(&m_window->session().viewpoint(), &app::Viewpoint::runChanged, &panel(), [&] {
            QTest::keyClick(panel().refField(), Qt::Key_Up);
            QTest::keyClick(panel().refField(), Qt::Key_Down);
            ++keys;
        });
        run(request(true));
        QTRY_VERIFY_WITH_TIMEOUT(picture().sight(), 30000);
        QVERIFY(keys > 0 && panel().refField()->count() > 1);
    }

    // Another text size makes another window.
    void anotherWindowShowsTheSame()
    {
        open();
        run(request(true));
        showValues();
        QVERIFY(panel().choose("x", "HBM"));
        QTRY_VERIFY_WITH_TIMEOUT(shows("x", "HBM"), 30000);
        panel().chooseElement({200, 100});
        const auto& map = picture().sight()->frame.map;
        const QPointF at(map.x + map.w * 0.7, map.y + map.h * 0.4);
        QWheelEvent notch(at, picture().mapToGlobal(at), {}, QPoint(0, 120), Qt::NoButton,
                          Qt::NoModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(&picture(), &notch);
        QTRY_VERIFY(picture().sight()->element == 200 * 256 + 100 && panel().choice().corner);
        for (auto* button : panel().findChildren<app::HeadButton*>()) {
            if (button->text() == QStringLiteral("log")
                || button->text() == QStringLiteral("lock")) {
                QTest::mouseClick(button, Qt::LeftButton);
            }
        }
        panel().subtract(panel().state().ref.value() + 1);
        QTRY_VERIFY(panel().choice().scale == layout::ValuesScale::Log);
        const app::MainWindow::State before = m_window->state();
        QVERIFY(before.values.choice.side > 0);

        open(); // another window in its place
        m_window->goOn(before);
        QCOMPARE(m_window->state().values.ref, before.values.ref); // before anybody looks
        showValues();
        QTRY_VERIFY_WITH_TIMEOUT(picture().sight() && picture().sight()->name.starts_with("x"),
                                 30000);
        const app::ValuesPanel::State after = panel().state();
        QCOMPARE(after.ref, before.values.ref);
        QCOMPARE(after.minus, before.values.minus);
        QVERIFY(after.choice == before.values.choice);
        QVERIFY(!after.colours.isLocked);
        QCOMPARE(picture().sight()->element, std::int64_t{200 * 256 + 100});
        QCOMPARE(panel().refField()->currentText(), QStringLiteral("x · HBM"));
        run(request(false)); // a later run keeps the ref alone, as ever
        QTRY_VERIFY_WITH_TIMEOUT(shows("x", "HBM"), 30000);
        QVERIFY(!panel().state().minus && !panel().choice().element);
    }

    void nanIsShownAndFound()
    {
        const QTemporaryDir folder;
        showNan(folder);
        QVERIFY(shows("out", "HBM"));
        QTRY_COMPARE(picture().sight()->all.nan, std::int64_t{1});
        QCOMPARE(picture().sight()->all.inf, std::int64_t{255});
        QCOMPARE(picture().sight()->element, std::int64_t{3 * 256 + 5}); // goes there by itself
        QTRY_VERIFY2(caption().contains(QStringLiteral("|1| NaN")), qPrintable(caption()));
    }

    void aNanIsFollowedToTheOperationThatMadeIt()
    {
        const QTemporaryDir folder;
        showNan(folder);
        QTRY_COMPARE(picture().sight()->all.nan, std::int64_t{1});
        QTRY_VERIFY(panel().history()->nanButton()->isVisible());
        QTest::mouseClick(panel().history()->nanButton(), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!panel().history()->table().rows.empty(), 30000);
        const auto& rows = panel().history()->table().rows;
        QVERIFY(rows.back().cells.back().find("born") != std::string::npos);
        clickRow(static_cast<int>(rows.size()) - 1);
        const layout::ViewState& state = m_window->session().viewpoint().state();
        QCOMPARE(state.now, *rows.back().time);
        const auto* operation = std::get_if<layout::target::Operation>(&state.selection);
        QVERIFY(operation != nullptr);
        const std::string& name =
            trace().info().operations[static_cast<std::size_t>(operation->operation)].name;
        QVERIFY2(rows.back().cells.back().find("born: " + name) != std::string::npos, name.c_str());
        QTest::mouseClick(panel().history()->nanButton(), Qt::LeftButton);
        QVERIFY(!panel().history()->isOpen());
        QVERIFY(!panel().history()->nanButton()->isChecked());
    }

    void whatIsUndefinedIsFollowedToMemoryThatNobodyWrote()
    {
        const QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("sums.pallascope")).toStdString();
        saveWithoutZeros(path);
        open();
        run({.kernel = path, .chip = "tpu_v5e", .check = false});
        m_window->session().viewpoint().end();
        showValues();
        QVERIFY(panel().choose("out", "HBM"));
        QTRY_VERIFY_WITH_TIMEOUT(shows("out", "HBM") && picture().sight()->unknown.empty(), 30000);
        QTRY_VERIFY(panel().history()->nanButton()->isVisible());
        QCOMPARE(panel().history()->nanButton()->text(), QStringLiteral("follow undefined"));
        QTest::mouseClick(panel().history()->nanButton(), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!panel().history()->table().rows.empty(), 30000);
        const std::string& last = panel().history()->table().rows.back().cells.back();
        QVERIFY2(last.find("has not been written") != std::string::npos, last.c_str());
    }

    void theHistoryIsThatOfTheChosenElement()
    {
        open();
        run(request(true));
        m_window->session().viewpoint().end();
        showValues();
        QVERIFY(panel().choose("x", "VMEM"));
        m_window->session().viewpoint().setNow(Picoseconds(trace().steps().bodyBegin[3]));
        QTRY_VERIFY_WITH_TIMEOUT(shows("x", "VMEM") && picture().sight()->unknown.empty(), 30000);
        QVERIFY(!panel().history()->nanButton()->isVisible());
        QTest::mouseClick(panel().history()->historyButton(), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(panel().history()->title().startsWith(QStringLiteral("x[0,0]")),
                                 30000);
        QCOMPARE(panel().history()->table().rows.size(), touchesOfX({0, 0}));
        panel().chooseElement({5, 7});
        QTRY_VERIFY_WITH_TIMEOUT(panel().history()->title().startsWith(QStringLiteral("x[5,7]")),
                                 30000);
        QCOMPARE(panel().history()->table().rows.size(), touchesOfX({5, 7}));
    }

    void withNeededValuesThereIsNoHistory()
    {
        open();
        run(request(false));
        showValues();
        panel().historyTeller().tell(false);
        QTRY_VERIFY_WITH_TIMEOUT(
            panel().history()->title().contains(QStringLiteral("all values must be computed")),
            30000);
    }

    void aRefThatDoesNotExistYetIsNotShownAsZeros()
    {
        open();
        run(request(true));
        m_window->session().viewpoint().home();
        showValues();
        QVERIFY(shows("out", "HBM"));
        QCOMPARE(picture().sight()->all.undefined, std::int64_t{256 * 256});
        QCOMPARE(picture().sight()->all.values, std::int64_t{0});
        QVERIFY(panel().choose("out", "VMEM"));
        QTRY_VERIFY(shows("out", "VMEM"));
        QVERIFY(says("does not exist") || picture().sight()->all.values == 0);
    }

    void aBlockOrSlotThatIsSelectedElsewhereIsLookedAt()
    {
        open();
        run(request(true));
        showValues();
        const auto& operands = trace().info().operands;
        const auto x = std::find_if(operands.begin(), operands.end(),
                                    [](const trace::Operand& one) { return one.name == "x"; });
        layout::target::Block block{x - operands.begin(), 3};
        m_window->session().activate(block);
        QTRY_VERIFY_WITH_TIMEOUT(shows("x", "HBM"), 30000);
        QTRY_COMPARE(picture().sight()->element, std::int64_t{128 * 256 + 128});
        m_window->session().viewpoint().setNow(Picoseconds(trace().steps().bodyBegin[3]));
        m_window->session().activate(layout::target::Buffer{x->firstBuffer});
        QTRY_VERIFY_WITH_TIMEOUT(shows("x", "VMEM"), 30000);
    }

    void whatNeededValuesLeaveOutIsSaidAndOffered()
    {
        open();
        run(request(false));
        showValues();
        QVERIFY(says("is not known"));
        QVERIFY2(caption().contains(QStringLiteral("not known")), qPrintable(caption()));
        QVERIFY2(panel().note()->text().contains(QStringLiteral("of arrays")),
                 qPrintable(panel().note()->text()));
        QVERIFY(panel().note()->computeAll()->isVisible());
        QTest::mouseClick(panel().note()->computeAll(), Qt::LeftButton);
        finish();
        QVERIFY(runs().shown()->request.fullValues);
        m_window->session().viewpoint().end();
        QTRY_VERIFY_WITH_TIMEOUT(shows("out", "HBM") && picture().sight()->all.values == 256 * 256,
                                 30000);
        QVERIFY(!panel().note()->computeAll()->isVisible());
    }

    void aTraceFromAFileSaysThatItsValuesAreComputedAgain()
    {
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("a.trace.json"));
        open();
        run(request(true));
        QVERIFY(trace_file::save(trace(), path.toStdString(), {}).has_value());
        runs().openTrace(path);
        finish();
        showValues();
        QVERIFY(shows("out", "HBM"));
        QVERIFY2(panel().note()->text().contains(QStringLiteral("computed again")),
                 qPrintable(panel().note()->text()));
    }

    void aTraceWhoseKernelIsGoneSaysThatNothingIsKnown()
    {
        const QTemporaryDir folder;
        const std::string kernel = folder.filePath(QStringLiteral("k.pallascope")).toStdString();
        const QString path = folder.filePath(QStringLiteral("a.trace.json"));
        saveWithNan(kernel);
        open();
        run({.kernel = kernel, .chip = "tpu_v5e", .check = false});
        QVERIFY(trace_file::save(trace(), path.toStdString(), {}).has_value());
        QVERIFY(QFile::remove(QString::fromStdString(kernel)));
        runs().openTrace(path);
        finish();
        showValues();
        QVERIFY2(caption().contains(QStringLiteral("no values")), qPrintable(caption()));
        QVERIFY(!picture().sight());
        QVERIFY(!panel().history()->isEnabled()); // there is nothing to tell
    }

    void theChosenDeviceIsTheOneThatIsLookedAt()
    {
        open();
        run({.kernel = PALLASCOPE_DOCS "/../tests/golden/two_gpus.kernel.json",
             .chip = "h100_sxm",
             .check = false});
        m_window->session().viewpoint().end();
        showValues();
        QVERIFY(panel().choose("x", "HBM"));
        QTRY_VERIFY_WITH_TIMEOUT(shows("x", "HBM"), 30000);
        const auto number = [&] { return picture().sight()->numbers.front().value; };
        const double first = number();
        m_window->session().viewpoint().setDevice(1);
        QTRY_VERIFY_WITH_TIMEOUT(number() != first, 30000);
        const auto* agents = panel().findChild<app::ValuesAxes*>()->findChild<app::ChoiceField*>();
        QCOMPARE(agents->currentText(), QStringLiteral("first of device 1 that has it"));
        m_window->session().viewpoint().setDevice(0);
        QTRY_COMPARE_WITH_TIMEOUT(number(), first, 30000);
    }
};

PALLASCOPE_GUI_TEST("values", ValuesTest);

} // namespace pallascope::test

#include "values_test.moc"
