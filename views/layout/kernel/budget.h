// The memory that a pipeline takes, and how the kernel view lists it.
#pragma once

#include "views/layout/run/position.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::layout {

struct BudgetRow
{
    std::string name, block, buffers;
    Bytes bytes;
    Color color;
    std::int32_t operand = -1;
    std::int32_t firstBuffer = -1;
};

// What is there while the pipeline under the playhead runs.
struct Budget
{
    Position position;
    Taken taken;
    Bytes temporaries; // the estimate
    std::vector<BudgetRow> rows;

    [[nodiscard]] bool isOver() const { return taken.used > taken.limit; }

    [[nodiscard]] bool isUnfit() const { return taken.used > taken.capacity; }
};

[[nodiscard]] Budget budgetOf(const RunView& run, Picoseconds now);

// What a budget is written in: fits, over the limit, over the memory.
[[nodiscard]] Role inkOf(const Budget& budget);

// One row for each operand and scratch, from y down to `bottom`; in two columns, without blocks and
// buffers, where that is not enough for one, and then as many as have room. Returns the y below it.
double paintTable(Canvas& canvas, const RunView& run, const Budget& budget, double y,
                  double bottom);

} // namespace pallascope::layout
