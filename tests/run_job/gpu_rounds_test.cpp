// What a GPU's kernel is gone through by: the rounds of one warpgroup, and not of all that do the
// same or something else beside it.
#include "app/run_job/run_job.h"
#include "core/trace/agents.h"
#include "core/trace/copy_ends.h"
#include "core/trace/pieces.h"
#include "views/navigation/stops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace pallascope;
using namespace pallascope::app;
using navigation::StepUnit;

namespace {

std::shared_ptr<const trace::Trace> product(const std::string& specialized)
{
    RunRequest request{.kernel = "hopper_matmul", .chip = "h100_sxm", .fullValues = false};
    request.parameters = {{"m", "1024"},
                          {"n", "2048"},
                          {"k", "512"},
                          {"warp_specialized", specialized},
                          {"persistent", "16"}};
    return runKernel(request)->view->trace;
}

} // namespace

TEST(GpuRounds, areThoseOfOneAgent)
{
    for (const char* specialized : {"yes", "no"}) {
        const auto trace = product(specialized);
        const trace::LoopRounds loops(*trace);
        std::set<std::int32_t> agents;
        std::set<std::int64_t> begins, wanted{trace->end().value()};
        for (const std::int32_t loop : loops.outermost()) {
            agents.insert(loops.agent(loop));
            for (std::size_t i = 0; i < loops.size(loop); ++i) {
                const std::size_t row = loops.row(loop, i).index();
                begins.insert(trace->rounds().begin[row]);
                wanted.insert(trace->rounds().end[row]);
            }
        }
        wanted.insert(begins.begin(), begins.end());
        ASSERT_EQ(agents.size(), 1U) << specialized;
        const std::vector<std::int32_t> smOf = trace::agentsOf(*trace).smOf;
        const std::int32_t sm = smOf[static_cast<std::size_t>(*agents.begin())];
        std::set<std::int64_t> ownCopies;
        for (std::size_t end = 0; end < trace->copyEnds().size(); ++end) {
            if (smOf[static_cast<std::size_t>(trace->copyEnds().agent[end])] == sm) {
                const auto copy = trace::copyOf(*trace, trace::EndRow::at(end));
                ownCopies.insert(trace->copies().start[copy.index()]);
            }
        }
        const navigation::Stops stops(trace);
        std::set<std::int64_t> stopped;
        for (auto t = stops.next(StepUnit::Round, Picoseconds(0)); *t < trace->end();
             t = stops.next(StepUnit::Round, *t)) {
            stopped.insert(t->value());
            EXPECT_TRUE(wanted.contains(t->value()) || ownCopies.contains(t->value()))
                << t->value();
        }
        begins.erase(0); // where it begins
        EXPECT_TRUE(std::ranges::includes(stopped, begins));
    }
}

// A kernel that is the whole program is launched with it.
TEST(OneKernel, hasTheLaunchOfTheRun)
{
    for (const auto& [kernel, chip] : {std::pair("matmul", "tpu_v5e"),
                                       {"add_by_hand", "tpu_v5e"},
                                       {"gpu_softmax", "h100_sxm"}}) {
        const FinishedRun run =
            *runKernel({.kernel = kernel, .chip = chip, .fullValues = false, .check = false});
        const trace::Pieces& pieces = run.view->index->pieces(0);
        ASSERT_EQ(pieces.all.size(), 1U) << kernel;
        EXPECT_EQ(pieces.all[0].launch, run.view->report.split.launches) << kernel;
        EXPECT_GT(pieces.all[0].launch, Picoseconds(0)) << kernel;
    }
}
