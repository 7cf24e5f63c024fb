#include "core/trace/manual_arrays.h"

#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"
#include "core/trace/lookup.h"
#include "core/trace/manual_cut.h"

#include <algorithm>
#include <map>
#include <utility>

namespace pallascope::trace {

namespace {

constexpr std::int64_t kMostParts = std::int64_t{1} << 23;

// Numbers the cells of one array that a box overlaps.
class Overlap
{
public:
    Overlap(const ManualArray& array, const ManualBox& box)
        : m_counts(array.counts())
    {
        for (std::size_t axis = 0; axis < box.size(); ++axis) {
            const std::vector<Extent>& edges = array.edges[axis];
            const auto first = std::upper_bound(edges.begin(), edges.end() - 1, box[axis].from);
            const auto last = std::lower_bound(first, edges.end() - 1, box[axis].to);
            m_first.push_back(std::max<Extent>(first - edges.begin() - 1, 0));
            m_last.push_back(std::max<Extent>(last - edges.begin(), m_first.back() + 1));
        }
    }

    [[nodiscard]] std::int64_t size() const
    {
        std::int64_t size = 1;
        for (std::size_t axis = 0; axis < m_first.size(); ++axis) {
            size *= m_last[axis] - m_first[axis];
        }
        return size;
    }

    template<class F>
    void forEach(F f) const
    {
        std::vector<Extent> index = m_first;
        for (std::int64_t left = size(); left > 0; --left) {
            std::int64_t cell = 0;
            for (std::size_t axis = 0; axis < index.size(); ++axis) {
                cell = cell * m_counts[axis] + index[axis];
            }
            f(at(cell));
            for (std::size_t axis = index.size(); axis-- > 0;) {
                if (++index[axis] < m_last[axis]) {
                    break;
                }
                index[axis] = m_first[axis];
            }
        }
    }

private:
    std::vector<Extent> m_counts, m_first, m_last; // the last is not included
};

bool overlap(const std::vector<AxisRange>& a, const std::vector<AxisRange>& b)
{
    bool overlaps = a.size() == b.size();
    for (std::size_t axis = 0; overlaps && axis < a.size(); ++axis) {
        overlaps = a[axis].from < b[axis].to && b[axis].from < a[axis].to;
    }
    return overlaps;
}

// Fills in which copies go over which cells.
void addParts(ManualArray& array, const std::vector<ManualEnd>& ends)
{
    std::int64_t all = 0;
    for (const ManualEnd& end : ends) {
        all += Overlap(array, end.box).size();
    }
    if (all > kMostParts) { // one cell for the whole array
        for (std::vector<Extent>& edges : array.edges) {
            edges = {0, edges.back()};
        }
    }
    array.firstPart.assign(at(array.cells()) + 1, 0);
    for (const ManualEnd& end : ends) {
        Overlap(array, end.box).forEach([&](std::size_t cell) { ++array.firstPart[cell + 1]; });
    }
    for (std::size_t cell = 1; cell < array.firstPart.size(); ++cell) {
        array.firstPart[cell] += array.firstPart[cell - 1];
    }
    array.parts.resize(array.firstPart.back());
    std::vector<std::uint32_t> next = array.firstPart;
    array.readBefore = array.writtenBefore = {0};
    for (const ManualEnd& end : ends) {
        Overlap(array, end.box).forEach([&](std::size_t cell) {
            array.parts[next[cell]++] = {end.copy, end.writes};
        });
        if (array.copies.empty() || array.copies.back() != end.copy) {
            array.copies.push_back(end.copy);
            array.readBefore.push_back(array.readBefore.back());
            array.writtenBefore.push_back(array.writtenBefore.back());
        }
        (end.writes ? array.writtenBefore : array.readBefore).back() += end.bytes;
    }
}

} // namespace

std::vector<Extent> ManualArray::counts() const
{
    std::vector<Extent> counts;
    for (const std::vector<Extent>& axis : edges) {
        counts.push_back(static_cast<Extent>(axis.size()) - 1);
    }
    return counts;
}

std::int64_t ManualArray::cells() const
{
    std::int64_t cells = 1;
    for (const std::vector<Extent>& axis : edges) {
        cells *= static_cast<Extent>(axis.size()) - 1;
    }
    return cells;
}

AxisRange ManualArray::rangeOf(std::int64_t cell, std::size_t axis) const
{
    const Extent index = rowMajorIndex(counts(), cell)[axis];
    return {edges[axis][at(index)], edges[axis][at(index) + 1]};
}

ManualArrays::ManualArrays(const Trace& trace, const Arrays& arrays, const ScratchSlots& scratch,
                           std::int32_t device, std::vector<std::uint32_t> rows)
    : m_rows(std::move(rows))
{
    const Copies& copies = trace.copies();
    if (m_rows.empty()) {
        return;
    }
    for (ManualEnds& found : manualEndsOf(trace, arrays, m_rows, device)) {
        ManualArray array;
        array.name = found.name;
        array.operand = found.operand;
        array.array = found.array;
        array.isAround = found.isAround;
        for (const ManualEnd& end : found.ends) {
            array.operands.push_back(copies.operand[end.copy]);
        }
        std::sort(array.operands.begin(), array.operands.end());
        array.operands.erase(std::unique(array.operands.begin(), array.operands.end()),
                             array.operands.end());
        array.edges = cutOf(found.shape, found.ends);
        addParts(array, found.ends);
        for (const std::vector<Extent>& edges : array.edges) {
            array.isEven.push_back(isEvenCut(edges));
        }
        m_arrays.push_back(std::move(array));
    }
    m_byBlock = m_rows;
    std::stable_sort(m_byBlock.begin(), m_byBlock.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(copies.operand[a], copies.block[a])
               < std::pair(copies.operand[b], copies.block[b]);
    });
    collectStays(trace, scratch);
}

std::span<const std::uint32_t> ManualArrays::copiesOf(const Trace& trace, OperandRow operand,
                                                      std::int64_t block) const
{
    const auto [first, last] = std::ranges::equal_range(
        m_byBlock, std::pair(operand.number, block), {}, [&](std::uint32_t row) {
            return std::pair(trace.copies().operand[row], trace.copies().block[row]);
        });
    return {first, last};
}

ManualArrays::Stay ManualArrays::stayOf(std::uint32_t copy) const
{
    const auto row = std::lower_bound(m_rows.begin(), m_rows.end(), copy);
    return row == m_rows.end() || *row != copy ? Stay{} : m_stays[at(row - m_rows.begin())];
}

// Parts stand in the order of issue. On one link that is the order in which they land, and of
// several links few are under way at a time.
ManualArrays::Deciding ManualArrays::deciding(const Trace& trace, const ManualArray& array,
                                              std::int64_t cell, std::int64_t t) const
{
    constexpr std::ptrdiff_t kMostUnderWay = 32;
    const Copies& copies = trace.copies();
    const auto first = array.parts.begin() + array.firstPart[at(cell)];
    const auto end = array.parts.begin() + array.firstPart[at(cell) + 1];
    const auto issued = std::partition_point(
        first, end, [&](const ManualPart& part) { return copies.issue[part.copy] <= t; });
    Deciding found;
    std::int64_t moving = 0;
    for (auto part = issued; part != first && issued - part < kMostUnderWay;) {
        --part;
        const bool isMoving = copies.end[part->copy] > t;
        moving += isMoving ? 1 : 0;
        if (isMoving || !found.part) {
            found.part = *part;
            found.isMoving = isMoving;
        }
    }
    found.landed = (issued - first) - moving;
    if (!found.part && first != end) {
        found.part = *first;
    }
    return found;
}

BlockState ManualArrays::stateAt(const Trace& trace, const ManualArray& array, std::int64_t cell,
                                 Picoseconds time) const
{
    const std::int64_t t = clamped(trace, time);
    const Deciding found = deciding(trace, array, cell, t);
    BlockState state;
    state.copies = found.landed;
    if (!found.part || (found.landed == 0 && !found.isMoving)) {
        return state;
    }
    const std::uint32_t copy = found.part->copy;
    if (found.isMoving) {
        state.phase = found.part->writes                ? BlockPhase::Leaving
                      : trace.copies().start[copy] <= t ? BlockPhase::Arriving
                                                        : BlockPhase::Queued;
        state.fraction = copyFraction(trace, CopyRow::at(copy), Picoseconds(t));
        return state;
    }
    const Stay stay = stayOf(copy);
    state.phase = found.part->writes ? BlockPhase::Written
                  : t >= stay.kept   ? BlockPhase::Before
                  : t >= stay.waited ? BlockPhase::InUse
                                     : BlockPhase::Ready;
    return state;
}

std::optional<ManualPart> ManualArrays::decidingAt(const Trace& trace, const ManualArray& array,
                                                   std::int64_t cell, Picoseconds t) const
{
    return deciding(trace, array, cell, clamped(trace, t)).part;
}

ManualArrays::Moved ManualArrays::movedBy(const Trace& trace, const ManualArray& array,
                                          Picoseconds time)
{
    const std::int64_t t = clamped(trace, time);
    const auto issued = static_cast<std::size_t>(
        std::partition_point(array.copies.begin(), array.copies.end(),
                             [&](std::uint32_t copy) { return trace.copies().issue[copy] <= t; })
        - array.copies.begin());
    Moved moved{static_cast<double>(array.readBefore[issued]),
                static_cast<double>(array.writtenBefore[issued])};
    const auto subtract = [&](CopyRow copy) { // what of it has not moved
        const auto row = static_cast<std::uint32_t>(copy.number);
        const auto found = std::lower_bound(array.copies.begin(), array.copies.end(), row);
        if (found == array.copies.end() || *found != row) {
            return;
        }
        const auto i = static_cast<std::size_t>(found - array.copies.begin());
        const double left = 1 - copyFraction(trace, copy, Picoseconds(t));
        moved.read -= left * static_cast<double>(array.readBefore[i + 1] - array.readBefore[i]);
        moved.written -=
            left * static_cast<double>(array.writtenBefore[i + 1] - array.writtenBefore[i]);
    };
    for (std::size_t link = 0; link < trace.info().links.size(); ++link) {
        for (const std::size_t row : copiesOnLink(trace, LinkRow::at(link), Picoseconds(t))) {
            subtract(CopyRow::at(row));
        }
    }
    return moved;
}

std::vector<std::pair<std::int32_t, std::int64_t>>
ManualArrays::blocksOver(const Trace& trace, const Arrays& arrays, const ManualArray& array,
                         std::int64_t cell, const std::optional<ManualPart>& last) const
{
    constexpr std::size_t kMost = 16;
    constexpr std::uint32_t kMostAsked = 64;
    const Copies& copies = trace.copies();
    std::vector<std::pair<std::int32_t, std::int64_t>> found;
    const auto add = [&](std::uint32_t copy) {
        if (arrays.ofOperand[at(copies.operand[copy])] != array.array) {
            return;
        }
        const std::pair one{copies.operand[copy], copies.block[copy]};
        std::erase(found, one);
        found.push_back(one);
    };
    const std::uint32_t first = array.firstPart[at(cell)];
    const std::uint32_t end = std::min(array.firstPart[at(cell) + 1], first + kMostAsked);
    for (std::uint32_t part = first; part < end && found.size() < kMost; ++part) {
        add(array.parts[part].copy);
    }
    if (last) {
        add(last->copy);
    }
    return found;
}

// What a copy brings lies in its slot until another copy begins to go over the same part of it, or
// the block of a GPU that has the slot ends.
void ManualArrays::collectStays(const Trace& trace, const ScratchSlots& scratch)
{
    struct Held
    {
        std::vector<AxisRange> box;
        std::size_t number; // of m_rows
    };

    m_stays.resize(m_rows.size());
    const CopyEnds& ends = trace.copyEnds();
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Held>> held; // by buffer, agent
    for (std::size_t number = 0; number < m_rows.size(); ++number) {
        const CopyRow copy = CopyRow::at(m_rows[number]);
        const OptionalRow<EndRow> source = sourceOf(trace, copy);
        if (!source) {
            continue;
        }
        const std::int64_t issue = trace.copies().issue[copy.index()];
        for (const EndRow end : {*source, otherEnd(*source)}) {
            const std::int32_t buffer = ends.buffer[end.index()];
            if (buffer == kNone) {
                continue;
            }
            std::vector<AxisRange> box = rangesOfEnd(trace, end);
            std::vector<Held>& there = held[{buffer, ends.agent[end.index()]}];
            std::erase_if(there, [&](const Held& one) {
                const bool isOver = overlap(one.box, box);
                std::int64_t& kept = m_stays[one.number].kept;
                kept = isOver ? std::min(kept, issue) : kept;
                return isOver;
            });
            if (!isSource(end)) {
                m_stays[number].kept = scratch.released(end).value_or(trace.end()).value();
                if (const std::optional<Picoseconds> waited = scratch.awaited(end)) {
                    m_stays[number].waited = waited->value();
                }
                there.push_back({std::move(box), number});
            }
        }
    }
}

std::vector<std::vector<std::uint32_t>> manualRows(const Trace& trace)
{
    const Info& info = trace.info();
    std::vector<std::vector<std::uint32_t>> rows(at(info.deviceCount()));
    for (std::size_t row = 0; row < trace.copies().size(); ++row) {
        if (info.operands[at(trace.copies().operand[row])].pipeline != kNone) {
            continue;
        }
        const auto number = static_cast<std::uint32_t>(row);
        const OptionalRow<EndRow> source = sourceOf(trace, CopyRow::at(row));
        if (!source) {
            rows.front().push_back(number);
            continue;
        }
        const std::vector<std::int32_t>& agents = trace.copyEnds().agent;
        const std::int32_t from = info.deviceOf(agents[source->index()]);
        const std::int32_t to = info.deviceOf(agents[otherEnd(*source).index()]);
        rows[at(from)].push_back(number);
        if (to != from) {
            rows[at(to)].push_back(number);
        }
    }
    return rows;
}

} // namespace pallascope::trace
