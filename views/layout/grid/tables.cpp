#include "views/layout/grid/tables.h"

#include "core/trace/columns.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>

namespace pallascope::layout {

namespace {

constexpr std::int64_t kMostEntriesDrawn = 2048; // each is looked up in every frame

bool leadsTo(const GridMoment& moment, const PageTable& table, const ArrayPicture& picture)
{
    const trace::Arrays& arrays = moment.run.index->arrays();
    const std::int32_t array = arrays.ofOperand[trace::at(table.operand)];
    return picture.manual != nullptr ? picture.manual->array == array
                                     : picture.operand == table.operand;
}

ArrayPicture tablePicture(const PageTable& table, const ArrayPicture& of)
{
    ArrayPicture picture;
    picture.operand = of.operand;
    picture.manual = of.manual;
    picture.table = &table;
    picture.name = table.name;
    picture.shape = parts::arrayText(table.shape, table.dtype);
    picture.note = table.entries.empty() ? "not known · " + table.why
                                         : "in SMEM · its entries choose parts of " + of.name;
    const std::size_t rank = table.shape.rank();
    picture.columns = rank > 0 ? table.shape[rank - 1] : 1;
    picture.rows = picture.columns > 0 ? table.shape.elements() / picture.columns : 1;
    return picture;
}

} // namespace

std::vector<ArrayPicture> withTables(const GridMoment& moment, std::vector<ArrayPicture> pictures)
{
    std::vector<ArrayPicture> all;
    std::vector<const PageTable*> left;
    for (const PageTable& table : moment.run.tables) {
        if (table.shape.elements() > 0 && table.shape.elements() <= kMostEntriesDrawn) {
            left.push_back(&table);
        }
    }
    for (ArrayPicture& picture : pictures) {
        std::erase_if(left, [&](const PageTable* table) {
            const bool isIts = leadsTo(moment, *table, picture);
            if (isIts) {
                all.push_back(tablePicture(*table, picture));
            }
            return isIts;
        });
        all.push_back(std::move(picture));
    }
    return all;
}

std::vector<std::int64_t> cellsOfEntry(const GridMoment& moment, const ArrayPicture& table,
                                       std::int64_t entry)
{
    const PageTable& of = *table.table;
    const trace::Operand& operand = moment.run.trace->info().operands[trace::at(table.operand)];
    const auto axis = static_cast<std::size_t>(of.axis);
    const std::int64_t value = of.entries.empty() ? kNoEntry : of.entries[trace::at(entry)];
    if (value < 0 || axis >= operand.array.rank()
        || value >= ceilDiv(operand.array[axis], std::max<Extent>(of.unit, 1))) {
        return {};
    }
    // Cells are numbered in row-major order; those at one place of an axis are runs of `inner`.
    std::vector<Extent> counts =
        table.manual != nullptr ? table.manual->counts() : operand.blockCounts;
    std::int64_t place = value;
    if (table.manual != nullptr) {
        const std::vector<Extent>& edges = table.manual->edges[axis];
        place = std::upper_bound(edges.begin(), edges.end(), value * of.unit) - edges.begin() - 1;
    }
    if (place >= counts[axis]) {
        return {};
    }
    std::int64_t inner = 1, outer = 1;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        (i < axis ? outer : inner) *= i == axis ? 1 : counts[i];
    }
    constexpr std::int64_t kMostCells = 16; // of one entry, that are looked at
    std::vector<std::int64_t> cells;
    for (std::int64_t o = 0; o < outer && std::ssize(cells) < kMostCells; ++o) {
        for (std::int64_t i = 0; i < inner && std::ssize(cells) < kMostCells; ++i) {
            cells.push_back((o * counts[axis] + place) * inner + i);
        }
    }
    return cells;
}

trace::BlockState stateOfEntry(const GridMoment& moment, const ArrayPicture& table,
                               const std::vector<std::int64_t>& cells)
{
    trace::BlockState liveliest;
    for (const std::int64_t cell : cells) {
        const trace::Index& index = *moment.run.index;
        const trace::BlockState state =
            table.manual != nullptr
                ? index.manualArrays(moment.device)
                      .stateAt(*moment.run.trace, *table.manual, cell, moment.now)
                : index.blockStateAt(trace::OperandRow{table.operand}, cell, moment.now);
        if (trace::livelinessOf(state.phase) > trace::livelinessOf(liveliest.phase)) {
            liveliest = state;
        }
    }
    return liveliest;
}

} // namespace pallascope::layout
