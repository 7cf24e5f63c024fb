// The pieces of a run, against the regions of its program and every row of its trace.
#include "core/analysis/piece_times.h"
#include "core/analysis/report.h"
#include "core/trace/columns.h"
#include "core/trace/pieces.h"
#include "tests/layout_program/runs.h"
#include "tests/support/synthetic_trace.h"
#include "views/navigation/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

using namespace pallascope;
using trace::at;
using trace::kNone;
using trace::Piece;
using trace::PieceKind;
using trace::Pieces;

namespace {

const char* const kPrograms[] = {"kernels and fusions", "a ring of devices"};

// For each operation the kernel, fusion or collective that it stands in, found in the program.
using Wholes = std::map<std::int32_t, std::int32_t>;

bool meets(const ir::Operation& operation)
{
    return operation.code == ir::OpCode::RunScoped
           && std::any_of(operation.regions[0].operations.begin(),
                          operation.regions[0].operations.end(), [](const ir::Operation& inner) {
                              return inner.code == ir::OpCode::GetBarrierSemaphore;
                          });
}

void collect(const ir::Region& region, std::int32_t whole, Wholes& wholes)
{
    for (const ir::Operation& operation : region.operations) {
        const bool begins = operation.code == ir::OpCode::Kernel
                            || operation.code == ir::OpCode::Fusion || meets(operation);
        const std::int32_t own = whole == kNone && begins ? operation.id : whole;
        wholes[operation.id] = own;
        for (const ir::Region& inner : operation.regions) {
            collect(inner, own, wholes);
        }
    }
}

Wholes wholesOf(const ir::Program& program)
{
    Wholes wholes;
    collect(program.body, kNone, wholes);
    return wholes;
}

std::vector<std::string> namesOf(const Pieces& pieces)
{
    std::vector<std::string> names;
    for (const Piece& piece : pieces.all) {
        names.push_back(piece.name);
    }
    return names;
}

} // namespace

TEST(Pieces, areWhatAProgramRunsInTheOrderOfTime)
{
    const Pieces& pieces = test::runOf("kernels and fusions").view->index->pieces();
    EXPECT_EQ(namesOf(pieces), (std::vector<std::string>{"first", "doubled", "again", "again",
                                                         "again", "halved", "last"}));
    EXPECT_EQ(pieces.kernels, 5);
    std::vector<std::int64_t> numbers;
    for (const Piece& piece : pieces.all) {
        numbers.push_back(piece.number);
    }
    EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 0, 2, 3, 4, 0, 5}));
    EXPECT_EQ(pieces.all[1].kind, PieceKind::Fusion);
}

TEST(Pieces, areThoseOfEachDevice)
{
    const trace::Index& index = *test::runOf("a ring of devices").view->index;
    for (std::int32_t device = 0; device < 8; ++device) {
        std::vector<std::string> names{"before", "left", "after"};
        if (device == 3) {
            names.insert(names.begin() + 1, "more");
        }
        EXPECT_EQ(namesOf(index.pieces(device)), names) << device;
        EXPECT_EQ(index.pieces(device).all[names.size() - 2].kind, PieceKind::Collective);
    }
    EXPECT_EQ(index.pieces(-1).all, index.pieces(0).all);
    EXPECT_EQ(index.pieces(8).all, index.pieces(0).all);
}

TEST(Pieces, lastFromTheBeginToTheEndWithoutAGap)
{
    for (const char* name : kPrograms) {
        const test::RunOfProgram& run = test::runOf(name);
        for (std::int32_t device = 0; device < run.trace().info().deviceCount(); ++device) {
            const Pieces& pieces = run.view->index->pieces(device);
            Picoseconds end(0);
            for (std::size_t i = 0; i < pieces.all.size(); ++i) {
                EXPECT_EQ(pieces.all[i].begin, end);
                end = pieces.all[i].end;
                EXPECT_EQ(pieces.at(pieces.all[i].begin), i);
                EXPECT_EQ(pieces.at(pieces.all[i].end - Picoseconds(1)), i);
            }
            EXPECT_EQ(end, run.trace().end());
        }
    }
}

// Every segment with operations lies in the piece of the whole that its operations stand in.
TEST(Pieces, holdTheRowsOfTheirOperations)
{
    for (const char* name : kPrograms) {
        const test::RunOfProgram& run = test::runOf(name);
        const trace::Trace& trace = run.trace();
        const Wholes wholes = wholesOf(run.program);
        const std::size_t agents = trace.info().agents.size() / at(trace.info().deviceCount());
        std::size_t looked = 0;
        for (std::size_t row = 0; row < trace.segments().size(); ++row) {
            const auto& segment = trace.info().templates[at(trace.segments().templateId[row])];
            const auto agent = at(trace.segments().agent[row]);
            if (segment.operations.empty() || agent % agents != 0
                || wholes.at(segment.operations[0]) == kNone) {
                continue;
            }
            const Pieces& pieces =
                run.view->index->pieces(static_cast<std::int32_t>(agent / agents));
            const Picoseconds begin(trace.segments().begin[row]);
            EXPECT_EQ(pieces.all[pieces.at(begin)].operation, wholes.at(segment.operations[0]))
                << name << ", row " << row;
            ++looked;
        }
        EXPECT_GT(looked, 20U);
    }
}

TEST(Pieces, sumTheirLaunchesAndStepOverheads)
{
    for (const char* name : kPrograms) {
        const test::RunOfProgram& run = test::runOf(name);
        const trace::Trace& trace = run.trace();
        Picoseconds launches, overheads, wantedLaunches, wantedOverheads;
        for (const std::int32_t id : trace.segments().templateId) {
            const auto& segment = trace.info().templates[at(id)];
            const bool isLaunch = segment.kind == trace::SegmentKind::Launch;
            wantedLaunches += isLaunch ? segment.duration : Picoseconds(0);
            wantedOverheads += segment.kind == trace::SegmentKind::StepOverhead ? segment.duration
                                                                                : Picoseconds(0);
        }
        for (std::int32_t device = 0; device < trace.info().deviceCount(); ++device) {
            for (const Piece& piece : run.view->index->pieces(device).all) {
                launches += piece.launch;
                overheads += piece.overhead;
            }
        }
        EXPECT_EQ(launches, wantedLaunches);
        EXPECT_EQ(overheads, wantedOverheads);
        EXPECT_GT(overheads, Picoseconds(0));
    }
}

TEST(Pieces, areOneKernelWhereAProgramNamesNone)
{
    const auto run = test::mainJob(512);
    const trace::Trace& trace = *run;
    const std::vector<Pieces> all = trace::piecesOf(trace);
    ASSERT_EQ(all.size(), 1U);
    ASSERT_EQ(all[0].all.size(), 1U);
    Picoseconds overhead;
    for (const std::int32_t id : trace.segments().templateId) {
        const auto& segment = trace.info().templates[at(id)];
        overhead +=
            segment.kind == trace::SegmentKind::StepOverhead ? segment.duration : Picoseconds(0);
    }
    EXPECT_EQ(all[0].all[0].overhead, overhead);
    EXPECT_GT(overhead, Picoseconds(0));
    EXPECT_EQ(all[0].kernels, 1);
    EXPECT_EQ(all[0].all[0].operation, kNone);
    EXPECT_TRUE(all[0].all[0].isKernel());
}

// Summed by operation over all pieces, they are the whole run; what ran once has the bound of its
// piece.
TEST(PieceTimes, addUpToTheRunByOperation)
{
    for (const char* name : kPrograms) {
        const test::RunOfProgram& run = test::runOf(name);
        const std::string& memory = run.view->report.onChipName;
        const std::vector<analysis::PieceTime> times =
            analysis::pieceTimes(*run.view->index, memory);
        std::map<std::int32_t, std::vector<Piece>> byOperation;
        std::vector<std::int32_t> order;
        for (const Piece& piece : run.view->index->pieces().all) {
            if (byOperation[piece.operation].empty()) {
                order.push_back(piece.operation);
            }
            byOperation[piece.operation].push_back(piece);
        }
        ASSERT_EQ(times.size(), order.size() > 1 ? order.size() : 0) << name;
        Picoseconds whole;
        for (std::size_t i = 0; i < times.size(); ++i) {
            const std::vector<Piece>& pieces = byOperation[order[i]];
            Picoseconds sum;
            for (const Piece& piece : pieces) {
                sum += piece.end - piece.begin;
            }
            EXPECT_EQ(times[i].time, sum);
            EXPECT_EQ(times[i].times, static_cast<std::int64_t>(pieces.size()));
            EXPECT_EQ(times[i].name, pieces.front().name);
            EXPECT_EQ(times[i].kind, pieces.front().kind);
            const auto bound = analysis::boundOf(*run.view->index, 0, pieces.front(), memory);
            if (pieces.size() == 1 && bound) {
                ASSERT_TRUE(times[i].bound.has_value());
                EXPECT_EQ(times[i].bound->by, bound->by);
                EXPECT_EQ(times[i].bound->share, bound->share);
            }
            whole += sum;
        }
        EXPECT_EQ(whole, run.trace().end()) << name;
    }
    const test::RunOfProgram& one = test::runOf("pipelines one after the other");
    EXPECT_TRUE(analysis::pieceTimes(*one.view->index, "VMEM").empty());
}

TEST(PieceTimes, areALineOfTheReport)
{
    const test::RunOfProgram& run = test::runOf("kernels and fusions");
    analysis::Report report = run.view->report;
    const auto line = [&] {
        const std::string text = analysis::toText(report, run.trace().info(), {});
        const std::size_t begin = text.find("\nprogram ");
        return begin == std::string::npos
                   ? ""
                   : text.substr(begin + 1, text.find('\n', begin + 1) - begin);
    };
    report.pieces.clear();
    EXPECT_EQ(line(), "");
    report.time = Picoseconds(100'000'000);
    const analysis::PieceBound bound{{analysis::BoundKind::Memory, "HBM"}, 0.92, {}};
    report.pieces = {{PieceKind::Kernel, "norm", {}, 3, Picoseconds(40'000'000), bound},
                     {PieceKind::Fusion, "add", {}, 1, Picoseconds(60'000'000), {}}};
    EXPECT_EQ(line(), "program norm 3 times 40.0 µs (40.0 %, memory(HBM) for 92 % of it), add 60.0 "
                      "µs (60.0 %)\n");
    report.pieces.assign(10, {PieceKind::Kernel, "a", {}, 1, Picoseconds(1'000'000), {}});
    report.pieces[9] = {PieceKind::Kernel, "z", {}, 1, Picoseconds(91'000'000), {}};
    EXPECT_NE(line().find("z 91.0 µs (91.0 %), and 3 more 3.00 µs (3.0 %)\n"), std::string::npos)
        << line();
}
