#include "core/trace/index_sums.h"

#include "core/trace/alike.h"
#include "core/trace/columns.h"
#include "core/trace/mark_time.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

namespace pallascope::trace {

namespace {

Lane makeLane(const Trace& trace, std::int32_t link)
{
    const Copies& copies = trace.copies();
    Lane lane;
    lane.size = copies.size();
    if (trace.info().links.size() > 1) {
        for (std::size_t row = 0; row < copies.size(); ++row) {
            if (copies.link[row] == link) {
                lane.rows.push_back(static_cast<std::uint32_t>(row));
            }
        }
        lane.size = lane.rows.size();
    }
    const int passes = trace.info().hbmPasses(static_cast<std::size_t>(link));
    for (std::size_t operand = 0; operand < trace.info().operands.size(); ++operand) {
        const bool stays = trace.info().staysInHbm(operand);
        const bool isOnChip = trace.info().operands[operand].isOnChip;
        lane.hbmTimes.push_back(isOnChip ? 0 : stays ? passes : std::min(passes, 1));
    }
    const std::size_t keys = trace.info().operands.size() * 2;
    lane.sums = PrefixSums(Lane::hbmBytes(trace.info().operands.size()) + 1);
    for (std::size_t i = 0; i < lane.size; ++i) {
        const std::size_t row = lane.row(i), key = keyOf(copies, row);
        lane.sums.beginRow(i);
        lane.sums.add(key, copies.bytes[row]);
        lane.sums.add(keys + key, 1);
        lane.sums.add(2 * keys + copies.out[row], copies.end[row] - copies.start[row]);
        lane.sums.add(Lane::allBytes(keys / 2), copies.bytes[row]);
        lane.sums.add(Lane::hbmBytes(keys / 2), hbmBytesOf(lane, copies, row));
    }
    lane.sums.beginRow(lane.size);
    return lane;
}

std::vector<std::uint32_t> range(std::size_t first, std::size_t last)
{
    std::vector<std::uint32_t> rows(last - first);
    std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first));
    return rows;
}

std::vector<std::int64_t> firstLandings(const Trace& trace, std::span<const std::uint32_t> rows)
{
    std::vector<std::int64_t> times;
    std::int64_t done = -1; // the last block whose time is known
    for (const std::uint32_t row : rows) {
        const std::int32_t copy = trace.visits().copyOut[row];
        if (copy != kNone && trace.visits().block[row] != done) {
            done = trace.visits().block[row];
            times.push_back(trace.copies().end[at(copy)]);
        }
    }
    std::sort(times.begin(), times.end());
    times.shrink_to_fit();
    return times;
}

} // namespace

std::size_t Lane::by(const std::vector<std::int64_t>& column, std::int64_t t) const
{
    std::size_t first = 0, length = size;
    while (length > 0) {
        const std::size_t half = length / 2;
        if (column[row(first + half)] <= t) {
            first += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    return first;
}

std::int64_t busyWithin(const SegmentTemplate& segment, UnitRow unit, std::int64_t since)
{
    std::int64_t sum = 0;
    for (const Mark& mark : segment.marks) {
        if (mark.unit == unit.number) {
            const std::int64_t begin = markTime(segment, mark.offset);
            const std::int64_t end = markTime(segment, mark.offset + mark.length);
            sum += std::clamp(since, begin, end) - begin;
        }
    }
    return sum;
}

Index::Sums::Sums(const Trace& trace)
    : agents(agentsOf(trace))
    , pipelines(pipelineKindsOf(trace.info()))
    , arrays(arraysOf(trace.info()))
    , semaphores(trace)
    , caches(trace)
    , launches(trace, agents)
    , scratch(trace, semaphores, launches)
    , leading(trace, pipelines)
    , rounds(trace)
    , pieces(piecesOf(trace))
    , devices(trace)
    , segments(trace.info().units.size() + 1)
    , waits(2)
    , endedWaits(1)
{
    addSegments(trace);
    for (std::size_t row = 0; row < trace.waits().size(); ++row) {
        waits.beginRow(row);
        waits.add(0, trace.waits().end[row] - trace.waits().begin[row]);
        waits.add(1, trace.waits().end[row]);
    }
    waits.beginRow(trace.waits().size());
    waitEnds = trace.waits().end;
    std::sort(waitEnds.begin(), waitEnds.end());
    for (std::size_t i = 0; i < waitEnds.size(); ++i) {
        endedWaits.beginRow(i);
        endedWaits.add(0, waitEnds[i]);
    }
    endedWaits.beginRow(waitEnds.size());
    for (std::size_t link = 0; link < trace.info().links.size(); ++link) {
        lanes.push_back(makeLane(trace, static_cast<std::int32_t>(link)));
    }
    addSharing(trace);
    addVisits(trace);
    addOwners(trace);
    collectManualCopies(trace);
    addLists(trace);
}

const Index::Sums::ForPictures& Index::Sums::forPictures(const Trace& trace) const
{
    std::call_once(m_pictured, [&] {
        std::vector<ManualArrays>& manual = m_forPictures.manual;
        for (std::vector<std::uint32_t>& rows : manualRows(trace)) {
            const auto device = static_cast<std::int32_t>(manual.size());
            manual.emplace_back(trace, arrays, scratch, device, std::move(rows));
        }
        m_forPictures.alike = alikeOf(trace);
        m_forPictures.windows = windowsOf(trace, firstSharing);
    });
    return m_forPictures;
}

void Index::Sums::addSegments(const Trace& trace)
{
    const std::size_t units = trace.info().units.size();
    std::vector<std::size_t> used; // only units that some template uses
    for (const SegmentTemplate& segment : trace.info().templates) {
        flopsOf.push_back(segment.flops().value());
        for (std::size_t unit = 0; unit < units; ++unit) {
            busyOf.push_back(busyWithin(segment, UnitRow::at(unit), INT64_MAX));
            if (busyOf.back() != 0 && std::find(used.begin(), used.end(), unit) == used.end()) {
                used.push_back(unit);
            }
        }
    }
    const std::vector<std::int32_t>& ids = trace.segments().templateId;
    for (std::size_t row = 0; row < ids.size(); ++row) {
        const std::size_t id = at(ids[row]);
        segments.beginRow(row);
        segments.add(units, flopsOf[id]);
        for (const std::size_t unit : used) {
            segments.add(unit, busyOf[id * units + unit]);
        }
    }
    segments.beginRow(ids.size());
}

void Index::Sums::addSharing(const Trace& trace)
{
    const Info& info = trace.info();
    sharing.resize(info.operands.size());
    const std::size_t agentsEach = info.agentsPerDevice();
    std::map<std::tuple<std::int32_t, std::int32_t, std::size_t>, std::int32_t> known;
    for (std::size_t operand = 0; operand < info.operands.size(); ++operand) {
        const auto number = static_cast<std::int32_t>(operand);
        std::int32_t first = number;
        if (const std::int32_t row = info.operands[operand].pipeline; row >= 0) {
            const Pipeline& pipeline = info.pipelines[at(row)];
            const std::tuple place{pipelines.ofPipeline[at(row)], number - pipeline.firstOperand,
                                   at(pipeline.agent) / agentsEach};
            first = known.try_emplace(place, number).first->second;
        }
        firstSharing.push_back(first);
        sharing[at(first)].push_back(number);
    }
}

void Index::Sums::addOwners(const Trace& trace)
{
    owners.resize(sharing.size());
    for (std::size_t first = 0; first < sharing.size(); ++first) {
        if (sharing[first].size() < 2) {
            continue;
        }
        std::map<std::int64_t, std::int64_t> landings; // when each block was first written back
        for (const std::int32_t operand : sharing[first]) {
            for (const std::uint32_t visit : visitsByBlock[at(operand)].all()) {
                const std::int64_t block = trace.visits().block[visit];
                owners[first].push_back({block, operand});
                if (const std::int32_t out = trace.visits().copyOut[visit]; out != kNone) {
                    const std::int64_t end = trace.copies().end[at(out)];
                    std::int64_t& landing = landings.try_emplace(block, end).first->second;
                    landing = std::min(landing, end);
                }
            }
        }
        std::ranges::sort(owners[first]);
        const auto repeated = std::ranges::unique(owners[first]);
        owners[first].erase(repeated.begin(), repeated.end());
        written[first].clear();
        for (const auto& [block, landing] : landings) {
            written[first].push_back(landing);
        }
        std::ranges::sort(written[first]);
    }
}

void Index::Sums::addVisits(const Trace& trace)
{
    const Visits& visits = trace.visits();
    std::size_t first = 0;
    for (std::size_t operand = 0; operand < trace.info().operands.size(); ++operand) {
        std::size_t last = first;
        while (last < visits.size() && at(visits.operand[last]) == operand) {
            ++last;
        }
        visitsByBlock.emplace_back(range(first, last), visits.block);
        begunBefore.emplace_back(visitsByBlock.back().counted());
        written.push_back(firstLandings(trace, visitsByBlock.back().all()));
        first = last;
    }
}

void Index::Sums::collectManualCopies(const Trace& trace)
{
    const SharedList<Operand>& operands = trace.info().operands;
    const Copies& copies = trace.copies();
    manualCopiesByBlock.resize(operands.size());
    if (std::none_of(operands.begin(), operands.end(),
                     [](const Operand& operand) { return operand.pipeline == kNone; })) {
        return;
    }
    std::vector<std::vector<std::uint32_t>> rows(operands.size());
    for (std::size_t row = 0; row < copies.size(); ++row) {
        if (operands[at(copies.operand[row])].pipeline == kNone) {
            rows[at(copies.operand[row])].push_back(static_cast<std::uint32_t>(row));
        }
    }
    for (std::size_t operand = 0; operand < rows.size(); ++operand) {
        std::ranges::stable_sort(rows[operand], {},
                                 [&](std::uint32_t row) { return copies.end[row]; });
        manualCopiesByBlock[operand] = RowsByBlock(std::move(rows[operand]), copies.block);
    }
}

void Index::Sums::addLists(const Trace& trace)
{
    for (const Operand& operand : trace.info().operands) {
        std::vector<ListedElement>& all = listed.emplace_back();
        if (operand.indirectAxis < 0) {
            continue;
        }
        const std::size_t size = at(operand.block[at(operand.indirectAxis)]);
        all.reserve(operand.indices.size());
        for (std::size_t i = 0; i < operand.indices.size(); ++i) {
            all.push_back({operand.indices[i], static_cast<std::int32_t>(i / size)});
        }
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
    }
}

} // namespace pallascope::trace
