// What the error of a run that is refused or cancelled says besides its sentence: its kind, and
// what it is about.
#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"
#include "app/run_job/run_job.h"
#include "core/base/whole_file.h"
#include "core/kernel_file/kernel_file.h"
#include "core/trace_file/trace_file.h"
#include "kernels/kernel.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace pallascope::app {

namespace {

using Things = std::vector<About>;

Error refusalOf(const RunRequest& request)
{
    const Result<FinishedRun> run = runKernel(request);
    EXPECT_FALSE(run) << "ran";
    return run ? Error{} : run.error();
}

RunRequest needed(std::string kernel, std::map<std::string, std::string> parameters)
{
    return {.kernel = std::move(kernel), .parameters = std::move(parameters), .fullValues = false};
}

bool never(double /*share*/)
{
    return false;
}

} // namespace

TEST(RunErrors, areAboutTheParameterThatIsWrong)
{
    EXPECT_EQ(refusalOf(needed("matmul", {{"bm", "0"}})).about,
              (Things{{Subject::Parameter, "bm"}}));
    EXPECT_EQ(refusalOf(needed("matmul", {{"rows", "8"}})).about,
              (Things{{Subject::Parameter, "rows"}}));
    EXPECT_EQ(refusalOf(needed("add_by_hand", {{"rows", "1000"}, {"block", "512"}})).about,
              (Things{{Subject::Parameter, "rows"},
                      {Subject::Parameter, "block"},
                      {Subject::Parameter, "cores"}}));
    EXPECT_EQ(refusalOf(needed("nothing_of_the_kind", {})).about,
              (Things{{Subject::Kernel, "nothing_of_the_kind"}}));
    const auto twice = parseParameters({"bm=1", "bm=2"});
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().about, (Things{{Subject::Parameter, "bm"}}));
}

TEST(RunErrors, areAboutTheChipIfItIsOfAnotherKind)
{
    for (const auto& [kernel, chip] : std::vector<std::pair<std::string, std::string>>{
             {"hopper_matmul", "tpu_v6e"}, {"hopper_matmul", "b200"}, {"matmul", "h100_sxm"}}) {
        RunRequest request = needed(kernel, {});
        request.chip = chip;
        EXPECT_EQ(refusalOf(request).about, (Things{{Subject::Chip, chip}})) << kernel;
    }
}

// A kernel has to be captured from it first.
TEST(RunErrors, ofAPythonFileSayHowToCaptureIt)
{
    const std::string file = testing::TempDir() + "mine.py";
    ASSERT_TRUE(writeFile(file, "def kernel(x_ref, o_ref):\n    o_ref[...] = x_ref[...]\n"));
    for (const Error& error :
         {refusalOf(needed(file, {})), openFile(file).error(), openTrace(file).error()}) {
        EXPECT_EQ(error.about, (Things{{Subject::File, file}}));
        EXPECT_NE(error.message.find("pallascope capture " + file + ":FUNCTION"), std::string::npos)
            << error.message;
    }
}

TEST(ChosenKernels, keepTheChipIfTheyRunOnItAndElseTakeTheirOwn)
{
    EXPECT_EQ(chipFor("matmul", "tpu_v6e"), "tpu_v6e");
    EXPECT_EQ(chipFor("hopper_matmul", "tpu_v6e"), "h100_sxm");
    EXPECT_EQ(chipFor("hopper_matmul", "h200"), "h200");
    EXPECT_EQ(chipFor("hopper_matmul", "b200"), "h100_sxm");
    EXPECT_EQ(chipFor("matmul", "h200"), "tpu_v5e");
    EXPECT_EQ(chipFor("matmul", ""), "");
    EXPECT_EQ(chipFor("some.kernel.json", "h200"), "h200");
    EXPECT_EQ(chipFor("matmul", "no_such_chip"), "no_such_chip");
}

TEST(RunErrors, areAboutWhatDoesNotFitAndTheBlocksThatWould)
{
    const Error error = refusalOf(
        needed("matmul", {{"m", "16384"}, {"n", "16384"}, {"bm", "8192"}, {"bn", "8192"}}));
    EXPECT_EQ(error.kind, ErrorKind::Limit);
    EXPECT_EQ(error.about, (Things{{Subject::Operand, "x"},
                                   {Subject::Operand, "y"},
                                   {Subject::Operand, "out"},
                                   {Subject::Parameter, "bm"},
                                   {Subject::Parameter, "bn"},
                                   {Subject::Parameter, "bk"}}));
}

TEST(RunErrors, areAboutWhatWasRaisedBesidesTheBlocks)
{
    const Error error = refusalOf(needed("hopper_matmul", {{"stages", "5"}, {"m", "8192"}}));
    EXPECT_EQ(error.about, (Things{{Subject::Parameter, "bm"},
                                   {Subject::Parameter, "bn"},
                                   {Subject::Parameter, "bk"},
                                   {Subject::Parameter, "stages"}}))
        << error.message;
}

TEST(RunErrors, areAboutTheChipOrItsFile)
{
    const Result<chip::Chip> unknown = loadChip("tpu_v99");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().about, (Things{{Subject::Chip, "tpu_v99"}}));
    const std::string file = testing::TempDir() + "/chip_of_run_errors.json";
    ASSERT_TRUE(writeFile(file, "{}"));
    const Result<chip::Chip> empty = loadChip(file);
    std::filesystem::remove(file);
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().about, (Things{{Subject::File, file}}));
}

TEST(RunErrors, areAboutTheChipIfItIsAGpu)
{
    for (const char* kernel : {"matmul", "add_vectors"}) {
        const RunRequest request{.kernel = kernel, .chip = "h100"};
        const Error error = refusalOf(request);
        EXPECT_TRUE(error.isAbout(Subject::Chip)) << error.message;
        EXPECT_EQ(error.message.find("Nearest blocks"), std::string::npos) << error.message;
        EXPECT_FALSE(viewWithoutRun(request, error));
        EXPECT_FALSE(startReplay(request));
    }
}

TEST(RunErrors, areOfTheKindCancelledWhenItWas)
{
    const Result<FinishedRun> run =
        runKernel(needed("matmul", {{"m", "4096"}, {"bm", "128"}, {"bn", "128"}}), never);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().kind, ErrorKind::Cancelled);
    EXPECT_TRUE(run.error().about.empty());
}

// All its values can take minutes, and more memory than a run may take: the window asks later.
TEST(OpenedKernelFile, hasItsTimesAndOnlyIfThatIsCheapAllValues)
{
    const auto opened = [](const char* size) {
        const std::string file = testing::TempDir() + "/opened_kernel_file.kernel.json";
        const kernels::Kernel& matmul = *kernels::find("matmul");
        const auto arguments = kernels::arguments(
            matmul,
            {{"m", size}, {"n", size}, {"k", size}, {"bm", "128"}, {"bn", "128"}, {"bk", "128"}});
        kernel_file::KernelFile kernel;
        kernel.program = matmul.build(*arguments).value();
        kernel.inputs = kernel_file::defaultInputs(kernel.program);
        EXPECT_TRUE(kernel_file::save(kernel, file));
        const Result<FinishedRun> run = openFile(file, {}, "tpu_v5e");
        std::filesystem::remove(file);
        EXPECT_TRUE(run) << run.error().message;
        EXPECT_EQ(run->request.chip, "tpu_v5e");
        EXPECT_EQ(run->view->trace->info().values, run->request.fullValues ? "full" : "needed");
        return run->request.fullValues;
    };
    EXPECT_TRUE(opened("256"));
    EXPECT_FALSE(opened("1024"));
}

TEST(RunErrors, areOfTheKindCancelledWhenAFileIsOpened)
{
    const std::string file = testing::TempDir() + "/trace_of_run_errors.json";
    const Result<FinishedRun> run = runKernel(needed("matmul", {}));
    ASSERT_TRUE(run);
    ASSERT_TRUE(trace_file::save(*run->view->trace, file));
    const Result<FinishedRun> opened = openFile(file, never);
    const Result<FinishedRun> whole = openFile(file);
    std::filesystem::remove(file);
    EXPECT_TRUE(whole);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, ErrorKind::Cancelled);
    EXPECT_TRUE(opened.error().about.empty());
}

} // namespace pallascope::app
