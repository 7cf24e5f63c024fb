// Random small programs with manual DMA, together with what an independent model says about them:
// the numbers in the output, and when every copy and wait begins and ends.
#pragma once

#include "tests/machine/support.h"

#include <random>

namespace pallascope::machine_test {

// Every `step`-th of `count` rows or columns, beginning with `first`.
struct Stretch
{
    Extent first = 0, count = 1, step = 1;

    [[nodiscard]] Extent stop() const { return first + (count - 1) * step + 1; }
};

struct Part // a part of a ref with two axes
{
    Stretch rows, columns;
};

struct ManualDmaAction
{
    enum class Kind : std::uint8_t
    {
        Fill,    // ref = amount
        Add,     // part of ref += amount
        Copy,    // part of ref -> otherPart of other, on semaphore
        Wait,    // waits on semaphore for the copy into part of ref
        Delay,   // for amount ns
        DelayBy, // for as many ns as the first element of part of ref says, which is amount
        Signal,  // adds amount to the other core's semaphore
        Turn,    // waits for amount signals of the other core
        Enter,   // begins a scope with ref as its scratch
        Leave
    };

    Kind kind = Kind::Delay;
    std::int32_t ref = 0, other = 0;
    Part part, otherPart;
    std::int32_t semaphore = 0;
    int amount = 0;
    // Wait: it waits for the only copy on its semaphore, and the next action accesses what that
    // copy accesses.
    bool guards = false;
};

struct ManualDmaRef
{
    std::string name;
    Extent rows = 1, columns = 1;
    ir::MemorySpace space = ir::MemorySpace::Vmem;

    [[nodiscard]] Shape shape() const { return {rows, columns}; }
};

// Refs 0 and 1 are the input x and the output; the scratch of every core and that of scopes follow.
// The output begins as a copy of x.
struct ManualDmaProgram
{
    std::vector<ManualDmaRef> refs;
    std::vector<std::vector<ManualDmaAction>> cores; // their actions, in order
    std::vector<std::vector<std::int64_t>> arrays;   // x, and what the output must be at the end
    std::int32_t handOffs = 0; // how many signals of one core the other waits for

    [[nodiscard]] ir::Program traced() const;
    [[nodiscard]] Array input() const;
};

inline constexpr std::int32_t kHandSemaphores = 3; // DMA semaphores of each core

// The program of a seed. It is legal and has no race.
[[nodiscard]] ManualDmaProgram randomManualDmaProgram(std::uint64_t seed);

struct ManualDmaTimes
{
    struct Copy
    {
        std::int64_t issue = 0, start = 0, end = 0, bytes = 0;
        std::int32_t link = 0;
        bool operator==(const Copy&) const = default;
    };

    struct Wait
    {
        std::int64_t begin = 0, end = 0;
        bool operator==(const Wait&) const = default;
    };

    std::vector<Copy> copies;             // in the order of issue
    std::vector<std::vector<Wait>> waits; // for each core, delays included
    std::int64_t end = 0;
    std::string fault; // names a segment of the trace that is not where it must be
};

// When everything happens. It takes nothing from the trace but the length of the segments on each
// core.
[[nodiscard]] ManualDmaTimes manualDmaTimes(const ManualDmaProgram& program, const chip::Chip& chip,
                                            const trace::Trace& trace);

} // namespace pallascope::machine_test
