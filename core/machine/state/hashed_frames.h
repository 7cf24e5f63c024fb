// What is hashed of agents, of their frames and of what these refer to. Only state_hash.cpp uses
// it.
//
// Every struct is taken apart by a structured binding. So a new member breaks the build until it is
// hashed or left out here.
#pragma once

#include "core/machine/state/hashed_parts.h"
#include "core/machine/state/state.h"

namespace pallascope::machine {

inline auto hashedParts(const ir::ValueId& id)
{
    return parts(id.index);
}

inline auto hashedParts(const ir::LocationId& id)
{
    return parts(id.index);
}

inline auto hashedParts(const StridedView& view)
{
    const auto& [offset, shape, strides] = view;
    return parts(offset, shape, strides);
}

inline auto hashedParts(const Window& window)
{
    const auto& [start, size, stride, kept] = window;
    return parts(start, size, stride, kept);
}

inline auto hashedParts(const Asked& asked)
{
    const auto& [shape, windows, extents, first, isEmpty] = asked;
    return parts(shape, windows, extents, first, isEmpty);
}

inline auto hashedParts(const RefBinding& ref)
{
    const auto& [buffer, whole, view, recasts, asked] = ref;
    return parts(buffer, whole, view, recasts, asked ? *asked : Asked());
}

inline auto hashedParts(const RefBinding::Recast& recast)
{
    const auto& [dtype, shape, view] = recast;
    return parts(dtype, shape, view);
}

inline auto hashedParts(const ReachedElements& reached)
{
    const auto& [operation, where, changes] = reached;
    return parts(operation, where, changes);
}

inline auto hashedParts(const ScanFrame& frame)
{
    const auto& [item, done] = frame;
    return parts(item->control, done);
}

inline auto hashedParts(const WhileFrame& frame)
{
    const auto& [item, next] = frame;
    return parts(item->control, next);
}

inline auto hashedParts(const SlabRange& range)
{
    const auto& [first, count] = range;
    return parts(first, count);
}

inline auto hashedParts(const Owned& owned)
{
    const auto& [buffers, semaphores, location] = owned;
    return parts(buffers, semaphores, location.index);
}

inline auto hashedParts(const ScopeFrame& frame)
{
    const auto& [owned, shared] = frame;
    return parts(owned, shared);
}

inline auto hashedParts(const CoresFrame& frame)
{
    const auto& [item] = frame;
    return parts(item->control);
}

inline auto hashedParts(const AwayFrame& frame)
{
    const auto& [item] = frame;
    return parts(item->control);
}

inline auto hashedParts(const WarpsFrame& frame)
{
    const auto& [item] = frame;
    return parts(item->control);
}

inline auto hashedParts(const GridPoint& point)
{
    const auto& [step, indices] = point;
    return parts(step, indices);
}

inline auto hashedParts(const StepActions& actions)
{
    const auto& [startIn, waitIn, startOut, waitOut, advanceIn] = actions;
    return parts(startIn, waitIn, startOut, waitOut, advanceIn);
}

inline auto hashedParts(const SlotCopy& copy)
{
    const auto& [row, end, block] = copy;
    return parts(row, end, block);
}

inline auto hashedParts(const PipelineOperand& operand)
{
    const auto& [plan, traceOperand, array, firstSlot, contents, isLive, copyIn, waitIn, copyOut,
                 waitOut, nextFetch, inCopyOfSlot, outCopyOfSlot, lastVisitOfBlock] = operand;
    return parts(plan, traceOperand, array, firstSlot, contents, isLive, copyIn, waitIn, copyOut,
                 waitOut, nextFetch, inCopyOfSlot, outCopyOfSlot, lastVisitOfBlock);
}

inline auto hashedParts(const PipelineFrame& frame)
{
    const auto& [item, params, traceIndex, grid, offset, owned, operands, steps, stages, step, next,
                 at, stage, here, actions, isLive, row, lastRow, outerStep, outerGrid,
                 // The last four are caches of blocks that were looked up.
                 window, looked, changes, points] = frame;
    return parts(item->control, traceIndex, grid, offset, owned, operands, steps, stages, step,
                 next, at, stage, here, actions, isLive, row, lastRow, outerStep, outerGrid);
}

inline auto hashedParts(const Waiting& waiting)
{
    const auto& [semaphore, amount, decrement, since, operation] = waiting;
    return parts(semaphore, amount, decrement, since, operation);
}

inline auto hashedParts(const StoreGroup& group)
{
    const auto& [copies, read, written] = group;
    return parts(copies, read, written);
}

inline auto hashedParts(const UnderwayProduct& product)
{
    const auto& [end, accumulator, reads] = product;
    return parts(end, accumulator, reads);
}

inline auto hashedParts(const SharedScope& scope)
{
    const auto& [device, kind, place, operation, entered, inside, owned, left] = scope;
    return parts(device, kind, place, operation, entered, inside, owned, left);
}

inline auto hashedParts(const SharedScope::Left& left)
{
    const auto& [block, clock] = left;
    return parts(block, clock);
}

inline auto hashedParts(const Agent& agent)
{
    const auto& [id, kind, device, slot, home, seat, place, core, parent, order, cores, block, mesh,
                 yields, time, frames, step, values, refs, gridFrame, waiting, groups, readGroups,
                 openGroup, products, tensorLoads, tensorStores] = agent;
    return parts(id, kind, device, slot, home, seat, place, core, parent, order, cores,
                 block, // `mesh` follows from its frames
                 yields, time, frames, step, values, refs, gridFrame, waiting, groups, readGroups,
                 openGroup, products, tensorLoads, tensorStores);
}

} // namespace pallascope::machine
