// The shortest times of a run, term by term: what losses.cpp adds up.
#pragma once

#include "core/analysis/report.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

namespace pallascope::analysis {

[[nodiscard]] inline Picoseconds times(double factor, Picoseconds time)
{
    return Picoseconds(std::llround(factor * static_cast<double>(time.value())));
}

// Chains of shortest times: one of computing, one of the memory's link and one of the busiest other
// link, which works beside it. After each term the longest of them counts. Leaving out a term makes
// its chain shorter from there on.
class Chains
{
public:
    Chains(Picoseconds most, std::span<const Loss> without)
        : m_most(most)
        , m_without(without)
    {}

    void begin(Picoseconds compute, Picoseconds memory)
    {
        m_compute.known = compute;
        m_memory.known = memory;
        m_reached = std::min(std::max(compute, memory), m_most);
        m_losses.roofline = m_reached;
    }

    // Sets the chain's shortest time after one more term.
    void compute(LossKind kind, Picoseconds least, std::string of = {})
    {
        reach(m_compute, kind, least, std::move(of));
    }

    void memory(LossKind kind, Picoseconds least, std::string of = {})
    {
        reach(m_memory, kind, least, std::move(of));
    }

    void link(LossKind kind, Picoseconds least, std::string of = {})
    {
        reach(m_link, kind, least, std::move(of));
    }

    // Adds a term to all chains.
    void add(LossKind kind, Picoseconds time, std::string of = {})
    {
        if (time <= Picoseconds(0) || isLeftOut(kind, of)) {
            return;
        }
        const auto same = std::ranges::find_if(
            m_losses.beyond, [&](const Loss& loss) { return loss.kind == kind && loss.of == of; });
        if (same == m_losses.beyond.end()) {
            m_losses.beyond.push_back({kind, std::move(of), time, {}});
        } else {
            same->time += time;
        }
    }

    // Whether a term of this kind is left out.
    [[nodiscard]] bool leavesOut(LossKind kind) const
    {
        return std::any_of(m_without.begin(), m_without.end(),
                           [kind](const Loss& loss) { return loss.kind == kind; });
    }

    [[nodiscard]] Picoseconds reached() const { return m_reached; }

    [[nodiscard]] Picoseconds computed() const { return m_compute.known; }

    [[nodiscard]] Losses take() { return std::move(m_losses); }

private:
    struct Chain
    {
        Picoseconds known;   // with all terms
        Picoseconds leftOut; // the terms that were left out
    };

    [[nodiscard]] bool isLeftOut(LossKind kind, const std::string& of) const
    {
        return std::any_of(m_without.begin(), m_without.end(),
                           [&](const Loss& loss) { return loss.kind == kind && loss.of == of; });
    }

    void reach(Chain& chain, LossKind kind, Picoseconds least, std::string of)
    {
        least = std::max(least, chain.known);
        chain.leftOut += isLeftOut(kind, of) ? least - chain.known : Picoseconds(0);
        chain.known = least;
        const Picoseconds next = std::clamp(least - chain.leftOut, m_reached, m_most);
        add(kind, next - m_reached, std::move(of));
        m_reached = next;
    }

    Losses m_losses;
    Picoseconds m_most, m_reached;
    std::span<const Loss> m_without;
    Chain m_compute, m_memory, m_link;
};

} // namespace pallascope::analysis
