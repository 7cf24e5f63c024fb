#include "tests/machine/schedule_oracle.h"

#include <algorithm>

namespace pallascope::machine_test {

namespace {

// The buffers of one operand. Counters only grow; the physical slot is a counter modulo the number
// of slots.
class BufferedOperand
{
public:
    BufferedOperand(const OracleOperand& operand, std::int64_t steps, int release)
        : m_operand(operand)
        , m_steps(steps)
        , m_release(release)
    {}

    [[nodiscard]] const OracleOperand& spec() const { return m_operand; }

    [[nodiscard]] bool reads() const { return m_operand.inBuffers > 0; }

    [[nodiscard]] bool writes() const { return m_operand.outBuffers > 0; }

    // JAX 0.9 gives a trivial operand buffers like any other.
    [[nodiscard]] bool buffered() const { return !m_operand.trivial || m_release == 9; }

    // Up to JAX 0.11 an operand that is read and written has one set of buffers for both
    // directions.
    [[nodiscard]] int outBuffers() const
    {
        return m_release < 12 && reads() && writes() ? m_operand.inBuffers : m_operand.outBuffers;
    }

    // Step numbers wrap around the grid.
    [[nodiscard]] const Index& at(std::int64_t step) const
    {
        return m_operand.blockAt[static_cast<std::size_t>((step % m_steps + m_steps) % m_steps)];
    }

    [[nodiscard]] bool differs(std::int64_t a, std::int64_t b) const
    {
        return m_operand.indirect || at(a) != at(b);
    }

    [[nodiscard]] std::int64_t slot(std::int64_t counter) const
    {
        if (reads() && writes()) {
            return counter
                   % (m_release < 12 ? m_operand.inBuffers
                                     : m_operand.inBuffers + m_operand.outBuffers - 1);
        }
        return counter % (m_operand.inBuffers + m_operand.outBuffers);
    }

    // How many grid steps pass between a block's last step and the wait for its write-back.
    [[nodiscard]] std::int64_t lag() const
    {
        return m_release < 12 ? 1 : std::max<std::int64_t>(m_operand.outBuffers - 1, 1);
    }

    std::int64_t copyIn = 0, waitIn = 0, copyOut = 0, waitOut = 0;
    std::int64_t looked = 0; // the last step whose block lookahead has looked at

private:
    const OracleOperand& m_operand;
    std::int64_t m_steps;
    int m_release;
};

class Schedule
{
public:
    Schedule(std::int64_t steps, const std::vector<OracleOperand>& operands, int release)
        : m_steps(steps)
        , m_release(release)
    {
        for (const OracleOperand& operand : operands) {
            m_operands.emplace_back(operand, steps, release);
            m_stages = std::max<std::int64_t>({m_stages, operand.inBuffers, operand.outBuffers});
        }
    }

    [[nodiscard]] std::vector<Event> run()
    {
        prologue();
        for (m_step = 0; m_step < m_steps; ++m_step) {
            copyIn();
            waitIn();
            body();
            copyOut();
            waitOut();
            advance();
        }
        epilogue();
        return std::move(m_events);
    }

private:
    void log(const BufferedOperand& o, const char* phase, const char* event, const Index& block,
             std::int64_t slot)
    {
        m_events.push_back({m_step, phase, event, o.spec().name, block, slot});
    }

    [[nodiscard]] bool first() const { return m_step == 0; }

    [[nodiscard]] bool last() const { return m_step == m_steps - 1; }

    void prologue()
    {
        m_step = -1;
        for (const BufferedOperand& o : m_operands) {
            if (!o.buffered() && o.reads() && o.spec().prefetched < 1) {
                log(o, "prologue", "sync_copy_in", o.at(0), 0);
            }
        }
        for (std::int64_t t = 0; t <= m_stages - 2; ++t) {
            for (BufferedOperand& o : m_operands) {
                const bool takesPart = o.buffered() && o.reads() && t + 1 < o.spec().inBuffers
                                       && (t < m_steps || m_release < 11);
                if (!takesPart) {
                    continue;
                }
                if (o.spec().lookahead && t > 0) {
                    lookAhead(o, "ep_initialize", 1);
                } else if (t == 0 || o.differs(t, t - 1)) {
                    fetch(o, "ep_initialize", t, t < o.spec().prefetched);
                }
            }
        }
    }

    // Fetches one block more. A block that the caller has filled in is counted but not copied.
    void fetch(BufferedOperand& o, const char* phase, std::int64_t step, bool brought)
    {
        if (!brought) {
            log(o, phase, "copy_in", o.at(step), o.slot(o.copyIn));
        }
        ++o.copyIn;
    }

    // Goes on over the grid while a slot is free, and fetches where the block changes.
    void lookAhead(BufferedOperand& o, const char* phase, std::int64_t most)
    {
        const std::int64_t begun = o.copyIn;
        for (; o.looked < m_steps - 1; ++o.looked) {
            const bool full = o.copyIn - o.waitIn == o.spec().inBuffers;
            if (full || o.copyIn - begun == most) {
                return;
            }
            if (o.differs(o.looked, o.looked + 1)) {
                fetch(o, phase, o.looked + 1, o.copyIn < o.spec().prefetched);
            }
        }
    }

    void copyIn()
    {
        for (BufferedOperand& o : m_operands) {
            if (!o.buffered() || !o.reads()) {
                continue;
            }
            const std::int64_t n = o.spec().inBuffers;
            if (o.spec().lookahead) {
                lookAhead(o, "ep_copy_in", m_steps);
                continue;
            }
            const bool changed = o.differs(m_step, m_step - 1);
            const bool willFetch = n < 2 ? changed : o.differs(m_step + n - 2, m_step + n - 1);
            const bool outOfFetch = m_step >= m_steps - n + 1;
            bool start = willFetch && !outOfFetch;
            if (n < 2) {
                start = start || first();
            }
            if (start) {
                fetch(o, "ep_copy_in", m_step + n - 1, m_step + n <= o.spec().prefetched);
            }
        }
    }

    void waitIn()
    {
        for (const BufferedOperand& o : m_operands) {
            const std::int64_t turn = o.spec().lookahead && m_release == 12 ? o.waitIn : m_step;
            if (o.buffered() && o.reads() && (first() || o.differs(m_step, m_step - 1))
                && turn >= o.spec().prefetched) {
                log(o, "ep_wait_in", "wait_in", o.at(m_step), o.slot(o.waitIn));
            }
        }
    }

    void body()
    {
        for (const BufferedOperand& o : m_operands) {
            const std::int64_t slot = o.slot(o.writes() ? o.copyOut : o.waitIn);
            log(o, "ep_run_kernel", "use", o.at(m_step), o.buffered() ? slot : 0);
        }
    }

    void copyOut()
    {
        for (BufferedOperand& o : m_operands) {
            if (o.buffered() && o.writes() && (last() || o.differs(m_step, m_step + 1))) {
                log(o, "ep_copy_out", o.outBuffers() == 1 ? "sync_copy_out" : "copy_out",
                    o.at(m_step), o.slot(o.copyOut));
                ++o.copyOut;
            }
        }
    }

    void waitOut()
    {
        for (BufferedOperand& o : m_operands) {
            if (!o.buffered() || !o.writes() || m_step < o.lag()
                || !o.differs(m_step - o.lag() + 1, m_step - o.lag())) {
                continue;
            }
            if (o.outBuffers() > 1) {
                log(o, "ep_wait_out", "wait_out", o.at(m_step - o.lag()), o.slot(o.waitOut));
            }
            ++o.waitOut;
        }
    }

    void advance()
    {
        for (BufferedOperand& o : m_operands) {
            if (o.buffered() && o.reads() && (last() || o.differs(m_step, m_step + 1))) {
                ++o.waitIn;
            }
        }
    }

    void epilogue()
    {
        for (std::int64_t l = m_stages - 2; l >= 0; --l) {
            for (BufferedOperand& o : m_operands) {
                if (!o.buffered() || !o.writes() || l >= o.lag() || l >= m_steps) {
                    continue;
                }
                if (l != 0 && !o.differs(m_steps - l, m_steps - 1 - l)) {
                    continue;
                }
                if (o.outBuffers() > 1) {
                    log(o, "ep_finalize", "wait_out", o.at(m_steps - 1 - l), o.slot(o.waitOut));
                }
                ++o.waitOut;
            }
        }
        for (const BufferedOperand& o : m_operands) {
            if (!o.buffered() && o.writes()) {
                log(o, "epilogue", "sync_copy_out", o.at(0), 0);
            }
        }
    }

    std::int64_t m_steps, m_step = 0, m_stages = 2;
    int m_release;
    std::vector<BufferedOperand> m_operands;
    std::vector<Event> m_events;
};

} // namespace

std::string toString(const Event& event)
{
    std::string text = "[" + std::to_string(event.step) + " " + event.phase + " " + event.event
                       + " " + event.operand + " (";
    for (const std::int64_t index : event.block) {
        text += std::to_string(index) + ",";
    }
    return text + ") slot " + std::to_string(event.slot) + "]";
}

std::string toString(const std::vector<Event>& events)
{
    std::string text;
    for (const Event& event : events) {
        text += toString(event) + "\n";
    }
    return text;
}

std::vector<Event> expectedEvents(std::int64_t steps, const std::vector<OracleOperand>& operands,
                                  int release)
{
    return Schedule(steps, operands, release).run();
}

} // namespace pallascope::machine_test
