// Turns what was recorded into a trace, or into sums, when the run has ended.
#include "core/base/check.h"
#include "core/machine/record/recorder.h"
#include "core/trace/lookup.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <span>
#include <unordered_map>
#include <utility>

namespace pallascope::machine {

// Every device launches every kernel, unless the run ends before.
void Recorder::recordLaunches()
{
    if (m_launches.empty()) {
        return;
    }
    const std::int64_t devices = builder.info.deviceCount();
    for (trace::Operand& operand : builder.info.operands.edit()) {
        if (operand.kernel != trace::kNone) {
            const std::int64_t all = m_launches[static_cast<std::size_t>(operand.kernel)];
            operand.launches = (all + devices - 1) / devices;
        }
    }
}

trace::Summary Recorder::finishSums(Picoseconds end)
{
    PALLASCOPE_CHECK(m_keeps == Keeps::Sums);
    builder.info.events = m_position.events;
    builder.info.fromL1 = m_position.fromL1;
    recordLaunches();
    return std::move(*m_sums).finish(m_position.steps, m_firstBody, m_lastStepEnd, end);
}

namespace {

// Sorts prints by time, because the engine runs cores one after another up to the point where they
// meet. A run that findings end may end within a segment.
void sortPrints(std::vector<trace::Print>& prints, Picoseconds end)
{
    for (trace::Print& print : prints) {
        print.time = std::min(print.time, end);
    }
    std::stable_sort(prints.begin(), prints.end(),
                     [](const trace::Print& a, const trace::Print& b) { return a.time < b.time; });
}

// Sorts rows stably by their first column, the time at which they begin.
template<class... Columns>
void sortRows(std::vector<std::int64_t>& begin, Columns&... columns)
{
    if (std::is_sorted(begin.begin(), begin.end())) {
        return;
    }
    std::vector<std::size_t> order(begin.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return begin[a] < begin[b]; });
    const auto sort = [&](auto& column) {
        auto sorted = column;
        for (std::size_t i = 0; i < column.size(); ++i) {
            sorted[i] = column[order[i]];
        }
        column = std::move(sorted);
    };
    (sort(columns), ...);
    sort(begin);
}

// Adds one number of each row to its column.
template<class Row, class T>
void addTo(std::vector<T>& column, std::span<const Row> rows, T Row::*number)
{
    const auto numbers = std::views::transform(rows, number);
    column.insert(column.end(), numbers.begin(), numbers.end());
}

} // namespace

void Recorder::closeRows()
{
    m_rows.steps.close(builder.steps);
    m_rows.segments.close(builder.segments);
    m_rows.copies.close(builder.copies);
    m_rows.waits.close(builder.waits);
    m_rows.signals.close(builder.signals);
}

void Recorder::recordLists(const ir::Operation& pipeline, std::size_t spec,
                           const std::vector<Extent>& blockCounts, const IndexLists& lists)
{
    for (const std::int32_t row : m_pipelines.at(&pipeline).rows) {
        const std::int32_t number = *operandIndex(pipeline, row, spec);
        trace::Operand& operand = builder.info.operands.edit()[static_cast<std::size_t>(number)];
        trace::Operand before = operand;
        before.blockCounts = blockCounts;
        const auto axis = static_cast<std::size_t>(operand.indirectAxis);
        std::unordered_map<Extent, Extent> numbers; // keyed by the numbers of the run
        std::vector<std::int64_t*> blocks;
        const auto note = [&](std::int64_t& block) {
            blocks.push_back(&block);
            const Extent list = trace::blockIndex(before, block)[axis];
            if (numbers.try_emplace(list, operand.blockCounts[axis]).second) {
                ++operand.blockCounts[axis];
                operand.indices.insert(operand.indices.end(), lists[list].begin(),
                                       lists[list].end());
                operand.indices.resize(
                    static_cast<std::size_t>(operand.blockCounts[axis] * operand.block[axis]),
                    trace::kNoElement);
            }
        };
        for (std::size_t copy = 0; copy < m_rows.copies.size(); ++copy) {
            if (builder.copies.operand[copy] == number) {
                note(builder.copies.block[copy]);
            }
        }
        for (Visit& visit : m_visits[static_cast<std::size_t>(number)]) {
            note(visit.block);
        }
        for (std::int64_t* const block : blocks) {
            std::vector<Extent> index = trace::blockIndex(before, *block);
            index[axis] = numbers.at(index[axis]);
            *block = 0;
            for (std::size_t i = 0; i < index.size(); ++i) {
                *block = *block * operand.blockCounts[i] + index[i];
            }
        }
    }
}

Result<std::shared_ptr<const trace::Trace>> Recorder::finish(Picoseconds end)
{
    closeRows();
    recordLaunches();
    trace::Visits& columns = builder.visits;
    std::size_t rows = 0;
    for (const std::vector<Visit>& visits : m_visits) {
        rows += visits.size();
    }
    for (auto* column : {&columns.operand, &columns.firstStep, &columns.lastStep, &columns.slot,
                         &columns.copyIn, &columns.copyOut}) {
        column->reserve(rows);
    }
    columns.block.reserve(rows);
    for (std::size_t operand = 0; operand < m_visits.size(); ++operand) {
        constexpr std::size_t kTogether = 256; // as many as the nearest cache holds
        std::span<const Visit> rest(m_visits[operand]);
        while (!rest.empty()) {
            const auto some = rest.first(std::min(rest.size(), kTogether));
            rest = rest.subspan(some.size());
            columns.operand.resize(columns.operand.size() + some.size(),
                                   static_cast<std::int32_t>(operand));
            addTo(columns.firstStep, some, &Visit::firstStep);
            addTo(columns.lastStep, some, &Visit::lastStep);
            addTo(columns.block, some, &Visit::block);
            addTo(columns.slot, some, &Visit::slot);
            addTo(columns.copyIn, some, &Visit::copyIn);
            addTo(columns.copyOut, some, &Visit::copyOut);
        }
        m_visits[operand] = {};
    }
    trace::Waits& waits = builder.waits; // waits for manual DMA are recorded when they end
    sortRows(waits.begin, waits.copy, waits.semaphore, waits.operation, waits.agent, waits.step,
             waits.end);
    // Requests to a unit begin later than they were made.
    trace::Segments& segments = builder.segments;
    sortRows(segments.begin, segments.templateId, segments.agent, segments.step);
    // Agents run ahead of each other.
    trace::Rounds& rounds = builder.rounds = m_rounds.take(end);
    sortRows(rounds.begin, rounds.loop, rounds.agent, rounds.round, rounds.end);
    trace::GridBlocks& blocks = builder.gridBlocks = m_gridBlocks.take(end);
    sortRows(blocks.begin, blocks.grid, blocks.block, blocks.agent, blocks.claimed, blocks.end);
    builder.cacheChanges = m_cacheRows.take(end);
    sortPrints(builder.info.prints, end);
    if (!builder.info.semaphores.empty()) {
        builder.waits.semaphore.resize(builder.waits.size(), trace::kNone);
    }
    builder.info.events = m_position.events;
    builder.info.fromL1 = m_position.fromL1;
    builder.end = end;
    return std::move(builder).finish(&m_description.info);
}

} // namespace pallascope::machine
