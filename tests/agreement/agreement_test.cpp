// Holds all views to one another over every kernel that the tests have: built in, on chips of one
// core and of several; with each operation; of three devices and of subcores; and in random
// pipelines.
#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"
#include "app/run_job/run_job.h"
#include "core/base/format.h"
#include "core/study/compare.h"
#include "core/trace/manual_arrays.h"
#include "tests/agreement/disagreements.h"
#include "tests/agreement/programs.h"
#include "tests/agreement/texts.h"
#include "tests/fuzz/kernel_seeds.h"
#include "tests/kernel_file/support.h"
#include "tests/support/tried.h"
#include "views/layout/run/copies.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/tooltip/tooltip.h"
#include "views/layout/views.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace pallascope;

namespace {

void expectAgreement(const Result<app::FinishedRun>& run, const std::string& what)
{
    ASSERT_TRUE(run) << what << ": " << run.error().message;
    for (const std::string& sentence : test::disagreements(*run->view)) {
        ADD_FAILURE() << what << " " << sentence;
    }
    for (const std::string& sentence : test::misplacedTexts(*run->view)) {
        ADD_FAILURE() << what << ", " << sentence;
    }
}

bool canRun(const app::KernelInfo& kernel, const std::string& chip)
{
    return app::chipFor(kernel.name, chip) == chip;
}

} // namespace

TEST(Views, agreeOnBuiltInKernels)
{
    std::size_t number = 0;
    for (const app::KernelInfo& kernel : app::kernels()) {
        for (const chip::Chip& chip : app::builtInChips()) {
            app::RunRequest request;
            request.kernel = kernel.name;
            request.chip = chip.name;
            request.fullValues = false;
            if (!chip.multiprocessor && canRun(kernel, chip.name) && test::isTried(number++)) {
                expectAgreement(app::runKernel(request), kernel.name + " on " + chip.title);
            }
        }
    }
}

// At sizes that leave most SMs without a block, and the others with several tiles.
TEST(Views, agreeOnBuiltInKernelsForGpus)
{
    for (const app::KernelInfo& kernel : app::kernels()) {
        app::RunRequest request;
        request.kernel = kernel.name;
        request.fullValues = false;
        request.chip = app::chipFor(kernel.name, "tpu_v5e");
        for (const auto& [name, small] :
             {std::pair("m", "1024"), std::pair("n", "512"), std::pair("k", "256"),
              std::pair("heads", "2"), std::pair("queries", "256"), std::pair("keys", "256"),
              std::pair("rows", "1024")}) {
            if (std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                            [&](const auto& one) { return one.name == name; })) {
                request.parameters[name] = small;
            }
        }
        if (!canRun(kernel, "tpu_v5e")) {
            expectAgreement(app::runKernel(request), kernel.name);
        }
    }
}

TEST(Views, agreeOnProgramsOfSeveralAgentsAndKernels)
{
    const kernel_file_test::TemporaryFolder folder;
    for (const test::NamedProgram& one : test::programsOfSeveral()) {
        app::RunRequest request;
        request.kernel = folder.file("one.kernel.json");
        request.chip = one.chip;
        const Status saved =
            kernel_file::save(kernel_file_test::withDefaults(one.program), request.kernel);
        ASSERT_TRUE(saved) << saved.error().message;
        expectAgreement(app::runKernel(request), one.name);
    }
}

// The grid, the memory and the time line ask one function how many copies wait; the grid lists
// those of the chosen SM, what is under way first.
TEST(Views, agreeOnHowManyCopiesWait)
{
    app::RunRequest request{.kernel = "hopper_matmul", .fullValues = false};
    const Result<app::FinishedRun> run = app::runKernel(request);
    ASSERT_TRUE(run) << run.error().message;
    const trace::Copies& copies = run->view->trace->copies();
    const auto sceneOf = [&](const char* view, const layout::ViewState& state) {
        return layout::findView(view)->layout(*run->view, state, {900, 900});
    };
    const auto queuedIn = [](const std::string& caption) { // "|73| queued": 73
        const std::size_t end = caption.rfind("| queued");
        return end == std::string::npos ? std::string()
                                        : caption.substr(caption.rfind('|', end - 1) + 1,
                                                         end - caption.rfind('|', end - 1) - 1);
    };
    std::size_t most = 0, listed = 0;
    for (int percent = 1; percent < 90; percent += percent < 10 ? 1 : 8) {
        layout::ViewState state;
        state.now = Picoseconds(run->view->trace->end().value() / 100 * percent);
        state.visible = {Picoseconds(0), run->view->trace->end()};
        state.sm = 47;
        const layout::Scene grid = sceneOf("grid", state);
        const std::string said = queuedIn(grid.caption);
        EXPECT_EQ(said, queuedIn(sceneOf("timeline", state).caption)) << grid.caption;
        EXPECT_NE(sceneOf("memory", state).caption.find("|" + said + "| queued"), std::string::npos)
            << said << "\n"
            << sceneOf("memory", state).caption;
        most = std::max<std::size_t>(most, said.empty() ? 0 : std::stoul(said));
        bool isBehind = false; // the rows that have landed
        for (const layout::Hit& hit : grid.hits) {
            const auto* copy = std::get_if<layout::target::Copy>(&hit.target);
            if (copy == nullptr) {
                continue;
            }
            const auto row = static_cast<std::size_t>(copy->row);
            EXPECT_TRUE(layout::isCopyOfSm(*run->view, trace::CopyRow::at(row), 47));
            const bool hasLanded = copies.end[row] <= state.now.value();
            EXPECT_FALSE(isBehind && !hasLanded) << "at " << percent << " %";
            isBehind = hasLanded;
            ++listed;
        }
    }
    EXPECT_GT(most, 512U);
    EXPECT_GT(listed, 20U);
}

// However many copies wait, the bytes that the grid counts are those that copies have moved.
TEST(Views, countTheBytesOfAllCopiesUnderWay)
{
    app::RunRequest request{.kernel = "gpu_softmax", .fullValues = false};
    const Result<app::FinishedRun> run = app::runKernel(request);
    ASSERT_TRUE(run) << run.error().message;
    const trace::Trace& trace = *run->view->trace;
    for (int percent = 1; percent < 100; percent += 7) {
        const Picoseconds now(trace.end().value() / 100 * percent);
        for (const trace::ManualArray& array : run->view->index->manualArrays(0).all()) {
            double read = 0, written = 0;
            for (std::size_t i = 0; i < array.copies.size(); ++i) {
                const auto copy = trace::CopyRow::at(array.copies[i]);
                const double share = trace.copies().issue[copy.index()] > now.value()
                                         ? 0
                                         : trace::copyFraction(trace, copy, now);
                read += share * static_cast<double>(array.readBefore[i + 1] - array.readBefore[i]);
                written +=
                    share
                    * static_cast<double>(array.writtenBefore[i + 1] - array.writtenBefore[i]);
            }
            const auto moved = trace::ManualArrays::movedBy(trace, array, now);
            EXPECT_NEAR(moved.read, read, 1) << percent << " %";
            EXPECT_NEAR(moved.written, written, 1) << percent << " %";
        }
    }
}

// A unit belongs to an SM, whose warpgroups share it.
TEST(Views, countUnitsOfSmsNotOfWarpgroups)
{
    app::RunRequest request{.kernel = "hopper_matmul", .fullValues = false};
    request.parameters = {{"m", "1024"}, {"n", "1024"}, {"k", "512"}};
    const Result<app::FinishedRun> run = app::runKernel(request);
    ASSERT_TRUE(run) << run.error().message;
    const layout::RunView& view = *run->view;
    const auto sms = static_cast<std::int64_t>(view.index->agents().sms.size());
    ASSERT_GT(sms, 1);
    layout::ViewState state;
    state.visible = {Picoseconds(0), view.trace->end()};
    std::size_t counted = 0;
    for (int percent = 0; percent <= 100; ++percent) {
        state.now = Picoseconds(view.trace->end().value() / 100 * percent);
        const std::string caption =
            layout::findView("timeline")->layout(view, state, {900, 900}).caption;
        if (caption.find("busy on") != std::string::npos) {
            ++counted;
            EXPECT_NE(caption.find(fmt::format("| of {} SMs", sms)), std::string::npos) << caption;
        }
    }
    EXPECT_GT(counted, 0U);
    state.now = view.trace->end();
    const double share =
        ratio(view.index->unitBusy(trace::UnitRow{0}, view.trace->end()), view.trace->end())
        / static_cast<double>(sms);
    const std::string said = layout::findView("timeline")->layout(view, state, {900, 900}).caption;
    EXPECT_NE(said.find("TC busy |" + percentText(share, 1) + "|"), std::string::npos) << said;
    ASSERT_GT(view.trace->rounds().size(), 0U);
    const std::vector<std::string> lines = layout::tooltip(view, state, layout::target::Round{0});
    const auto waits = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
        return line.find("Warpgroup 0 waits ") != std::string::npos;
    });
    EXPECT_NE(waits, lines.end()) << testing::PrintToString(lines);
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
        return line.starts_with("busy on an SM: TC ");
    })) << testing::PrintToString(lines);
}

// Blocks of a cluster have their memory together, which is shown for each of their SMs. The source
// is where the chosen SM is.
TEST(Views, showTheChosenSmOfAPair)
{
    app::RunRequest request{.kernel = "blackwell_matmul", .fullValues = false};
    request.parameters = {{"m", "1024"}, {"n", "1024"}, {"k", "512"}};
    const Result<app::FinishedRun> run = app::runKernel(request);
    ASSERT_TRUE(run) << run.error().message;
    const auto captionOf = [&](const char* view, std::int32_t sm) {
        layout::ViewState state;
        state.now = Picoseconds(run->view->trace->end().value() / 2);
        state.sm = sm;
        return layout::findView(view)->layout(*run->view, state, {900, 900}).caption;
    };
    for (const std::int32_t first : {0, 30}) {
        EXPECT_EQ(captionOf("memory", first), captionOf("memory", first + 1));
        EXPECT_EQ(captionOf("memory", first)
                      .find(fmt::format("|SM {}\u2013{}| block ({}), 0\u20131 of its cluster",
                                        first, first + 1, first / 2)),
                  0U)
            << captionOf("memory", first);
        EXPECT_TRUE(captionOf("source", first + 1).ends_with(fmt::format("SM {}", first + 1)))
            << captionOf("source", first + 1);
    }
    const auto lineOf = [&](std::int32_t sm) {
        const std::string caption = captionOf("source", sm);
        return caption.substr(0, caption.rfind(" \u00b7 "));
    };
    std::set<std::string> lines;
    for (std::int32_t sm = 0; sm < 32; ++sm) {
        lines.insert(lineOf(sm));
    }
    EXPECT_GT(lines.size(), 1U) << *lines.begin();
}

// Beside a kept run with other parameters, and what they say of the difference is what compare
// says.
TEST(Views, agreeBesideAKeptRunAndWithCompare)
{
    app::RunRequest request;
    request.fullValues = request.check = false;
    request.parameters = {{"m", "1024"}, {"n", "1024"}, {"k", "1024"}, {"buffers", "1"}};
    const Result<app::FinishedRun> kept = app::runKernel(request);
    ASSERT_TRUE(kept) << kept.error().message;
    for (const char* block : {"512", "256"}) {
        request.parameters["buffers"] = "2";
        request.parameters["bk"] = block;
        const Result<app::FinishedRun> run = app::runKernel(request);
        ASSERT_TRUE(run) << run.error().message;
        for (const std::string& sentence : test::disagreements(*run->view, kept->view)) {
            ADD_FAILURE() << sentence;
        }
        for (const std::string& sentence : test::misplacedTexts(*run->view, kept->view)) {
            ADD_FAILURE() << sentence;
        }
        const auto comparison = study::compare(*kept->view->trace, *run->view->trace);
        ASSERT_TRUE(comparison);
        const std::string said = study::toText(*comparison);
        layout::ViewState state;
        state.kept = layout::keptBeside(kept->view, *run->view);
        const layout::Scene verdict =
            layout::findView("verdict")->layout(*run->view, state, {640, 1000});
        for (const layout::Item& item : verdict.items) {
            const auto* text = std::get_if<layout::TextItem>(&item);
            if (text != nullptr && text->text.find(" %") != std::string::npos
                && (text->text.front() == '-' || text->text.front() == '+')) {
                EXPECT_NE(said.find(text->text), std::string::npos) << text->text << "\n" << said;
            }
        }
        EXPECT_GT(state.kept->figures.size(), 10U);
    }
}

// One of them is for subcores, which only one chip has.
TEST(Views, agreeOnTheKernelsOfOtherTests)
{
    const kernel_file_test::TemporaryFolder folder;
    std::size_t tried = 0, number = 0, runs = 0;
    for (const std::string& text : fuzz::kernelTexts()) {
        if (!test::isTried(tried++)) {
            continue;
        }
        app::RunRequest request;
        request.kernel = folder.file("one.kernel.json");
        request.chip = text.find("vector subcore") != std::string::npos ? "tpu_v7x" : "";
        kernel_file_test::writeBytes(request.kernel, text);
        const Result<app::FinishedRun> run = app::runKernel(request);
        ++number;
        if (run) { // some are for chips that are made up
            ++runs;
            expectAgreement(run, "kernel " + std::to_string(number));
        }
    }
    EXPECT_GT(runs, number / 2);
}

TEST(Texts, areFoundWhereTheyLieOnEachOtherOrLeaveTheView)
{
    layout::Canvas canvas(100, 100);
    canvas.text(10, 10, 60, 14, "first");
    canvas.text(20, 12, 60, 14, "second");
    canvas.text(10, 40, 60, 14, "alone");
    canvas.text(90, 60, 60, 14, "outside");
    canvas.text(10, 80, 60, 14, "covered");
    canvas.fill(0, 75, 100, 25, layout::Role::View);
    canvas.text(10, 80, 60, 14, "on top");
    const std::vector<std::string> found =
        test::misplacedTexts(std::move(canvas).finish("title", "caption"));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(found[0].starts_with("\"second\" lies on \"first\""));
    EXPECT_EQ(found[1], "\"outside\" leaves the view");
}
