// Numbers of rows, with a type for each table of a trace, so that a step cannot pass for a visit or
// an agent. Columns hold plain numbers, with kNone for absence; a look-up that may find nothing
// returns an optional row.
#pragma once

#include "core/trace/trace.h"

#include <compare>
#include <cstdint>
#include <optional>

namespace pallascope::trace {

template<class Table>
struct Row
{
    std::int32_t number = 0;

    [[nodiscard]] static constexpr Row at(std::size_t index)
    {
        return {static_cast<std::int32_t>(index)};
    }

    // From a column, where kNone stands for absence.
    [[nodiscard]] static constexpr std::optional<Row> of(std::int32_t stored)
    {
        return stored == kNone ? std::nullopt : std::optional(Row{stored});
    }

    [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(number); }

    auto operator<=>(const Row&) const = default;
};

// What a column holds of a row that may be absent.
template<class Table>
[[nodiscard]] constexpr std::int32_t stored(std::optional<Row<Table>> row)
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
