// Loads and stores through refs, views of refs, and what happens if an access leaves its ref.
#pragma once

#include "core/ir/infer.h"
#include "core/machine/memory/known_reaches.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/findings.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pallascope::machine {

class Accesses : private Part
{
public:
    Accesses(const Context& context, Copies& copies, Findings& findings);

    // A get or swap. `asRows`: the loaded value may keep gaps between its rows; the plan says where
    // that is possible.
    void access(const Evaluation& evaluation, bool asRows);
    // A masked load or store, or an atomic operation, that is not listed.
    void accessMasked(const Evaluation& evaluation);
    void accessListed(const Evaluation& evaluation);
    void bindView(const ir::Operation& operation);

    // Notes an access that covers the whole ref or that only takes time.
    void note(const PlanAccess& access)
    {
        const RefBinding& ref = m_turn.binding(access.ref);
        Memory& memory = m_memory[ref.buffer];
        if (access.writes) {
            memory.holds = Memory::Holds::Current;
        } else if (memory.holds == Memory::Holds::Carried) {
            m_findings.reportCarried(access.ref, *access.operation);
        }
        if (access.wholeRef && mayRace(ref)) {
            checkRace(access.ref, *access.operation, access.writes, ref);
        }
    }

    // A box of the elements that a ref shows, and where it lies.
    struct Lanes
    {
        RefBinding where;
        Extents low, high; // the first and the last along each axis
    };

    // What a copy that threads make reads of its source: elements that exist and that the mask, if
    // there is one, takes. Empty if the copy ends the run.
    [[nodiscard]] std::optional<std::vector<Lanes>> copiedLanes(const ir::Operation& operation,
                                                                const RuntimeValue* mask);

    // A product starts to read these refs, which are among the operation's operands.
    [[nodiscard]] UnderwayReads startReads(const ir::Operation& operation,
                                           std::span<const ir::ValueId> refs);

    // A unit that is an agent of its own, the tensor core of an SM, reads or writes all of a ref.
    void useBy(const Agent& unit, const ir::Operation& operation, std::size_t operand, bool writes);

    // The kernel of a core_map ends on this device, and `caller` goes on: arrays in which other
    // devices store may be read from now on.
    void endKernel(const ir::Operation& coreMap, std::int32_t caller);

    // The value that a get of an index map loads now. `indices` are the values of its operands.
    [[nodiscard]] RuntimeValue loadIndex(const ir::Operation& get,
                                         std::span<const std::int64_t> indices);

private:
    // The elements that a get, swap or ref_at accesses in its ref.
    struct Reached
    {
        struct Clipped
        {
            Shape shape;        // of everything that is accessed
            StridedView part;   // the part of it that lies inside of the ref
            bool empty = false; // nothing lies inside
        };

        RefBinding where;                 // the accessed part inside of the ref
        std::unique_ptr<Clipped> clipped; // set if some of it lies outside
    };

    static constexpr const char* kIndexThatStops =
        "An index that lies outside of its ref, where the run stops,";

    // Empty if the access ends the run.
    [[nodiscard]] std::optional<Reached> reach(const ir::Operation& operation);
    // Sets m_windows. Returns whether they lie inside of a ref with these extents; empty if the
    // access ends the run.
    [[nodiscard]] std::optional<bool> findWindows(const ir::Operation& operation,
                                                  const Shape& extents);
    [[nodiscard]] bool mustLieInside(const ir::Operation& operation) const;
    [[nodiscard]] std::optional<Reached> reachInside(const ir::Operation& operation,
                                                     const RefBinding& ref, const Shape& memory);
    [[nodiscard]] std::optional<std::int64_t> elementOf(const ir::Operation& get);
    [[nodiscard]] bool isPadding(const ir::Operation& operation, const Shape& extents,
                                 std::size_t axis, std::int64_t start, std::int64_t last) const;
    [[nodiscard]] bool stopsOutside(const ir::Operation& operation) const;
    [[nodiscard]] bool leavesRef(const ir::Operation& operation, std::size_t axis,
                                 std::int64_t start, std::int64_t last, std::int64_t extent);
    [[nodiscard]] static RuntimeValue loadAt(const Reached& reached, const Buffer& memory);
    static void storeAt(const Reached& reached, Buffer& memory, RuntimeValue value);
    [[nodiscard]] std::optional<RefBinding> listedElement(const ir::Operation& operation,
                                                          std::size_t first, std::int64_t lane);
    void maskedLoad(const ir::Operation& operation);
    void maskedSwap(const ir::Operation& operation);
    void accessLanes(const Evaluation& evaluation);
    [[nodiscard]] bool checkLanes(const ir::Operation& operation, const RuntimeValue* mask);
    // What is watched of the elements that the mask, if there is one, takes.
    [[nodiscard]] Watch::Hits watchedIn(const RefBinding& ref, const RuntimeValue* mask) const;
    [[nodiscard]] RuntimeValue loadLanes(const RefBinding& ref, const Shape& shape);
    void storeLanes(const RefBinding& ref, RuntimeValue value);
    void checkListed(const ir::Operation& operation, std::vector<RefBinding> lanes);
    [[nodiscard]] bool isCut(const ir::Operation& view, const RefBinding& ref, const Shape& memory);

    // Whether it matters to the caches of a GPU which elements the operation reaches.
    [[nodiscard]] bool isCached(const ir::Operation& operation) const
    {
        return m_hasL2 && ir::isFar(*m_prepared.program.type(operation.operands[0]).space);
    }

    // Notes which elements a cached operation reaches: in several calls, if they lie apart.
    void noteReached(const ir::Operation& operation, const RefBinding& where,
                     std::int64_t changes = 1)
    {
        std::get<BlockFrame>(m_turn.agent().frames.back())
            .reached.push_back({&operation, where, changes});
    }

    void noteNothingReached(const ir::Operation& operation) { noteReached(operation, {}); }

    void noteLanes(const ir::Operation& operation, const std::vector<Lanes>& boxes);
    // Elements of the memory that it lists, in any order and as often as it lists them.
    void noteListed(const ir::Operation& operation, std::vector<std::int64_t> elements);

    // Notes what is undefined in what an operation has loaded and, if somebody looks for them, the
    // NaNs there.
    void noteLoad(const RefBinding& ref, const ir::Operation& operation)
    {
        const RuntimeValue& loaded = m_turn.value(operation.results[0]);
        if (!loaded.shadow.all()) {
            m_findings.noteUndefinedLoad(operation, ref.buffer);
        }
        if (m_watch.seeksNans()) {
            m_watch.noteLoad(ref, loaded);
        }
    }

    // Whether an access may conflict with another one.
    [[nodiscard]] bool mayRace(const RefBinding& ref) const
    {
        const Memory& memory = m_memory[ref.buffer];
        return m_detects
               && (memory.hasProxies || m_races.mayConflict(ref.buffer, memory.isUncontested));
    }

    // By this proxy, where proxies matter.
    [[nodiscard]] Access accessOf(const ir::Operation& operation, bool writes,
                                  const RefBinding& where, Proxy proxy);
    // `parts`, if given: it reaches only these parts.
    void checkRace(ir::ValueId ref, const ir::Operation& operation, bool writes,
                   const RefBinding& where, std::optional<std::vector<RefBinding>> parts = {});

    Copies& m_copies;
    Findings& m_findings;
    std::vector<Window> m_windows; // of the access that is being checked
    KnownReaches m_reaches;
    const bool m_hasL2; // whether loads and stores of GMEM go through it
};

} // namespace pallascope::machine
