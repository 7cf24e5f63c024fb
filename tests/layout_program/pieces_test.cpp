// The pieces of a run, against the regions of its program and every row of its trace.
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
