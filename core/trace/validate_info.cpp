#include "core/trace/validate.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pallascope::trace {

namespace {

// The product of extents. Absent if an extent is below `least` or if the product overflows.
std::optional<std::int64_t> product(const std::vector<Extent>& extents, Extent least)
{
    std::int64_t result = 1;
    for (const Extent extent : extents) {
        if (extent < least || __builtin_mul_overflow(result, extent, &result)) {
            return std::nullopt;
        }
    }
    return result;
}

// `list` and `i` say in the error where the source line stands: list[i].
Status checkSource(const Info& info, const SourceLine& source, std::string_view list, std::size_t i)
{
    if (!isIndexOrNone(source.file, info.sources) || source.line < 0) {
        return broken(
            "{}[{}]: line {} of source file {} cannot be; there are {} source files and lines "
            "count from 1",
            list, i, source.line, source.file, info.sources.size());
    }
    return Done{};
}

Status checkProgram(const Info& info)
{
    for (std::size_t i = 0; i < info.operations.size(); ++i) {
        const Operation& operation = info.operations[i];
        const bool noListing = info.listing.empty() && operation.listingLine == 0;
        if (!noListing && !isIndexOrNone(operation.listingLine, info.listing)) {
            return broken("operations[{}].listingLine is {}, but the listing has {} lines", i,
                          operation.listingLine, info.listing.size());
        }
        if (Status status = checkSource(info, operation.source, "operations", i); !status) {
            return status;
        }
    }
    for (std::size_t i = 0; i < info.listing.size(); ++i) {
        if (!isIndexOrNone(info.listing[i].operation, info.operations)) {
            return broken("listing[{}].operation is {}, but there are {} operations", i,
                          info.listing[i].operation, info.operations.size());
        }
    }
    return Done{};
}

Status checkReported(const Info& info)
{
    for (std::size_t i = 0; i < info.prints.size(); ++i) {
        if (Status status = checkSource(info, info.prints[i].source, "prints", i); !status) {
            return status;
        }
    }
    if (info.printsBeyond < 0) {
        return broken("prints_beyond is {}, but must be at least 0", info.printsBeyond);
    }
    if (info.fromL1 < Bytes(0)) {
        return broken("from_l1_bytes is {}, but must be at least 0", info.fromL1.value());
    }
    if (info.jaxAccepts != "unknown" && info.jaxAccepts != "yes" && info.jaxAccepts != "no") {
        return broken("jax_accepts is \"{}\", but must be unknown, yes or no", info.jaxAccepts);
    }
    for (std::size_t i = 0; i < info.findings.size(); ++i) {
        const Finding& finding = info.findings[i];
        if (Status status = checkSource(info, finding.source, "findings", i); !status) {
            return status;
        }
        if (finding.step < kNone || finding.relatedStep.value_or(0) < 0 || finding.count < 1) {
            return broken("findings[{}] has step {} and count {}; a step is at least 0 (-1: before "
                          "the run) and a count at least 1",
                          i, finding.step, finding.count);
        }
        for (const auto& [name, time] :
             {std::pair("time_ps", finding.time), std::pair("copy_time_ps", finding.copyTime)}) {
            if (time && *time < Picoseconds(0)) {
                return broken("findings[{}] has {} {}, but a time is at least 0", i, name,
                              time->value());
            }
        }
    }
    return Done{};
}

Status checkHardware(const Info& info)
{
    for (std::size_t i = 0; i < info.memories.size(); ++i) {
        const Memory& memory = info.memories[i];
        if (memory.capacity < Bytes(0) || memory.scopedLimit.value_or(Bytes(0)) < Bytes(0)) {
            return broken("memories[{}] ({}) has a negative size", i, memory.name);
        }
    }
    for (std::size_t i = 0; i < info.links.size(); ++i) {
        const Link& link = info.links[i];
        if (!isIndex(link.from, info.memories) || !isIndex(link.to, info.memories)) {
            return broken("links[{}] ({}) joins memories {} and {}, but there are {} memories", i,
                          link.name, link.from, link.to, info.memories.size());
        }
        // The bounds are those of chip files; they keep quotients of a rate and a number of FLOPs
        // within a double.
        constexpr double kSlowest = 1, kLeastShare = 1e-6, kFastest = 1e18;
        const std::pair<double, double> rates[] = {{link.datasheet.value(), kSlowest},
                                                   {link.achieved.value(), kSlowest * kLeastShare}};
        for (const auto& [rate, slowest] : rates) {
            if (!(rate >= slowest && rate <= kFastest)) { // also false for NaN
                return broken("links[{}] ({}) moves {} B/s; expected at least {} and at most {}", i,
                              link.name, rate, slowest, kFastest);
            }
        }
    }
    return Done{};
}

// The bounds are far above what a chip has, and keep products of two numbers within 64 bits.
Status checkBlockGrids(const Info& info)
{
    constexpr std::int64_t kMostTogether = 1 << 20, kMostBlocks = std::int64_t{1} << 31;
    for (std::size_t i = 0; i < info.blockGrids.size(); ++i) {
        const BlockGrid& grid = info.blockGrids[i];
        const auto are = [](std::int64_t least, std::int64_t most, auto... numbers) {
            return ((numbers >= least && numbers <= most) && ...);
        };
        if (!are(1, kMostTogether, grid.threads, grid.agents)
            || !are(0, kMostTogether, grid.blocksPerSm, grid.atATime, grid.barriers, grid.registers,
                    grid.warpsPerSm, grid.warpsAtMost)
            || !are(1, kMostTogether, grid.cluster)
            || !are(0, kMostBlocks, grid.shared.value(), grid.arrays.value(), grid.blocks,
                    grid.waves, grid.last)) {
            return broken("block_grids[{}] has a number that is negative or too large", i);
        }
        if (Status status = checkSource(info, grid.source, "block_grids", i); !status) {
            return status;
        }
    }
    return Done{};
}

Status checkPipelines(const Info& info)
{
    for (std::size_t i = 0; i < info.pipelines.size(); ++i) {
        const Pipeline& pipeline = info.pipelines[i];
        const std::optional<std::int64_t> points = product(pipeline.grid, 0);
        if (!points || *points != pipeline.steps) {
            return broken("pipelines[{}].steps is {}, but its grid ({}) has {} points", i,
                          pipeline.steps, join(pipeline.grid, ", "),
                          points ? std::to_string(*points) : "no sound number of");
        }
        if (!isIndex(pipeline.agent, info.agents)) {
            return broken("pipelines[{}] runs on agent {}, but there are {}", i, pipeline.agent,
                          info.agents.size());
        }
        if (pipeline.axisNames.size() != pipeline.grid.size()) {
            return broken("pipelines[{}] names {} axes of a grid of {}", i,
                          pipeline.axisNames.size(), pipeline.grid.size());
        }
        const std::int64_t last = std::int64_t{pipeline.firstOperand} + pipeline.operandCount;
        if (pipeline.firstOperand < 0 || pipeline.operandCount < 0
            || last > static_cast<std::int64_t>(info.operands.size())) {
            return broken("pipelines[{}] has operands {} to {}, but there are {} operands", i,
                          pipeline.firstOperand, last, info.operands.size());
        }
        if (Status status = checkSource(info, pipeline.source, "pipelines", i); !status) {
            return status;
        }
    }
    return Done{};
}

Status checkOperandShape(const Info& info, std::size_t i)
{
    const Operand& operand = info.operands[i];
    const std::size_t rank = operand.array.rank();
    if (operand.block.rank() != rank || operand.blockCounts.size() != rank
        || operand.gridAxes.size() != rank) {
        return broken(
            "operands[{}] ({}): array {}, block {}, blockCounts [{}] and {} gridAxes must "
            "have one entry per array axis",
            i, operand.name, toString(operand.array), toString(operand.block),
            join(operand.blockCounts, ","), operand.gridAxes.size());
    }
    if (!product(operand.array.extents(), 0) || !product(operand.block.extents(), 1)
        || !product(operand.blockCounts, 0)) {
        return broken("operands[{}] ({}): array {}, block {} or blockCounts [{}] is negative or "
                      "past 2^63 elements",
                      i, operand.name, toString(operand.array), toString(operand.block),
                      join(operand.blockCounts, ","));
    }
    const auto indices = static_cast<std::int64_t>(operand.indices.size());
    const std::int64_t listed =
        operand.indirectAxis < 0 || operand.indirectAxis >= static_cast<std::int64_t>(rank)
            ? 0
            : product({operand.blockCounts[static_cast<std::size_t>(operand.indirectAxis)],
                       operand.block[static_cast<std::size_t>(operand.indirectAxis)]},
                      0)
                  .value_or(kNone);
    if (operand.indirectAxis < kNone || operand.indirectAxis >= static_cast<std::int64_t>(rank)
        || indices != listed || indices > kMostIndices) {
        return broken("operands[{}] ({}) has {} indices for axis {}; expected one for each element "
                      "of its {} blocks there, at most {}",
                      i, operand.name, indices, operand.indirectAxis, listed, kMostIndices);
    }
    const auto isAxis = [&](std::int32_t axis) {
        return axis >= 0 && axis < static_cast<std::int64_t>(rank);
    };
    if (!std::all_of(operand.elementAxes.begin(), operand.elementAxes.end(), isAxis)
        || !std::all_of(operand.sliceAxes.begin(), operand.sliceAxes.end(), isAxis)
        || operand.elementPads.size() != operand.elementAxes.size()) {
        return broken("operands[{}] ({}) has {} element axes, {} paddings and {} slice axes; "
                      "expected axes below {}, and a padding for each element axis",
                      i, operand.name, operand.elementAxes.size(), operand.elementPads.size(),
                      operand.sliceAxes.size(), rank);
    }
    const std::size_t gridRank =
        operand.pipeline == kNone
            ? 0
            : info.pipelines[static_cast<std::size_t>(operand.pipeline)].grid.size();
    for (const std::int32_t axis : operand.gridAxes) {
        if (axis < kNone || axis >= static_cast<std::int64_t>(gridRank)) {
            return broken("operands[{}] ({}) follows grid axis {} of {}", i, operand.name, axis,
                          gridRank);
        }
    }
    return Done{};
}

Status checkOperand(const Info& info, std::size_t i)
{
    const Operand& operand = info.operands[i];
    if (!isIndexOrNone(operand.pipeline, info.pipelines)
        || (operand.pipeline == kNone && operand.slots != 0)) {
        return broken("operands[{}] ({}) belongs to pipeline {}, but there are {}", i, operand.name,
                      operand.pipeline, info.pipelines.size());
    }
    if (Status status = checkOperandShape(info, i); !status) {
        return status;
    }
    if (operand.arrayBytes < Bytes(0) || operand.blockBytes < Bytes(0)
        || operand.slotBytes < Bytes(0) || operand.paddedBytes < Bytes(0)
        || operand.slicedBytes < Bytes(0) || operand.launches < 0) {
        return broken("operands[{}] ({}) has a negative size", i, operand.name);
    }
    const std::int64_t last = std::int64_t{operand.firstBuffer} + operand.slots;
    if (operand.slots < 0 || operand.firstBuffer < 0
        || last > static_cast<std::int64_t>(info.buffers.size())) {
        return broken("operands[{}] ({}) has its slots in buffers {} to {}, but there are {}", i,
                      operand.name, operand.firstBuffer, last, info.buffers.size());
    }
    for (std::int32_t slot = 0; slot < operand.slots; ++slot) {
        const std::int32_t row = operand.firstBuffer + slot;
        const Buffer& buffer = info.buffers[static_cast<std::size_t>(row)];
        // A pipeline that ran with several grids has operands for each of them, which share slots.
        const bool shared = buffer.operand >= 0 && buffer.operand < static_cast<std::int64_t>(i)
                            && info.operands[static_cast<std::size_t>(buffer.operand)].firstBuffer
                                   == operand.firstBuffer;
        if ((buffer.operand != static_cast<std::int64_t>(i) && !shared) || buffer.slot != slot) {
            return broken("buffers[{}] must be slot {} of operand {} ({})", row, slot, i,
                          operand.name);
        }
    }
    return checkSource(info, operand.source, "operands", i);
}

Status checkSemaphores(const Info& info)
{
    for (std::size_t i = 0; i < info.semaphores.size(); ++i) {
        if (!isIndex(info.semaphores[i].agent, info.agents)) {
            return broken("semaphores[{}] ({}) belongs to agent {}, but there are {}", i,
                          info.semaphores[i].name, info.semaphores[i].agent, info.agents.size());
        }
    }
    return Done{};
}

Status checkLoops(const Info& info)
{
    for (std::size_t i = 0; i < info.loops.size(); ++i) {
        const Loop& loop = info.loops[i];
        if (loop.parent < kNone || loop.parent >= static_cast<std::int64_t>(i)
            || !isIndexOrNone(loop.operation, info.operations) || loop.roundsBeyond < 0) {
            return broken("loops[{}] ({}) lies in loop {}, is operation {} of {} and has {} more "
                          "rounds; expected an earlier loop, an operation and at least 0 rounds",
                          i, loop.name, loop.parent, loop.operation, info.operations.size(),
                          loop.roundsBeyond);
        }
        if (Status status = checkSource(info, loop.source, "loops", i); !status) {
            return status;
        }
    }
    return Done{};
}

Status checkBuffers(const Info& info)
{
    for (std::size_t i = 0; i < info.buffers.size(); ++i) {
        const Buffer& buffer = info.buffers[i];
        if (!isIndexOrNone(buffer.operand, info.operands)
            || !isIndex(buffer.memory, info.memories)) {
            return broken("buffers[{}] ({}) names operand {} of {} and memory {} of {}", i,
                          buffer.name, buffer.operand, info.operands.size(), buffer.memory,
                          info.memories.size());
        }
        if (buffer.address < Bytes(0) || buffer.bytes < Bytes(0) || buffer.slot < 0) {
            return broken("buffers[{}] ({}) has a negative address, size or slot", i, buffer.name);
        }
        if (buffer.operand != kNone
            && buffer.slot >= info.operands[static_cast<std::size_t>(buffer.operand)].slots) {
            return broken("buffers[{}] ({}) is slot {} of an operand with fewer slots", i,
                          buffer.name, buffer.slot);
        }
    }
    return Done{};
}

bool haveSameRanks(const std::vector<Pipeline>& some, const std::vector<Pipeline>& others)
{
    return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                      [](const Pipeline& one, const Pipeline& other) {
                          return one.grid.size() == other.grid.size();
                      });
}

} // namespace

std::int64_t blockTotal(const Operand& operand)
{
    return *product(operand.blockCounts, 0);
}

Status validateInfo(const Info& info, const Info* checked)
{
    // These lists refer only to each other and to units, and the number of units is the same.
    const bool known = checked != nullptr && info.sources.sharesWith(checked->sources)
                       && info.listing.sharesWith(checked->listing)
                       && info.operations.sharesWith(checked->operations)
                       && info.templates.sharesWith(checked->templates)
                       && info.units.size() == checked->units.size();
    if (Status status = known ? Status(Done{}) : checkProgram(info); !status) {
        return status;
    }
    for (const auto check : {checkReported, checkHardware, checkBlockGrids, checkPipelines,
                             checkBuffers, checkSemaphores, checkLoops}) {
        if (Status status = check(info); !status) {
            return status;
        }
    }
    const bool sameOperands = known && info.operands.sharesWith(checked->operands)
                              && info.buffers.sharesWith(checked->buffers)
                              && haveSameRanks(info.pipelines, checked->pipelines);
    for (std::size_t i = 0; !sameOperands && i < info.operands.size(); ++i) {
        if (Status status = checkOperand(info, i); !status) {
            return status;
        }
    }
    for (std::size_t i = 0; !known && i < info.templates.size(); ++i) {
        if (Status status = validateTemplate(info, i); !status) {
            return status;
        }
    }
    return Done{};
}

} // namespace pallascope::trace
