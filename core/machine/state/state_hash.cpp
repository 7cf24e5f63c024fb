// Hashes values, ranges and the parts of structs (hashed_frames.h, hashed_sync.h), and what has
// private members or only sometimes all of its members.
#include "core/machine/state/state_hash.h"

#include "core/machine/state/hashed_frames.h"
#include "core/machine/state/hashed_sync.h"

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
        const auto& [agents, dispatched, memory, sharedScopes, slotUses, reductionScratches, copies,
                     sync, aliased, races, delivered, stopped, turns] = state;
        all(agents, dispatched, memory, sharedScopes, slotUses, reductionScratches, copies, sync,
            aliased, races, delivered, stopped);
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

    template<class Row>
    void add(const trace::OptionalRow<Row>& item)
    {
        add(trace::stored(item));
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

    template<class T>

    requires requires(const T& item) { hashedParts(item); }

    void add(const T& item)
    {
        std::apply([&](const auto&... items) { all(items...); }, hashedParts(item));
    }

    void add(const Shape& shape) { add(shape.extents()); }

    void add(const ir::Operation* operation) { add(operation == nullptr ? -1 : operation->id); }

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
        const auto& [plan, owner, next, done, reserved, streams, streamed, awaits, reached, ends,
                     store] = frame;
        all(owner, next, done, reserved, streams, streamed, awaits, reached, ends, store,
            plan->items.size());
        for (const ir::ValueId argument : plan->region->arguments) {
            add(argument);
        }
    }

    void add(const OperandPlan* plan) { add(plan == nullptr ? -1 : plan->blockRef.index); }

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

    void add(const Hindrances& hindrances) { add(hindrances.m_all); }

    void add(const Epochs& epochs) { add(epochs.m_known); }

    void add(const Barrier& barrier)
    {
        all(barrier.m_needed, barrier.m_arrived, barrier.m_phase, barrier.m_observed);
    }

    void add(const FifoLink& link) { add(link.m_free); }

    void add(const SectorCache& cache)
    {
        for (const auto& [buffer, cut] : cache.m_cuts) {
            all(buffer, cut.array, cut.tile, cut.elementBits);
        }
        for (std::int32_t entry = cache.m_oldest; entry >= 0;) {
            const SectorCache::Entry& one = cache.m_entries[static_cast<std::size_t>(entry)];
            all(one.buffer, one.tile, one.bytes, one.since.ready, one.since.copy);
            entry = one.newer;
        }
    }

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

    void add(const UnderwayAccesses& underway)
    {
        underway.forEach([&](const UnderwayAccess& one) { add(one); });
    }

    void add(const Races::Past& past)
    {
        const auto& [agent, epoch, made, start, reach, step, location, adds, proxy, copy, next] =
            past;
        all(agent, epoch, made, *reach, step, location, adds, proxy, copy);
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
        all(races.m_clocks, races.m_underway, races.m_products, races.m_past, races.m_lives,
            races.m_entered, races.m_atomic, races.m_shares);
    }

    void add(const Races::Shares& shares)
    {
        const auto& [rounds, open] = shares;
        all(rounds, open);
    }

    void add(const Races::Share& share)
    {
        const auto& [round, agent, known, write] = share;
        const auto& [access, block, blocks, copy] = write;
        all(round, agent, known, access, block, blocks, copy);
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
