#include "views/layout/memory/strip_blocks.h"

#include "core/trace/columns.h"
#include "core/trace/pipelines.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace pallascope::layout {

namespace {

using trace::at;
using trace::Operand;

constexpr std::size_t kMostBlocks = 64; // in the place of another one

// Whether its blocks lie beside each other, so that a place says which they are.
bool isRegular(const Operand& operand)
{
    return operand.indirectAxis < 0 && operand.elementAxes.empty() && operand.sliceAxes.empty();
}

bool hasSameBlocks(const Operand& a, const Operand& b)
{
    const auto key = [](const Operand& of) {
        return std::tie(of.block, of.blockCounts, of.indirectAxis, of.elementAxes, of.elementPads,
                        of.sliceAxes);
    };
    return key(a) == key(b);
}

std::vector<std::int64_t> sameShareOf(const Operand& of, const Operand& other,
                                      std::int64_t otherBlock)
{
    const std::int64_t blocks = std::max<std::int64_t>(1, parts::blockTotal(of));
    const std::int64_t others = std::max<std::int64_t>(1, parts::blockTotal(other));
    // The products may not fit 64 bits: a file may say that there are 2^62 blocks.
    const auto first =
        static_cast<std::int64_t>(static_cast<__int128>(otherBlock) * blocks / others);
    const auto last =
        static_cast<std::int64_t>((static_cast<__int128>(otherBlock) + 1) * blocks / others);
    std::vector<std::int64_t> found;
    for (std::int64_t block = first; block < std::max(last, first + 1); ++block) {
        if (found.size() == kMostBlocks) {
            break;
        }
        found.push_back(block);
    }
    return found;
}

} // namespace

std::vector<std::int64_t> blocksAt(const Operand& of, const Operand& other, std::int64_t otherBlock)
{
    if (hasSameBlocks(of, other)) {
        return {otherBlock};
    }
    if (!isRegular(of) || !isRegular(other)) {
        return sameShareOf(of, other, otherBlock);
    }
    std::vector<std::int64_t> found{0};
    for (std::size_t axis = 0; axis < of.blockCounts.size(); ++axis) {
        const trace::AxisRange range = trace::rangeOf(other, otherBlock, axis);
        const Extent size = std::max<Extent>(1, of.block[axis]);
        const Extent most = std::max<Extent>(1, of.blockCounts[axis]) - 1;
        const Extent first = std::clamp<Extent>(range.from / size, 0, most);
        const Extent last = std::clamp<Extent>((range.to - 1) / size, first, most);
        std::vector<std::int64_t> next;
        for (const std::int64_t block : found) {
            for (Extent i = first; i <= last && next.size() < kMostBlocks; ++i) {
                next.push_back(block * (most + 1) + i);
            }
        }
        found = std::move(next);
    }
    return found;
}

Strips stripsOf(const RunView& run, Picoseconds now)
{
    const trace::Info& info = run.trace->info();
    const Position position = positionAt(run, now);
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> known;
    Strips strips;
    for (std::size_t i = 0; i < info.operands.size(); ++i) {
        if (info.operands[i].isOnChip) {
            continue; // neither end lies in HBM
        }
        const auto [place, isNew] = known.try_emplace(
            {run.index->arrays().ofOperand[i], info.operands[i].arrayNumber}, strips.size());
        if (isNew) {
            strips.emplace_back();
        }
        strips[place->second].push_back(static_cast<std::int32_t>(i));
    }
    const auto isOfNow = [&](std::int32_t operand) {
        const std::int32_t pipeline = info.operands[at(operand)].pipeline;
        return pipeline < 0 || run.index->pipelines().ofPipeline[at(pipeline)] == position.kind;
    };
    // The finest blocks of those that go on now are the strip's.
    const auto lead = [&](std::int32_t operand) {
        const Operand& of = info.operands[at(operand)];
        return std::tuple(of.pipeline == trace::kNone, !isOfNow(operand), !isRegular(of),
                          -parts::blockTotal(of), operand);
    };
    for (std::vector<std::int32_t>& strip : strips) {
        std::ranges::iter_swap(strip.begin(), std::ranges::min_element(strip, {}, lead));
        std::sort(strip.begin() + 1, strip.end());
    }
    std::ranges::stable_sort(strips, {}, [&](const std::vector<std::int32_t>& strip) {
        const Operand& of = info.operands[at(strip.front())];
        const bool isManual = of.pipeline == trace::kNone;
        const bool isOther = std::ranges::none_of(strip, isOfNow);
        return std::tuple(isManual, isOther, isManual ? -of.arrayBytes.value() : 0);
    });
    return strips;
}

bool writesElsewhere(const RunView& run, const Strips& strips, std::int32_t operand)
{
    const std::int32_t target = run.index->arrays().targetOf[at(operand)];
    return run.trace->info().staysInHbm(at(operand))
           && std::ranges::none_of(strips, [target](const std::vector<std::int32_t>& strip) {
                  return std::ranges::find(strip, target) != strip.end();
              });
}

std::vector<Bytes> bytesMoved(const RunView& run, const Strips& strips, Picoseconds now)
{
    const std::vector<std::int32_t>& targets = run.index->arrays().targetOf;
    std::vector<std::size_t> stripOf(targets.size(), strips.size());
    for (std::size_t strip = 0; strip < strips.size(); ++strip) {
        for (const std::int32_t operand : strips[strip]) {
            stripOf[at(operand)] = strip;
        }
    }
    std::vector<double> moved(strips.size() + 1); // at the end, what no strip shows
    for (std::size_t operand = 0; operand < targets.size(); ++operand) {
        const std::size_t target =
            targets[operand] == trace::kNone ? strips.size() : stripOf[at(targets[operand])];
        const trace::Index::Moved bytes = run.index->moved(trace::OperandRow::at(operand), now);
        const double written = target == strips.size() ? 0 : bytes.written;
        moved[stripOf[operand]] += bytes.all() - written;
        moved[target] += written;
    }
    std::vector<Bytes> bytes;
    for (std::size_t strip = 0; strip < strips.size(); ++strip) {
        bytes.emplace_back(std::llround(moved[strip]));
    }
    return bytes;
}

} // namespace pallascope::layout
