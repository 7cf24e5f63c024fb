// The roles of operands say what a run does: an operation changes the refs that it writes by its
// roles, and no others.
#include "core/ir/builder_gpu.h"
#include "core/ir/builder_tensor.h"
#include "core/ir/operand_roles.h"
#include "core/machine/needed.h"
#include "core/machine/replay.h"
#include "tests/machine/support.h"
#include "tests/machine/tensor_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace pallascope::machine_test {

namespace {

using ir::OpCode;
using machine::Replay;
using Refs = std::vector<pl::Ref>;

const Shape kTouched{8, 8};

// Loads and stores, each of which changes something.
void loadAndStore(const pl::Ref& held)
{
    const pl::Value lane = pl::iota(kInt, {8}, 0);
    const pl::Value mask = pl::iota(kInt, kTouched, 0) > 3;
    held[pl::all] = held[pl::all] + 1;
    pl::maskedStore(held, pl::maskedLoad(held, mask, 0) * 2, mask);
    pl::storeScatter(held, {lane, lane}, pl::loadGather(held, {lane, 7 - lane}) + 3);
    pl::addupdateScatter(held, {lane, 7 - lane}, lane + 1);
    pl::gpu::atomicRmw(ir::AtomicType::Add, held, pl::full(kTouched, 1, kInt), mask);
    const pl::Value corner = held[{0, 0}].load();
    pl::gpu::atomicCas(held.at({0, 0}), corner, corner + 1);
    held.at({0, pl::all})[pl::all] = lane * 5;
    held.reshape({64})[pl::ds(8, 8)] = lane * 7;
    held.transpose({1, 0})[{7, pl::all}] = lane * 9;
    held.bitcast(DType::Int16)[{15, pl::all}] = pl::convert(lane * 11, DType::Int16);
}

// Of an accumulator, a queue of products, weights and what is staged.
void multiply(const Refs& unit, const pl::Ref& held)
{
    const pl::Value one =
        pl::convert(pl::iota(kInt, kTouched, 0) == pl::iota(kInt, kTouched, 1), DType::Int8);
    for (const int times : {2, 3}) {
        pl::matmulPushRhs(unit[3], one * times);
        pl::matmulAccLhs(unit[0], one, unit[2], unit[3]);
        pl::matmulLhsFifo(unit[1], one, unit[2]);
    }
    held[pl::all] = pl::matmulPop(unit[0]) + pl::matmulPopFifo(unit[1]);
}

ir::Program everyOperationOnRefs()
{
    const std::vector<pl::Scratch> scratch{{"held", kInt, kTouched},
                                           {"sums", kInt, kTouched, kUnit},
                                           {"fifo", kInt, kTouched, kUnit},
                                           {"weights", DType::Int8, kTouched, kUnit},
                                           {"staged", DType::Int8, kTouched, kUnit},
                                           pl::dmaSemaphores("copied"),
                                           pl::semaphores("count")};
    const auto body = [](const pl::Ref& x, const pl::Ref& out, const Refs& refs) {
        copyAndWait(x, refs[0], refs[5]);
        loadAndStore(refs[0]);
        multiply({refs[1], refs[2], refs[3], refs[4]}, refs[0]);
        pl::semaphoreSignal(refs[6], 2);
        pl::semaphoreWait(refs[6], pl::semaphoreRead(refs[6]));
        pl::delay(1000);
        copyAndWait(refs[0], out, refs[5]);
    };
    return mustTrace(pl::kernel("touches",
                                {pl::in("x", kInt, kTouched), pl::out("out", kInt, kTouched)},
                                [&](pl::Ref x, pl::Ref out) {
                                    pl::runScoped(scratch, [&](const Refs& refs) {
                                        body(x, out, refs);
                                        return std::vector<pl::Value>{};
                                    });
                                }));
}

ir::Program everyOperationOfGpus()
{
    namespace gpu = pl::gpu;
    const Shape square{64, 64};
    const auto body = [](const pl::Ref& x, const pl::Ref& out, const Refs& refs) {
        gpu::copyGmemToSmem(x, refs[0], refs[2]);
        (void)gpu::barrierTest(refs[2]); // the copy alone does not complete the phase
        gpu::barrierArrive(refs[2]);
        gpu::barrierWait(refs[2]);
        gpu::store(refs[1], pl::full({64, 64}, 3, kF32));
        gpu::wgmma(refs[1], refs[0], refs[0]);
        gpu::wgmmaWait(0);
        refs[0][pl::all] = pl::convert(gpu::load(refs[1]), DType::F16);
        gpu::copySmemToGmem(refs[0], pl::remoteRef(out, 0));
        gpu::waitSmemToGmem(0);
    };
    return mustTrace(pl::kernel(
        "touches", {pl::in("x", DType::F16, square), pl::out("out", DType::F16, square)},
        [&](pl::Ref x, pl::Ref out) {
            gpu::launch({}, [&] {
                gpu::runScoped({gpu::smem("held", DType::F16, square),
                                gpu::accumulator("sums", square), gpu::barrier("ready", 2)},
                               true, [&](const Refs& refs) { body(x, out, refs); });
            });
        }));
}

ir::Program everyOperationOnTensorMemory()
{
    namespace gpu = pl::gpu;
    const Shape square{128, 128};
    const auto body = [](const pl::Ref& x, const pl::Ref& out, const Refs& refs) {
        multiplyInTensorMemory(x, refs);
        gpu::tryClusterCancel(refs[3], refs[2]);
        gpu::barrierWait(refs[2]);
        out[pl::all] = refs[1][pl::all].load();
    };
    return mustTrace(pl::kernel(
        "touches", {pl::in("x", kF32, square), pl::out("out", kF32, square)},
        [&](pl::Ref x, pl::Ref out) {
            gpu::launch({{{"block", 1}}}, [&] {
                gpu::runScoped({gpu::smem("held", kF32, square), gpu::tmem("sum", square),
                                gpu::barrier("done"), gpu::smem("answer", kInt, {1})},
                               true, [&](const Refs& refs) { body(x, out, refs); });
            });
        }));
}

// Of a run of one core, before one of its events.
struct HeldRefs
{
    std::optional<std::int32_t> next; // Operation::id
    std::map<ir::ValueId, Replay::Contents> refs;
};

HeldRefs heldBy(Replay& replay)
{
    const Replay::AgentPlace place = replay.places().front();
    HeldRefs held{place.next, {}};
    for (const ir::ValueId ref : place.refs) {
        held.refs.emplace(ref, replay.contents(0, ref));
    }
    return held;
}

// What is undefined may be NaN, which equals NaN here.
bool areEqual(const Replay::Contents& a, const Replay::Contents& b)
{
    const std::vector<double> left = elementsOf(a.elements), right = elementsOf(b.elements);
    const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), same)
           && a.defined == b.defined;
}

// The memories of all refs that differ between two moments, by their roots.
std::set<ir::ValueId> changedBetween(const HeldRefs& before, const HeldRefs& after,
                                     const machine::NeededSet& refs)
{
    std::set<ir::ValueId> changed;
    for (const auto& [ref, contents] : before.refs) {
        const auto then = after.refs.find(ref);
        if (then != after.refs.end() && !areEqual(contents, then->second)) {
            changed.insert(refs.root(ref));
        }
    }
    return changed;
}

std::set<ir::ValueId> writtenBy(const ir::Operation& operation, const machine::NeededSet& refs)
{
    std::set<ir::ValueId> written;
    for (std::size_t i = 0; i < operation.operands.size(); ++i) {
        if (ir::writes(operation, i)) {
            written.insert(refs.root(operation.operands[i]));
        }
    }
    return written;
}

// Products in a queue and what is in HBM no ref of the core shows.
bool showsWhatItWrites(const ir::Operation& operation)
{
    return operation.code != OpCode::MatmulLhsFifo && operation.code != OpCode::MatmulPopFifo;
}

std::map<std::int32_t, const ir::Operation*> operationsById(const ir::Program& program)
{
    std::map<std::int32_t, const ir::Operation*> byId;
    forEachOperation(program.body,
                     [&](const ir::Operation& operation) { byId[operation.id] = &operation; });
    return byId;
}

// Checks each operation of a run, and returns which have run. A copy lands at its start here, so
// that what changes is the work of the operation that has run.
std::set<OpCode> checkedOperations(const ir::Program& program, const Array& input,
                                   const chip::Chip& chip)
{
    const auto byId = operationsById(program);
    const auto refs = machine::NeededSet::of(program);
    machine::Options options;
    options.settings.dmaExecutionMode = machine::DmaMode::Eager;
    const auto started = Replay::start(program, {input}, chip, options);
    if (!started) {
        ADD_FAILURE() << started.error().message;
        return {};
    }
    Replay& replay = **started;
    std::set<OpCode> ran;
    for (HeldRefs before = heldBy(replay); !replay.isAtEnd();) {
        EXPECT_TRUE(replay.step(Replay::Unit::Operation, true));
        HeldRefs after = replay.isAtEnd() ? HeldRefs{} : heldBy(replay);
        // A core that lets others go first runs the operation later.
        const bool hasRun = before.next != after.next;
        if (before.next && hasRun && !replay.isAtEnd()) {
            const ir::Operation& operation = *byId.at(*before.next);
            const std::set<ir::ValueId> written = writtenBy(operation, refs);
            const std::set<ir::ValueId> changed = changedBetween(before, after, refs);
            SCOPED_TRACE(ir::opName(operation.code));
            if (showsWhatItWrites(operation)) {
                EXPECT_EQ(changed, written);
            } else {
                EXPECT_TRUE(changed.empty());
            }
            ran.insert(operation.code);
        }
        before = std::move(after);
    }
    return ran;
}

} // namespace

TEST(OperandRoles, nameTheRefsThatAnOperationChangesAndNoOthers)
{
    std::set<OpCode> ran =
        checkedOperations(everyOperationOnRefs(), counting(kInt, kTouched), v5e());
    ran.merge(
        checkedOperations(everyOperationOfGpus(), normalArray(DType::F16, {64, 64}, 0), h100()));
    ran.merge(checkedOperations(everyOperationOnTensorMemory(), normalArray(kF32, {128, 128}, 0),
                                b200()));
    for (const ir::OpEntry& entry : ir::opTable()) {
        const bool isOnRefs = ir::isEvaluatedByEngine(entry.code) && entry.maxOperands != 0
                              && entry.kind != ir::OpKind::Control
                              && entry.kind != ir::OpKind::Hint;
        EXPECT_TRUE(!isOnRefs || ran.contains(entry.code)) << entry.name << " has not run";
    }
}

} // namespace pallascope::machine_test
