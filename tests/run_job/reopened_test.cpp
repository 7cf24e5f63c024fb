// Which kernel file a trace is of when it is opened again.
#include "app/run_job/break_search.h"
#include "app/run_job/run_job.h"
#include "core/trace_file/trace_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

using namespace pallascope;
using namespace pallascope::app;

namespace {

namespace fs = std::filesystem;

void copyExample(const std::string& name, const fs::path& to)
{
    fs::copy_file(fs::path(PALLASCOPE_DOCS) / "examples" / name, to,
                  fs::copy_options::overwrite_existing);
}

// A folder of its own for each test, which is gone afterwards.
class Reopened : public testing::Test
{
protected:
    void SetUp() override
    {
        m_folder = fs::path(testing::TempDir())
                   / (std::string("pallascope_")
                      + testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(m_folder);
        fs::create_directories(m_folder / "made");
        copyExample("add.kernel.json", made());
        const RunRequest request{.kernel = made().string(), .fullValues = false, .check = false};
        const Result<FinishedRun> run = runKernel(request);
        ASSERT_TRUE(run) << run.error().message;
        ASSERT_TRUE(
            trace_file::save(*run->view->trace, (m_folder / "made/t.trace.json").string(), {}));
        fs::rename(m_folder / "made", m_folder / "moved");
        fs::create_directories(m_folder / "made");
    }

    void TearDown() override { fs::remove_all(m_folder); }

    [[nodiscard]] fs::path made() const { return m_folder / "made/k.kernel.json"; }

    [[nodiscard]] fs::path moved() const { return m_folder / "moved/k.kernel.json"; }

    [[nodiscard]] FinishedRun open() const
    {
        return std::move(*openTrace((m_folder / "moved/t.trace.json").string()));
    }

    fs::path m_folder;
};

} // namespace

TEST_F(Reopened, aTraceFindsTheKernelFileThatWasMovedWithIt)
{
    const FinishedRun run = open();
    EXPECT_EQ(run.request.kernel, moved().string());
    EXPECT_TRUE(isStillKernelOf(run.request, *run.view));
    copyExample("race.kernel.json", made()); // another kernel where it lay
    EXPECT_EQ(open().request.kernel, moved().string());
}

TEST_F(Reopened, anotherKernelOfThatNameIsRefused)
{
    copyExample("race.kernel.json", moved());
    copyExample("race.kernel.json", made());
    const FinishedRun run = open();
    EXPECT_EQ(run.request.kernel, made().string());
    const Status same = isStillKernelOf(run.request, *run.view);
    ASSERT_FALSE(same);
    EXPECT_NE(same.error().message.find("not the kernel any more"), std::string::npos);
    EXPECT_TRUE(same.error().isAbout(Subject::Kernel));
}

TEST_F(Reopened, aKernelFileThatIsGoneKeepsItsName)
{
    fs::remove(moved());
    const FinishedRun run = open();
    EXPECT_EQ(run.request.kernel, made().string());
    EXPECT_TRUE(isStillKernelOf(run.request, *run.view)); // running it says that it is gone
}
