// The part of the builder for kernels of GPUs: what plgpu has in JAX (jax.experimental.pallas.
// mosaic_gpu). An agent is a warpgroup; the agents of a block run the same body and differ by their
// index on the axis of the kernel's threads.
#pragma once

#include "core/ir/builder_pipeline.h"
#include "core/ir/builder_values.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::pl::gpu {

// plgpu.kernel: `threads` warpgroups run the body for each block of the grid. axisIndex of a grid
// axis, or of `threadAxis`, tells them apart.
struct Launch
{
    std::vector<ir::MeshAxis> grid;
    std::int32_t threads = 1;
    std::string threadAxis = "thread";
    std::vector<ir::MeshAxis> cluster = {}; // so many blocks for each point of the grid
};

void launch(Launch launch, const std::function<void()>& body, Here here = Here::current());

// What a block allocates: plgpu.SMEM(shape, dtype), plgpu.Barrier(num_arrivals, num_barriers) and
// plgpu.ACC(shape).
struct Allocation
{
    Scratch scratch;
    std::int32_t arrivals = 0; // only of a barrier
};

[[nodiscard]] Allocation smem(std::string name, DType dtype, Shape shape);
[[nodiscard]] Allocation barrier(std::string name, std::int32_t arrivals = 1, Shape shape = {});
[[nodiscard]] Allocation accumulator(std::string name, Shape shape, DType dtype = DType::F32);

// pl.run_scoped. All warpgroups of the block share what a collective one allocates; accumulators
// are each warpgroup's own.
void runScoped(const std::vector<Allocation>& allocations, bool collective,
               const std::function<void(const std::vector<Ref>&)>& body,
               Here here = Here::current());

// pl.run_scoped of all blocks of a cluster: the first axis of each allocation says whose part it
// is.
void runScopedOfCluster(const std::vector<Allocation>& allocations, std::int32_t blocks,
                        const std::function<void(const std::vector<Ref>&)>& body,
                        Here here = Here::current());

// ref.at[a, b]: the part of a ref with these indices on its first axes, all of the others. Of what
// the blocks of a cluster allocate together, the first index says whose part it is.
[[nodiscard]] Ref partOf(const Ref& ref, const std::vector<Value>& indices,
                         Here here = Here::current());

void copyGmemToSmem(const Ref& source, const Ref& target, const Ref& barrier,
                    ir::LoadCopyParams params = {}, Here here = Here::current());
// Without a barrier: a copy of cp.async, which waitGmemToSmem waits for.
void copyGmemToSmem(const Ref& source, const Ref& target, Here here = Here::current());
void waitGmemToSmem(std::int32_t n, Here here = Here::current());
void copySmemToGmem(const Ref& source, const Ref& target, bool commit = true,
                    Here here = Here::current());
void copySmemToGmem(const Ref& source, const Ref& target, ir::StoreCopyParams params,
                    Here here = Here::current());
void commitGroup(Here here = Here::current());
void waitSmemToGmem(std::int32_t n, bool readOnly = false, Here here = Here::current());
void commitSmem(Here here = Here::current());
void barrierArrive(const Ref& barrier, Here here = Here::current());
void barrierWait(const Ref& barrier, Here here = Here::current());
[[nodiscard]] Value barrierTest(const Ref& barrier, Here here = Here::current());
void setMaxRegisters(std::int32_t n, bool increase, Here here = Here::current());

// pltriton.atomic_add and its kin on all elements of the ref, those of the mask, or listed ones
// (one int32 list for each axis). Yields the old elements.
Value atomicRmw(ir::AtomicType type, const Ref& ref, const Value& value,
                const std::optional<Value>& mask = {}, Here here = Here::current());
Value atomicRmwListed(ir::AtomicType type, const Ref& ref, const std::vector<Value>& indices,
                      const Value& value, const std::optional<Value>& mask = {},
                      Here here = Here::current());
// pltriton.atomic_cas on a ref of one element. Yields the old one.
Value atomicCas(const Ref& ref, const Value& expected, const Value& value,
                Here here = Here::current());

// plgpu.wgmma: adds lhs times rhs to the accumulator, beside the warpgroup.
void wgmma(const Ref& accumulator, const Ref& lhs, const Ref& rhs, Here here = Here::current());
void wgmma(const Ref& accumulator, const Value& lhs, const Ref& rhs, Here here = Here::current());
void wgmmaWait(std::int32_t n, Here here = Here::current());
// acc[...] and acc[...] = value, without a wait.
[[nodiscard]] Value load(const Ref& accumulator, Here here = Here::current());
void store(const Ref& accumulator, const Value& value, Here here = Here::current());

} // namespace pallascope::pl::gpu
