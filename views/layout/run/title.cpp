// Makes the title of a run from its arrays, dtypes and blocks: "matmul 4096³ bf16 → f32".
#include "core/base/format.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

// For each grid axis the extent of the arrays that follow it. The result is empty if no array
// follows an axis, or if an array has an axis that the grid does not walk; the arrays' own shapes
// then say more.
std::vector<Extent> problemExtents(const trace::Info& info, const trace::Pipeline& pipeline)
{
    std::vector<Extent> extents(pipeline.grid.size(), 0);
    for (std::int32_t i = 0; i < pipeline.operandCount; ++i) {
        const trace::Operand& operand =
            info.operands[static_cast<std::size_t>(pipeline.firstOperand + i)];
        for (std::size_t axis = 0; axis < operand.gridAxes.size(); ++axis) {
            const std::int32_t gridAxis = operand.gridAxes[axis];
            if (gridAxis < 0 || static_cast<std::size_t>(gridAxis) >= extents.size()) {
                return {};
            }
            extents[static_cast<std::size_t>(gridAxis)] = operand.array[axis];
        }
    }
    const bool whole =
        std::none_of(extents.begin(), extents.end(), [](Extent e) { return e == 0; });
    return whole ? extents : std::vector<Extent>();
}

// "4096³", "4096²", "4096×512×128"
std::string sizeText(const std::vector<Extent>& extents)
{
    const bool same =
        std::all_of(extents.begin(), extents.end(), [&](Extent e) { return e == extents.front(); });
    if (extents.size() == 2 && same) {
        return std::to_string(extents.front()) + "²";
    }
    if (extents.size() == 3 && same) {
        return std::to_string(extents.front()) + "³";
    }
    return parts::times(extents);
}

void addOnce(std::vector<std::string>& list, const std::string& text)
{
    if (std::find(list.begin(), list.end(), text) == list.end()) {
        list.push_back(text);
    }
}

std::string joined(const std::vector<std::string>& list)
{
    std::string text;
    for (const std::string& part : list) {
        text += (text.empty() ? "" : ", ") + part;
    }
    return text;
}

// Whether an operand belongs to what a program copies around its kernels.
bool isBeside(const trace::Info& info, const trace::Operand& operand)
{
    return operand.pipeline == trace::kNone && !info.pipelines.empty();
}

// The largest of the arrays that are written, and the last of several equally large ones. If none
// is written, the last array.
std::vector<Extent> largestResult(const trace::Info& info)
{
    const trace::Operand* found = nullptr;
    for (const trace::Operand& operand : info.operands) {
        const bool isResult = found != nullptr && parts::writes(*found);
        if (!isBeside(info, operand)
            && (!isResult || (parts::writes(operand) && operand.arrayBytes >= found->arrayBytes))) {
            found = &operand;
        }
    }
    if (found == nullptr) {
        return {};
    }
    return found->array.extents();
}

std::string dtypesText(const trace::Info& info)
{
    std::vector<std::string> in;
    std::vector<std::string> out;
    for (const trace::Operand& operand : info.operands) {
        if (isBeside(info, operand)) {
            continue;
        }
        if (parts::reads(operand)) {
            addOnce(in, std::string(dtypeName(operand.dtype)));
        }
        if (parts::writes(operand)) {
            addOnce(out, std::string(dtypeName(operand.dtype)));
        }
    }
    if (in == out || in.empty() || out.empty()) {
        return joined(in.empty() ? out : in);
    }
    return fmt::format("{} → {}", joined(in), joined(out));
}

} // namespace

std::string blocksText(const RunView& run)
{
    const trace::Info& info = run.trace->info();
    if (info.pipelines.empty() || info.pipelines.front().grid.empty()) {
        return {};
    }
    const trace::Pipeline& pipeline = info.pipelines.front();
    std::vector<Extent> blocks(pipeline.grid.size(), 0);
    for (std::int32_t i = 0; i < pipeline.operandCount; ++i) {
        const trace::Operand& operand =
            info.operands[static_cast<std::size_t>(pipeline.firstOperand + i)];
        for (std::size_t axis = 0; axis < operand.gridAxes.size(); ++axis) {
            const std::int32_t gridAxis = operand.gridAxes[axis];
            if (gridAxis >= 0 && static_cast<std::size_t>(gridAxis) < blocks.size()) {
                blocks[static_cast<std::size_t>(gridAxis)] = operand.block[axis];
            }
        }
    }
    blocks.erase(std::remove(blocks.begin(), blocks.end(), 0), blocks.end());
    if (blocks.empty()) {
        return {};
    }
    const bool same =
        std::all_of(blocks.begin(), blocks.end(), [&](Extent b) { return b == blocks.front(); });
    return fmt::format("{}-blocks", same ? std::to_string(blocks.front()) : parts::times(blocks));
}

std::string runTitle(const RunView& run)
{
    const trace::Info& info = run.trace->info();
    std::string title = info.kernel;
    std::vector<Extent> extents;
    if (!info.pipelines.empty()) {
        extents = problemExtents(info, info.pipelines.front());
    }
    if (extents.empty()) {
        extents = largestResult(info);
    }
    if (!extents.empty()) {
        title += fmt::format(" {}", sizeText(extents));
    }
    if (const std::string dtypes = dtypesText(info); !dtypes.empty()) {
        title += fmt::format(" {}", dtypes);
    }
    if (const std::string blocks = blocksText(run); !blocks.empty()) {
        title += fmt::format(" · {}", blocks);
    }
    return fmt::format("{} · {}", title, info.chipName);
}

} // namespace pallascope::layout
