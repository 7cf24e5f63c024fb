// Adds rows to a table of the trace while the run goes on.
#pragma once

#include "core/trace/trace.h"

#include <cstddef>

namespace pallascope::machine {

// Calls `action` with the columns that every row of a table has.
template<class Action>
void withColumns(trace::Steps& s, Action&& action)
{
    action(s.pipeline, s.ordinal, s.begin, s.bodyBegin, s.bodyEnd, s.end);
}

template<class Action>
void withColumns(trace::Segments& s, Action&& action)
{
    action(s.templateId, s.agent, s.step, s.begin);
}

template<class Action>
void withColumns(trace::Copies& c, Action&& action)
{
    action(c.operand, c.block, c.slot, c.out, c.link, c.step, c.bytes, c.issue, c.start, c.end);
}

template<class Action>
void withColumns(trace::Waits& w, Action&& action)
{
    action(w.copy, w.agent, w.step, w.begin, w.end);
}

template<class Action>
void withColumns(trace::Signals& s, Action&& action)
{
    action(s.semaphore, s.agent, s.time, s.amount);
}

// The rows of one table. Columns are made longer by many rows at a time, so that one more row costs
// one check and not one for each column. Until close() they are longer than the table.
class OpenRows
{
public:
    // The number of a new row, all of whose cells are to be written.
    template<class Table>
    [[nodiscard]] std::size_t next(Table& table)
    {
        if (m_used == m_open) {
            m_open += kAtOnce;
            resize(table, m_open);
        }
        return m_used++;
    }

    template<class Table>
    void close(Table& table)
    {
        m_open = m_used;
        resize(table, m_open);
    }

    [[nodiscard]] std::size_t size() const { return m_used; }

private:
    static constexpr std::size_t kAtOnce = 128; // a whole program has often no more

    template<class Table>
    static void resize(Table& table, std::size_t rows)
    {
        withColumns(table, [rows](auto&... columns) { (columns.resize(rows), ...); });
    }

    std::size_t m_used = 0, m_open = 0;
};

} // namespace pallascope::machine
