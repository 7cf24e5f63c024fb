// One barrier of a GPU's block, as in JAX (jax/_src/pallas/mosaic_gpu/interpret/shared_memory.py,
// JAX 0.12). A number of arrivals completes a phase. The chip keeps one parity bit; the rules
// checked here are what makes one bit enough: every agent that ever waits on the barrier waits for
// every phase, in order, and before the phase after it completes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace pallascope::machine {

enum class BarrierFault : std::uint8_t
{
    Unobserved, // a phase completes, and nobody has observed the one before it
    Missed,     // a phase completes before some agent that waits here has observed the last one
    Late,       // an agent waits for the first time after several phases
    Overrun     // an agent waits for a phase after which another one has completed
};

class Barrier
{
public:
    Barrier() = default;

    // `isNamed`: it is one of the hardware's own, which may end in the middle of a phase.
    // `ofCluster`: it is one block's of a cluster, and others may arrive there although nobody ever
    // waits.
    explicit Barrier(std::int32_t arrivals, bool isNamed = false, bool ofCluster = false)
        : m_needed(arrivals)
        , m_isNamed(isNamed)
        , m_ofCluster(ofCluster)
    {}

    struct Arrival
    {
        bool completes = false; // a phase
        std::optional<BarrierFault> fault;
    };

    Arrival arrive()
    {
        if (++m_arrived < m_needed) {
            return {};
        }
        m_arrived = 0;
        ++m_phase;
        if (m_phase == 2 && m_observed.empty() && !m_ofCluster) {
            return {true, BarrierFault::Unobserved};
        }
        for (const auto& [agent, observed] : m_observed) {
            if (observed < m_phase - 2) {
                return {true, BarrierFault::Missed};
            }
        }
        return {true, std::nullopt};
    }

    struct Wait
    {
        bool blocks = false; // until the next phase completes; then the agent calls observe()
        std::optional<BarrierFault> fault;
    };

    // An agent waits for the phase after the last one that it observed. A warp that has observed
    // none has observed what its warpgroup has (`parent`; -1 for an agent that is no warp).
    Wait wait(std::int32_t agent, std::int32_t parent = -1)
    {
        if (const auto inherited = m_observed.find(parent); inherited != m_observed.end()) {
            m_observed.try_emplace(agent, inherited->second);
        }
        const auto known = m_observed.find(agent);
        if (known == m_observed.end() && m_phase > 1) {
            return {false, BarrierFault::Late};
        }
        const std::int64_t last = known == m_observed.end() ? 0 : known->second;
        if (last <= m_phase - 2) {
            return {false, BarrierFault::Overrun};
        }
        if (last == m_phase) {
            return {true, std::nullopt};
        }
        observe(agent);
        return {};
    }

    void observe(std::int32_t agent) { ++m_observed[agent]; }

    [[nodiscard]] std::int32_t needed() const { return m_needed; }

    [[nodiscard]] std::int32_t arrived() const { return m_arrived; }

    [[nodiscard]] std::int64_t phase() const { return m_phase; }

    [[nodiscard]] bool isNamed() const { return m_isNamed; }

private:
    friend class StateHasher;

    std::int32_t m_needed = 0, m_arrived = 0;
    bool m_isNamed = false, m_ofCluster = false;
    std::int64_t m_phase = 0;
    std::map<std::int32_t, std::int64_t> m_observed; // for each agent that waited: its last phase
};

} // namespace pallascope::machine
