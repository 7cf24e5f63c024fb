#include "views/layout/grid/cells.h"

#include <algorithm>

namespace pallascope::layout {

namespace {

// Bounds the look-ups; a cell in more blocks than this is almost surely in one copied by then.
constexpr std::size_t kMostAsked = 32;

} // namespace

bool hasListedCells(const trace::Operand& operand)
{
    std::int64_t cells = 1;
    for (std::size_t axis = 0; axis < operand.blockCounts.size(); ++axis) {
        const bool listed = static_cast<std::int32_t>(axis) == operand.indirectAxis;
        if (__builtin_mul_overflow(cells, listed ? operand.array[axis] : operand.blockCounts[axis],
                                   &cells)) {
            return false;
        }
    }
    return operand.indirectAxis >= 0 && cells <= kMostListedCells;
}

std::vector<Extent> cellCounts(const trace::Operand& operand, const trace::Windows& windows)
{
    if (!windows.empty()) {
        return windows.counts();
    }
    std::vector<Extent> counts = operand.blockCounts;
    if (hasListedCells(operand)) {
        const auto axis = static_cast<std::size_t>(operand.indirectAxis);
        counts[axis] = operand.array[axis];
    }
    return counts;
}

std::int64_t cellTotal(const trace::Operand& operand, const trace::Windows& windows)
{
    std::int64_t total = 1;
    for (const Extent count : cellCounts(operand, windows)) {
        total *= count;
    }
    return total;
}

std::vector<Extent> cellExtents(const trace::Operand& operand, const trace::Windows& windows)
{
    if (!windows.empty()) {
        return windows.cell();
    }
    std::vector<Extent> extents;
    for (std::size_t axis = 0; axis < operand.block.rank(); ++axis) {
        extents.push_back(std::max<Extent>(operand.block[axis], 1));
    }
    return extents;
}

std::string cellsText(const RunView& run, trace::OperandRow operand)
{
    std::string text;
    for (const Extent extent : run.index->windows(operand).cell()) {
        text += (text.empty() ? "cells of " : "×") + std::to_string(extent);
    }
    return text;
}

ArrayCells::ArrayCells(const RunView& run, trace::OperandRow operand, Picoseconds now)
    : m_run(run)
    , m_number(operand)
    , m_operand(run.trace->info().operands[operand.index()])
    , m_now(now)
    , m_windows(run.index->windows(operand))
    , m_listed(hasListedCells(m_operand))
    , m_counts(cellCounts(m_operand, m_windows))
{
    const bool isShared = m_listed || mayOverlap(); // cells by blocks
    for (std::int32_t slot = 0; slot < m_operand.slots && isShared; ++slot) {
        const trace::SlotState state =
            trace::slotStateAt(*run.trace, trace::BufferRow{m_operand.firstBuffer + slot}, now);
        if (!state.block || state.phase == trace::SlotPhase::Free) {
            continue;
        }
        Held held{*state.block, {}};
        if (m_listed) {
            const auto list = trace::indicesOf(m_operand, *state.block);
            held.cells.assign(list.begin(), list.end());
        } else {
            held.cells = m_windows.cellsOf(m_operand, *state.block);
        }
        std::sort(held.cells.begin(), held.cells.end());
        const bool isFirst = state.phase == trace::SlotPhase::InUse;
        m_held.insert(isFirst ? m_held.begin() : m_held.end(), std::move(held));
    }
}

std::int64_t ArrayCells::number(const std::vector<Extent>& index,
                                const std::vector<Extent>& counts) const
{
    std::int64_t number = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        number = number * std::max<Extent>(counts[axis], 1) + index[axis];
    }
    return number;
}

std::vector<std::int64_t> ArrayCells::cellsOf(std::int64_t block) const
{
    if (mayOverlap()) {
        return m_windows.cellsOf(m_operand, block);
    }
    if (!m_listed) {
        return {block};
    }
    const auto axis = static_cast<std::size_t>(m_operand.indirectAxis);
    std::vector<Extent> index = trace::blockIndex(m_operand, block);
    std::vector<std::int64_t> cells;
    for (const std::int32_t element : trace::indicesOf(m_operand, block)) {
        if (element >= 0 && element < m_counts[axis]) {
            index[axis] = element;
            cells.push_back(number(index, m_counts));
        }
    }
    return cells;
}

std::optional<std::int64_t> ArrayCells::blockAt(std::int64_t cell) const
{
    if (!mayOverlap()) {
        return m_listed ? listedAt(cell) : cell;
    }
    for (const Held& held : m_held) {
        if (std::binary_search(held.cells.begin(), held.cells.end(), cell)) {
            return held.block;
        }
    }
    std::optional<std::int64_t> first;
    const auto covers = m_windows.over(cell);
    for (const auto& cover : covers.subspan(0, std::min(covers.size(), kMostAsked))) {
        first = first.value_or(cover.block);
        if (m_run.index->blockStateAt(m_number, cover.block, m_now).phase
            != trace::BlockPhase::Never) {
            return cover.block;
        }
    }
    return first;
}

// Of lists.
std::optional<std::int64_t> ArrayCells::listedAt(std::int64_t cell) const
{
    const auto axis = static_cast<std::size_t>(m_operand.indirectAxis);
    std::vector<Extent> index(m_counts.size());
    for (std::size_t i = index.size(); i-- > 0;) {
        const Extent count = std::max<Extent>(m_counts[i], 1);
        index[i] = cell % count;
        cell /= count;
    }
    const Extent element = index[axis];
    for (const Held& held : m_held) {
        index[axis] = trace::blockIndex(m_operand, held.block)[axis];
        if (std::binary_search(held.cells.begin(), held.cells.end(), element)
            && number(index, m_operand.blockCounts) == held.block) {
            return held.block;
        }
    }
    const auto lists = m_run.index->listsOf(m_number, element);
    std::optional<std::int64_t> first;
    for (const trace::Index::ListedElement& listed :
         lists.subspan(0, std::min(lists.size(), kMostAsked))) {
        index[axis] = listed.list;
        const std::int64_t block = number(index, m_operand.blockCounts);
        first = first.value_or(block);
        if (m_run.index->blockStateAt(m_number, block, m_now).phase != trace::BlockPhase::Never) {
            return block;
        }
    }
    return first;
}

} // namespace pallascope::layout
