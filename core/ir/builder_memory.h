// What kernels do by hand: copies, semaphores, the matrix unit, masked and indexed accesses, cores.
#pragma once

#include "core/ir/builder_values.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::pl {

// pltpu.make_async_copy(source, target, semaphore).start() and .wait(), which waits on a DMA
// semaphore for as many bytes as `target` has.
void dmaStart(const Ref& source, const Ref& target, const Ref& semaphore,
              Here here = Here::current());
// Of rows that a list of int32 in memory names, at the end that the parameters say.
void dmaStart(const Ref& source, const Ref& target, const Ref& semaphore, const Ref& rows,
              ir::DmaParams params, Here here = Here::current());
void dmaWait(const Ref& target, const Ref& semaphore, Here here = Here::current());
// pltpu.make_async_remote_copy(...).start(): to the ref that `target` is on another device, whose
// `received` gets the bytes; `sent` is this device's. Devices are numbered row-major in the mesh.
void remoteDmaStart(const Ref& source, const Ref& target, const Ref& sent, const Ref& received,
                    const Operand& device, Here here = Here::current());
// On regular and barrier semaphores; the second signals the semaphore of another core.
void semaphoreSignal(const Ref& semaphore, const Operand& amount, Here here = Here::current());
void semaphoreSignal(const Ref& semaphore, const Operand& amount, const Operand& core,
                     Here here = Here::current());
void semaphoreSignalDevice(const Ref& semaphore, const Operand& amount, const Operand& device,
                           Here here = Here::current());
void semaphoreWait(const Ref& semaphore, const Operand& amount, bool decrement = true,
                   Here here = Here::current());
[[nodiscard]] Value semaphoreRead(const Ref& semaphore, Here here = Here::current());
[[nodiscard]] Ref getBarrierSemaphore(std::int32_t collectiveId = 0, Here here = Here::current());
void delay(const Operand& nanoseconds, Here here = Here::current());

// The matrix unit by hand. It adds lhs times weights to an accumulator, beside what follows, on its
// instance `mxu`; with `staged`, that becomes its weights before. All but lhs are refs in
// MemorySpace::Accumulator, which begin with zeros.
void matmulPushRhs(const Ref& staged, const Operand& rhs, Here here = Here::current());
void matmulAccLhs(const Ref& sum, const Operand& lhs, const Ref& weights,
                  std::optional<Ref> staged = {}, std::int32_t mxu = 0,
                  Here here = Here::current());
// Waits for the sums, takes them and leaves zeros.
[[nodiscard]] Value matmulPop(const Ref& sum, Here here = Here::current());
// The same, but products go into a FIFO, from which each is taken as one.
void matmulLhsFifo(const Ref& fifo, const Operand& lhs, const Ref& weights,
                   std::optional<Ref> staged = {}, std::int32_t mxu = 0,
                   Here here = Here::current());
[[nodiscard]] Value matmulPopFifo(const Ref& fifo, Here here = Here::current());

// pltpu.load and pltpu.store with a mask of the ref's shape; where it is false, `other`.
[[nodiscard]] Value maskedLoad(const Ref& ref, const Operand& mask, const Operand& other,
                               Here here = Here::current());
void maskedStore(const Ref& ref, const Operand& value, const Operand& mask,
                 Here here = Here::current());
// plsc.load_gather, store_scatter and addupdate_scatter: the elements that the indices name, an
// int32 list for each axis of the ref; `mask` says which lanes take part (not given: all).
[[nodiscard]] Value loadGather(const Ref& ref, const std::vector<Value>& indices,
                               const std::optional<Value>& mask = {}, Here here = Here::current());
void storeScatter(const Ref& ref, const std::vector<Value>& indices, const Value& value,
                  const std::optional<Value>& mask = {}, Here here = Here::current());
void addupdateScatter(const Ref& ref, const std::vector<Value>& indices, const Value& value,
                      const std::optional<Value>& mask = {}, Here here = Here::current());
// Runs the body on every core of a mesh at once (pl.core_map), once for each block of a grid.
void coreMap(ir::CoreMapParams mesh, const std::function<void()>& body,
             Here here = Here::current());
void coreMap(std::string axis, std::int32_t cores, const std::function<void()>& body,
             Here here = Here::current());
[[nodiscard]] Value axisIndex(std::string axis, Here here = Here::current());
// At the beginning of a kernel: every device of the mesh runs it, as under shard_map.
void onMesh(std::vector<ir::MeshAxis> axes);

} // namespace pallascope::pl
