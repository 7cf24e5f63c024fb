// Numbers of rows, with a type for each table of a trace, so that a step cannot pass for a visit or
// an agent. Columns hold plain numbers, with kNone for absence; a look-up that may find nothing
// returns an OptionalRow.
#pragma once

#include "core/base/check.h"
#include "core/trace/trace.h"

#include <compare>
#include <cstdint>
#include <optional>

namespace pallascope::trace {

// A row that may be absent. It behaves as std::optional does, and is as large as the number of the
// row: std::optional keeps its flag beside the number, writes the two one by one, and reads them as
// one word, for which a processor must wait. In runs without values that was a tenth of the time.
template<class Row>
class OptionalRow
{
public:
    constexpr OptionalRow() = default;

    constexpr OptionalRow(std::nullopt_t /*none*/) {}

    constexpr OptionalRow(Row row)
        : m_row(row)
    {}

    constexpr OptionalRow(const std::optional<Row>& row)
        : m_row(row.value_or(Row{kNone}))
    {}

    [[nodiscard]] constexpr bool has_value() const { return m_row.number != kNone; }

    constexpr explicit operator bool() const { return has_value(); }

    // Only if there is one.
    [[nodiscard]] constexpr const Row& operator*() const { return m_row; }

    [[nodiscard]] constexpr const Row* operator->() const { return &m_row; }

    [[nodiscard]] Row value() const
    {
        PALLASCOPE_CHECK(has_value());
        return m_row;
    }

    [[nodiscard]] constexpr Row value_or(Row other) const { return has_value() ? m_row : other; }

    constexpr void reset() { m_row = Row{kNone}; }

    auto operator<=>(const OptionalRow&) const = default;

private:
    Row m_row{kNone};
};

template<class Table>
struct Row
{
    std::int32_t number = 0;

    [[nodiscard]] static constexpr Row at(std::size_t index)
    {
        return {static_cast<std::int32_t>(index)};
    }

    // From a column, where kNone stands for absence.
    [[nodiscard]] static constexpr OptionalRow<Row> of(std::int32_t stored) { return Row{stored}; }

    [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(number); }

    auto operator<=>(const Row&) const = default;
};

// What a column holds of a row that may be absent.
template<class Table>
[[nodiscard]] constexpr std::int32_t stored(OptionalRow<Row<Table>> row)
{
    return row ? row->number : kNone;
}

using StepRow = Row<Steps>;
using SegmentRow = Row<Segments>;
using CopyRow = Row<Copies>;
using WaitRow = Row<Waits>;
using VisitRow = Row<Visits>;
using RoundRow = Row<Rounds>;
using EndRow = Row<CopyEnds>;

// Of the lists of Info.
using OperationRow = Row<Operation>;
using OperandRow = Row<Operand>;
using BufferRow = Row<Buffer>;
using PipelineRow = Row<Pipeline>;
using SemaphoreRow = Row<Semaphore>;
using UnitRow = Row<Unit>;
using LinkRow = Row<Link>;
using AgentRow = Row<struct AgentTag>; // Info has only the names of agents

} // namespace pallascope::trace
