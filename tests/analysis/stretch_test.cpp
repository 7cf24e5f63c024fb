// Compares what a stretch of a run comes to with sums over all rows of its trace.
#include "core/analysis/stretch.h"
#include "core/ir/builder.h"
#include "core/trace/mark_time.h"
#include "tests/analysis/runs.h"
#include "tests/support/many_agents.h"
#include "tests/support/random_trace.h"
#include "tests/support/scratch_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace pallascope::analysis_test {

namespace {

using analysis::Stretch;
using Times = std::map<std::string, std::int64_t>;

std::size_t number(std::int32_t row)
{
    return static_cast<std::size_t>(row);
}

struct Part // of time
{
    std::int64_t begin, end;

    [[nodiscard]] std::int64_t of(std::int64_t from, std::int64_t to) const
    {
        return std::max<std::int64_t>(0, std::min(to, end) - std::max(from, begin));
    }
};

void add(Times& times, const std::string& name, std::int64_t time)
{
    if (time > 0) {
        times[name] += time;
    }
}

Times busyIn(const trace::Trace& trace, const Part& part)
{
    Times times;
    const trace::Info& info = trace.info();
    for (std::size_t row = 0; row < trace.segments().size(); ++row) {
        const auto& segment = info.templates[number(trace.segments().templateId[row])];
        const std::int64_t begin = trace.segments().begin[row];
        if (segment.isBookkeeping()) {
            continue;
        }
        for (const trace::Mark& mark : segment.marks) {
            add(times, info.units[number(mark.unit)].name,
                part.of(begin + trace::markTime(segment, mark.offset),
                        begin + trace::markTime(segment, mark.offset + mark.length)));
        }
    }
    const trace::Copies& copies = trace.copies();
    for (std::size_t row = 0; row < copies.size(); ++row) {
        const trace::Link& link = info.links[number(copies.link[row])];
        add(times,
            (link.kind.empty() ? link.name : link.kind) + (copies.out[row] != 0 ? " out" : " in"),
            part.of(copies.start[row], copies.end[row]));
    }
    return times;
}

// By array: what was read from HBM and written to it.
std::map<std::string, std::pair<double, double>> bytesIn(const trace::Trace& trace,
                                                         const Part& part)
{
    std::map<std::string, std::pair<double, double>> bytes;
    const trace::Copies& copies = trace.copies();
    for (std::size_t row = 0; row < copies.size(); ++row) {
        const std::int64_t start = copies.start[row], end = copies.end[row];
        const double share = start == end ? (part.begin < end && end <= part.end ? 1 : 0)
                                          : static_cast<double>(part.of(start, end))
                                                / static_cast<double>(end - start);
        const trace::Operand& operand = trace.info().operands[number(copies.operand[row])];
        auto& of = bytes[std::string(trace::arrayName(operand))];
        const double moved = share * static_cast<double>(copies.bytes[row]);
        const int passes = trace.info().hbmPasses(number(copies.link[row]));
        if (passes == 0) {
            continue;
        }
        if (trace.info().staysInHbm(number(copies.operand[row]))) {
            const std::string arrow = " \u2192 ";
            const std::size_t at = operand.name.find(arrow);
            of.first += moved * passes / 2;
            bytes[at == std::string::npos ? operand.name : operand.name.substr(at + arrow.size())]
                .second += moved * passes / 2;
            continue;
        }
        (copies.out[row] != 0 ? of.second : of.first) += moved;
    }
    return bytes;
}

std::int64_t waitedIn(const trace::Trace& trace, const Part& part)
{
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < trace.waits().size(); ++row) {
        sum += part.of(trace.waits().begin[row], trace.waits().end[row]);
    }
    return sum;
}

Times timesOf(const std::vector<analysis::StretchTime>& list)
{
    Times times;
    for (const analysis::StretchTime& one : list) {
        EXPECT_TRUE(times.emplace(one.name, one.time.value()).second) << one.name << " twice";
    }
    return times;
}

void compare(const std::shared_ptr<const trace::Trace>& trace, std::mt19937_64& random)
{
    const trace::Index index(trace);
    const auto end = static_cast<std::uint64_t>(std::max<std::int64_t>(trace->end().value(), 1));
    for (int i = 0; i < 12; ++i) {
        const auto a = static_cast<std::int64_t>(random() % (end + 1));
        const auto b = static_cast<std::int64_t>(random() % (end + 1));
        const Part part{std::min(a, b), std::max(a, b)};
        const Stretch stretch = analysis::stretchOf(index, Picoseconds(a), Picoseconds(b));
        EXPECT_EQ(stretch.begin.value(), part.begin);
        EXPECT_EQ(stretch.end.value(), part.end);
        EXPECT_EQ(timesOf(stretch.busy), busyIn(*trace, part)) << part.begin << " " << part.end;
        for (const analysis::StretchTime& one : stretch.busy) {
            EXPECT_LE(one.shareOf(stretch.end - stretch.begin), 1) << one.name;
        }
        std::int64_t waited = 0;
        for (const auto& [cause, time] : timesOf(stretch.waits)) {
            EXPECT_FALSE(cause.empty());
            waited += time;
        }
        EXPECT_EQ(waited, waitedIn(*trace, part));
        auto bytes = bytesIn(*trace, part);
        for (const analysis::StretchBytes& row : stretch.bytes) {
            EXPECT_NEAR(row.read, bytes[row.array].first, 0.5) << row.array;
            EXPECT_NEAR(row.written, bytes[row.array].second, 0.5) << row.array;
            bytes.erase(row.array);
        }
        for (const auto& [array, of] : bytes) {
            EXPECT_LT(of.first + of.second, 1) << array << " is missing";
        }
    }
}

} // namespace

TEST(Stretch, comesToTheSumsOverAllRows)
{
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        compare(test::randomTrace(seed), random);
        compare(test::scratchTrace(seed), random);
        if (seed <= 4) {
            compare(test::manyAgents(seed, 5), random);
        }
    }
    std::mt19937_64 random(7);
    compare(mainJob(), random);
    compare(twoCores(), random);
}

// Of the whole run both say how long units are busy, and which bytes of HBM are read and written.
TEST(Stretch, ofTheWholeRunIsWhatTheReportSays)
{
    const auto kernel = [](pl::Ref x, pl::Ref out) {
        pl::onMesh({{"d", 2}});
        pl::runScoped({{"near", DType::F32, {8, 128}, ir::MemorySpace::Hbm},
                       pl::dmaSemaphores("sent"),
                       pl::dmaSemaphores("received"),
                       {"a", DType::F32, {8, 128}},
                       {"b", DType::F32, {8, 128}}},
                      [&](const std::vector<pl::Ref>& refs) {
                          pl::dmaStart(x, refs[0], refs[1]);
                          pl::dmaWait(refs[0], refs[1]);
                          pl::dmaStart(x, refs[3], refs[1]);
                          pl::dmaWait(refs[3], refs[1]);
                          pl::remoteDmaStart(refs[3], refs[4], refs[1], refs[2],
                                             (pl::axisIndex("d") + 1) % 2);
                          pl::dmaWait(refs[3], refs[1]);
                          pl::dmaWait(refs[4], refs[2]);
                          pl::remoteDmaStart(refs[0], out, refs[1], refs[2],
                                             (pl::axisIndex("d") + 1) % 2);
                          pl::dmaWait(refs[0], refs[1]);
                          pl::dmaWait(out, refs[2]);
                          return std::vector<pl::Value>();
                      });
    };
    const ir::Program program =
        pl::kernel("copies",
                   {pl::sharded(pl::in("x", DType::F32, {8, 128}), {{"d"}, {}}),
                    pl::sharded(pl::out("out", DType::F32, {8, 128}), {{"d"}, {}})},
                   kernel)
            .value();
    Bytes movedOutside;
    for (const auto& trace : {runOf(program, "tpu_v5e"), mainJob(), machineRuns()[0].trace}) {
        const Stretch stretch = analysis::stretchOf(trace::Index(trace), {}, trace->end());
        const analysis::Report report = analysis::report(*trace).value();
        double read = 0, written = 0, outsideHbm = 0;
        for (const analysis::StretchBytes& row : stretch.bytes) {
            read += row.read;
            written += row.written;
            outsideHbm += row.outsideHbm;
        }
        Bytes moved;
        for (const analysis::Traffic& row : report.traffic) {
            moved += row.way == trace::Summary::OnChip ? row.bytes : Bytes();
        }
        EXPECT_EQ(outsideHbm, static_cast<double>(moved.value()));
        movedOutside += moved;
        EXPECT_EQ(read, static_cast<double>(report.hbmRead.value()));
        EXPECT_EQ(written, static_cast<double>(report.hbmWritten.value()));
        const Times busy = timesOf(stretch.busy);
        for (const auto& [name, time] : report.busy) {
            const auto one = busy.find(name); // none: a link, which it has by direction
            const double sum = one == busy.end() ? 0 : static_cast<double>(one->second);
            const bool isUnit =
                std::any_of(trace->info().units.begin(), trace->info().units.end(),
                            [&](const trace::Unit& unit) { return unit.name == name; });
            if (isUnit) {
                EXPECT_NEAR(sum / static_cast<double>(stretch.agents),
                            static_cast<double>(time.value()), 0.01 * sum + 1000)
                    << name;
            }
        }
    }
    EXPECT_EQ(movedOutside, Bytes(2 * 4096)); // from each of the devices to the other one
}

// On a GPU the first block that needs a part of an array brings it from HBM, and L2 serves others.
TEST(Stretch, tellsWhatL2ServesFromWhatHbmReads)
{
    const auto trace =
        runOf("hopper_matmul", {{"m", "1024"}, {"n", "1024"}, {"k", "1024"}}, "h100_sxm");
    const analysis::Report report = analysis::report(*trace).value();
    const Stretch stretch = analysis::stretchOf(trace::Index(trace), {}, trace->end());
    double read = 0, written = 0, fromL2 = 0;
    for (const analysis::StretchBytes& row : stretch.bytes) {
        read += row.read;
        written += row.written;
        fromL2 += row.outsideHbm;
    }
    ASSERT_GT(report.l2->hit, Bytes(0));
    EXPECT_EQ(fromL2, static_cast<double>(report.l2->hit.value()));
    EXPECT_EQ(read, static_cast<double>(report.hbmRead.value()));
    EXPECT_EQ(written, static_cast<double>(report.hbmWritten.value()));
    const std::string lines = testing::PrintToString(analysis::stretchLines(stretch));
    EXPECT_NE(lines.find(" from L2"), std::string::npos) << lines;
    EXPECT_EQ(lines.find("outside HBM"), std::string::npos) << lines;
}

// A copy from HBM to HBM reads one array and writes another.
TEST(Stretch, namesBothArraysOfACopyWithinHbm)
{
    const ir::Program program =
        pl::kernel("copies",
                   {pl::in("x", DType::F32, {256, 128}), pl::out("out", DType::F32, {256, 128})},
                   [](pl::Ref x, pl::Ref out) {
                       pl::runScoped({pl::dmaSemaphores("sem")}, [&](const auto& refs) {
                           pl::dmaStart(x, out, refs[0]);
                           pl::dmaWait(out, refs[0]);
                           return std::vector<pl::Value>();
                       });
                   })
            .value();
    const auto trace = runOf(program, "tpu_v5e");
    const std::vector<std::string> lines =
        analysis::stretchLines(analysis::stretchOf(trace::Index(trace), {}, trace->end()));
    EXPECT_NE(std::find(lines.begin(), lines.end(), "moved  x 128 KiB read, out 128 KiB written"),
              lines.end())
        << testing::PrintToString(lines);
}

TEST(Stretch, saysWhatItComesTo)
{
    const auto trace = mainJob();
    const Stretch stretch =
        analysis::stretchOf(trace::Index(trace), trace->end(), Picoseconds(0)); // backwards, too
    const std::vector<std::string> lines = analysis::stretchLines(stretch);
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_NE(lines[0].find("TFLOP/s"), std::string::npos) << lines[0];
    EXPECT_NE(lines[1].find("busy  MXU"), std::string::npos) << lines[1];
    EXPECT_NE(lines[2].find("out 64 MiB written"), std::string::npos) << lines[2];
    EXPECT_TRUE(lines[3].starts_with("waits for  ")) << lines[3];
    EXPECT_TRUE(analysis::stretchLines(analysis::stretchOf(trace::Index(trace), {}, {})).size()
                == 1);
}

} // namespace pallascope::analysis_test
