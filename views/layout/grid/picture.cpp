#include "views/layout/grid/picture.h"

#include "core/base/format.h"
#include "core/trace/columns.h"
#include "views/layout/grid/cells.h"
#include "views/layout/run/position.h"
#include "views/layout/run/told_apart.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace pallascope::layout {

namespace {

constexpr std::int64_t kMostShownCells = 16'384; // of one array
constexpr std::int64_t kLongRow = 16;            // columns that are better broken into lines
constexpr std::size_t kMostWeighted = 24;        // columns that are drawn as large as they are

std::vector<std::size_t> cutAxes(const std::vector<Extent>& counts)
{
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < counts.size(); ++axis) {
        if (counts[axis] > 1) {
            axes.push_back(axis);
        }
    }
    return axes;
}

// Sets tiles, rows and columns. Returns the number of cut axes of which only the current index is
// shown.
std::size_t arrange(ArrayPicture& picture, const std::vector<Extent>& counts,
                    const std::vector<std::size_t>& cut)
{
    const std::size_t rank = cut.size();
    picture.columns = rank > 0 ? counts[cut[rank - 1]] : 1;
    picture.rows = rank > 1 ? counts[cut[rank - 2]] : 1;
    std::size_t fixed = rank > 2 ? rank - 2 : 0;
    while (fixed > 0 && picture.cells() * counts[cut[fixed - 1]] <= kMostShownCells) {
        picture.tiles *= counts[cut[--fixed]];
    }
    const bool isLong = picture.columns >= kLongRow && picture.columns > 4 * picture.rows;
    const bool isHigh = picture.rows >= kLongRow && picture.rows > 4 * picture.columns;
    if (picture.rows > 1 && (isLong || isHigh)) {
        picture.tiles *= picture.rows;
        picture.rows = 1;
    }
    return fixed;
}

std::string gridAxisName(const trace::Info& info, const trace::Operand& operand, std::size_t axis)
{
    const std::int32_t follows = axis < operand.gridAxes.size() ? operand.gridAxes[axis] : -1;
    const auto& names = info.pipelines[static_cast<std::size_t>(operand.pipeline)].axisNames;
    return follows >= 0 && static_cast<std::size_t>(follows) < names.size()
               ? names[static_cast<std::size_t>(follows)]
               : std::string();
}

// "head ↓  q_seq →": the grid axes that the cut axes follow.
std::string axesText(const trace::Info& info, const trace::Operand& operand,
                     const ArrayPicture& picture, const std::vector<std::size_t>& cut)
{
    std::string text;
    for (std::size_t i = 0; i < cut.size(); ++i) {
        const std::string name = gridAxisName(info, operand, cut[i]);
        if (!name.empty()) {
            const bool isColumn = i + 1 == cut.size();
            const bool isRow = i + 2 == cut.size() && picture.rows > 1;
            text += (text.empty() ? "" : "  ") + name + (isColumn ? " →" : isRow ? " ↓" : "");
        }
    }
    return text;
}

ArrayPicture pictureOfOperand(const GridMoment& moment, std::int32_t number)
{
    const trace::Info& info = moment.run.trace->info();
    const trace::Operand& operand = info.operands[static_cast<std::size_t>(number)];
    const std::vector<Extent> counts =
        cellCounts(operand, moment.run.index->windows(trace::OperandRow{number}));
    const std::vector<std::size_t> cut = cutAxes(counts);
    ArrayPicture picture;
    picture.operand = number;
    picture.name = operand.name;
    picture.shape = parts::arrayText(operand.array, operand.dtype);
    const std::size_t fixed = arrange(picture, counts, cut);
    if (fixed > 0) {
        ArrayShape slice;
        slice.operand = trace::OperandRow{number};
        slice.rows = picture.cells(); // of one slice
        picture.firstCell = shownSlice(moment, slice).firstCell;
    }
    picture.axes = axesText(info, operand, picture, cut);
    if (fixed > 0) {
        const auto index = trace::rowMajorIndex(counts, picture.firstCell);
        picture.axes += (picture.axes.empty() ? "" : "  ") + std::string("at (");
        for (std::size_t axis = 0; axis < counts.size(); ++axis) {
            picture.axes += (axis > 0 ? "," : "")
                            + (axis <= cut[fixed - 1] ? std::to_string(index[axis]) : "·");
        }
        picture.axes += ")";
    }
    if (hasListedCells(operand)) {
        picture.axes = "by list" + (picture.axes.empty() ? "" : "  " + picture.axes);
    }
    if (const std::string cells = cellsText(moment.run, trace::OperandRow{number});
        !cells.empty()) {
        picture.axes = cells + (picture.axes.empty() ? "" : "  " + picture.axes);
    }
    const ArrayShape shape = arrayShape(moment.run, trace::OperandRow{number});
    picture.lastColumn = cut.empty() || cut.back() + 1 == counts.size() ? shape.lastColumn : 1;
    picture.lastRow =
        picture.rows > 1 && cut[cut.size() - 2] + 2 == counts.size() ? shape.lastRow : 1;
    return picture;
}

// What the copies of an array have moved so far.
std::string movedText(const GridMoment& moment, const trace::ManualArray& array)
{
    const auto [read, written] = trace::ManualArrays::movedBy(*moment.run.trace, array, moment.now);
    std::string text;
    const auto add = [&](double bytes, const char* what) {
        if (bytes > 0) {
            text += (text.empty() ? "" : " · ") + bytesText(Bytes(static_cast<std::int64_t>(bytes)))
                    + " " + what;
        }
    };
    add(read, "read");
    add(written, "written");
    return text;
}

void labelColumns(ArrayPicture& picture, const trace::ManualArray& array,
                  const std::vector<std::size_t>& cut)
{
    if (cut.empty()) {
        return;
    }
    const std::vector<Extent>& edges = array.edges[cut.back()];
    const bool isEven = array.isEven[cut.back()];
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        picture.labels.push_back(std::to_string(isEven ? static_cast<Extent>(i) : edges[i]));
        if (!isEven && cut.size() == 1 && edges.size() <= kMostWeighted + 1) {
            picture.weights.push_back(static_cast<double>(edges[i + 1] - edges[i])
                                      / static_cast<double>(std::max<Extent>(edges.back(), 1)));
        }
    }
    if (isEven) {
        picture.lastColumn = static_cast<double>(edges.back() - edges[edges.size() - 2])
                             / static_cast<double>(std::max<Extent>(edges[1], 1));
    }
}

ArrayPicture pictureOfManual(const GridMoment& moment, const trace::ManualArray& array)
{
    const trace::Operand& operand =
        moment.run.trace->info().operands[static_cast<std::size_t>(array.operand)];
    const std::vector<Extent> counts = array.counts();
    const std::vector<std::size_t> cut = cutAxes(counts);
    ArrayPicture picture;
    picture.operand = array.operand;
    picture.manual = &array;
    picture.name = array.name;
    picture.shape = parts::arrayText(operand.array, operand.dtype);
    static_cast<void>(arrange(picture, counts, cut)); // it has few enough cells
    labelColumns(picture, array, cut);
    picture.note = movedText(moment, array);
    return picture;
}

// The time from the end of the kernel before the one under the playhead to the beginning of the
// next one: kernels are told apart by their pipelines.
std::pair<std::int64_t, std::int64_t> kernelTime(const GridMoment& moment)
{
    const trace::Trace& trace = *moment.run.trace;
    const trace::Index& index = *moment.run.index;
    const trace::PipelineKinds& kinds = index.pipelines();
    std::pair<std::int64_t, std::int64_t> range{0, trace.end().value()};
    if (kinds.all.size() < 2 || index.leading().size() == 0) {
        return range;
    }
    const auto rootOf = [&](std::size_t number) {
        const auto row = index.leading().row(number).index();
        std::int32_t kind = kinds.ofPipeline[static_cast<std::size_t>(trace.steps().pipeline[row])];
        while (const auto around = kinds.all[static_cast<std::size_t>(kind)].around) {
            kind = *around;
        }
        return kind;
    };
    const std::size_t now = index.leading().at(moment.now);
    const std::int32_t root = rootOf(now);
    std::size_t first = now, last = now;
    for (; first > 0 && rootOf(first - 1) == root; --first) {
    }
    for (; last + 1 < index.leading().size() && rootOf(last + 1) == root; ++last) {
    }
    if (first > 0) {
        range.first = trace.steps().end[index.leading().row(first - 1).index()];
    }
    if (last + 1 < index.leading().size()) {
        range.second = trace.steps().begin[index.leading().row(last + 1).index()];
    }
    return range;
}

// Where blocks may overlap, cells are small parts of them: arrays are drawn to one scale.
void setPictureScales(const RunView& run, std::vector<ArrayPicture>& pictures)
{
    constexpr double kMost = 16; // of a cell, which else would be all that has room
    const auto& operands = run.trace->info().operands;
    std::vector<std::vector<Extent>> cells; // elements along the cut axes, from the last one on
    double least = std::numeric_limits<double>::max();
    for (const ArrayPicture& picture : pictures) {
        const trace::OperandRow row{picture.operand};
        const trace::Operand& operand = operands[row.index()];
        const trace::Windows& windows = run.index->windows(row);
        const std::vector<Extent> cell = cellExtents(operand, windows);
        const std::vector<std::size_t> cut = cutAxes(cellCounts(operand, windows));
        std::vector<Extent>& its = cells.emplace_back();
        for (std::size_t i = cut.size(); i-- > 0;) {
            its.push_back(std::max<Extent>(cell[cut[i]], 1));
            if (!windows.empty()) {
                least = std::min(least, static_cast<double>(its.back()));
            }
        }
    }
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        const auto scaleOf = [&](std::size_t axis) {
            return axis < cells[i].size()
                       ? std::clamp(static_cast<double>(cells[i][axis]) / least, 1.0, kMost)
                       : 1.0;
        };
        pictures[i].columnScale = scaleOf(0);
        pictures[i].rowScale = scaleOf(1);
    }
}

} // namespace

bool hasOuterBlocks(const RunView& run, trace::OperandRow operand)
{
    const std::vector<Extent> counts =
        cellCounts(run.trace->info().operands[operand.index()], run.index->windows(operand));
    const auto outer = static_cast<std::ptrdiff_t>(counts.size())
                       - std::min<std::ptrdiff_t>(std::ssize(counts), 2);
    return std::any_of(counts.begin(), counts.begin() + outer,
                       [](Extent count) { return count > 1; });
}

std::vector<ArrayPicture> manualPictures(const GridMoment& moment)
{
    const std::vector<std::int64_t>& issue = moment.run.trace->copies().issue;
    const auto [from, to] = kernelTime(moment);
    std::vector<ArrayPicture> inKernel, around;
    for (const trace::ManualArray& array : moment.run.index->manualArrays(moment.device).all()) {
        const auto first =
            std::partition_point(array.copies.begin(), array.copies.end(),
                                 [&](std::uint32_t copy) { return issue[copy] < from; });
        if (first != array.copies.end() && issue[*first] <= to) {
            (array.isAround ? around : inKernel).push_back(pictureOfManual(moment, array));
        }
    }
    const bool hasKernel = moment.hasPipeline || !inKernel.empty();
    std::vector<ArrayPicture> shown = hasKernel ? std::move(inKernel) : std::move(around);
    // Small tables that are copied as a whole come last.
    std::stable_partition(shown.begin(), shown.end(),
                          [](const ArrayPicture& one) { return one.cells() > 1; });
    return shown;
}

std::vector<ArrayPicture> picturesAt(const GridMoment& moment)
{
    std::vector<ArrayPicture> pictures;
    if (moment.hasPipeline) {
        const trace::Pipeline& pipe = moment.run.trace->info().pipelines[moment.pipeline.index()];
        for (std::int32_t i = 0; i < pipe.operandCount; ++i) {
            pictures.push_back(pictureOfOperand(moment, pipe.firstOperand + i));
        }
        setPictureScales(moment.run, pictures);
    }
    std::vector<ArrayPicture> manual = manualPictures(moment);
    std::move(manual.begin(), manual.end(), std::back_inserter(pictures));
    std::vector<std::int32_t> operands;
    std::vector<std::string> names;
    for (const ArrayPicture& picture : pictures) {
        operands.push_back(picture.operand);
        names.push_back(picture.name);
    }
    names = toldApart(moment.run, operands, std::move(names), [](const std::string& name) {
        constexpr double kMostName = 140; // px
        return textWidth(name, 12, Weight::SemiBold) <= kMostName;
    });
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        pictures[i].name = std::move(names[i]);
    }
    return pictures;
}

} // namespace pallascope::layout
