// Type rules of what a GPU's agents do asynchronously: copies by the TMA, barriers, and products of
// the tensor core. The primitives are those of jax/_src/pallas/mosaic_gpu/primitives.py.
#include "core/ir/cp_async.h"
#include "core/ir/tensor_product.h"
#include "core/ir/type_rules.h"

namespace pallascope::ir::type_rules {

namespace {

Status checkOneBarrier(const Operation& operation, const Type& type)
{
    if (type.space == MemorySpace::Barrier && type.shape.rank() == 0) {
        return Done{};
    }
    return error(operation, "takes one barrier, not " + toString(type) + ".");
}

// Checks that there are `least` operands and, if the operation has a predicate, a bool after them;
// `each`: or a bool for each element of this shape.
Status checkPredicate(const Program& program, const Operation& operation, std::size_t least,
                      bool predicate, const Shape& each = {})
{
    if (operation.operands.size() != least + (predicate ? 1U : 0U)) {
        return error(operation, "takes " + std::to_string(least)
                                    + " operands, and a bool if it has a predicate.");
    }
    if (!predicate) {
        return Done{};
    }
    const Type& given = operand(program, operation, least);
    if (given != Type{DType::Bool, Shape{}, {}} && given != Type{DType::Bool, each, {}}) {
        return error(operation, "has the predicate " + toString(given) + "; expected a bool scalar"
                                    + (each.rank() == 0 ? "." : " or one for each element."));
    }
    return Done{};
}

bool isShared(const Type& type)
{
    return type.space == MemorySpace::Smem;
}

// Slices of dynamic size do not exist here, so that the shapes are equal.
Status checkCopy(const Operation& operation, const Type& source, const Type& target, bool loads)
{
    const Type &far = loads ? source : target, &near = loads ? target : source;
    const bool sound = far.isRef() && isFar(*far.space) && isShared(near)
                       && source.dtype == target.dtype && source.shape == target.shape;
    return sound ? Status(Done{})
                 : error(operation, "copies " + toString(source) + " to " + toString(target)
                                        + "; expected a ref to " + (loads ? "hbm" : "smem")
                                        + " and one to " + (loads ? "smem" : "hbm")
                                        + ", of one dtype and shape.");
}

// What cp.reduce.async.bulk.tensor of the PTX ISA can change.
bool reduces(DType dtype, AtomicType reduction)
{
    const bool isWhole = dtype == DType::Int32 || dtype == DType::UInt32;
    const bool isHalf = dtype == DType::F16 || dtype == DType::BF16;
    switch (reduction) {
    case AtomicType::Xchg:
        return true;
    case AtomicType::Add:
        return isWhole || isHalf || dtype == DType::F32;
    case AtomicType::Max:
    case AtomicType::Min:
        return isWhole || isHalf;
    case AtomicType::And:
    case AtomicType::Or:
    case AtomicType::Xor:
        return isWhole;
    }
    return false;
}

bool isInRegisters(const Type& type)
{
    return type.space == MemorySpace::Accumulator;
}

bool holdsSums(const Type& type)
{
    return isInRegisters(type) && type.shape.rank() == 2;
}

} // namespace

Result<Types> loadCopy(const Program& program, const Operation& operation)
{
    const auto& copy = params<LoadCopyParams>(operation);
    const bool hasBarrier = !isCpAsync(operation);
    if (Status status = checkPredicate(program, operation, hasBarrier ? 3 : 2, copy.predicate,
                                       operand(program, operation, 0).shape);
        !status) {
        return status.error();
    }
    constexpr std::int32_t kMostBlocks = 16; // CUDA C++ Programming Guide, thread block clusters
    if (copy.blocks < 1 || copy.blocks > kMostBlocks) {
        return error(operation, "serves " + std::to_string(copy.blocks)
                                    + " blocks of a cluster; expected 1 to "
                                    + std::to_string(kMostBlocks) + ".");
    }
    if (!copy.along.empty() && copy.blocks == 1) {
        return error(operation, "names axes along which blocks copy for each other, and serves one "
                                "block.");
    }
    constexpr std::int32_t kMostParts = 1 << 16; // rows of a gather, as of manual DMA
    if (copy.parts < 1 || copy.parts > kMostParts) {
        return error(operation, "is one of " + std::to_string(copy.parts)
                                    + " that arrive together; expected 1 to "
                                    + std::to_string(kMostParts) + ".");
    }
    if (Status status = checkCopy(operation, operand(program, operation, 0),
                                  operand(program, operation, 1), true);
        !status) {
        return status.error();
    }
    if (!hasBarrier && (copy.blocks > 1 || copy.parts > 1)) {
        return error(operation, "serves a cluster without a barrier; expected one.");
    }
    const Status status =
        hasBarrier ? checkOneBarrier(operation, operand(program, operation, 2)) : Status(Done{});
    return status ? Result<Types>(Types{}) : status.error();
}

Result<Types> storeCopy(const Program& program, const Operation& operation)
{
    const auto& copy = params<StoreCopyParams>(operation);
    if (Status status = checkPredicate(program, operation, 2, copy.predicate); !status) {
        return status.error();
    }
    const Type& target = operand(program, operation, 1);
    if (Status status = checkCopy(operation, operand(program, operation, 0), target, false);
        !status) {
        return status.error();
    }
    if (!reduces(target.dtype, copy.reduction)) {
        return error(operation, "reduces into " + toString(target)
                                    + "; expected int32 or uint32, f16 or bf16 unless it works on "
                                      "bits, or f32 if it adds.");
    }
    return Types{};
}

Result<Types> groupWait(const Program&, const Operation& operation)
{
    const std::int32_t n = params<GroupWaitParams>(operation).n;
    if (n < 0) {
        return error(operation,
                     "leaves " + std::to_string(n) + " groups under way; expected 0 or more.");
    }
    return Types{};
}

Result<Types> barrierArrive(const Program& program, const Operation& operation)
{
    const bool predicate = params<PredicateParams>(operation).predicate;
    if (Status status = checkPredicate(program, operation, 1, predicate); !status) {
        return status.error();
    }
    if (Status status = checkOneBarrier(operation, operand(program, operation, 0)); !status) {
        return status.error();
    }
    return Types{};
}

Result<Types> barrierWait(const Program& program, const Operation& operation)
{
    if (Status status = checkOneBarrier(operation, operand(program, operation, 0)); !status) {
        return status.error();
    }
    return Types{};
}

Result<Types> barrierTest(const Program& program, const Operation& operation)
{
    if (Status status = checkOneBarrier(operation, operand(program, operation, 0)); !status) {
        return status.error();
    }
    return Types{{DType::Bool, Shape{}, {}}};
}

Result<Types> wgmma(const Program& program, const Operation& operation)
{
    const Type &sum = operand(program, operation, 0), &lhs = operand(program, operation, 1),
               &rhs = operand(program, operation, 2);
    const bool inRegisters = params<WgmmaParams>(operation).lhsInRegisters;
    const bool sound = holdsSums(sum) && isShared(rhs) && lhs.isRef() != inRegisters
                       && (inRegisters || isShared(lhs)) && lhs.shape.rank() == 2
                       && rhs.shape.rank() == 2 && lhs.shape[0] == sum.shape[0]
                       && lhs.shape[1] == rhs.shape[0] && rhs.shape[1] == sum.shape[1];
    if (!sound) {
        return error(operation, "adds " + toString(lhs) + " times " + toString(rhs) + " to "
                                    + toString(sum)
                                    + "; expected [m,k] times [k,n] to [m,n], the sum a ref in "
                                      "accumulator, the right operand a ref in smem and the left "
                                      "one such a ref, or a value if it lies in registers.");
    }
    return Types{};
}

Result<Types> productWait(const Program&, const Operation& operation)
{
    const std::int32_t n = params<ProductWaitParams>(operation).n;
    if (n < 0) {
        return error(operation,
                     "leaves " + std::to_string(n) + " products under way; expected 0 or more.");
    }
    return Types{};
}

Result<Types> accumulatorLoad(const Program& program, const Operation& operation)
{
    const Type& sum = operand(program, operation, 0);
    if (!isInRegisters(sum)) {
        return error(operation, "takes a ref in accumulator, not " + toString(sum) + ".");
    }
    return Types{{sum.dtype, sum.shape, {}}};
}

Result<Types> accumulatorStore(const Program& program, const Operation& operation)
{
    const Type &sum = operand(program, operation, 0), &value = operand(program, operation, 1);
    if (!isInRegisters(sum) || value != Type{sum.dtype, sum.shape, {}}) {
        return error(operation, "puts " + toString(value) + " into " + toString(sum)
                                    + "; expected a ref in accumulator and a value of its dtype "
                                      "and shape.");
    }
    return Types{};
}

namespace {

bool isInTensorMemory(const Type& type)
{
    return type.space == MemorySpace::Tmem;
}

bool isMatrix(const Type& type)
{
    return type.shape.rank() == 2;
}

// Whether `sum` may hold `lhs` times what `factors` right operands of rhs's shape make side by
// side.
bool multiplies(const Type& sum, const Type& lhs, const Type& rhs, std::int64_t factors)
{
    return isInTensorMemory(sum) && (isShared(lhs) || isInTensorMemory(lhs)) && isShared(rhs)
           && isMatrix(sum) && isMatrix(lhs) && isMatrix(rhs) && lhs.shape[0] == sum.shape[0]
           && lhs.shape[1] == rhs.shape[0] && rhs.shape[1] * factors == sum.shape[1];
}

// Whether each scale of a row (or column) of a factor is for as many of its `k` elements.
bool scales(const Type& scales, std::int64_t rows, std::int64_t k)
{
    const bool isScale = scales.dtype == DType::UInt8 || scales.dtype == DType::F8E4M3FN;
    return isScale && isInTensorMemory(scales) && isMatrix(scales) && scales.shape[0] >= rows
           && scales.shape[1] > 0 && k % scales.shape[1] == 0;
}

// The scales of all blocks of a product that has them.
bool hasSoundScales(const Program& program, const Operation& operation)
{
    using namespace tensor_product;
    const auto at = [&](std::size_t i) -> const Type& { return operand(program, operation, i); };
    const std::size_t first = *firstScale(operation);
    for (std::size_t i = first; i < operation.operands.size(); i += kScalesOfBlock) {
        const Type &ofLhs = at(i), &ofRhs = at(i + 1);
        if (!scales(ofLhs, at(kLhs).shape[0], at(kLhs).shape[1])
            || !scales(ofRhs, at(kSum).shape[1], at(kLhs).shape[1]) || ofLhs.dtype != ofRhs.dtype
            || ofLhs.shape[1] != ofRhs.shape[1]) {
            return false;
        }
    }
    return true;
}

} // namespace

Result<Types> tcgen05Mma(const Program& program, const Operation& operation)
{
    using namespace tensor_product;
    const bool isPair = isOfPair(operation);
    const auto at = [&](std::size_t i) -> const Type& { return operand(program, operation, i); };
    const bool sound = hasOperands(operation) && multiplies(at(0), at(1), at(2), isPair ? 2 : 1)
                       && at(3) == Type{DType::Bool, Shape{}, {}}
                       && (!isPair || (at(4) == at(0) && at(5) == at(1) && at(6) == at(2)));
    if (!sound) {
        return error(
            operation,
            "adds " + toString(at(1)) + " times " + toString(at(2)) + " to " + toString(at(0))
                + "; expected [m,k] times [k,n] to [m,n], the sum a ref in tmem, the right "
                  "operand a ref in smem and the left one a ref in either, and a bool. A "
                  "pair of blocks has [m,2n] and twice as many refs.");
    }
    if (const std::optional<std::size_t> scale = firstScale(operation);
        scale && !hasSoundScales(program, operation)) {
        return error(operation, "has the scales " + toString(at(*scale)) + " and "
                                    + toString(at(*scale + 1))
                                    + "; expected refs to uint8 or f8e4m3fn in tmem with a row for "
                                      "each row of the left operand and for each column of the "
                                      "sum, and as many columns as divide k.");
    }
    return Types{};
}

Result<Types> tensorCopy(const Program& program, const Operation& operation)
{
    const Type &source = operand(program, operation, 0), &target = operand(program, operation, 1);
    if (!isShared(source) || !isInTensorMemory(target) || source.dtype != target.dtype
        || source.shape != target.shape) {
        return error(operation, "copies " + toString(source) + " to " + toString(target)
                                    + "; expected a ref to smem and one to tmem, of one dtype and "
                                      "shape.");
    }
    return Types{};
}

Result<Types> tryClusterCancel(const Program& program, const Operation& operation)
{
    for (std::size_t i = 0; i < operation.operands.size(); i += 2) {
        const Type& answer = operand(program, operation, i);
        if (!isShared(answer) || answer.dtype != DType::Int32
            || i + 1 == operation.operands.size()) {
            return error(operation, "takes pairs of an int32 ref in smem and a barrier, not "
                                        + toString(answer) + ".");
        }
        if (Status status = checkOneBarrier(operation, operand(program, operation, i + 1));
            !status) {
            return status.error();
        }
    }
    return Types{};
}

Result<Types> maxRegisters(const Program&, const Operation& operation)
{
    constexpr std::int32_t kLeast = 24, kMost = 256; // PTX ISA, setmaxnreg
    const std::int32_t n = params<RegistersParams>(operation).n;
    if (n < kLeast || n > kMost || n % 8 != 0) {
        return error(operation, "asks for " + std::to_string(n)
                                    + " registers; expected a multiple of 8 from 24 to 256.");
    }
    return Types{};
}

} // namespace pallascope::ir::type_rules
