#include "tests/machine/table_pipeline.h"

#include "tests/machine/support.h"

#include <algorithm>
#include <numeric>

namespace pallascope::machine_test {

namespace {

// The block index along one array axis as a program: a chain of selects over runs of equal table
// entries.
pl::Value tableAxis(const std::vector<pl::Value>& point, const TablePipeline& pipeline,
                    const OracleOperand& operand, std::size_t axis)
{
    const std::int64_t steps = pipeline.steps();
    const auto entry = [&](std::int64_t step) {
        return static_cast<double>(operand.blockAt[static_cast<std::size_t>(step)][axis]);
    };
    pl::Value linear = point[0] * 1;
    for (std::size_t k = 1; k < point.size(); ++k) {
        linear = linear * static_cast<double>(pipeline.grid[k]) + point[k];
    }
    pl::Value index = linear * 0 + entry(steps - 1);
    for (std::int64_t step = steps - 1; step-- > 0;) {
        if (entry(step) != entry(step + 1)) {
            index =
                pl::select(linear <= static_cast<double>(step), entry(step) + linear * 0, index);
        }
    }
    return index;
}

bool constant(const OracleOperand& operand)
{
    return std::all_of(operand.blockAt.begin(), operand.blockAt.end(),
                       [&](const Index& index) { return index == operand.blockAt.front(); });
}

pl::BlockSpec specOf(const TablePipeline& pipeline, const OracleOperand& operand)
{
    const std::size_t rank = operand.blockAt.front().size();
    const bool both = operand.inBuffers > 0 && operand.outBuffers > 0;
    pl::BlockSpec spec{.buffers = both ? operand.inBuffers
                                       : std::max(operand.inBuffers, operand.outBuffers),
                       .name = operand.name,
                       .outBuffers = both ? operand.outBuffers : 0,
                       .lookahead = operand.lookahead,
                       .prefetched = operand.prefetched};
    spec.block.assign(rank, {ir::BlockKind::Blocked, kBlockSize});
    if (operand.indirect) {
        spec.block[0].kind = ir::BlockKind::Indirect;
    }
    spec.indexMap = [&pipeline, &operand, rank](auto... point) {
        const std::vector<pl::Value> grid{point...};
        std::vector<pl::Operand> indices;
        for (std::size_t axis = 0; axis < rank; ++axis) {
            if (grid.empty() || constant(operand)) {
                indices.emplace_back(static_cast<double>(operand.blockAt.front()[axis]));
            } else {
                indices.emplace_back(tableAxis(grid, pipeline, operand, axis));
            }
        }
        if (operand.indirect) { // the rows of the block, the last one first
            const auto size = static_cast<double>(kBlockSize);
            const pl::Value rows = (size - 1) - pl::iota(DType::Int32, {kBlockSize}, 0);
            indices[0] = indices[0].isNumber() ? rows + indices[0].number() * size
                                               : rows + indices[0].value() * size;
        }
        return indices;
    };
    return spec;
}

Shape arrayShape(const OracleOperand& operand)
{
    const std::size_t rank = operand.blockAt.front().size();
    std::vector<Extent> extents(rank, 1);
    for (const Index& index : operand.blockAt) {
        for (std::size_t axis = 0; axis < rank; ++axis) {
            extents[axis] = std::max(extents[axis], index[axis] + 1);
        }
    }
    if (!operand.trivial
        && std::all_of(extents.begin(), extents.end(), [](Extent e) { return e == 1; })) {
        extents[0] = 2;
    }
    for (Extent& extent : extents) {
        extent *= kBlockSize;
    }
    return Shape(extents);
}

void storeStep(const TablePipeline& pipeline, const std::vector<pl::Ref>& refs)
{
    pl::Value sum = pl::full({}, 1, DType::F32);
    if (!pipeline.grid.empty()) {
        pl::Value step = pl::programId(0) * 1;
        for (std::size_t axis = 1; axis < pipeline.grid.size(); ++axis) {
            step = step * static_cast<double>(pipeline.grid[axis])
                   + pl::programId(static_cast<std::int32_t>(axis));
        }
        sum = sum + pl::convert(step, DType::F32);
    }
    for (std::size_t i = 0; i < refs.size(); ++i) {
        if (pipeline.operands[i].outBuffers == 0) {
            const std::vector<std::int32_t> all = [&] {
                std::vector<std::int32_t> axes(refs[i].shape().rank());
                std::iota(axes.begin(), axes.end(), 0);
                return axes;
            }();
            sum = sum + pl::reduce(ir::OpCode::ReduceMax, refs[i][pl::all].load(), all);
        }
    }
    for (std::size_t i = 0; i < refs.size(); ++i) {
        if (pipeline.operands[i].outBuffers > 0) {
            refs[i][pl::all] = sum;
        }
    }
}

Index unpack(const std::vector<Extent>& counts, std::int64_t block)
{
    Index index(counts.size());
    for (std::size_t axis = counts.size(); axis-- > 0;) {
        index[axis] = block % counts[axis];
        block /= counts[axis];
    }
    return index;
}

class Reader
{
public:
    Reader(const trace::Trace& trace, const TablePipeline& pipeline)
        : m_trace(trace)
        , m_pipeline(pipeline)
        , m_steps(static_cast<std::int32_t>(trace.steps().size()))
    {}

    [[nodiscard]] std::vector<Event> run()
    {
        copies(-1, false, "prologue", "ep_initialize");
        for (std::int32_t step = 0; step < m_steps; ++step) {
            copies(step, false, "", "ep_copy_in");
            waits(step, false, step, "ep_wait_in");
            uses(step);
            copies(step, true, "", "ep_copy_out");
            waits(step, true, step, "ep_wait_out");
        }
        waits(-1, true, m_steps, "ep_finalize");
        copies(-1, true, "epilogue", "");
        return std::move(m_events);
    }

private:
    [[nodiscard]] const OracleOperand& operand(std::int32_t index) const
    {
        return m_pipeline.operands[static_cast<std::size_t>(index)];
    }

    // Whether it is copied once, before or after the loop. JAX 0.9 does not do that.
    [[nodiscard]] bool windowed(const OracleOperand& which) const
    {
        return which.trivial && m_pipeline.release > 9;
    }

    // Up to JAX 0.11 an operand that is read and written has one set of buffers.
    [[nodiscard]] int outBuffers(const OracleOperand& which) const
    {
        return which.inBuffers > 0 && m_pipeline.release < 12 ? which.inBuffers : which.outBuffers;
    }

    void log(std::int64_t step, const std::string& phase, const std::string& event,
             std::int32_t index, std::int64_t block, std::int64_t slot)
    {
        const trace::Operand& info = m_trace.info().operands[static_cast<std::size_t>(index)];
        Index at = unpack(info.blockCounts, block);
        // Named by its first listed row, which is the block's last row.
        if (operand(index).indirect) {
            at[0] = info.indices[static_cast<std::size_t>(at[0] * kBlockSize)] / kBlockSize;
        }
        m_events.push_back({step, phase, event, operand(index).name, at, slot});
    }

    // The copies issued in a step (-1: outside of steps), in the order of issue.
    void copies(std::int32_t step, bool out, const std::string& trivialPhase,
                const std::string& phase)
    {
        const trace::Copies& c = m_trace.copies();
        const std::int64_t where = step >= 0 ? step : (out ? m_steps : -1);
        for (std::size_t row = 0; row < c.size(); ++row) {
            if (c.step[row] != step || (c.out[row] != 0) != out) {
                continue;
            }
            const OracleOperand& which = operand(c.operand[row]);
            const bool sync = windowed(which) || (out && outBuffers(which) == 1);
            log(where, windowed(which) ? trivialPhase : phase,
                std::string(sync ? "sync_" : "") + (out ? "copy_out" : "copy_in"), c.operand[row],
                c.block[row], c.slot[row]);
        }
    }

    // Separate waits; those of synchronous copies are part of the copy.
    void waits(std::int32_t step, bool out, std::int64_t where, const std::string& phase)
    {
        const trace::Waits& w = m_trace.waits();
        const trace::Copies& c = m_trace.copies();
        for (std::size_t row = 0; row < w.size(); ++row) {
            const auto copy = static_cast<std::size_t>(w.copy[row]);
            const OracleOperand& which = operand(c.operand[copy]);
            const bool isOut = c.out[copy] != 0;
            if (w.step[row] == step && isOut == out && !windowed(which)
                && !(out && outBuffers(which) == 1)) {
                log(where, phase, out ? "wait_out" : "wait_in", c.operand[copy], c.block[copy],
                    c.slot[copy]);
            }
        }
    }

    void uses(std::int32_t step)
    {
        const trace::Visits& v = m_trace.visits();
        for (std::size_t row = 0; row < v.size(); ++row) {
            if (v.firstStep[row] <= step && step <= v.lastStep[row]) {
                log(step, "ep_run_kernel", "use", v.operand[row], v.block[row], v.slot[row]);
            }
        }
    }

    const trace::Trace& m_trace;
    const TablePipeline& m_pipeline;
    std::int32_t m_steps;
    std::vector<Event> m_events;
};

} // namespace

std::int64_t TablePipeline::steps() const
{
    return std::accumulate(grid.begin(), grid.end(), std::int64_t{1}, std::multiplies<>());
}

ir::Program tableProgram(const TablePipeline& pipeline)
{
    std::vector<pl::detail::ArgumentSpec> arguments;
    pl::Grid grid{.grid = pipeline.grid, .schedule = "0." + std::to_string(pipeline.release)};
    for (const OracleOperand& operand : pipeline.operands) {
        const bool isInput = operand.outBuffers == 0;
        const Shape shape = arrayShape(operand);
        arguments.push_back(isInput ? pl::in(operand.name, DType::F32, shape)
                                    : pl::out(operand.name, DType::F32, shape));
        (isInput ? grid.in : grid.out).push_back(specOf(pipeline, operand));
    }
    const auto kernel = [&](const std::vector<pl::Ref>& arrays) {
        pl::detail::pipeline(
            grid, ir::PipelineOrigin::EmitPipeline,
            [&](const std::vector<pl::Ref>& refs) {
                storeStep(pipeline, refs);
                return true;
            },
            arrays);
        return true;
    };
    return mustTrace(
        pl::detail::traceKernel("table", arguments, kernel, std::source_location::current()));
}

std::vector<Event> eventsOf(const trace::Trace& trace, const TablePipeline& pipeline)
{
    return Reader(trace, pipeline).run();
}

std::string orderFault(const trace::Trace& trace)
{
    const trace::Copies& c = trace.copies();
    const trace::Waits& w = trace.waits();
    const trace::Steps& s = trace.steps();
    for (std::size_t row = 0; row < c.size(); ++row) {
        if (c.step[row] < 0) {
            continue;
        }
        const auto step = static_cast<std::size_t>(c.step[row]);
        const bool right = c.out[row] != 0 ? c.issue[row] >= s.bodyEnd[step]
                                           : c.issue[row] == s.begin[step]; // before any wait
        if (!right) {
            return "copy " + std::to_string(row) + " is issued in another phase of its step";
        }
    }
    for (std::size_t row = 0; row < w.size(); ++row) {
        const auto copy = static_cast<std::size_t>(w.copy[row]);
        if (w.step[row] < 0) {
            continue;
        }
        const auto step = static_cast<std::size_t>(w.step[row]);
        const bool right = c.out[copy] != 0
                               ? w.begin[row] >= s.bodyEnd[step]
                               : w.begin[row] >= s.begin[step] && w.end[row] <= s.bodyBegin[step];
        if (!right) {
            return "wait " + std::to_string(row) + " lies in another phase of its step";
        }
        for (std::size_t other = 0; other < c.size(); ++other) {
            const auto at = static_cast<std::size_t>(w.step[row]);
            const bool sync = c.end[copy] == w.end[row] && c.issue[copy] == w.begin[row];
            if (c.out[copy] != 0 && !sync && c.step[other] == static_cast<std::int32_t>(at)
                && c.out[other] != 0 && c.issue[other] > w.begin[row]) {
                return "copy " + std::to_string(other) + " starts after wait " + std::to_string(row)
                       + " of the same step";
            }
        }
    }
    return {};
}

TablePipeline randomPipeline(std::mt19937_64& random, const RandomKinds& kinds)
{
    const auto pick = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
    };
    TablePipeline pipeline;
    const int rank = pick(1, 3);
    for (int axis = 0; axis < rank; ++axis) {
        pipeline.grid.push_back(pick(1, rank == 3 ? 3 : 4));
    }
    const std::int64_t steps = pipeline.steps();
    // The indices are some grid axes in order, or a table that repeats blocks and skips some.
    const auto table = [&](std::size_t arrayRank) {
        std::vector<Index> blocks(static_cast<std::size_t>(steps));
        for (std::size_t axis = 0; axis < arrayRank; ++axis) {
            const int follows = pick(0, 2) == 0 ? pick(0, rank - 1) : -1;
            std::int64_t held = 0;
            for (std::int64_t step = 0; step < steps; ++step) {
                std::int64_t point = step;
                for (int inner = rank - 1; inner > follows && follows >= 0; --inner) {
                    point /= pipeline.grid[static_cast<std::size_t>(inner)];
                }
                held = follows < 0 && pick(0, 2) != 0 ? pick(0, 2) : held;
                blocks[static_cast<std::size_t>(step)].push_back(
                    follows >= 0 ? point % pipeline.grid[static_cast<std::size_t>(follows)] : held);
            }
        }
        return blocks;
    };
    const auto add = [&](const std::string& name, int in, int out) {
        OracleOperand operand{.name = name, .inBuffers = in, .outBuffers = out};
        operand.trivial = (in == 0 || out == 0) && pick(0, 9) == 0;
        operand.lookahead = in > 1 && !operand.trivial && pick(0, 2) == 0;
        if (in > 0 && out == 0 && kinds.release > 10
            && (kinds.release > 11 || !operand.lookahead) // 0.11 may wait for ever
            && pick(0, 4) == 0) {
            operand.prefetched = pick(1, operand.trivial ? 1 : in);
        }
        operand.indirect = kinds.release > 9 && in < 3 && !operand.trivial && !operand.lookahead
                           && pick(0, 3) == 0;
        const auto arrayRank = static_cast<std::size_t>(kinds.release == 9 ? 2 : pick(1, 2));
        operand.blockAt = operand.trivial ? std::vector<Index>(static_cast<std::size_t>(steps),
                                                               Index(arrayRank, 0))
                                          : table(arrayRank);
        pipeline.operands.push_back(std::move(operand));
    };
    const int inputs = pick(1, 3), outputs = pick(1, 2);
    const int fewest = kinds.release == 9 ? 2 : 1; // the fewest buffers of an input
    for (int i = 0; i < inputs; ++i) {
        add("x" + std::to_string(i), pick(fewest, kinds.mostBuffers), 0);
    }
    if (kinds.inOuts && pick(0, 1) == 0) {
        add("a", pick(fewest, 3), pick(1, 3));
    }
    for (int i = 0; i < outputs; ++i) {
        add("o" + std::to_string(i), 0, pick(1, kinds.release < 12 ? 2 : kinds.mostBuffers));
    }
    pipeline.release = kinds.release;
    return pipeline;
}

} // namespace pallascope::machine_test
