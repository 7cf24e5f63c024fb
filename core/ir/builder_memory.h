// The part of the builder for what a kernel does itself: manual DMA, semaphores, the matrix unit,
// masked and indexed accesses, cores and devices.
#pragma once

#include "core/ir/builder_values.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::pl {

// pltpu.make_async_copy(source, target, semaphore).start() and .wait(). The wait is on a DMA
// semaphore, for as many bytes as `target` has.
void dmaStart(const Ref& source, const Ref& target, const Ref& semaphore,
              Here here = Here::current());
// Copies the rows that a list of int32 in memory names; `params` says to which end the list
// applies.
void dmaStart(const Ref& source, const Ref& target, const Ref& semaphore, const Ref& rows,
              ir::DmaParams params, Here here = Here::current());
void dmaWait(const Ref& target, const Ref& semaphore, Here here = Here::current());
// pltpu.make_async_remote_copy(...).start(): copies to `target` as another device sees it. Devices
// are numbered in row-major order. `sent` is a semaphore of this device; the other device's
// `received` counts the bytes that arrive.
void remoteDmaStart(const Ref& source, const Ref& target, const Ref& sent, const Ref& received,
                    const Operand& device, Here here = Here::current());
// For regular and barrier semaphores. The second function signals another core's semaphore.
void semaphoreSignal(const Ref& semaphore, const Operand& amount, Here here = Here::current());
void semaphoreSignal(const Ref& semaphore, const Operand& amount, const Operand& core,
                     Here here = Here::current());
// plgpu.remote_ref: what another device has of a ref in HBM.
[[nodiscard]] Ref remoteRef(const Ref& ref, const Operand& device, Here here = Here::current());

void semaphoreSignalDevice(const Ref& semaphore, const Operand& amount, const Operand& device,
                           Here here = Here::current());
void semaphoreWait(const Ref& semaphore, const Operand& amount, bool decrement = true,
                   Here here = Here::current());
[[nodiscard]] Value semaphoreRead(const Ref& semaphore, Here here = Here::current());
[[nodiscard]] Ref getBarrierSemaphore(std::int32_t collectiveId = 0, Here here = Here::current());
void delay(const Operand& nanoseconds, Here here = Here::current());

// Direct use of the matrix unit. matmulAccLhs adds lhs times weights to an accumulator on instance
// `mxu` of the unit, while the core goes on. If `staged` is given, it becomes the weights first.
// All operands but lhs are refs in MemorySpace::Accumulator, whose elements begin as zeros.
void matmulPushRhs(const Ref& staged, const Operand& rhs, Here here = Here::current());
void matmulAccLhs(const Ref& sum, const Operand& lhs, const Ref& weights,
                  std::optional<Ref> staged = {}, std::int32_t mxu = 0,
                  Here here = Here::current());
// Waits until the sums are complete, returns them and leaves zeros.
[[nodiscard]] Value matmulPop(const Ref& sum, Here here = Here::current());
// The same with a FIFO: each product is put into it and is taken out whole.
void matmulLhsFifo(const Ref& fifo, const Operand& lhs, const Ref& weights,
                   std::optional<Ref> staged = {}, std::int32_t mxu = 0,
                   Here here = Here::current());
[[nodiscard]] Value matmulPopFifo(const Ref& fifo, Here here = Here::current());

// pltpu.load and pltpu.store with a mask of the ref's shape. Where the mask is false, a load
// returns `other` and a store changes nothing.
[[nodiscard]] Value maskedLoad(const Ref& ref, const Operand& mask, const Operand& other,
                               Here here = Here::current());
void maskedStore(const Ref& ref, const Operand& value, const Operand& mask,
                 Here here = Here::current());
// plsc.load_gather, store_scatter and addupdate_scatter. The indices are one int32 list for each
// axis of the ref; `mask` says which lanes take part (all if it is absent).
[[nodiscard]] Value loadGather(const Ref& ref, const std::vector<Value>& indices,
                               const std::optional<Value>& mask = {}, Here here = Here::current());
void storeScatter(const Ref& ref, const std::vector<Value>& indices, const Value& value,
                  const std::optional<Value>& mask = {}, Here here = Here::current());
void addupdateScatter(const Ref& ref, const std::vector<Value>& indices, const Value& value,
                      const std::optional<Value>& mask = {}, Here here = Here::current());
// pl.core_map: runs the body on all cores of a mesh at the same time, once for each block of a
// grid.
void coreMap(ir::CoreMapParams mesh, const std::function<void()>& body,
             Here here = Here::current());
void coreMap(std::string axis, std::int32_t cores, const std::function<void()>& body,
             Here here = Here::current());
[[nodiscard]] Value axisIndex(std::string axis, Here here = Here::current());
// Call it at the beginning of a kernel: every device of the mesh runs the kernel, as under
// shard_map.
void onMesh(std::vector<ir::MeshAxis> axes);

} // namespace pallascope::pl
