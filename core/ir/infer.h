// The type rule of every operation: shared by the builder (to give results their types) and the
// verifier (to check them).
#pragma once

#include "core/base/result.h"
#include "core/ir/program.h"

#include <vector>

namespace pallascope::ir {

// Types of the results of `operation`, whose operands, params and regions are set. The error is a
// sentence about the operation without its place; callers add where().
[[nodiscard]] Result<std::vector<Type>> inferTypes(const Program& program,
                                                   const Operation& operation);

// Whether loads and stores of a kernel work on refs to this memory; to other memory only copies do.
[[nodiscard]] constexpr bool isLoadable(MemorySpace space)
{
    return space == MemorySpace::Vmem || space == MemorySpace::Smem
           || space == MemorySpace::TileSpmem;
}

// HBM, where loads and stores of a fusion work as well.
[[nodiscard]] constexpr bool isFar(MemorySpace space)
{
    return space == MemorySpace::Hbm || space == MemorySpace::Any;
}

inline constexpr const char* kNotLoadable = ": loads and stores work on refs to vmem, tilespmem "
                                            "and smem, other memory only through copies.";

// The shape that an indexer reads from a ref of shape `ref`: integers drop their axis.
[[nodiscard]] Shape indexedShape(const IndexerParams& indexer);

} // namespace pallascope::ir
