// What is hashed of memories, copies, semaphores and accesses, as in hashed_frames.h. Only
// state_hash.cpp uses it.
#pragma once

#include "core/machine/state/hashed_parts.h"
#include "core/machine/state/state.h"

namespace pallascope::machine {

template<class Table>
auto hashedParts(const trace::Row<Table>& row)
{
    return parts(row.number);
}

inline auto hashedParts(const Memory& memory)
{
    const auto& [contents, holds, isUncontested, isConstant, hasProxies, ready, fifo, explained,
                 undefinedBy, broughtBy, device] = memory;
    return parts(contents, holds, isUncontested, isConstant, hasProxies, ready, fifo, explained,
                 undefinedBy, broughtBy, device);
}

inline auto hashedParts(const ReductionScratch& scratch)
{
    const auto& [buffer, block] = scratch;
    return parts(buffer, block);
}

inline auto hashedParts(const Product& product)
{
    const auto& [value, ready] = product;
    return parts(value, ready);
}

inline auto hashedParts(const AwaitedCopy& copy)
{
    const auto& [row, from, to] = copy;
    return parts(row, from, to);
}

inline auto hashedParts(const HeldCopy& copy)
{
    const auto& [row, awaited, bytes, onlyReads, operation, isReported, started] = copy;
    return parts(row, awaited, bytes, onlyReads, operation, isReported, started);
}

inline auto hashedParts(const EarlySignal& signal)
{
    const auto& [amount, clock] = signal;
    return parts(amount, clock);
}

inline auto hashedParts(const Semaphore& semaphore)
{
    const auto& [space, count, row, lastCopy, landed, held, heldBytes, largestHeld, isShared,
                 settled, executed, clock, location, waiters, barrier, completed, arrivedCopies,
                 share] = semaphore;
    return parts( // `waiters` follow from the agents, sums from `held`
        space, count, row, lastCopy, landed, held, isShared, settled, executed, clock, location,
        barrier, completed, arrivedCopies, share);
}

inline auto hashedParts(const Flight& flight)
{
    const auto& [start, end, out, started, explained, agent, step, copy, operand, slotBuffer, block,
                 array, payload, source, target, elements, location, rows, ofRows, reduction] =
        flight;
    return parts(start, end, out, started, explained, agent, step, copy, operand, slotBuffer, block,
                 array, payload, source, target, elements, location, rows, ofRows, reduction);
}

inline auto hashedParts(const Signal& signal)
{
    const auto& [at, semaphore, amount, copy, location, clock, share] = signal;
    return parts(at, semaphore, amount, copy, location, clock, share);
}

inline auto hashedParts(const Hindrance& hindrance)
{
    const auto& [start, end, lost] = hindrance;
    return parts(start, end, lost);
}

inline auto hashedParts(const SlotUse& use)
{
    const auto& [free, ofProducts, l1] = use;
    return parts(free, ofProducts, l1);
}

inline auto hashedParts(const CopyState& copies)
{
    const auto& [links, flights, held, caches] = copies;
    return parts(links, flights, held, caches);
}

inline auto hashedParts(const SyncState& sync)
{
    const auto& [semaphores, signals, barriers, early] = sync;
    return parts(semaphores, signals, barriers, early);
}

inline auto hashedParts(const VectorClock& clock)
{
    const auto& [known, committed] = clock;
    return parts(known, committed);
}

inline auto hashedParts(const Mover& mover)
{
    const auto& [copy, product] = mover;
    return parts(copy, product);
}

inline auto hashedParts(const UnderwayAccess& underway)
{
    const auto& [mover, otherBuffer, agent, access] = underway;
    return parts(mover, otherBuffer, agent, access);
}

inline auto hashedParts(const UnderwayReads& reads)
{
    const auto& [product, buffers] = reads;
    return parts(product, buffers);
}

inline auto hashedParts(const Access& access)
{
    const auto& [buffer, isUncontested, writes, step, location, place, adds, byPipeline, proxy,
                 isLate] = access;
    return parts(buffer, isUncontested, writes, step, location, place, adds, byPipeline, proxy,
                 isLate);
}

} // namespace pallascope::machine
