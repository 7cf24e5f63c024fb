// Makes the random runs that scratch_trace.h describes.
#include "tests/support/scratch_trace.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace pallascope::test {

namespace {

using trace::Direction;
using trace::kNone;

constexpr std::int32_t kCores = 2, kSemaphoresOfCore = 3;

trace::Operand copied(const std::string& name, Direction direction, const Shape& array,
                      const Shape& block)
{
    trace::Operand operand;
    operand.name = name;
    operand.direction = direction;
    operand.array = array;
    operand.block = block;
    for (std::size_t axis = 0; axis < array.rank(); ++axis) {
        operand.blockCounts.push_back(array[axis] / block[axis]);
        operand.gridAxes.push_back(kNone);
    }
    operand.pipeline = kNone;
    operand.slots = 0;
    operand.arrayBytes = Bytes(array.elements() * 4);
    operand.blockBytes = Bytes(block.elements() * 4);
    return operand;
}

trace::Info infoOf()
{
    trace::Info info;
    info.chip = "tpu_v5e";
    info.chipName = "TPU v5e";
    info.chipJson = "{}";
    info.program = info.kernel = "by_hand";
    info.memories = {{"HBM", Bytes(1 << 30), std::nullopt},
                     {"VMEM", Bytes(1 << 27), Bytes(1 << 24)},
                     {"SMEM", Bytes(1 << 20), std::nullopt}};
    info.links = {{"HBM", 0, 1, BytesPerSecond(8e11), BytesPerSecond(6e11), {}}};
    info.units = {{"MXU", UnitKind::Matrix}};
    info.listing = {{"dma_wait", 0}};
    info.operations = {{"dma_wait", "dma wait", 0, {}}};
    info.operands = {
        copied("kv → pages", Direction::In, {16, 8, 128}, {1, 8, 128}),
        copied("q → rows", Direction::In, {32, 128}, {1, 128}),
        copied("sums → out", Direction::Out, {64, 128}, {8, 128}),
    };
    Bytes address;
    const auto add = [&](const std::string& name, std::int32_t memory, const Shape& shape) {
        const Bytes bytes(shape.elements() * 4);
        info.buffers.edit().push_back(
            {name, kNone, 0, memory, memory == 1 ? address : Bytes(0), bytes, DType::F32, shape});
        address += memory == 1 ? bytes : Bytes(0);
    };
    add("pages", 1, {2, 4, 8, 128});
    add("rows", 1, {2, 128});
    add("sums", 1, {64, 128});
    add("untouched", 1, {32, 128});
    add("numbers", 2, {16});
    info.copiedShapes = {{1, 8, 128}, {1, 1, 8, 128}, {1, 128}, {8, 128}};
    for (std::int32_t core = 0; core < kCores; ++core) {
        info.agents.push_back("TensorCore " + std::to_string(core));
        for (std::int32_t i = 0; i < kSemaphoresOfCore; ++i) {
            info.semaphores.push_back({"sems[" + std::to_string(i) + "]", "dma_semaphore", core});
        }
        info.semaphores.push_back({"turn", "semaphore", core});
    }
    return info;
}

class Run
{
public:
    explicit Run(std::uint64_t seed)
        : m_random(seed)
    {
        m_builder.info = infoOf();
        m_open.resize(m_builder.info.semaphores.size());
    }

    trace::TraceBuilder made()
    {
        const std::int64_t actions = 20 + below(60);
        for (std::int64_t i = 0; i < actions; ++i) {
            // The core that is behind goes first, so that rows come in the order of their times.
            const auto core = static_cast<std::int32_t>(
                std::min_element(m_time.begin(), m_time.end()) - m_time.begin());
            const std::int64_t chance = below(10);
            if (chance < 6) {
                copy(core);
            } else if (chance < 9) {
                wait(core);
            } else {
                signalTurn(core);
            }
            m_time[index(core)] += below(2'000);
        }
        addSignals();
        m_builder.end = Picoseconds(std::max({m_time[0], m_time[1], m_free}) + 1 + below(5'000));
        return std::move(m_builder);
    }

private:
    [[nodiscard]] std::int64_t below(std::int64_t limit)
    {
        return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(m_random);
    }

    static std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

    void addEnd(std::int32_t core, std::int32_t buffer, std::int64_t first, std::int32_t shape,
                std::int32_t semaphore)
    {
        trace::CopyEnds& ends = m_builder.copyEnds;
        ends.copy.push_back(static_cast<std::int32_t>(m_builder.copies.size()) - 1);
        ends.agent.push_back(core);
        ends.buffer.push_back(buffer);
        ends.first.push_back(first);
        ends.shape.push_back(shape);
        ends.semaphore.push_back(semaphore);
    }

    void copy(std::int32_t core)
    {
        const auto operand = static_cast<std::int32_t>(below(3));
        const trace::Operand& of = m_builder.info.operands[index(operand)];
        const std::int64_t block = below(of.blockCounts[0]);
        const std::int64_t slot = below(2), piece = below(4);
        const auto semaphore = static_cast<std::int32_t>(
            core * (kSemaphoresOfCore + 1) + (below(3) > 0 ? slot : below(kSemaphoresOfCore)));
        const std::int64_t start = std::max(m_time[index(core)], m_free);
        const std::int64_t end = start + of.blockBytes.value() / 8 + below(3) * 500;
        m_free = end;
        trace::Copies& copies = m_builder.copies;
        copies.operand.push_back(operand);
        copies.block.push_back(block);
        copies.slot.push_back(0);
        copies.out.push_back(operand == 2 ? 1 : 0);
        copies.link.push_back(0);
        copies.step.push_back(kNone);
        copies.bytes.push_back(of.blockBytes.value());
        copies.issue.push_back(m_time[index(core)]);
        copies.start.push_back(start);
        copies.end.push_back(end);
        if (operand == 0) {
            addEnd(core, kNone, block * 1024, 0, kNone);
            addEnd(core, 0, (slot * 4 + piece) * 1024, 1, semaphore);
        } else if (operand == 1) {
            addEnd(core, kNone, block * 128, 2, kNone);
            addEnd(core, 1, slot * 128, 2, semaphore);
        } else {
            addEnd(core, 2, (slot * 4 + piece) * 1024, 3, kNone);
            addEnd(core, kNone, block * 1024, 3, semaphore);
        }
        m_open[index(semaphore)].push_back(static_cast<std::int32_t>(copies.size()) - 1);
        m_signals.emplace_back(end, 0, semaphore, of.blockBytes.value());
    }

    // Waits for the first few copies that signal a semaphore, in the order in which they land.
    void wait(std::int32_t core)
    {
        const auto semaphore =
            static_cast<std::int32_t>(core * (kSemaphoresOfCore + 1) + below(kSemaphoresOfCore));
        std::vector<std::int32_t>& open = m_open[index(semaphore)];
        if (open.empty()) {
            return;
        }
        const std::int64_t count = 1 + below(static_cast<std::int64_t>(open.size()));
        std::int64_t bytes = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            bytes += m_builder.copies.bytes[index(open[index(i)])];
        }
        const std::int32_t last = open[index(count - 1)];
        open.erase(open.begin(), open.begin() + count);
        const std::int64_t begin = m_time[index(core)];
        const std::int64_t end = std::max(begin, m_builder.copies.end[index(last)]);
        trace::Waits& waits = m_builder.waits;
        waits.copy.push_back(last);
        waits.semaphore.push_back(semaphore);
        waits.operation.push_back(0);
        waits.agent.push_back(core);
        waits.step.push_back(kNone);
        waits.begin.push_back(begin);
        waits.end.push_back(end);
        m_signals.emplace_back(end, 1, semaphore, -bytes);
        m_time[index(core)] = end;
    }

    void signalTurn(std::int32_t core)
    {
        const std::int32_t other = (1 - core) * (kSemaphoresOfCore + 1) + kSemaphoresOfCore;
        m_signals.emplace_back(m_time[index(core)], 0, other, 1);
    }

    // By time; of the same time, those that add come first.
    void addSignals()
    {
        std::stable_sort(m_signals.begin(), m_signals.end(), [](const auto& a, const auto& b) {
            return std::pair(std::get<0>(a), std::get<1>(a))
                   < std::pair(std::get<0>(b), std::get<1>(b));
        });
        for (const auto& [time, order, semaphore, amount] : m_signals) {
            m_builder.signals.time.push_back(time);
            m_builder.signals.semaphore.push_back(semaphore);
            m_builder.signals.agent.push_back(m_builder.info.semaphores[index(semaphore)].agent);
            m_builder.signals.amount.push_back(amount);
        }
    }

    std::mt19937_64 m_random;
    trace::TraceBuilder m_builder;
    std::vector<std::int64_t> m_time = std::vector<std::int64_t>(kCores, 0);
    std::int64_t m_free = 0;                       // when the link is
    std::vector<std::vector<std::int32_t>> m_open; // by semaphore: copies that nobody waited for
    // Time, order within it, semaphore, amount.
    std::vector<std::tuple<std::int64_t, int, std::int32_t, std::int64_t>> m_signals;
};

} // namespace

trace::TraceBuilder scratchBuilder(std::uint64_t seed)
{
    return Run(seed).made();
}

std::shared_ptr<const trace::Trace> scratchTrace(std::uint64_t seed)
{
    Result<std::shared_ptr<const trace::Trace>> trace = scratchBuilder(seed).finish();
    if (!trace) {
        throw std::logic_error(trace.error().message);
    }
    return *trace;
}

} // namespace pallascope::test
