#include "views/layout/grid/arrangement.h"

#include "views/layout/grid/cells.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pallascope::layout {

namespace {

constexpr double kGap = 20;         // between arrays side by side
constexpr double kBelow = 8;        // between the cells of one array and the heading below
constexpr double kLargestCell = 40; // larger cells would show no more
// Arrays with few cells get larger cells, up to this size of the array.
constexpr double kLargestArray = 140;
// The same where cells are parts of blocks that may overlap.
constexpr double kLargestScaled = 400;
constexpr double kLeastExtent = 12; // px of a whole array, so that even a single column can be seen
constexpr double kVectorHeight = 14; // px of a vector's only row
constexpr double kOdometerWidth = 96;

struct Plan // says which operand goes where, before anything has a size
{
    std::vector<ArrayShape> shapes;
    std::optional<std::size_t> anchor;
    std::vector<std::size_t> left, above, rest;
};

struct Frame
{
    Rect area;
    std::vector<double> headWidths; // for each shape
    std::size_t axes = 0;           // of the grid
    double label = kAxisLabel;      // see HeadWidths
};

double shareInArray(Extent array, Extent block, Extent count)
{
    if (block <= 0 || count <= 0) {
        return 1;
    }
    const double before = static_cast<double>(count - 1) * static_cast<double>(block);
    // A double, because an int64 might overflow.
    const double rest = static_cast<double>(array) - before;
    return std::clamp(rest / static_cast<double>(block), 0.0, 1.0);
}

// Where blocks may overlap, cells are small parts of them. All arrays are then drawn to one scale,
// so that they can be compared, but for a picture that would be far too long or too wide.
void setScales(const RunView& run, std::vector<ArrayShape>& shapes)
{
    constexpr double kMostAspect = 4;
    const auto& operands = run.trace->info().operands;
    std::vector<std::pair<double, double>> units; // elements of a cell, down and across
    double rows = 1, columns = 1;                 // elements of the largest array
    bool mayOverlap = false;
    for (const ArrayShape& shape : shapes) {
        const trace::Operand& operand = operands[shape.operand.index()];
        const trace::Windows& windows = run.index->windows(shape.operand);
        const std::vector<Extent> cell = cellExtents(operand, windows);
        const std::size_t rank = cell.size();
        if (rank >= 1) {
            columns = std::max(columns, static_cast<double>(operand.array[rank - 1]));
        }
        if (rank >= 2) {
            rows = std::max(rows, static_cast<double>(operand.array[rank - 2]));
        }
        units.emplace_back(rank < 2 ? 1.0 : static_cast<double>(cell[rank - 2]),
                           rank < 1 ? 1.0 : static_cast<double>(cell[rank - 1]));
        mayOverlap = mayOverlap || !windows.empty();
    }
    if (!mayOverlap) {
        return;
    }
    const double wider = std::max(1.0, rows / columns / kMostAspect);
    const double higher = std::max(1.0, columns / rows / kMostAspect);
    double least = std::numeric_limits<double>::max();
    for (const auto& [down, across] : units) {
        least = std::min({least, down * higher, across * wider});
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        shapes[i].rowScale = units[i].first * higher / least;
        shapes[i].columnScale = units[i].second * wider / least;
    }
}

// Puts an operand that could stand left of the anchor or above it where `preferAbove` says.
Plan planOf(const RunView& run, trace::PipelineRow pipeline, bool preferAbove)
{
    const trace::Info& info = run.trace->info();
    const trace::Pipeline& pipe = info.pipelines[pipeline.index()];
    Plan plan;
    for (std::int32_t i = 0; i < pipe.operandCount; ++i) {
        const std::int32_t operand = pipe.firstOperand + i;
        plan.shapes.push_back(arrayShape(run, trace::OperandRow{operand}));
        if (parts::writes(info.operands[static_cast<std::size_t>(operand)])) {
            plan.anchor = plan.shapes.size() - 1;
        }
    }
    setScales(run, plan.shapes);
    for (std::size_t i = 0; i < plan.shapes.size(); ++i) {
        if (i == plan.anchor) {
            continue;
        }
        const ArrayShape& shape = plan.shapes[i];
        const ArrayShape* anchor = plan.anchor ? &plan.shapes[*plan.anchor] : nullptr;
        const bool row = anchor != nullptr && anchor->rowAxis && shape.rowAxis == anchor->rowAxis
                         && shape.rows == anchor->rows;
        const bool column = anchor != nullptr && anchor->columnAxis
                            && shape.columnAxis == anchor->columnAxis
                            && shape.columns == anchor->columns;
        if (row && (!column || !preferAbove)) {
            plan.left.push_back(i);
        } else if (column) {
            plan.above.push_back(i);
        } else {
            plan.rest.push_back(i);
        }
    }
    if (plan.anchor && plan.left.empty() && plan.above.empty()) {
        plan.rest.push_back(*plan.anchor); // no axis is shared: all arrays stand in a row
    }
    return plan;
}

bool aligned(const Plan& plan)
{
    return !plan.left.empty() || !plan.above.empty();
}

double odometerHeight(std::size_t axes, double pitch)
{
    return axes == 0 ? 0 : 20 + static_cast<double>(axes) * std::clamp(pitch * 1.9, 22.0, 30.0);
}

// Places everything for one size of cells, and tells whether it fits.
class Placer
{
public:
    Placer(const Plan& plan, const Frame& frame, double cell)
        : m_plan(plan)
        , m_frame(frame)
        , m_cell(cell)
    {
        for (std::size_t i = 0; i < plan.shapes.size(); ++i) {
            m_panels.push_back(sized(i));
        }
    }

    void place()
    {
        const bool quadrant = !m_plan.left.empty() && !m_plan.above.empty();
        const double top = quadrant ? 0 : odometerHeight(m_frame.axes, m_cell);
        m_bottom = top;
        if (aligned(m_plan)) {
            placeAligned(top);
        }
        placeRest();
        if (m_frame.axes == 0) {
            return;
        }
        const ArrayPanel* corner = quadrant ? &m_panels[m_plan.left.front()] : nullptr;
        const double width = quadrant ? std::max(kOdometerWidth, m_leftWidth - kGap)
                                      : std::min(m_frame.area.w, 320.0);
        const double height = quadrant ? corner->y - kPanelHead - kBelow : top;
        m_odometer = {0, 0, width, height};
    }

    [[nodiscard]] bool fits() const
    {
        return m_right <= m_frame.area.w + 0.01 && m_bottom <= m_frame.area.h + 0.01;
    }

    [[nodiscard]] GridArrangement centred() const
    {
        GridArrangement result;
        const double dx = m_frame.area.x + std::floor(std::max(0.0, m_frame.area.w - m_right) / 2);
        const double dy =
            m_frame.area.y + std::floor(std::clamp((m_frame.area.h - m_bottom) / 3, 0.0, 26.0));
        result.panels = m_panels;
        for (ArrayPanel& panel : result.panels) {
            panel.x += dx;
            panel.y += dy;
        }
        result.anchor = aligned(m_plan) ? m_plan.anchor : std::nullopt;
        result.left = m_plan.left;
        result.above = m_plan.above;
        result.odometer = m_odometer;
        result.odometer.x += dx;
        result.odometer.y += dy;
        result.odometer.w =
            std::min(result.odometer.w, m_frame.area.x + m_frame.area.w - result.odometer.x);
        return result;
    }

private:
    [[nodiscard]] ArrayPanel sized(std::size_t index) const
    {
        const ArrayShape& shape = m_plan.shapes[index];
        ArrayPanel panel;
        panel.shape = shape;
        panel.cellWidth =
            std::max(m_cell * shape.columnScale, kLeastExtent / static_cast<double>(shape.columns));
        panel.cellHeight =
            std::max(m_cell * shape.rowScale, (shape.vector ? kVectorHeight : kLeastExtent)
                                                  / static_cast<double>(shape.rows));
        panel.width = std::max(panel.cellsWidth(), m_frame.headWidths[index]);
        panel.label = m_frame.label;
        return panel;
    }

    void placeAligned(double top)
    {
        const ArrayPanel& anchor = m_panels[*m_plan.anchor];
        double x = 0;
        for (const std::size_t i : m_plan.left) {
            m_panels[i].x = x + m_frame.label;
            x += m_frame.label + m_panels[i].width + kGap;
        }
        if (!m_plan.left.empty() && !m_plan.above.empty()) {
            x = std::max(x, kOdometerWidth + kGap);
        }
        m_leftWidth = x;
        double y = top;
        double width = anchor.width;
        for (const std::size_t i : m_plan.above) {
            m_panels[i].x = x + m_frame.label;
            m_panels[i].y = y + kPanelHead;
            y += kPanelHead + m_panels[i].cellsHeight() + kBelow;
            width = std::max(width, m_panels[i].width);
        }
        if (!m_plan.left.empty() && !m_plan.above.empty()) {
            y = std::max(y, odometerHeight(m_frame.axes, m_cell));
        }
        ArrayPanel& placed = m_panels[*m_plan.anchor];
        placed.x = x + m_frame.label;
        placed.y = y + kPanelHead;
        for (const std::size_t i : m_plan.left) {
            m_panels[i].y = placed.y;
        }
        m_right = x + m_frame.label + width;
        m_bottom = placed.y + placed.cellsHeight() + kBelow;
    }

    void placeRest()
    {
        double x = 0;
        double tallest = 0;
        for (const std::size_t i : m_plan.rest) {
            const double width = m_frame.label + m_panels[i].width;
            if (x > 0 && x + width > m_frame.area.w) {
                x = 0;
                m_bottom += tallest;
                tallest = 0;
            }
            m_panels[i].x = x + m_frame.label;
            m_panels[i].y = m_bottom + kPanelHead;
            tallest = std::max(tallest, kPanelHead + m_panels[i].cellsHeight() + kBelow);
            m_right = std::max(m_right, x + width);
            x += width + kGap;
        }
        m_bottom += tallest;
    }

    const Plan& m_plan;
    const Frame& m_frame;
    double m_cell;
    std::vector<ArrayPanel> m_panels;
    Rect m_odometer;
    double m_leftWidth = 0, m_right = 0, m_bottom = 0;
};

bool fitsAt(const Plan& plan, const Frame& frame, double cell)
{
    Placer placer(plan, frame, cell);
    placer.place();
    return placer.fits();
}

double largestCell(const Plan& plan, const Frame& frame)
{
    double low = 0.001;
    double most = 1, largest = 1;
    for (const ArrayShape& shape : plan.shapes) {
        most = std::max({most, static_cast<double>(shape.rows) * shape.rowScale,
                         static_cast<double>(shape.columns) * shape.columnScale});
        largest = std::max({largest, shape.rowScale, shape.columnScale});
    }
    const double array = largest > 1 ? kLargestScaled : kLargestArray;
    double high = std::max(kLargestCell / largest, std::floor(array / most));
    if (fitsAt(plan, frame, high)) {
        return high;
    }
    for (int i = 0; i < 24; ++i) {
        const double middle = (low + high) / 2;
        (fitsAt(plan, frame, middle) ? low : high) = middle;
    }
    return low >= 4 ? std::floor(low) : low; // frames and dashes need whole pixels
}

} // namespace

ArrayShape arrayShape(const RunView& run, trace::OperandRow operand)
{
    return arrayShape(run.trace->info(), operand, run.index->windows(operand));
}

ArrayShape arrayShape(const trace::Info& info, trace::OperandRow operand,
                      const trace::Windows& windows)
{
    const trace::Operand& op = info.operands[operand.index()];
    ArrayShape shape;
    shape.operand = operand;
    const std::size_t rank = op.blockCounts.size();
    const std::vector<Extent> counts = cellCounts(op, windows);
    const auto shareOf = [&](std::size_t axis) {
        const bool listed =
            hasListedCells(op) && op.indirectAxis == static_cast<std::int32_t>(axis);
        return listed ? 1
                      : shareInArray(op.array[axis],
                                     windows.empty() ? op.block[axis] : windows.cell()[axis],
                                     counts[axis]);
    };
    shape.vector = rank < 2;
    const auto axisOf = [&op](std::size_t axis) {
        return axis < op.gridAxes.size() && op.gridAxes[axis] >= 0
                   ? std::optional(op.gridAxes[axis])
                   : std::nullopt;
    };
    if (rank >= 1) {
        const std::size_t axis = rank - 1;
        shape.columns = std::max<Extent>(1, counts[axis]);
        shape.columnAxis = axisOf(axis);
        shape.lastColumn = shareOf(axis);
    }
    if (rank >= 2) {
        const std::size_t axis = rank - 2;
        shape.rows = std::max<Extent>(1, counts[axis]);
        shape.rowAxis = axisOf(axis);
        shape.lastRow = shareOf(axis);
    }
    return shape;
}

GridArrangement arrangeGrid(const RunView& run, trace::PipelineRow pipeline, Rect area,
                            const HeadWidths& heads)
{
    constexpr double kWorthIt = 1.2; // how much larger the cells of the less usual picture must be
    const std::size_t axes = run.trace->info().pipelines[pipeline.index()].grid.size();
    Plan plan;
    Frame frame;
    double cell = 0;
    for (const std::vector<double>* widths : {&heads.whole, &heads.least}) {
        for (const bool preferAbove : {false, true}) {
            const Plan other = planOf(run, pipeline, preferAbove);
            const Frame otherFrame = {area, *widths, axes, heads.label};
            const double otherCell = largestCell(other, otherFrame);
            if (cell == 0 || otherCell > cell * kWorthIt) {
                plan = other;
                frame = otherFrame;
                cell = otherCell;
            }
        }
    }
    Placer placer(plan, frame, cell);
    placer.place();
    return placer.centred();
}

} // namespace pallascope::layout
