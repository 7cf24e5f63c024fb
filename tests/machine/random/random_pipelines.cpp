// Writes pipelines with random grids, blocks and index maps, which may read tables.
#include "tests/machine/random/random_writer.h"

#include <algorithm>

namespace pallascope::machine_test {

namespace {

using Values = std::vector<pl::Value>;

// An index map for any grid, from a function of the grid point.
template<class F>
pl::IndexMap mapOf(F indices)
{
    return [indices](auto... point) { return indices(Values{point...}); };
}

} // namespace

void RandomWriter::takeGrid(pl::Grid& grid, bool emits)
{
    const std::int64_t rank = m_chance.from(1, 2);
    for (std::int64_t axis = 0; axis < rank; ++axis) {
        if (emits && m_chance.oneIn(4)) {
            grid.grid.push_back(ir::kDynamicExtent);
            grid.bounds.push_back(below(number(), 4));
        } else {
            grid.grid.push_back(m_chance.from(1, 4));
        }
    }
    if (m_chance.oneIn(4)) {
        const std::vector<std::string> schedules{"0.10", "0.11", "0.12"};
        grid.schedule = m_chance.pick(schedules);
    }
    if (emits && m_scope.onCores && m_chance.oneIn(2)) {
        grid.coreAxis = "core";
        grid.parallel = {0};
    }
    if (m_chance.oneIn(3)) {
        grid.scratch.push_back({"acc", m_chance.oneIn(2) ? kInt : kF32, {kRows, kColumns}});
    }
    if (m_chance.oneIn(3)) {
        grid.scratch.push_back({"kept", kInt, {kEntries}, ir::MemorySpace::Smem});
    }
    if (m_chance.oneIn(4)) {
        grid.scratch.push_back(pl::dmaSemaphores("sem"));
    }
}

// The number of one of an axis' blocks.
pl::Value RandomWriter::blockIndex(const Values& point, Extent count)
{
    const pl::Value axis = m_chance.pick(point);
    const auto entry = [&] {
        const pl::Ref table = m_chance.pick(m_scope.tables);
        const pl::Value at = m_chance.oneIn(2) ? axis : axis * 2 + 1;
        return table[below(at, kEntries)].load();
    };
    if (!m_scope.tables.empty() && m_chance.oneIn(6)) {
        (void)entry(); // nothing uses it
    }
    pl::Value index = axis;
    if (!m_scope.tables.empty() && m_chance.oneIn(2)) {
        index = entry();
    } else if (!m_scope.numbers.empty() && m_chance.oneIn(4)) {
        index = axis + m_chance.pick(m_scope.numbers);
    } else if (m_chance.oneIn(6)) {
        index = axis * 0;
    }
    return below(index, count);
}

pl::BlockSpec RandomWriter::rowsSpec(const pl::Ref& array, bool emits)
{
    const Extent rows = array.shape()[0];
    const Extent count = (rows + kRows - 1) / kRows;
    switch (m_chance.below(6)) {
    case 0: {
        const Extent low = m_chance.below(2) * kRows, high = m_chance.below(2) * kRows;
        return pl::block({pl::element(kRows, low, high), pl::element(kColumns)},
                         mapOf([this, count, low, high](const Values& point) {
                             const Extent places = count + (low + high) / kRows;
                             return pl::at(blockIndex(point, places) * static_cast<int>(kRows), 0);
                         }));
    }
    case 1:
        if (emits) {
            return pl::block(
                {pl::boundedSlice(kRows), kColumns}, mapOf([this, count](const Values& point) {
                    const pl::Value from = blockIndex(point, count) * static_cast<int>(kRows);
                    const pl::Value size = blockIndex(point, kRows) + 1;
                    return pl::at(from, size, 0);
                }));
        }
        break;
    case 2:
        if (emits && rows % kRows == 0) {
            return gatheredSpec(array);
        }
        break;
    default:
        break;
    }
    return pl::block({kRows, kColumns}, mapOf([this, count](const Values& point) {
                         return pl::at(blockIndex(point, count), 0);
                     }));
}

// Gathers the rows that a table lists.
pl::BlockSpec RandomWriter::gatheredSpec(const pl::Ref& array)
{
    const auto rows = static_cast<int>(array.shape()[0]);
    return pl::block({pl::indirect(kRows), kColumns}, mapOf([this, rows](const Values& point) {
                         const pl::Value axis = m_chance.pick(point);
                         pl::Value list = pl::iota(kInt, {kRows}, 0) + axis * 3;
                         if (!m_scope.tables.empty() && m_chance.oneIn(2)) {
                             list = m_chance.pick(m_scope.tables)[pl::all].load();
                         }
                         return pl::at((list % rows + rows) % rows, 0);
                     }));
}

void RandomWriter::takeBuffers(pl::BlockSpec& spec, const pl::Grid& grid, bool isOutput, bool emits)
{
    const bool isGathered =
        std::any_of(spec.block.begin(), spec.block.end(),
                    [](const ir::BlockDim& dim) { return dim.kind == ir::BlockKind::Indirect; });
    const bool isNewest = grid.schedule == "0.12";
    spec.buffers = static_cast<std::int32_t>(m_chance.from(1, emits && !isGathered ? 3 : 2));
    if (isOutput && !isNewest) {
        spec.buffers = std::min(spec.buffers, 2);
    }
    if (isOutput && !isGathered && m_chance.oneIn(3)) { // read and written
        spec.outBuffers = static_cast<std::int32_t>(m_chance.from(1, 2));
    } else if (isOutput && !emits && spec.buffers == 1) {
        spec.restores = m_chance.oneIn(2);
    }
    if (!isOutput && emits && !isGathered && spec.buffers > 1 && m_chance.oneIn(3)) {
        spec.lookahead = true;
    }
    if (!isOutput && emits && !isGathered && grid.schedule != "0.10" && m_chance.oneIn(3)) {
        spec.prefetched = static_cast<std::int32_t>(m_chance.from(1, spec.buffers));
    }
}

RandomWriter::Operand RandomWriter::operand(const pl::Grid& grid, bool isOutput, bool emits)
{
    std::vector<pl::Ref> all = m_scope.arrays;
    all.insert(all.end(), m_scope.lists.begin(), m_scope.lists.end());
    all.insert(all.end(), m_scope.stacks.begin(), m_scope.stacks.end());
    const pl::Ref ref = m_chance.pick(all);
    const Shape shape = ref.shape();
    Operand operand{ref, {}};
    if (shape.rank() == 1) {
        operand.spec = pl::block({kEntries}, mapOf([](const Values&) { return pl::at(0); }));
        operand.spec.space = ir::MemorySpace::Smem;
    } else if (shape.rank() == 3) {
        const Extent layers = shape[0];
        operand.spec =
            pl::block({pl::squeezed(), kRows, kColumns}, mapOf([this, layers](const Values& point) {
                          return pl::at(blockIndex(point, layers), 0, 0);
                      }));
    } else {
        operand.spec = rowsSpec(ref, emits);
        const bool isGathered = operand.spec.block[0].kind == ir::BlockKind::Indirect;
        if (m_chance.oneIn(16) && !isGathered) {
            operand.spec.space = ir::MemorySpace::Hbm;
        }
    }
    takeBuffers(operand.spec, grid, isOutput, emits);
    return operand;
}

void RandomWriter::body(const pl::Grid& grid, const std::vector<pl::Ref>& refs)
{
    (void)within([&] {
        m_scope.axes = static_cast<std::int32_t>(grid.grid.size());
        ++m_scope.pipelines;
        for (const pl::Ref& ref : refs) {
            add(m_scope, ref);
        }
        statements(6);
        for (std::size_t i = grid.in.size(); i < refs.size() && m_chance.oneIn(2); ++i) {
            if (refs[i].shape() == Shape{kRows, kColumns} && isNear(refs[i])) {
                refs[i][pl::all] = array(refs[i].dtype(), kRows);
            }
        }
        return Values{};
    });
}

// Fills a block as a caller would, by a list that a copy under way has brought.
void RandomWriter::fillBehindCopy(pl::Grid& grid, std::vector<pl::Ref>& operands)
{
    if (m_scope.lists.size() < 2 || m_scope.dmas.empty() || m_scope.blocks.empty()) {
        return;
    }
    const pl::Ref from = m_scope.lists.front(), to = m_scope.lists.back();
    const pl::Ref idle = m_chance.pick(m_scope.blocks);
    pl::dmaStart(from, to, m_scope.dmas.back());
    m_pending.push_back({to, m_scope.dmas.back()});
    constexpr int kLong = 2000;
    pl::delay(pl::full({}, kLong, kInt));
    idle[pl::all] = pl::full(idle.shape(), 1, idle.dtype());
    grid.in.push_back(pl::block({kEntries}, mapOf([](const Values&) { return pl::at(0); }), 1));
    grid.in.back().space = ir::MemorySpace::Smem;
    grid.in.back().prefetched = 1;
    grid.in.back().name = "filled";
    operands.push_back(to);
}

void RandomWriter::pipeline()
{
    constexpr int kDeepest = 2;
    const bool none = m_scope.arrays.empty() && m_scope.lists.empty() && m_scope.stacks.empty();
    if (none || m_scope.pipelines >= kDeepest) {
        return;
    }
    if (m_chance.oneIn(3)) {
        copyTable();
        storeBlock();
    }
    const bool emits = m_scope.depth > 0 || m_chance.oneIn(2);
    pl::Grid grid;
    takeGrid(grid, emits);
    std::vector<pl::Ref> operands;
    if (emits && grid.schedule != "0.10" && m_chance.oneIn(6)) {
        fillBehindCopy(grid, operands);
    }
    for (const bool isOutput : {false, true}) {
        std::vector<pl::BlockSpec>& specs = isOutput ? grid.out : grid.in;
        const std::int64_t count = m_chance.from(isOutput ? 1 : 0, 2);
        for (std::int64_t i = 0; i < count; ++i) {
            const Operand one = operand(grid, isOutput, emits);
            specs.push_back(one.spec);
            specs.back().name = (isOutput ? "out" : "in") + std::to_string(i);
            operands.push_back(one.ref);
        }
    }
    grid.noPipelining = m_chance.oneIn(10);
    pl::detail::pipeline(
        grid, emits ? ir::PipelineOrigin::EmitPipeline : ir::PipelineOrigin::PallasCall,
        [&](const std::vector<pl::Ref>& refs) {
            body(grid, refs);
            return true;
        },
        operands);
}

} // namespace pallascope::machine_test
