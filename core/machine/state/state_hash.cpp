// Every struct is taken apart by a structured binding. So a new member breaks the build until it is
// hashed or left out here.
#include "core/machine/state/state_hash.h"

#include <algorithm>
#include <bit>
#include <concepts>

namespace pallascope::machine {

class StateHasher
{
public:
    [[nodiscard]] std::uint64_t value() const { return m_hash; }

    template<class... T>
    void all(const T&... items)
    {
        (add(items), ...);
    }

    void add(const State& state)
    {
        const auto& [agents, dispatched, memory, copies, sync, aliased, races, delivered, stopped,
                     turns] = state;
        all(agents, dispatched, memory, copies, sync, aliased, races, delivered, stopped);
    }

private:
    template<class T>
    requires std::integral<T> || std::is_enum_v<T>

    void add(T number) { mix(static_cast<std::uint64_t>(number)); }

    void add(double number) { mix(std::bit_cast<std::uint64_t>(number)); }

    void add(const std::string& text)
    {
        add(text.size());
        bytes(text.data(), text.size());
    }

    template<class Tag, class T>
    void add(Quantity<Tag, T> quantity)
    {
        add(quantity.value());
    }

    template<class A, class B>
    void add(const std::pair<A, B>& pair)
    {
        all(pair.first, pair.second);
    }

    template<class... T>
    void add(const std::tuple<T...>& tuple)
    {
        std::apply([&](const T&... items) { all(items...); }, tuple);
    }

    template<class T>
    void add(const std::optional<T>& item)
    {
        add(item.has_value());
        if (item) {
            add(*item);
        }
    }

    template<class... T>
    void add(const std::variant<T...>& item)
    {
        add(item.index());
        std::visit([&](const auto& one) { add(one); }, item);
    }

    template<class Range>

    requires requires(const Range& range) { range.begin() != range.end(); }

    void add(const Range& range)
    {
        add(static_cast<std::uint64_t>(std::distance(range.begin(), range.end())));
        for (const auto& item : range) {
            add(item);
        }
    }

    void add(ir::ValueId id) { add(id.index); }

    void add(ir::LocationId id) { add(id.index); }

    void add(const Shape& shape) { add(shape.extents()); }

    void add(const ir::Operation* operation) { add(operation == nullptr ? -1 : operation->id); }

    void add(const StridedView& view)
    {
        const auto& [offset, shape, strides] = view;
        all(offset, shape, strides);
    }

    void add(const RefBinding& ref)
    {
        const auto& [buffer, whole, view, recasts, asked] = ref;
        all(buffer, whole, view, recasts, asked ? *asked : Shape());
    }

    void add(const RefBinding::Recast& recast)
    {
        const auto& [dtype, shape, view] = recast;
        all(dtype, shape, view);
    }

    // Hashes only those elements that are defined.
    void elements(DType dtype, std::int64_t count, const SharedBytes& data, const Shadow& shadow)
    {
        add(shadow.kind);
        if (!data || shadow.none()) {
            return;
        }
        if (shadow.all()) {
            bytes(data.get(), static_cast<std::size_t>(count * dtypeBytes(dtype)));
            return;
        }
        bytes(shadow.mask.get(), static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i) {
            if (shadow.bytes()[i] != 0) {
                add(readElement(dtype, data.get(), i));
            }
        }
    }

    void add(const RuntimeValue& value)
    {
        const auto& [dtype, shape, data, scalar, shadow, pitch] = value;
        if (pitch != 0) { // where its elements lie is not part of the state
            add(value.dense());
            return;
        }
        all(dtype, shape, shadow.none() ? 0.0 : scalar);
        elements(dtype, shape.rank() == 0 ? 0 : shape.elements(), data, shadow);
    }

    void add(const Buffer& buffer)
    {
        all(buffer.dtype(), buffer.shape(), buffer.fill());
        elements(buffer.dtype(), buffer.shape().elements(), buffer.data(), buffer.shadow());
    }

    void add(const BlockFrame& frame)
    {
        const auto& [plan, owner, next, done, streams, streamed] = frame;
        all(owner, next, done, streams, streamed, plan->items.size());
        for (const ir::ValueId argument : plan->region->arguments) {
            add(argument);
        }
    }

    void add(const ScanFrame& frame)
    {
        const auto& [item, done] = frame;
        all(item->control, done);
    }

    void add(const WhileFrame& frame)
    {
        const auto& [item, next] = frame;
        all(item->control, next);
    }

    void add(const SlabRange& range)
    {
        const auto& [first, count] = range;
        all(first, count);
    }

    void add(const Owned& owned)
    {
        const auto& [buffers, semaphores, location] = owned;
        all(buffers, semaphores, location.index);
    }

    void add(const ScopeFrame& frame)
    {
        const auto& [owned] = frame;
        add(owned);
    }

    void add(const CoresFrame& frame)
    {
        const auto& [item] = frame;
        all(item->control);
    }

    void add(const AwayFrame& frame)
    {
        const auto& [item] = frame;
        all(item->control);
    }

    void add(const GridPoint& point)
    {
        const auto& [step, indices] = point;
        all(step, indices);
    }

    void add(const StepActions& actions)
    {
        const auto& [startIn, waitIn, startOut, waitOut, advanceIn] = actions;
        all(startIn, waitIn, startOut, waitOut, advanceIn);
    }

    void add(const SlotCopy& copy)
    {
        const auto& [row, end, block] = copy;
        all(row, end, block);
    }

    void add(const OperandPlan* plan) { add(plan == nullptr ? -1 : plan->blockRef.index); }

    void add(const PipelineOperand& operand)
    {
        const auto& [plan, traceOperand, array, firstSlot, contents, isLive, copyIn, waitIn,
                     copyOut, waitOut, nextFetch, inCopyOfSlot, outCopyOfSlot, lastVisitOfBlock] =
            operand;
        all(plan, traceOperand, array, firstSlot, contents, isLive, copyIn, waitIn, copyOut,
            waitOut, nextFetch, inCopyOfSlot, outCopyOfSlot, lastVisitOfBlock);
    }

    void add(const PipelineFrame& frame)
    {
        const auto& [item, params, traceIndex, grid, offset, owned, operands, steps, stages, step,
                     next, at, stage, here, actions, isLive, row, lastRow, outerStep, outerGrid,
                     // The last three are caches of blocks that were looked up.
                     window, looked, points] = frame;
        all(item->control, traceIndex, grid, offset, owned, operands, steps, stages, step, next, at,
            stage, here, actions, isLive, row, lastRow, outerStep, outerGrid);
    }

    void add(const Waiting& waiting)
    {
        const auto& [semaphore, amount, decrement, since, operation] = waiting;
        all(semaphore, amount, decrement, since, operation);
    }

    void add(const Agent& agent)
    {
        const auto& [id, kind, device, slot, core, cores, block, mesh, yields, time, frames, step,
                     values, refs, gridFrame, waiting] = agent; // `mesh` follows from its frames
        all(id, kind, device, slot, core, cores, block, yields, time, frames, step, values, refs,
            gridFrame, waiting);
    }

    void add(const Memory& memory)
    {
        const auto& [contents, written, isUncontested, isConstant, ready, fifo, explained,
                     undefinedBy, broughtBy] = memory;
        all(contents, written, isUncontested, isConstant, ready, fifo, explained, undefinedBy,
            broughtBy);
    }

    void add(const Product& product)
    {
        const auto& [value, ready] = product;
        all(value, ready);
    }

    void add(const AwaitedCopy& copy)
    {
        const auto& [row, from, to] = copy;
        all(row, from, to);
    }

    void add(const HeldCopy& copy)
    {
        const auto& [row, awaited, bytes, onlyReads, operation, isReported, started] = copy;
        all(row, awaited, bytes, onlyReads, operation, isReported, started);
    }

    void add(const SettledCopy& copy)
    {
        const auto& [held, settled] = copy;
        all(held, settled);
    }

    void add(const Races::Settled& settled)
    {
        const auto& [agent, epoch, ends, lives] = settled;
        all(agent, epoch, ends, lives);
    }

    void add(const EarlySignal& signal)
    {
        const auto& [amount, clock] = signal;
        all(amount, clock);
    }

    void add(const Semaphore& semaphore)
    {
        const auto& [space, count, row, lastCopy, landed, held, isShared, settled, executed, clock,
                     location] = semaphore;
        all(space, count, row, lastCopy, landed, held, isShared, settled, executed, clock,
            location);
    }

    void add(const Flight& flight)
    {
        const auto& [start, end, out, started, explained, step, copy, operand, slotBuffer, block,
                     array, payload, source, target, elements, location, rows, ofRows, adds] =
            flight;
        all(start, end, out, started, explained, step, copy, operand, slotBuffer, block, array,
            payload, source, target, elements, location, rows, ofRows, adds);
    }

    void add(const Signal& signal)
    {
        const auto& [at, semaphore, amount, copy, location, clock] = signal;
        all(at, semaphore, amount, copy, location, clock);
    }

    void add(const CopyState& copies)
    {
        const auto& [links, flights, held] = copies;
        all(links, flights, held);
    }

    void add(const SyncState& sync)
    {
        const auto& [semaphores, signals, barriers, early] = sync;
        all(semaphores, signals, barriers, early);
    }

    void add(const FifoLink& link) { add(link.m_free); }

    template<class T>
    void add(const Slab<T>& slab)
    {
        all(slab.m_items, slab.m_free);
    }

    void add(const Place& place)
    {
        // `reach` follows from the others.
        const auto& [located, operand, block, reach] = place;
        all(operand, block, located != nullptr);
        if (located) {
            all(located->ref, located->memory, located->rows);
        }
    }

    void add(const Access& access)
    {
        const auto& [buffer, isUncontested, writes, step, location, place, adds, byPipeline] =
            access;
        all(buffer, isUncontested, writes, step, location, place, adds, byPipeline);
    }

    void add(const Races::CopyAccess& copy)
    {
        const auto& [row, otherBuffer, agent, access] = copy;
        all(row, otherBuffer, agent, access);
    }

    void add(const Races::Past& past)
    {
        const auto& [agent, epoch, start, reach, step, location, adds, copy, next] = past;
        all(agent, epoch, *reach, step, location, adds, copy);
    }

    void add(const Reach& reach)
    {
        const auto& [start, stop, parts] = reach;
        all(start, stop, parts != nullptr);
        if (parts) {
            all(parts->all);
        }
    }

    void add(const Races::PastAccesses& past) { add(past.m_all); }

    void add(const Races::History& history)
    {
        const auto& [reads, writes] = history;
        all(reads, writes);
    }

    void add(const Races& races)
    {
        all(races.m_clocks, races.m_copies, races.m_past, races.m_lives, races.m_entered);
    }

    // FNV-1a, with eight bytes at a time.
    void mix(std::uint64_t word)
    {
        m_hash = (m_hash ^ word) * 0x100000001b3ULL;
        m_hash ^= m_hash >> 29;
    }

    void bytes(const void* data, std::size_t count)
    {
        const auto* at = static_cast<const unsigned char*>(data);
        for (; count >= 8; count -= 8, at += 8) {
            std::uint64_t word = 0;
            std::copy_n(at, 8, reinterpret_cast<unsigned char*>(&word));
            mix(word);
        }
        for (; count > 0; --count, ++at) {
            mix(*at);
        }
    }

    std::uint64_t m_hash = 0xcbf29ce484222325ULL;
};

std::uint64_t hashOf(const State& state)
{
    StateHasher hasher;
    hasher.add(state);
    return hasher.value();
}

} // namespace pallascope::machine
