// Arrays that share a picture, because one index map chooses their blocks.
#include "core/trace/columns.h"
#include "views/layout/grid/picture.h"

#include <algorithm>
#include <string>

namespace pallascope::layout {

namespace {

using trace::BlockPhase;

// Of several agents that share each array, all must have the same index map.
bool areAlike(const RunView& run, std::int32_t a, std::int32_t b)
{
    const auto ofA = run.index->sharing(trace::OperandRow{a});
    const auto ofB = run.index->sharing(trace::OperandRow{b});
    if (ofA.size() != ofB.size()) {
        return false;
    }
    for (std::size_t i = 0; i < ofA.size(); ++i) {
        const auto alike = run.index->alike(trace::OperandRow{ofA[i]});
        if (!std::ranges::binary_search(alike, ofB[i])) {
            return false;
        }
    }
    return true;
}

bool isSamePicture(const RunView& run, const ArrayPicture& a, const ArrayPicture& b)
{
    const auto isOfPipeline = [](const ArrayPicture& one) {
        return one.manual == nullptr && one.table == nullptr;
    };
    return isOfPipeline(a) && isOfPipeline(b) && a.tiles == b.tiles && a.rows == b.rows
           && a.columns == b.columns && a.firstCell == b.firstCell && a.lastRow == b.lastRow
           && a.lastColumn == b.lastColumn && areAlike(run, a.operand, b.operand);
}

// The share of a block's bytes that has come here, or left.
double arrivedOf(const trace::BlockState& state)
{
    switch (state.phase) {
    case BlockPhase::Never:
    case BlockPhase::Before:
    case BlockPhase::Queued:
        return 0;
    case BlockPhase::Arriving:
    case BlockPhase::Leaving:
        return state.fraction;
    case BlockPhase::Ready:
    case BlockPhase::InUse:
    case BlockPhase::Written:
        return 1;
    }
    return 0;
}

} // namespace

std::vector<ArrayPicture> sharedPictures(const RunView& run,
                                         const std::vector<ArrayPicture>& pictures, double width)
{
    std::vector<ArrayPicture> shared;
    for (const ArrayPicture& picture : pictures) {
        const auto same = std::find_if(shared.begin(), shared.end(), [&](const ArrayPicture& one) {
            return isSamePicture(run, one, picture)
                   && 10 + one.marks()
                              + textWidth(one.name + ", " + picture.name, 12, Weight::SemiBold)
                          <= width;
        });
        if (same == shared.end()) {
            shared.push_back(picture);
            continue;
        }
        if (same->sharing.empty()) {
            same->sharing.push_back(same->operand);
        }
        same->sharing.push_back(picture.operand);
        same->name += ", " + picture.name;
        same->shape = same->shape == picture.shape ? same->shape : "";
    }
    return shared;
}

trace::BlockState stateOfAll(const RunView& run, const std::vector<std::int32_t>& operands,
                             std::int64_t block, Picoseconds now)
{
    const auto& all = run.trace->info().operands;
    trace::BlockState whole = run.index->blockStateAt({operands.front()}, block, now);
    double bytes = 0, done = 0;
    bool isSame = true, moves = false, waits = false, isOut = false;
    for (const std::int32_t operand : operands) {
        const trace::BlockState state = run.index->blockStateAt({operand}, block, now);
        const auto its = static_cast<double>(all[trace::at(operand)].blockBytes.value());
        bytes += its;
        done += its * arrivedOf(state);
        isSame = isSame && state.phase == whole.phase;
        isOut = isOut || state.phase == BlockPhase::Leaving;
        waits = waits || state.phase == BlockPhase::Queued;
        moves = moves || state.phase == BlockPhase::Arriving || state.phase == BlockPhase::Ready;
    }
    const bool isUnderWay =
        whole.phase == BlockPhase::Arriving || whole.phase == BlockPhase::Leaving;
    if (!isSame) {
        whole.phase = isOut                          ? BlockPhase::Leaving
                      : moves || (waits && done > 0) ? BlockPhase::Arriving
                      : waits                        ? BlockPhase::Queued
                                                     : whole.phase;
    }
    if (bytes > 0 && (isUnderWay || !isSame)) {
        whole.fraction = done / bytes;
    }
    return whole;
}

} // namespace pallascope::layout
