// The type rules that operations.inc names: what operands an operation takes, and the types of its
// results. An error is a sentence about the operation without its source location.
#pragma once

#include "core/ir/infer.h"

namespace pallascope::ir::type_rules {

using Types = std::vector<Type>;

// All operands have one type. A comparison yields bool.
[[nodiscard]] Result<Types> anything(const Program&, const Operation&);
[[nodiscard]] Result<Types> numbers(const Program&, const Operation&); // floats and integers
[[nodiscard]] Result<Types> floats(const Program&, const Operation&);
[[nodiscard]] Result<Types> integers(const Program&, const Operation&);
[[nodiscard]] Result<Types> bits(const Program&, const Operation&); // integers and bool
[[nodiscard]] Result<Types> rounding(const Program&, const Operation&);
[[nodiscard]] Result<Types> integerPower(const Program&, const Operation&);
[[nodiscard]] Result<Types> reciprocal(const Program&, const Operation&);
[[nodiscard]] Result<Types> power(const Program&, const Operation&); // float to float or int32
[[nodiscard]] Result<Types> select(const Program&, const Operation&);
[[nodiscard]] Result<Types> clamp(const Program&, const Operation&);
[[nodiscard]] Result<Types> multipleOf(const Program&, const Operation&);
[[nodiscard]] Result<Types> threefry(const Program&, const Operation&);
[[nodiscard]] Result<Types> randomBits(const Program&, const Operation&);

// The result has another dtype.
[[nodiscard]] Result<Types> newDType(const Program&, const Operation&);
[[nodiscard]] Result<Types> sameWidth(const Program&, const Operation&);
[[nodiscard]] Result<Types> packedRows(const Program&, const Operation&);
[[nodiscard]] Result<Types> stochasticRound(const Program&, const Operation&);
[[nodiscard]] Result<Types> pack(const Program&, const Operation&);
[[nodiscard]] Result<Types> unpack(const Program&, const Operation&);

// The result has another shape.
[[nodiscard]] Result<Types> reduceNumbers(const Program&, const Operation&);
[[nodiscard]] Result<Types> reduceAnything(const Program&, const Operation&);
[[nodiscard]] Result<Types> reduceBits(const Program&, const Operation&);
[[nodiscard]] Result<Types> argReduction(const Program&, const Operation&);
[[nodiscard]] Result<Types> cumulative(const Program&, const Operation&);
[[nodiscard]] Result<Types> sort(const Program&, const Operation&);
[[nodiscard]] Result<Types> broadcast(const Program&, const Operation&);
[[nodiscard]] Result<Types> reshape(const Program&, const Operation&);
[[nodiscard]] Result<Types> squeeze(const Program&, const Operation&);
[[nodiscard]] Result<Types> transpose(const Program&, const Operation&);
[[nodiscard]] Result<Types> concatenate(const Program&, const Operation&);
[[nodiscard]] Result<Types> stack(const Program&, const Operation&);
[[nodiscard]] Result<Types> unstack(const Program&, const Operation&);
[[nodiscard]] Result<Types> split(const Program&, const Operation&);
[[nodiscard]] Result<Types> slice(const Program&, const Operation&);
[[nodiscard]] Result<Types> pad(const Program&, const Operation&);
[[nodiscard]] Result<Types> tile(const Program&, const Operation&);
[[nodiscard]] Result<Types> roll(const Program&, const Operation&);
[[nodiscard]] Result<Types> gather(const Program&, const Operation&);
[[nodiscard]] Result<Types> scatter(const Program&, const Operation&);
[[nodiscard]] Result<Types> dynamicSlice(const Program&, const Operation&);
[[nodiscard]] Result<Types> dynamicUpdateSlice(const Program&, const Operation&);
[[nodiscard]] Result<Types> rev(const Program&, const Operation&);
[[nodiscard]] Result<Types> dot(const Program&, const Operation&);

// The result follows from parameters alone, or from memory and regions.
[[nodiscard]] Result<Types> iota(const Program&, const Operation&);
[[nodiscard]] Result<Types> iota2x32(const Program&, const Operation&);
[[nodiscard]] Result<Types> gridQuery(const Program&, const Operation&);
[[nodiscard]] Result<Types> nothing(const Program&, const Operation&);
[[nodiscard]] Result<Types> debugCheck(const Program&, const Operation&);
[[nodiscard]] Result<Types> memory(const Program&, const Operation&);
[[nodiscard]] Result<Types> maskedLoad(const Program&, const Operation&);
[[nodiscard]] Result<Types> maskedSwap(const Program&, const Operation&);
[[nodiscard]] Result<Types> listedElements(const Program&, const Operation&);
[[nodiscard]] Result<Types> atomicRmw(const Program&, const Operation&);
[[nodiscard]] Result<Types> atomicCas(const Program&, const Operation&);
[[nodiscard]] Result<Types> control(const Program&, const Operation&);

// Views of refs, copies, semaphores.
[[nodiscard]] Result<Types> refAt(const Program&, const Operation&);
[[nodiscard]] Result<Types> refReshape(const Program&, const Operation&);
[[nodiscard]] Result<Types> remoteRef(const Program&, const Operation&);
[[nodiscard]] Result<Types> refBitcast(const Program&, const Operation&);
[[nodiscard]] Result<Types> refTranspose(const Program&, const Operation&);
[[nodiscard]] Result<Types> dmaStart(const Program&, const Operation&);
[[nodiscard]] Result<Types> dmaWait(const Program&, const Operation&);
[[nodiscard]] Result<Types> semaphoreSignal(const Program&, const Operation&);
[[nodiscard]] Result<Types> semaphoreWait(const Program&, const Operation&);
[[nodiscard]] Result<Types> semaphoreRead(const Program&, const Operation&);
[[nodiscard]] Result<Types> barrierSemaphore(const Program&, const Operation&);
[[nodiscard]] Result<Types> delay(const Program&, const Operation&);
[[nodiscard]] Result<Types> matmulPushRhs(const Program&, const Operation&);
[[nodiscard]] Result<Types> matmulAccLhs(const Program&, const Operation&);
[[nodiscard]] Result<Types> matmulPop(const Program&, const Operation&);

// Asynchronous copies, barriers and products of a GPU's agents.
[[nodiscard]] Result<Types> loadCopy(const Program&, const Operation&);
[[nodiscard]] Result<Types> storeCopy(const Program&, const Operation&);
[[nodiscard]] Result<Types> groupWait(const Program&, const Operation&);
[[nodiscard]] Result<Types> barrierArrive(const Program&, const Operation&);
[[nodiscard]] Result<Types> barrierWait(const Program&, const Operation&);
[[nodiscard]] Result<Types> barrierTest(const Program&, const Operation&);
[[nodiscard]] Result<Types> wgmma(const Program&, const Operation&);
[[nodiscard]] Result<Types> productWait(const Program&, const Operation&);
[[nodiscard]] Result<Types> accumulatorLoad(const Program&, const Operation&);
[[nodiscard]] Result<Types> accumulatorStore(const Program&, const Operation&);
[[nodiscard]] Result<Types> tcgen05Mma(const Program&, const Operation&);
[[nodiscard]] Result<Types> tensorCopy(const Program&, const Operation&);
[[nodiscard]] Result<Types> tryClusterCancel(const Program&, const Operation&);
[[nodiscard]] Result<Types> maxRegisters(const Program&, const Operation&);

// What the rules share.
[[nodiscard]] Error error(const Operation& operation, const std::string& what);
[[nodiscard]] bool hasAxis(const Type& type, std::int32_t axis);
[[nodiscard]] Error noAxis(const Operation& operation, const Type& type, std::int32_t axis);
[[nodiscard]] bool isInt32(const Type& type); // a scalar
[[nodiscard]] Status checkRef(const Operation& operation, const Type& ref);

[[nodiscard]] inline const Type& operand(const Program& program, const Operation& operation,
                                         std::size_t i)
{
    return program.type(operation.operands[i]);
}

// Every rule calls this for the parameters that its operation is evaluated with. If they are those
// of another operation, it throws, and inferTypes turns that into an error.
template<class P>
[[nodiscard]] const P& params(const Operation& operation)
{
    return std::get<P>(operation.params);
}

} // namespace pallascope::ir::type_rules
