// The part of the builder for products that add to TMEM (tcgen05 of plgpu in JAX), for the warps of
// a warpgroup, and for claims of further work.
#pragma once

#include "core/ir/builder_gpu.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace pallascope::pl::gpu {

// plgpu.TMEM(shape, dtype): 128 lanes of a multiprocessor's tensor memory.
[[nodiscard]] Allocation tmem(std::string name, Shape shape, DType dtype = DType::F32);

// What one block has of a product: sum[m,n], lhs[m,k] and rhs[k,n], or half of its columns if the
// product is of a pair of blocks.
struct TensorFactors
{
    Ref sum, lhs, rhs;
};

// The scales of both factors, which some elements along k share: a row for each row of lhs, and one
// for each column of the sum. uint8 stands for float8_e8m0fnu.
struct TensorScales
{
    Ref lhs, rhs;
};

// plgpu.tcgen05_mma: adds the product to the sum, or replaces the sum by it, beside the warpgroup.
void tensorMultiply(const TensorFactors& factors, const Value& accumulate,
                    Here here = Here::current());
void tensorMultiply(const TensorFactors& first, const TensorFactors& second,
                    const Value& accumulate, Here here = Here::current());
void tensorMultiply(const TensorFactors& factors, const TensorScales& scales,
                    const Value& accumulate, Here here = Here::current());
// plgpu.tcgen05_commit_arrive: arrives when all products so far are done.
void tensorCommitArrive(const Ref& barrier, Here here = Here::current());
void copySmemToTmem(const Ref& source, const Ref& target, Here here = Here::current());
// What this warpgroup has loaded from TMEM, or stored there, is done.
void waitLoadTmem(Here here = Here::current());
void commitTmem(Here here = Here::current());

// plgpu.try_cluster_cancel: claims the next block of the grid; `answer` gets its number, or -1. In
// a cluster its first block claims the next one for all; each has an answer and a barrier.
void tryClusterCancel(const Ref& answer, const Ref& barrier, Here here = Here::current());
void tryClusterCancel(const std::vector<Ref>& answers, const std::vector<Ref>& barriers,
                      Here here = Here::current());

// plgpu.warp_map: what each of these warps does, at the same time.
void warpMap(const std::vector<std::int32_t>& warps,
             const std::vector<std::function<void()>>& bodies, Here here = Here::current());

} // namespace pallascope::pl::gpu
