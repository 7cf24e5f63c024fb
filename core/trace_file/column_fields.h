// Describes the tables of a trace file once, for the writer and the reader. A codec is called with
// each column, its name, and a prediction of a row from what comes earlier in the file. The file
// holds only the difference from the prediction, which is 0 for most rows of a regular kernel.
//
// A prediction may use earlier rows of its own column, and whole columns that come earlier in the
// file. While a file is read these may hold any value, since nothing has been validated yet. So
// sums wrap and every index is checked. An optionalColumn is left out of the file if it is empty.
#pragma once

#include "core/trace/trace.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace pallascope::trace_file {

[[nodiscard]] inline std::int64_t wrappingAdd(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

[[nodiscard]] inline std::int64_t wrappingSubtract(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

// list[index], or `fallback` if there is no such entry.
template<class T>
[[nodiscard]] std::int64_t entryOr(const std::vector<T>& list, std::int64_t index,
                                   std::int64_t fallback)
{
    const bool exists = index >= 0 && index < static_cast<std::int64_t>(list.size());
    return exists ? static_cast<std::int64_t>(list[static_cast<std::size_t>(index)]) : fallback;
}

// The row before this one, or `first` for row 0.
template<class T>
[[nodiscard]] std::int64_t before(const std::vector<T>& column, std::size_t row,
                                  std::int64_t first = 0)
{
    return row == 0 ? first : static_cast<std::int64_t>(column[row - 1]);
}

inline constexpr auto kNoPrediction = [](std::size_t) { return std::int64_t{0}; };

template<class Codec, class Table>
void describeSteps(Codec& codec, Table& t)
{
    codec.column("pipeline", t.pipeline, kNoPrediction);
    codec.column("ordinal", t.ordinal,
                 [&](std::size_t i) { return wrappingAdd(before(t.ordinal, i, -1), 1); });
    codec.column("begin_ps", t.begin, [&](std::size_t i) { return before(t.begin, i); });
    // Steps differ in how long they wait. So predict that a step goes on after its wait as long as
    // the step before it did.
    codec.column("body_begin_ps", t.bodyBegin, [&](std::size_t i) {
        if (i == 0 || i + 1 >= t.begin.size()) {
            return t.begin[i];
        }
        const std::int64_t work = wrappingSubtract(t.begin[i], t.bodyBegin[i - 1]);
        return std::max(t.begin[i], wrappingSubtract(t.begin[i + 1], work));
    });
    codec.column("body_end_ps", t.bodyEnd, [&](std::size_t i) {
        const std::int64_t body =
            i == 0 ? 0 : wrappingSubtract(t.bodyEnd[i - 1], t.bodyBegin[i - 1]);
        return wrappingAdd(t.bodyBegin[i], body);
    });
    codec.column("end_ps", t.end, [&](std::size_t i) {
        return i + 1 < t.begin.size() ? t.begin[i + 1] : t.bodyEnd[i];
    });
}

template<class Codec, class Table>
void describeSegments(Codec& codec, Table& t, const trace::Steps& steps, const trace::Info& info)
{
    codec.column("template", t.templateId, kNoPrediction);
    codec.column("agent", t.agent, kNoPrediction);
    codec.column("step", t.step, [&](std::size_t i) { return before(t.step, i); });
    codec.column("begin_ps", t.begin, [&, durations = [&] {
                     std::vector<std::int64_t> result;
                     for (const trace::SegmentTemplate& segment : info.templates) {
                         result.push_back(segment.duration.value());
                     }
                     return result;
                 }()](std::size_t i) {
        if (i == 0 || t.step[i] != t.step[i - 1]) {
            return entryOr(steps.bodyBegin, t.step[i], before(t.begin, i));
        }
        return wrappingAdd(t.begin[i - 1], entryOr(durations, t.templateId[i - 1], 0));
    });
}

// Holds the last value for each operand and direction of copies.
template<class T>
class PerKey
{
public:
    PerKey(std::size_t operands, T first)
        : m_values(operands * 2 + 1, first)
    {}

    template<class Table>
    T& of(const Table& copies, std::size_t row)
    {
        const std::int64_t key =
            std::int64_t{copies.operand[row]} * 2 + (copies.out[row] != 0 ? 1 : 0);
        const bool known = key >= 0 && key < static_cast<std::int64_t>(m_values.size());
        return m_values[known ? static_cast<std::size_t>(key) : m_values.size() - 1];
    }

private:
    std::vector<T> m_values;
};

// The time at which the last copy of each link ended. One extra entry is for links that do not
// exist.
class LinkEnds
{
public:
    explicit LinkEnds(const trace::Info& info)
        : m_ends(info.links.size() + 1, 0)
    {}

    template<class Table>
    std::int64_t& of(const Table& copies, std::size_t row)
    {
        const std::int64_t link = copies.link[row];
        const bool known = link >= 0 && link < static_cast<std::int64_t>(m_ends.size());
        return m_ends[known ? static_cast<std::size_t>(link) : m_ends.size() - 1];
    }

private:
    std::vector<std::int64_t> m_ends;
};

template<class Codec, class Table>
void describeCopies(Codec& codec, Table& t, const trace::Steps& steps, const trace::Info& info)
{
    using Row = std::optional<std::size_t>;
    const std::size_t operands = info.operands.size();
    const auto last = [operands] { return PerKey<Row>(operands, std::nullopt); };
    const auto operandOf = [&](std::size_t i) -> const trace::Operand* {
        const auto index = static_cast<std::size_t>(t.operand[i]);
        return t.operand[i] >= 0 && index < operands ? &info.operands[index] : nullptr;
    };
    codec.column("operand", t.operand, kNoPrediction);
    codec.column("out", t.out, kNoPrediction);
    codec.column("link", t.link, kNoPrediction);
    codec.column("slot", t.slot, [&, rows = last()](std::size_t i) mutable {
        const Row previous = std::exchange(rows.of(t, i), i);
        const trace::Operand* const operand = operandOf(i);
        if (!previous || operand == nullptr || operand->slots < 1) {
            return std::int64_t{0};
        }
        return (std::int64_t{t.slot[*previous]} + 1) % operand->slots;
    });
    codec.column("block", t.block,
                 [&, rows = last(), older = last()](std::size_t i) mutable -> std::int64_t {
                     const Row previous = std::exchange(rows.of(t, i), i);
                     const Row second = std::exchange(older.of(t, i), previous);
                     if (!previous || !second) {
                         return previous ? t.block[*previous] : 0;
                     }
                     return wrappingAdd(t.block[*previous],
                                        wrappingSubtract(t.block[*previous], t.block[*second]));
                 });
    codec.column("step", t.step, [&](std::size_t i) { return before(t.step, i); });
    codec.column("bytes", t.bytes, [&](std::size_t i) {
        const trace::Operand* const operand = operandOf(i);
        return operand == nullptr ? 0 : operand->blockBytes.value();
    });
    codec.column("issue_ps", t.issue, [&](std::size_t i) {
        return entryOr(t.out[i] != 0 ? steps.end : steps.begin, t.step[i], before(t.issue, i));
    });
    // On a FIFO link a copy starts when it is issued or when the previous copy has ended. The end
    // comes first in the file. It is predicted from the time that the last copy of the same kind
    // took.
    codec.column("end_ps", t.end,
                 [&, free = LinkEnds(info),
                  lengths = PerKey<std::int64_t>(operands, 0)](std::size_t i) mutable {
                     if (i > 0) { // update with the row before
                         const std::int64_t start = std::max(t.issue[i - 1], free.of(t, i - 1));
                         lengths.of(t, i - 1) = wrappingSubtract(t.end[i - 1], start);
                         free.of(t, i - 1) = t.end[i - 1];
                     }
                     return wrappingAdd(std::max(t.issue[i], free.of(t, i)), lengths.of(t, i));
                 });
    codec.column("start_ps", t.start, [&, free = LinkEnds(info)](std::size_t i) mutable {
        return std::max(t.issue[i], std::exchange(free.of(t, i), t.end[i]));
    });
}

// Ends are pairs, a source and a target, so each resembles the one two rows before it.
template<class Codec, class Table>
void describeCopyEnds(Codec& codec, Table& t)
{
    const auto asBefore = [](const auto& column) {
        return [&column](std::size_t i) -> std::int64_t { return i < 2 ? 0 : column[i - 2]; };
    };
    codec.column("copy", t.copy,
                 [&](std::size_t i) { return before(t.copy, i, -1) + (i % 2 == 0 ? 1 : 0); });
    codec.column("agent", t.agent, asBefore(t.agent));
    codec.column("buffer", t.buffer, asBefore(t.buffer));
    codec.column("shape", t.shape, asBefore(t.shape));
    codec.column("semaphore", t.semaphore, asBefore(t.semaphore));
    codec.column("first", t.first, asBefore(t.first));
}

template<class Codec, class Table>
void describeWaits(Codec& codec, Table& t, const trace::Steps& steps, const trace::Copies& copies,
                   const trace::Info& info)
{
    codec.column("copy", t.copy, [&](std::size_t i) { return before(t.copy, i, -1) + 1; });
    codec.column("agent", t.agent, kNoPrediction);
    codec.column("step", t.step, [&](std::size_t i) { return before(t.step, i); });
    codec.column("begin_ps", t.begin, [&](std::size_t i) {
        if (i > 0
            && t.step[i] == t.step[i - 1]) { // predict that it begins when the previous wait ended
            return std::max(t.begin[i - 1], entryOr(copies.end, t.copy[i - 1], 0));
        }
        return entryOr(steps.begin, t.step[i], before(t.begin, i));
    });
    codec.column("end_ps", t.end, [&](std::size_t i) {
        return std::max(t.begin[i], entryOr(copies.end, t.copy[i], 0));
    });
    if (!info.semaphores.empty()) {
        codec.column("semaphore", t.semaphore,
                     [&](std::size_t i) { return before(t.semaphore, i, trace::kNone); });
    }
    // Predict the operation that followed the same operation the last time.
    codec.optionalColumn(
        "operation", t.operation,
        [&, next = std::map<std::int64_t, std::int64_t>()](std::size_t i) mutable -> std::int64_t {
            if (i > 1) {
                next[t.operation[i - 2]] = t.operation[i - 1];
            }
            const auto known = next.find(before(t.operation, i, trace::kNone));
            return known == next.end() ? trace::kNone : known->second;
        });
}

template<class Codec, class Table>
void describeSignals(Codec& codec, Table& t)
{
    codec.column("semaphore", t.semaphore, [&](std::size_t i) { return before(t.semaphore, i); });
    codec.column("agent", t.agent, kNoPrediction);
    codec.column("time_ps", t.time, [&](std::size_t i) { return before(t.time, i); });
    codec.column("amount", t.amount,
                 [&](std::size_t i) { return wrappingSubtract(0, before(t.amount, i)); });
}

// The last row of the same loop on the same agent, for ascending rows.
template<class Table>
class RoundsBefore
{
public:
    explicit RoundsBefore(Table& rounds)
        : m_rounds(rounds)
    {}

    [[nodiscard]] std::optional<std::size_t> of(std::size_t row)
    {
        const auto [place, isFirst] =
            m_rows.try_emplace({m_rounds.loop[row], m_rounds.agent[row]}, row);
        return isFirst ? std::nullopt : std::optional(std::exchange(place->second, row));
    }

private:
    Table& m_rounds;
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> m_rows;
};

template<class Codec, class Table>
void describeRounds(Codec& codec, Table& t)
{
    codec.column("loop", t.loop, [&](std::size_t i) { return before(t.loop, i); });
    codec.column("agent", t.agent, kNoPrediction);
    codec.column("round", t.round, [&, last = RoundsBefore(t)](std::size_t i) mutable {
        const std::optional<std::size_t> row = last.of(i);
        return row ? wrappingAdd(t.round[*row], 1) : 0;
    });
    codec.column("begin_ps", t.begin, [&](std::size_t i) { return before(t.begin, i); });
    // Predict that a round takes as long as the one before it.
    codec.column("end_ps", t.end, [&, last = RoundsBefore(t)](std::size_t i) mutable {
        const std::optional<std::size_t> row = last.of(i);
        return wrappingAdd(t.begin[i], row ? wrappingSubtract(t.end[*row], t.begin[*row]) : 0);
    });
}

template<class Codec, class Table>
void describeGridBlocks(Codec& codec, Table& t)
{
    codec.column("grid", t.grid, [&](std::size_t i) { return before(t.grid, i); });
    codec.column("block", t.block,
                 [&](std::size_t i) { return i > 0 ? wrappingAdd(t.block[i - 1], 1) : 0; });
    codec.column("agent", t.agent, [&](std::size_t i) { return before(t.agent, i); });
    codec.column("claimed", t.claimed, kNoPrediction);
    codec.column("begin_ps", t.begin, [&](std::size_t i) { return before(t.begin, i); });
    codec.column("end_ps", t.end, [&](std::size_t i) { return before(t.end, i); });
}

template<class Codec, class Table>
void describeCacheChanges(Codec& codec, Table& t)
{
    codec.column("time_ps", t.time, [&](std::size_t i) { return before(t.time, i); });
    codec.column("device", t.device, [&](std::size_t i) { return before(t.device, i); });
    codec.column("operand", t.operand, [&](std::size_t i) { return before(t.operand, i); });
    codec.column("bytes", t.bytes, [&](std::size_t i) { return before(t.bytes, i); });
}

template<class Codec, class Table>
void describeVisits(Codec& codec, Table& t, const trace::Copies& copies)
{
    const auto continues = [&](std::size_t i) { return i > 0 && t.operand[i] == t.operand[i - 1]; };
    const auto copyOf = [&](std::size_t i) {
        return t.copyIn[i] != trace::kNone ? t.copyIn[i] : t.copyOut[i];
    };
    codec.column("operand", t.operand, kNoPrediction);
    codec.column("last_step", t.lastStep, [&](std::size_t i) {
        return continues(i) ? std::int64_t{t.lastStep[i - 1]} : -1;
    });
    codec.column("first_step", t.firstStep, [&](std::size_t i) {
        return continues(i) ? std::int64_t{t.lastStep[i - 1]} + 1 : 0;
    });
    codec.column("copy_in", t.copyIn, [&](std::size_t i) {
        return continues(i) ? std::int64_t{t.copyIn[i - 1]} : trace::kNone;
    });
    codec.column("copy_out", t.copyOut, [&](std::size_t i) {
        return continues(i) ? std::int64_t{t.copyOut[i - 1]} : trace::kNone;
    });
    codec.column("block", t.block,
                 [&](std::size_t i) { return entryOr(copies.block, copyOf(i), 0); });
    codec.column("slot", t.slot, [&](std::size_t i) { return entryOr(copies.slot, copyOf(i), 0); });
}

} // namespace pallascope::trace_file
