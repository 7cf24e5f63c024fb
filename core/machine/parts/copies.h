// Copies: when a link serves them, and what they do to memory, as dma_execution_mode says.
#pragma once

#include "core/machine/parts/context.h"
#include "core/machine/parts/findings.h"

#include <optional>

namespace pallascope::machine {

class Copies
{
public:
    // `state` is the run's.
    Copies(const Context& context, CopyState& state, Findings& findings);

    void addLinks();

    // A link of the device whose agent's turn it is, as its number in CopyState::links and a row of
    // trace::Links.
    [[nodiscard]] std::int32_t linkHere(std::int32_t link) const
    {
        return m_turn.agent().device * m_prepared.description.linksPerDevice() + link;
    }

    // When a copy issued at that time is under way. Returns nothing, and fails the run, where the
    // clock cannot hold the time.
    [[nodiscard]] std::optional<FifoLink::Service> serve(std::int32_t link, Picoseconds issue,
                                                         Bytes bytes)
    {
        const auto service = m_state.links[static_cast<std::size_t>(link)].serve(issue, bytes);
        if (!service) {
            m_ending.fail(tooLong());
        }
        return service;
    }

    [[nodiscard]] const FifoLink& linkAt(std::int32_t link) const
    {
        return m_state.links[static_cast<std::size_t>(link)];
    }

    // A copy on a link, to be filled in for launch(): where it stays, if that is known.
    [[nodiscard]] Flight& newFlight(std::int32_t link);
    // Begins, or completes, what the copy does to memory. Its times are the same in all modes.
    void launch(Flight& flight);

    // Applies to memory what copies under way have done by that time.
    void land(Picoseconds until);

    // What has not been done before somebody waits: of a copy of a pipeline, or as much as a wait
    // by hand waits for.
    void landHeld(std::int32_t copy)
    {
        if (!m_state.held.empty()) {
            landCopy(copy);
        }
    }

    void landHeld(Semaphore& semaphore, std::int64_t bytes, std::int32_t agent);

    // Whether a copy will write to the buffer.
    [[nodiscard]] bool isOnItsWay(std::int32_t buffer) const;
    // A copy that nobody waited for would land in memory that is gone.
    void dropFlights(SlabRange buffers);

    [[nodiscard]] Buffer cutBlock(const OperandPlan& operand, const RefBinding& array,
                                  std::int64_t block) const;
    // Writes elements to a part of memory, or adds them to what is there.
    void put(const RefBinding& to, RuntimeValue elements, bool adds);
    // Where something undefined was stored last.
    void noteStored(const RefBinding& ref, const RuntimeValue& value, ir::LocationId location);

private:
    void landCopy(std::int32_t copy);
    void read(Flight& flight);
    void write(Flight& flight);
    void writeRows(Flight& flight);
    [[nodiscard]] std::int64_t pasteBlock(const Flight& flight);

    [[nodiscard]] Buffer& buffer(std::int32_t index) const { return m_memory[index].contents; }

    const Prepared& m_prepared;
    DmaMode m_mode;
    const Turn& m_turn;
    Ending& m_ending;
    Slab<Memory>& m_memory;
    Races& m_races;
    CopyState& m_state;
    Findings& m_findings;
    Flight m_flight; // that is launched at once
};

} // namespace pallascope::machine
