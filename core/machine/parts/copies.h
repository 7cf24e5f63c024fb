// Copies: when a link serves them, and what they do to memory according to dma_execution_mode.
#pragma once

#include "core/machine/parts/context.h"
#include "core/machine/parts/findings.h"

#include <optional>
#include <span>

namespace pallascope::machine {

class Copies
{
public:
    // `state` is part of the run's state.
    Copies(const Context& context, CopyState& state, SlotUses& uses, Findings& findings);

    void addLinks();

    // The number of a link of the current agent's device, as an index into CopyState::links and a
    // row of trace::Links.
    [[nodiscard]] std::int32_t linkHere(std::int32_t link) const
    {
        return linkOf(m_turn.agent().device, link);
    }

    [[nodiscard]] std::int32_t linkOf(std::int32_t device, std::int32_t link) const
    {
        return device * m_prepared.description.linksPerDevice() + link;
    }

    // The start and end of a copy that is issued at this time. Empty if the clock cannot hold them;
    // the run then fails.
    [[nodiscard]] std::optional<FifoLink::Service> serve(std::int32_t link, Picoseconds issue,
                                                         Bytes bytes)
    {
        const auto service = m_state.links[static_cast<std::size_t>(link)].serve(issue, bytes);
        if (!service) {
            m_ending.fail(tooLong());
        }
        return service;
    }

    // The link on which a copy goes, and when; and when the first and the last of it come to where
    // it goes to, during that service or later.
    struct Served
    {
        std::int32_t link = 0;
        FifoLink::Service service;
        Picoseconds begin = service.start, arrival = service.end;
    };

    // serve(), with the link.
    [[nodiscard]] std::optional<Served> servedOn(std::int32_t link, Picoseconds issue, Bytes bytes)
    {
        const std::optional<FifoLink::Service> service = serve(link, issue, bytes);
        return service ? std::optional(Served{link, *service}) : std::nullopt;
    }

    // What a link serves into the current agent's SM also takes the port of that SM, one copy after
    // another, where the chip says how much it takes in a cycle. `bytes` are all that arrive there,
    // though the link may carry a part of them only.
    void arriveAtPort(Served& served, Bytes bytes);

    // Notes that a copy writes `bytes` into the shared memory of the current agent's SM meanwhile,
    // which makes products there take longer.
    void writeShared(const Served& served, Bytes bytes);

    // What the agents of the current agent's SM share.
    [[nodiscard]] SlotUse& slotUse();

    // Whether the chip has an L2 between GMEM and the agents.
    [[nodiscard]] bool hasL2() const { return m_l2Link.has_value(); }

    // Whether a copy on this link of the chip goes through it.
    [[nodiscard]] bool hasL2(std::int32_t link) const
    {
        const auto& links = m_prepared.chip.links;
        return m_l2Link && link < static_cast<std::int32_t>(links.size())
               && links[static_cast<std::size_t>(link)].from == m_gmem;
    }

    // A part of an array in GMEM, and the bytes that are wanted of it.
    struct Piece
    {
        SectorCache::Part part;
        Bytes bytes;
    };

    // What is wanted, as far as L2 held it and as far as it did not.
    struct ThroughL2
    {
        std::optional<Served> held, fetched;
        Bytes hit, missed;
    };

    // As serve(), of at least one piece, on a link of the chip that has L2. What L2 holds, it
    // serves on its own link; what it does not, comes over `link` and stays. What is written goes
    // over `link` at once, as it must leave L2 at some time, and stays too. `blocks` of a cluster
    // each take a share of what L2 holds; what it does not hold, the first of them that asks brings
    // for all.
    [[nodiscard]] std::optional<ThroughL2> serveThroughL2(std::int32_t link, Picoseconds issue,
                                                          std::span<const Piece> pieces, bool out,
                                                          std::int32_t blocks);

    // L2 itself changes elements of a part, some of them so many times, once they have come there.
    // Changes of one element are made one after another. Returns when the last of them is made.
    [[nodiscard]] Picoseconds changeInL2(const SectorCache::Part& part, std::int64_t changes,
                                         Picoseconds from);

    [[nodiscard]] const FifoLink& linkAt(std::int32_t link) const
    {
        return m_state.links[static_cast<std::size_t>(link)];
    }

    // A copy on a link, to be filled in for launch(). It is stored where it will remain, if that is
    // known.
    [[nodiscard]] Flight& newFlight(std::int32_t link);
    // Begins or completes what the copy does to memory. Its times are the same in all modes.
    void launch(Flight& flight);

    // Applies to memory what the copies under way have done by this time.
    void land(Picoseconds until);
    // Whether some copy under way ends by this time, so that it would change memory.
    [[nodiscard]] bool endBy(Picoseconds until) const;

    // With on_wait: makes the copy of a pipeline for which somebody waits or, in the second form,
    // as many copies as a wait of the program itself covers.
    void landHeld(trace::CopyRow copy)
    {
        if (!m_state.held.empty()) {
            landCopy(copy);
        }
    }

    void landHeld(Semaphore& semaphore, std::int64_t bytes, std::int32_t agent);

    // Whether some copy under way will write to the buffer.
    [[nodiscard]] bool isOnItsWay(std::int32_t buffer) const;
    // A GPU's copies out of memory that ends read it now: the SM keeps it until they have.
    void finishReads(SlabRange buffers);
    // Drops copies that nobody waited for and that would land in memory that no longer exists.
    void dropFlights(SlabRange buffers);

    [[nodiscard]] Buffer cutBlock(const OperandPlan& operand, const RefBinding& array,
                                  std::int64_t block) const;
    // Writes elements to a part of memory, or makes such a change of its contents.
    void put(const RefBinding& to, RuntimeValue elements,
             ir::AtomicType reduction = ir::AtomicType::Xchg);
    // Notes where something undefined was last stored; what a mask leaves out is not stored.
    void noteStored(const RefBinding& ref, const RuntimeValue& value, ir::LocationId location,
                    const RuntimeValue* mask = nullptr);

private:
    void landCopy(trace::CopyRow copy);
    void recordHeld(std::size_t device); // by its L2
    void read(Flight& flight);
    void write(Flight& flight);
    void writeRows(Flight& flight);
    [[nodiscard]] std::int64_t pasteBlock(const Flight& flight);

    [[nodiscard]] Buffer& buffer(std::int32_t index) const { return m_memory[index].contents; }

    const Prepared& m_prepared;
    DmaMode m_mode;
    Recorder& m_recorder;
    const Turn& m_turn;
    Ending& m_ending;
    Slab<Memory>& m_memory;
    Races& m_races;
    CopyState& m_state;
    SlotUses& m_uses;
    Findings& m_findings;
    Watch& m_watch;
    std::int32_t m_gmem = -1;                       // the memory that holds GMEM
    std::optional<std::int32_t> m_l2Link;           // between L2 and the SMs, if the chip has it
    Picoseconds m_change;                           // of an element, by L2
    std::vector<const SectorCache::Part*> m_missed; // kept for its memory
    std::optional<FifoLink> m_port;     // of one SM, whose time is the last of its units'
    std::optional<FifoLink> m_products; // how long products of one SM wait for what is written
    Flight m_flight;                    // used for a copy that is completed at once
};

} // namespace pallascope::machine
