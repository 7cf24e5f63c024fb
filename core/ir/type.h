// The types of a program's values and refs, and the source locations of its operations.
#pragma once

#include "core/base/dtype.h"
#include "core/base/shape.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pallascope::ir {

enum class MemorySpace : std::uint8_t
{
    Any,
    Hbm,
    Vmem,
    Smem,
    TileSpmem, // the vector memory of one subcore
    Spmem,     // shared by the subcores of one core
    Tmem,      // tensor memory of a GPU's multiprocessor: 128 lanes of columns
    // Registers of the matrix unit (accumulators, staged right operands); occupies no memory.
    Accumulator,
    Semaphore,        // SemaphoreType.REGULAR: counts signals
    DmaSemaphore,     // SemaphoreType.DMA: counts the bytes of copies
    BarrierSemaphore, // SemaphoreType.BARRIER: one per collective_id
    Barrier           // plgpu.Barrier: arrivals complete its phases
};

// "vmem", "dma_semaphore"; empty for a number past the last enumerator.
[[nodiscard]] constexpr std::string_view memorySpaceName(MemorySpace space)
{
    switch (space) {
    case MemorySpace::Any:
        return "any";
    case MemorySpace::Hbm:
        return "hbm";
    case MemorySpace::Vmem:
        return "vmem";
    case MemorySpace::Smem:
        return "smem";
    case MemorySpace::TileSpmem:
        return "tilespmem";
    case MemorySpace::Spmem:
        return "spmem";
    case MemorySpace::Tmem:
        return "tmem";
    case MemorySpace::Accumulator:
        return "accumulator";
    case MemorySpace::Semaphore:
        return "semaphore";
    case MemorySpace::DmaSemaphore:
        return "dma_semaphore";
    case MemorySpace::BarrierSemaphore:
        return "barrier_semaphore";
    case MemorySpace::Barrier:
        return "barrier";
    }
    return {};
}

// Whether a ref in this space is to semaphores or barriers, which are numbered and have no bytes.
[[nodiscard]] constexpr bool isSemaphore(MemorySpace space)
{
    return space >= MemorySpace::Semaphore;
}

// Whether a ref in this space occupies bytes of one of the chip's memories.
[[nodiscard]] constexpr bool hasMemory(MemorySpace space)
{
    return space < MemorySpace::Accumulator;
}

// The type of a value (an array; a scalar has rank 0), or of a ref to memory in `space`.
struct Type
{
    DType dtype = DType::F32;
    Shape shape;
    std::optional<MemorySpace> space; // set: the type is a ref's

    [[nodiscard]] bool isRef() const { return space.has_value(); }

    [[nodiscard]] bool isScalar() const { return !isRef() && shape.rank() == 0; }

    bool operator==(const Type&) const = default;
};

// "f32[512,512]", "i32[]", "Ref<vmem>{bf16[512,512]}"
[[nodiscard]] std::string toString(const Type& type);

struct ValueId
{
    std::int32_t index = -1;
    auto operator<=>(const ValueId&) const = default;
};

// The value of a scalar constant. A double holds every value of a dtype of up to 32 bits exactly.
using Literal = double;

struct Value
{
    Type type;
    std::optional<Literal> literal; // a literal has no defining operation
    std::string name;               // of a ref: the argument's name; of other values empty
    bool operator==(const Value&) const = default;
};

// Index into Program::locations.
struct LocationId
{
    std::int32_t index = -1;
    bool operator==(const LocationId&) const = default;
};

struct Location
{
    std::string file;      // as the author's tool names it; the text is in Program::sources
    std::int32_t line = 0; // counted from 1; 0: unknown
    std::string function;
    LocationId caller = {}; // the call of that function, an earlier location; -1: unknown
    bool operator==(const Location&) const = default;
};

struct Source
{
    std::string file;
    std::string text;
    bool operator==(const Source&) const = default;
};

} // namespace pallascope::ir
