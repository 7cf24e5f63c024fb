// Makes the random runs that random_trace.h describes.
#include "tests/support/random_trace.h"

#include "core/trace/columns.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

namespace pallascope::test {

namespace {

using trace::at;
using trace::Direction;
using trace::kNone;

// Runs a pipeline with random block maps step by step: it fetches what the step needs (and, with
// two slots, what the next step needs), waits, computes, and writes back blocks whose visits end.
class RandomRun
{
public:
    explicit RandomRun(std::uint64_t seed)
        : m_random(seed)
    {}

    trace::TraceBuilder build() &&
    {
        addHardware();
        addPipeline();
        addTemplates();
        const std::int64_t steps = m_b.info.pipelines[0].steps;
        for (m_step = 0; m_step < steps; ++m_step) {
            runStep();
        }
        m_step = kNone;
        while (!m_pending.empty()) {
            wait(m_pending.front());
        }
        m_now += pick(0, 50);
        addOtherAgent();
        m_b.end = Picoseconds(m_now);
        m_b.info.events = pick(0, 1000);
        for (std::int64_t i = pick(0, 3), time = 0; i > 0; --i) {
            time = pick(time, m_now);
            m_b.info.prints.push_back({"x = \"\xc3\xa9\"\n",
                                       static_cast<std::int32_t>(pick(-1, 0)),
                                       0,
                                       Picoseconds(time),
                                       {0, 2}});
        }
        m_b.info.printsBeyond = pick(0, 5);
        m_b.info.jaxAccepts = pick(0, 1) == 0 ? "yes" : "no";
        m_b.info.jaxReason = "why";
        m_b.info.fromL1 = Bytes(m_b.info.printsBeyond * 100);
        collectVisits();
        addLoops();
        addGridBlocks();
        return std::move(m_b);
    }

private:
    std::int64_t pick(std::int64_t least, std::int64_t most)
    {
        return std::uniform_int_distribution<std::int64_t>(least, most)(m_random);
    }

    // Up to three loops, each in the body of the one before it or beside it, on agent 0.
    void addLoops()
    {
        const std::int64_t loops = pick(0, 3);
        for (std::int64_t loop = 0; loop < loops; ++loop) {
            m_b.info.loops.push_back({"loop " + std::to_string(loop),
                                      {0, 1},
                                      static_cast<std::int32_t>(pick(-1, 1)),
                                      static_cast<std::int32_t>(pick(-1, loop - 1)),
                                      pick(0, 1)});
        }
        addRounds(kNone, 0, m_now);
    }

    // Up to four blocks of a GPU's grid, one after the other.
    void addGridBlocks()
    {
        if (pick(0, 2) > 0) {
            return;
        }
        m_b.info.blockGrids = {{.blocks = 6, .extents = {2, 3}, .cluster = pick(1, 2)}};
        const std::int64_t blocks = pick(0, 4);
        for (std::int64_t block = 0, begin = 0; block < blocks; ++block) {
            begin = pick(begin, m_now);
            m_b.gridBlocks.grid.push_back(0);
            m_b.gridBlocks.block.push_back(pick(0, 5));
            m_b.gridBlocks.agent.push_back(0);
            m_b.gridBlocks.claimed.push_back(static_cast<std::uint8_t>(pick(0, 1)));
            m_b.gridBlocks.begin.push_back(begin);
            m_b.gridBlocks.end.push_back(pick(begin, m_now));
        }
    }

    // The rounds of the loops directly inside of a loop, in [begin, end).
    void addRounds(std::int32_t parent, std::int64_t begin, std::int64_t end)
    {
        for (std::size_t loop = 0; loop < m_b.info.loops.size(); ++loop) {
            if (m_b.info.loops[loop].parent != parent) {
                continue;
            }
            begin = pick(begin, end);
            const std::int64_t rounds = pick(0, 4);
            for (std::int64_t round = 0; round < rounds; ++round) {
                const std::int64_t to = pick(begin, end);
                m_b.rounds.loop.push_back(static_cast<std::int32_t>(loop));
                m_b.rounds.agent.push_back(0);
                m_b.rounds.round.push_back(round);
                m_b.rounds.begin.push_back(begin);
                m_b.rounds.end.push_back(to);
                addRounds(static_cast<std::int32_t>(loop), begin, to);
                begin = to;
            }
        }
    }

    void addHardware()
    {
        trace::Info& info = m_b.info;
        info.kernel = "random";
        info.chip = info.chipName = "toy";
        info.values = "needed";
        info.seed = m_random();
        info.parameters = {{"a", "1"}, {"\"quoted\"", "\xc3\xa9"}};
        info.sources = {{"a.cpp", "int main() {}\n\tx"}};
        info.listing = {{"f", 0}, {"}", -1}};
        info.operations = {{"dot_general", "dot", 0, {0, 1}}, {"add", "add", 1, {-1, 0}}};
        info.units = {{"M", UnitKind::Matrix}, {"V", UnitKind::Vector}, {"S", UnitKind::Scalar}};
        info.memories = {{"far", Bytes(1 << 20), std::nullopt}, {"near", Bytes(4096), Bytes(1024)}};
        const std::int64_t links = pick(1, 2);
        for (std::int64_t i = 0; i < links; ++i) {
            info.links.push_back(
                {"L" + std::to_string(i), 0, 1, BytesPerSecond(3e9 / 7), BytesPerSecond(1e9 / 3)});
        }
        info.agents.assign(at(pick(1, 2)), "core");
        info.findings = {{"odd", trace::FindingClass::Value, "x is odd", "o0", 3, 1, {0, 1}, 7}};
    }

    void addPipeline()
    {
        trace::Info& info = m_b.info;
        trace::Pipeline pipeline;
        pipeline.name = "p";
        const std::int64_t axes = pick(1, 3);
        pipeline.steps = 1;
        for (std::int64_t axis = 0; axis < axes; ++axis) {
            pipeline.grid.push_back(pick(1, 4));
            pipeline.axisNames.push_back(std::string(1, static_cast<char>('i' + axis)));
            pipeline.steps *= pipeline.grid.back();
        }
        const std::int64_t operands = pick(1, 4);
        pipeline.operandCount = static_cast<std::int32_t>(operands);
        for (std::int64_t i = 0; i < operands; ++i) {
            addOperand(pipeline, i);
        }
        info.pipelines = {std::move(pipeline)};
        m_visits.resize(at(operands));
    }

    void addOperand(const trace::Pipeline& pipeline, std::int64_t index)
    {
        trace::Info& info = m_b.info;
        trace::Operand operand;
        operand.name = "o" + std::to_string(index);
        operand.direction = static_cast<Direction>(pick(0, 2));
        const std::int64_t rank = pick(1, 2);
        std::vector<Extent> array, block;
        for (std::int64_t axis = 0; axis < rank; ++axis) {
            const auto gridAxis = static_cast<std::int32_t>(
                pick(-1, static_cast<std::int64_t>(pipeline.grid.size()) - 1));
            operand.gridAxes.push_back(gridAxis);
            operand.blockCounts.push_back(gridAxis == kNone ? 1 : pipeline.grid[at(gridAxis)]);
            block.push_back(pick(1, 5));
            array.push_back(operand.blockCounts.back() * block.back());
        }
        if (pick(0, 3) == 0) { // on one axis its blocks are any elements, or none
            const std::int64_t axis = pick(0, rank - 1);
            operand.indirectAxis = static_cast<std::int32_t>(axis);
            const std::int64_t count = operand.blockCounts[at(axis)] * block[at(axis)];
            for (std::int64_t i = 0; i < count; ++i) {
                operand.indices.push_back(static_cast<std::int32_t>(pick(-1, array[at(axis)])));
            }
        }
        operand.array = Shape(array);
        operand.block = Shape(block);
        operand.slots = static_cast<std::int32_t>(pick(1, 3));
        operand.firstBuffer = static_cast<std::int32_t>(info.buffers.size());
        operand.blockBytes = Bytes(pick(0, 64));
        for (std::int32_t slot = 0; slot < operand.slots; ++slot) {
            trace::Buffer buffer;
            buffer.operand = static_cast<std::int32_t>(index);
            buffer.slot = slot;
            buffer.memory = 1;
            info.buffers.edit().push_back(buffer);
        }
        info.operands.edit().push_back(std::move(operand));
        m_links.push_back(
            static_cast<std::int32_t>(pick(0, static_cast<std::int64_t>(info.links.size()) - 1)));
    }

    void addTemplates()
    {
        const std::int64_t count = pick(1, 3);
        for (std::int64_t i = 0; i < count; ++i) {
            trace::SegmentTemplate segment;
            segment.kind = i == 0 ? trace::SegmentKind::StepOverhead : trace::SegmentKind::Body;
            segment.cycles = Cycles(pick(0, 20));
            // About a picosecond for each cycle.
            segment.clock = Hertz(pick(900'000'000'000, 1'100'000'000'000));
            segment.duration = toPicoseconds(segment.cycles, segment.clock);
            std::int64_t cycle = 0;
            for (std::int32_t operation = 0; operation < pick(0, 3); ++operation) {
                const std::int64_t length = pick(0, segment.cycles.value() - cycle);
                segment.operations.push_back(operation % 2);
                segment.marks.push_back({static_cast<std::int32_t>(pick(0, 1)), operation % 2,
                                         Cycles(cycle), Cycles(length)});
                cycle += length;
                segment.retire.push_back(Cycles(cycle));
            }
            if (i == 0) {
                segment.marks.push_back({2, -1, Cycles(0), segment.cycles});
            }
            segment.flopsByUnit = {Flops(pick(0, 1000)), Flops(pick(0, 10)), Flops(0)};
            segment.executedFlopsByUnit = segment.flopsByUnit;
            m_b.info.templates.edit().push_back(std::move(segment));
        }
    }

    [[nodiscard]] std::int64_t blockOf(std::size_t operand, std::int64_t step) const
    {
        const trace::Pipeline& pipeline = m_b.info.pipelines[0];
        std::vector<std::int64_t> index(pipeline.grid.size());
        for (std::size_t axis = index.size(); axis-- > 0; step /= pipeline.grid[axis]) {
            index[axis] = step % pipeline.grid[axis];
        }
        std::int64_t block = 0;
        const trace::Operand& o = m_b.info.operands[operand];
        for (std::size_t axis = 0; axis < o.gridAxes.size(); ++axis) {
            const std::int32_t gridAxis = o.gridAxes[axis];
            block = block * o.blockCounts[axis] + (gridAxis == kNone ? 0 : index[at(gridAxis)]);
        }
        return block;
    }

    [[nodiscard]] bool begins(std::size_t operand, std::int64_t step) const
    {
        return step == 0 || blockOf(operand, step) != blockOf(operand, step - 1);
    }

    std::int32_t copy(std::size_t operand, std::int64_t block, std::int32_t slot, bool out)
    {
        trace::Copies& c = m_b.copies;
        const std::int32_t link = m_links[operand];
        const std::int64_t bytes = m_b.info.operands[operand].blockBytes.value();
        const std::int64_t start = std::max(m_now + pick(0, 1) * pick(0, 5), m_free[link]);
        m_free[link] = start + (bytes == 0 ? 0 : pick(1, 30));
        c.operand.push_back(static_cast<std::int32_t>(operand));
        c.block.push_back(block);
        c.slot.push_back(slot);
        c.out.push_back(out ? 1 : 0);
        c.link.push_back(link);
        c.step.push_back(static_cast<std::int32_t>(m_step));
        c.bytes.push_back(bytes);
        c.issue.push_back(m_now);
        c.start.push_back(start);
        c.end.push_back(m_free[link]);
        return static_cast<std::int32_t>(c.size() - 1);
    }

    void wait(std::int32_t copy)
    {
        trace::Waits& w = m_b.waits;
        w.copy.push_back(copy);
        if (m_b.info.seed % 3 == 0) { // some runs wait for manual DMAs
            w.operation.push_back(static_cast<std::int32_t>(pick(kNone, 1)));
        }
        w.agent.push_back(0);
        w.step.push_back(static_cast<std::int32_t>(m_step));
        w.begin.push_back(m_now);
        m_now = std::max(m_now, m_b.copies.end[at(copy)]);
        w.end.push_back(m_now);
        m_pending.erase(std::remove(m_pending.begin(), m_pending.end(), copy), m_pending.end());
    }

    struct Visit
    {
        std::int64_t first = 0, last = 0, block = 0;
        std::int32_t slot = 0, in = kNone, out = kNone;
    };

    // Begins the visit of the block that `step` uses.
    void enter(std::size_t operand, std::int64_t step)
    {
        std::vector<Visit>& visits = m_visits[operand];
        const trace::Operand& o = m_b.info.operands[operand];
        Visit visit;
        visit.first = visit.last = step;
        visit.block = blockOf(operand, step);
        visit.slot = static_cast<std::int32_t>(visits.size() % at(o.slots));
        for (const Visit& old : visits) {
            if (old.slot == visit.slot && old.out != kNone
                && std::find(m_pending.begin(), m_pending.end(), old.out) != m_pending.end()) {
                wait(old.out);
            }
        }
        if (o.direction != Direction::Out) {
            visit.in = copy(operand, visit.block, visit.slot, false);
        }
        visits.push_back(visit);
    }

    [[nodiscard]] bool entered(std::size_t operand, std::int64_t step) const
    {
        return !m_visits[operand].empty() && m_visits[operand].back().first >= step;
    }

    void runSegment(std::int32_t id)
    {
        trace::Segments& s = m_b.segments;
        s.templateId.push_back(id);
        s.agent.push_back(0);
        s.step.push_back(static_cast<std::int32_t>(m_step));
        s.begin.push_back(m_now);
        m_now += m_b.info.templates[at(id)].duration.value();
    }

    void runStep()
    {
        trace::Steps& s = m_b.steps;
        const std::size_t operands = m_b.info.operands.size();
        const bool last = m_step + 1 == m_b.info.pipelines[0].steps;
        s.pipeline.push_back(0);
        s.ordinal.push_back(m_step);
        s.begin.push_back(m_now);
        for (std::size_t i = 0; i < operands; ++i) {
            if (begins(i, m_step) && !entered(i, m_step)) {
                enter(i, m_step);
            }
        }
        const std::vector<std::vector<Visit>> current = m_visits;
        for (std::size_t i = 0; i < operands && !last; ++i) {
            const trace::Operand& o = m_b.info.operands[i];
            if (o.direction == Direction::In && o.slots > 1 && begins(i, m_step + 1)) {
                enter(i, m_step + 1);
            }
        }
        for (std::size_t i = 0; i < operands; ++i) {
            if (current[i].back().first == m_step && current[i].back().in != kNone) {
                wait(current[i].back().in);
            }
        }
        s.bodyBegin.push_back(m_now);
        for (std::int64_t n = pick(0, 2); n > 0; --n) {
            m_now += pick(0, 1) * pick(0, 9);
            runSegment(static_cast<std::int32_t>(
                pick(0, static_cast<std::int64_t>(m_b.info.templates.size()) - 1)));
        }
        s.bodyEnd.push_back(m_now);
        runSegment(0);
        leave(current, last);
        s.end.push_back(m_now);
    }

    void leave(const std::vector<std::vector<Visit>>& current, bool last)
    {
        for (std::size_t i = 0; i < current.size(); ++i) {
            Visit& visit = m_visits[i][current[i].size() - 1];
            visit.last = m_step;
            if (m_b.info.operands[i].direction != Direction::In
                && (last || begins(i, m_step + 1))) {
                visit.out = copy(i, visit.block, visit.slot, true);
                m_pending.push_back(visit.out);
                if (pick(0, 3) == 0) {
                    wait(visit.out);
                }
            }
        }
    }

    // Adds a second agent that computes on its own, outside any step.
    void addOtherAgent()
    {
        if (m_b.info.agents.size() < 2) {
            return;
        }
        trace::Segments& s = m_b.segments;
        std::int64_t now = pick(0, 30);
        for (;;) {
            const std::int64_t id =
                pick(0, static_cast<std::int64_t>(m_b.info.templates.size()) - 1);
            const std::int64_t end = now + m_b.info.templates[at(id)].duration.value();
            if (end > m_now || s.size() > 500) {
                break;
            }
            const auto at = std::upper_bound(s.begin.begin(), s.begin.end(), now) - s.begin.begin();
            s.templateId.insert(s.templateId.begin() + at, static_cast<std::int32_t>(id));
            s.agent.insert(s.agent.begin() + at, 1);
            s.step.insert(s.step.begin() + at, kNone);
            s.begin.insert(s.begin.begin() + at, now);
            now = end + pick(0, 40);
        }
    }

    void collectVisits()
    {
        trace::Visits& v = m_b.visits;
        for (std::size_t operand = 0; operand < m_visits.size(); ++operand) {
            for (const Visit& visit : m_visits[operand]) {
                v.operand.push_back(static_cast<std::int32_t>(operand));
                v.firstStep.push_back(static_cast<std::int32_t>(visit.first));
                v.lastStep.push_back(static_cast<std::int32_t>(visit.last));
                v.block.push_back(visit.block);
                v.slot.push_back(visit.slot);
                v.copyIn.push_back(visit.in);
                v.copyOut.push_back(visit.out);
            }
        }
    }

    std::mt19937_64 m_random;
    trace::TraceBuilder m_b;
    std::vector<std::int32_t> m_links; // for each operand
    std::vector<std::vector<Visit>> m_visits;
    std::vector<std::int32_t> m_pending; // write-backs that nothing has waited for yet
    std::int64_t m_free[2] = {0, 0};
    std::int64_t m_now = 0, m_step = 0;
};

} // namespace

trace::TraceBuilder randomBuilder(std::uint64_t seed)
{
    return RandomRun(seed).build();
}

std::shared_ptr<const trace::Trace> randomTrace(std::uint64_t seed)
{
    Result<std::shared_ptr<const trace::Trace>> trace = randomBuilder(seed).finish();
    if (!trace) {
        throw std::logic_error("random trace " + std::to_string(seed) + ": "
                               + trace.error().message);
    }
    return trace.value();
}

} // namespace pallascope::test
