// How often slots of scratch are read after what manual DMA brought there has arrived.
#include "app/run_job/chips.h"
#include "core/analysis/scratch_readers.h"
#include "core/ir/builder.h"
#include "core/machine/run.h"
#include "core/trace/columns.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

namespace pallascope::app {

namespace {

using analysis::ScratchReaders;
using Count = std::optional<ScratchReaders::Count>;
using RingRefs = std::vector<pl::Ref>;

constexpr DType kRingType = DType::F32;
constexpr int kRingRounds = 4;
constexpr Extent kRingSide = 128;
constexpr std::size_t kBuffers = 0, kSum = 1, kSemaphores = 2; // of the scratch

template<class Round, class Slot>
void copyIn(const pl::Ref& x, const RingRefs& refs, const Round& from, const Slot& slot)
{
    pl::dmaStart(x.at({from, pl::all, pl::all}), refs[kBuffers].at({slot, pl::all, pl::all}),
                 refs[kSemaphores].at({slot}));
}

// Waits for a slot, which two products then read, the second one after an addition.
template<class Slot>
void multiply(const RingRefs& refs, const Slot& slot)
{
    const pl::Ref part = refs[kBuffers].at({slot, pl::all, pl::all});
    pl::dmaWait(part, refs[kSemaphores].at({slot}));
    const pl::Value loaded = part[pl::all].load();
    refs[kSum][pl::all] = pl::dot(loaded, loaded, kRingType);
    refs[kSum][pl::all] = pl::dot(loaded + 1.0F, refs[kSum][pl::all], kRingType);
}

// In each round the copy for the next one goes into the other slot. `isUnrolled`: the program says
// the slots as numbers, which it computes otherwise.
ir::Program ring(bool isUnrolled)
{
    const auto body = [isUnrolled](pl::Ref x, pl::Ref out) {
        (void)out;
        pl::runScoped({{"bufs", kRingType, {2, kRingSide, kRingSide}},
                       {"sum", kRingType, {kRingSide, kRingSide}},
                       pl::dmaSemaphores("sem", {2})},
                      [&](const RingRefs& refs) {
                          copyIn(x, refs, 0, 0);
                          for (int i = 0; isUnrolled && i < kRingRounds; ++i) {
                              if (i + 1 < kRingRounds) {
                                  copyIn(x, refs, i + 1, (i + 1) % 2);
                              }
                              multiply(refs, i % 2);
                          }
                          if (!isUnrolled) {
                              pl::foriLoop(kRingRounds, {}, [&](pl::Value i, const auto&) {
                                  pl::when(i < kRingRounds - 1,
                                           [&] { copyIn(x, refs, i + 1, (i + 1) % 2); });
                                  multiply(refs, i % 2);
                                  return std::vector<pl::Value>{};
                              });
                          }
                          return std::vector<pl::Value>{};
                      });
    };
    return pl::kernel("ring",
                      {pl::in("x", kRingType, {kRingRounds, kRingSide, kRingSide}),
                       pl::out("out", kRingType, {kRingSide, kRingSide})},
                      body)
        .value();
}

// For each round: what is counted from the arrival until the next copy into its slot is issued, or
// until the end of the run.
std::vector<Count> countsOf(const ir::Program& program)
{
    Array x = makeArray(kRingType, Shape({kRingRounds, kRingSide, kRingSide}));
    std::fill_n(x.data.get(), x.byteCount(), std::byte{0});
    const chip::Chip chip = loadChip("tpu_v5e").value();
    const machine::RunResult run = machine::run(program, {x}, chip, {}).value();
    const ScratchReaders readers(program, std::make_shared<const trace::Index>(run.trace));
    const trace::Copies& copies = run.trace->copies();
    EXPECT_EQ(copies.size(), static_cast<std::size_t>(kRingRounds));
    std::vector<Count> counts;
    for (std::size_t copy = 0; copy < copies.size(); ++copy) {
        const bool isLast = copy + 2 >= copies.size();
        const std::int64_t until = isLast ? run.trace->end().value() : copies.issue[copy + 2];
        counts.push_back(
            readers.between(copy % 2, Picoseconds(copies.end[copy]), Picoseconds(until)));
        // Nothing has read it when it arrives.
        EXPECT_EQ(
            readers.between(copy % 2, Picoseconds(copies.end[copy]), Picoseconds(copies.end[copy])),
            (ScratchReaders::Count{0, true}));
    }
    return counts;
}

constexpr ScratchReaders::Count kTwoDots{2, true};

} // namespace

TEST(ScratchReaders, countTheProductsOfASlotThatTheProgramNumbers)
{
    EXPECT_EQ(countsOf(ring(true)), (std::vector<Count>(kRingRounds, kTwoDots)));
}

// A slot that is computed is the one that has been waited for. In the last round that may be
// either, because nothing was copied into the other one any more: then nothing is said.
TEST(ScratchReaders, countThoseOfTheSlotThatWasWaitedForOrNothing)
{
    EXPECT_EQ(countsOf(ring(false)),
              (std::vector<Count>{kTwoDots, kTwoDots, std::nullopt, std::nullopt}));
}

} // namespace pallascope::app
