// The type rule of every operation. The builder uses it to give results their types, the verifier
// to check them.
#pragma once

#include "core/base/result.h"
#include "core/ir/program.h"

#include <vector>

namespace pallascope::ir {

// The types of the results of `operation`, whose operands, params and regions are set. An error is
// a sentence about the operation without its source location; callers add where().
[[nodiscard]] Result<std::vector<Type>> inferTypes(const Program& program,
                                                   const Operation& operation);

// Whether a kernel can load from and store to refs in this space. Other memory is reached only by
// copies.
[[nodiscard]] constexpr bool isLoadable(MemorySpace space)
{
    return space == MemorySpace::Vmem || space == MemorySpace::Smem
           || space == MemorySpace::TileSpmem || space == MemorySpace::Tmem;
}

// HBM. Only fusions load from it and store to it; kernels copy.
[[nodiscard]] constexpr bool isFar(MemorySpace space)
{
    return space == MemorySpace::Hbm || space == MemorySpace::Any;
}

inline constexpr const char* kNotLoadable = ": loads and stores work on refs to vmem, tilespmem, "
                                            "smem and tmem, other memory only through copies.";

// The shape that an indexer selects; an axis indexed by an integer is dropped.
[[nodiscard]] Shape indexedShape(const IndexerParams& indexer);

} // namespace pallascope::ir
