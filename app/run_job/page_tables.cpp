#include "app/run_job/page_tables.h"

#include "core/ir/table_facts.h"
#include "core/machine/replay.h"
#include "core/trace/pipelines.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pallascope::app {

namespace {

using machine::Replay;

constexpr std::int64_t kMostEntries = 65'536; // a picture of more would show none of them

// The operand of the trace that the table chooses parts of; none if nothing of it is copied.
std::optional<std::size_t> operandOf(const trace::Info& info, const ir::TableFacts& facts)
{
    const auto found = std::ranges::find_if(info.operands, [&](const trace::Operand& operand) {
        return trace::arrayName(operand) == facts.array && !operand.isAround
               && facts.axis < operand.array.rank();
    });
    return found == info.operands.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(found - info.operands.begin()));
}

// When the first of its copies is issued.
std::optional<Picoseconds> firstCopy(const trace::Trace& trace, std::size_t operand)
{
    const trace::Copies& copies = trace.copies();
    const auto first =
        std::find(copies.operand.begin(), copies.operand.end(), static_cast<std::int32_t>(operand));
    return first == copies.operand.end()
               ? std::nullopt
               : std::optional(Picoseconds(
                   copies.issue[static_cast<std::size_t>(first - copies.operand.begin())]));
}

// Empty where no agent of the first device has the table at this moment.
std::vector<std::int64_t> entriesOf(Replay& replay, ir::ValueId table)
{
    const std::vector<Replay::AgentPlace> places = replay.places();
    for (std::size_t agent = 0; agent < places.size(); ++agent) {
        if (std::ranges::find(places[agent].refs, table) == places[agent].refs.end()) {
            continue;
        }
        const Replay::Contents contents = replay.contents(agent, table);
        std::vector<std::int64_t> entries;
        for (std::int64_t i = 0; i < contents.elements.shape.elements(); ++i) {
            const bool isDefined = contents.defined[static_cast<std::size_t>(i)] != 0;
            entries.push_back(isDefined ? std::llround(contents.elements.at(i)) : layout::kNoEntry);
        }
        return entries;
    }
    return {};
}

// A replay that computes only what decides the run; null if it cannot.
std::unique_ptr<Replay> replayOf(const ir::Program& program, const std::vector<Array>& inputs,
                                 const chip::Chip& chip, const machine::Settings& settings)
{
    machine::Options needed;
    needed.values = machine::ValueMode::Needed;
    needed.settings = settings;
    Result<std::unique_ptr<Replay>> started = Replay::start(program, inputs, chip, needed);
    return started ? std::move(*started) : nullptr;
}

// At this moment of the run; empty if they are not known.
std::vector<std::int64_t> entriesAt(Replay& replay, ir::ValueId table, Picoseconds time)
{
    if (!replay.computes(table)) {
        return {};
    }
    const Result<bool> moved = replay.seekTime(time);
    return moved && *moved ? entriesOf(replay, table) : std::vector<std::int64_t>();
}

} // namespace

std::vector<layout::PageTable> pageTables(const ir::Program& program,
                                          const std::vector<Array>& inputs, const chip::Chip& chip,
                                          const machine::Options& options,
                                          const trace::Trace& trace)
{
    std::vector<layout::PageTable> tables;
    std::unique_ptr<Replay> replay;
    for (const ir::TableFacts& facts : ir::tablesOf(program)) {
        const ir::Type& type = program.type(facts.table);
        const auto operand = operandOf(trace.info(), facts);
        const auto first = operand ? firstCopy(trace, *operand) : std::nullopt;
        if (!first || type.shape.elements() > kMostEntries) {
            continue;
        }
        layout::PageTable table{program.value(facts.table).name,
                                type.dtype,
                                type.shape,
                                {},
                                "the run does not compute what is in this table",
                                static_cast<std::int32_t>(*operand),
                                static_cast<std::int32_t>(facts.axis),
                                facts.unit};
        if (facts.isWritten) {
            table.why = "the kernel stores into this table";
            tables.push_back(std::move(table));
            continue;
        }
        try { // the run itself has fitted into the memory that it may take
            replay = replay ? std::move(replay) : replayOf(program, inputs, chip, options.settings);
            table.entries =
                replay ? entriesAt(*replay, facts.table, *first) : std::vector<std::int64_t>();
        } catch (const MemoryLimitReached&) {
            replay = nullptr;
            table.why = "there is no memory left for it";
        }
        tables.push_back(std::move(table));
    }
    return tables;
}

} // namespace pallascope::app
