// Several GPUs: stores to another one's memory, loads from it, and the semaphores that order them.
#include "core/ir/builder_gpu.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace pallascope;
using namespace pallascope::machine_test;

namespace {

namespace gpu = pl::gpu;

using Refs = std::vector<pl::Ref>;

constexpr Extent kPart = 256;                // elements that each GPU has of x and out
constexpr std::int64_t kHopOfGpus = 800'000; // ps: h100_sxm.json

// What a GPU does; `arrived` is its semaphore, `smem` holds a part.
using BodyOfGpus = std::function<void(pl::Ref x, pl::Ref out, pl::Ref arrived, pl::Ref smem)>;

ir::Program onGpus(std::int32_t devices, const BodyOfGpus& body)
{
    return mustTrace(pl::kernel(
        "on_gpus",
        {pl::sharded(pl::in("x", kF32, {kPart}), {{"d"}}),
         pl::sharded(pl::out("out", kF32, {kPart}), {{"d"}})},
        [&](pl::Ref x, pl::Ref out) {
            pl::onMesh({{"d", devices}});
            pl::runScoped({pl::semaphores("arrived")}, [&](const Refs& outer) {
                gpu::launch({}, [&] {
                    gpu::runScoped({gpu::smem("held", kF32, {kPart})}, true,
                                   [&](const Refs& refs) { body(x, out, outer[0], refs[0]); });
                });
                return std::vector<pl::Value>{};
            });
        }));
}

machine::RunResult runOnGpus(const ir::Program& program, std::int32_t devices,
                             const chip::Chip& chip = h100())
{
    return mustRun(program, {counting(kF32, {devices * kPart})}, machine::ValueMode::Full, chip);
}

pl::Value ahead(std::int32_t by, std::int32_t devices)
{
    return (pl::axisIndex("d") + by) % devices;
}

// Stores its x in the `out` of the GPU that is `by` ahead, and tells it so.
BodyOfGpus storesAhead(std::int32_t by, std::int32_t devices, bool waits = true)
{
    return [=](pl::Ref x, pl::Ref out, pl::Ref arrived, pl::Ref smem) {
        smem[pl::all] = x[pl::all].load();
        gpu::commitSmem();
        const pl::Value device = ahead(by, devices);
        gpu::copySmemToGmem(smem, pl::remoteRef(out, device));
        gpu::waitSmemToGmem(0);
        pl::semaphoreSignalDevice(arrived, 1, device);
        if (waits) {
            pl::semaphoreWait(arrived, 1);
        }
        out[pl::all] = out[pl::all] * 2.0F;
    };
}

std::vector<double> doubledAndTurned(std::int32_t by, std::int32_t devices)
{
    std::vector<double> expected(static_cast<std::size_t>(devices * kPart));
    for (std::int32_t device = 0; device < devices; ++device) {
        for (Extent i = 0; i < kPart; ++i) {
            const auto to = static_cast<std::size_t>((device + by) % devices * kPart + i);
            expected[to] = 2.0 * static_cast<double>(device * kPart + i);
        }
    }
    return expected;
}

std::vector<std::size_t> copiesOn(const trace::Trace& trace, const std::string& link)
{
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < trace.copies().size(); ++row) {
        const auto number = static_cast<std::size_t>(trace.copies().link[row]);
        if (trace.info().links[number].name == link) {
            rows.push_back(row);
        }
    }
    return rows;
}

} // namespace

TEST(Gpus, aStoreToAnotherOneArrivesThere)
{
    const machine::RunResult run = runOnGpus(onGpus(2, storesAhead(1, 2)), 2);
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0]), doubledAndTurned(1, 2));
}

// Behind a switch every GPU is one hop away, whichever it is.
TEST(Gpus, aCopyTakesTheLinkOfTheOneThatSends)
{
    for (const std::int32_t by : {1, 2}) {
        const machine::RunResult run = runOnGpus(onGpus(4, storesAhead(by, 4)), 4);
        EXPECT_EQ(elementsOf(run.outputs[0]), doubledAndTurned(by, 4));
        for (std::int32_t device = 0; device < 4; ++device) {
            const auto rows = copiesOn(*run.trace, "device " + std::to_string(device) + " NVLink");
            ASSERT_EQ(rows.size(), 1U) << device;
            const trace::Copies& copies = run.trace->copies();
            EXPECT_EQ(copies.bytes[rows[0]], kPart * 4);
            const double rate = h100().interconnect->link.achieved().value();
            EXPECT_EQ(copies.start[rows[0]] - copies.issue[rows[0]], kHopOfGpus) << device;
            EXPECT_NEAR(static_cast<double>(copies.end[rows[0]] - copies.start[rows[0]]),
                        kPart * 4 / rate * 1e12, 2)
                << device;
        }
    }
}

TEST(Gpus, aLoadFromAnotherOneTakesTheLinkOfThatOne)
{
    const ir::Program program =
        onGpus(2, [](pl::Ref x, pl::Ref out, pl::Ref /*arrived*/, pl::Ref /*smem*/) {
            out[pl::all] = pl::remoteRef(x, 1)[pl::all].load();
        });
    const machine::RunResult run = runOnGpus(program, 2);
    EXPECT_EQ(findingsText(run), "");
    const std::vector<double> x = elementsOf(counting(kF32, {2 * kPart}));
    std::vector<double> expected(x.begin() + kPart, x.end());
    expected.insert(expected.end(), x.begin() + kPart, x.end());
    EXPECT_EQ(elementsOf(run.outputs[0]), expected);
    EXPECT_EQ(copiesOn(*run.trace, "device 0 NVLink").size(), 0U);
    ASSERT_EQ(copiesOn(*run.trace, "device 1 NVLink").size(), 1U);
}

TEST(Gpus, whatNothingOrdersIsARace)
{
    const machine::RunResult run = runOnGpus(onGpus(2, storesAhead(1, 2, false)), 2);
    const auto races =
        std::count_if(run.trace->info().findings.begin(), run.trace->info().findings.end(),
                      [](const trace::Finding& one) { return one.kind == "race"; });
    EXPECT_EQ(races, 1) << findingsText(run);
}

TEST(Gpus, aChipWithoutAnInterconnectReachesNobody)
{
    chip::Chip alone = h100();
    alone.interconnect.reset();
    const ir::Program program =
        onGpus(2, [](pl::Ref x, pl::Ref out, pl::Ref /*arrived*/, pl::Ref /*smem*/) {
            const pl::Ref there = pl::remoteRef(x, ahead(1, 2)); // nothing is seen through it
            out.at(pl::ds(0, 8))[pl::all] = there.at(pl::ds(0, 8))[pl::all].load();
        });
    const Result<machine::RunResult> run =
        machine::run(program, {counting(kF32, {2 * kPart})}, alone, {});
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find("has no interconnect; use a chip file with one."),
              std::string::npos)
        << run.error().message;
}
