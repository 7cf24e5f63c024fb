#include "core/ir/infer.h"

#include "core/base/check.h"

#include <algorithm>
#include <set>

namespace pallascope::ir {

namespace {

using Types = std::vector<Type>;

class Inference
{
public:
    Inference(const Program& program, const Operation& operation)
        : m_program(program)
        , m_operation(operation)
    {}

    [[nodiscard]] Result<Types> run() const;

private:
    [[nodiscard]] const Type& operand(std::size_t i) const
    {
        return m_program.type(m_operation.operands[i]);
    }

    [[nodiscard]] std::string name() const { return std::string(opName(m_operation.code)); }

    template<class P>
    [[nodiscard]] const P& params() const
    {
        return std::get<P>(m_operation.params);
    }

    [[nodiscard]] Error error(const std::string& what) const
    {
        return userError(name() + " " + what);
    }

    [[nodiscard]] Status dtypes() const;
    [[nodiscard]] Result<Types> elementwise() const;
    [[nodiscard]] Result<Types> reduction() const;
    [[nodiscard]] Result<Types> iota() const;
    [[nodiscard]] Result<Types> broadcast() const;
    [[nodiscard]] Result<Types> reshape() const;
    [[nodiscard]] Result<Types> transpose() const;
    [[nodiscard]] Result<Types> dot() const;
    [[nodiscard]] Result<Types> memory() const;
    [[nodiscard]] Result<Types> control() const;

    const Program& m_program;
    const Operation& m_operation;
};

// The element types that lax gives an operation.
Status Inference::dtypes() const
{
    const Type& first = operand(m_operation.code == OpCode::SelectN ? 1 : 0);
    const auto only = [&](bool fits, const char* what) {
        return fits
                   ? Status(Done{})
                   : Status(error(std::string("takes ") + what + ", not " + toString(first) + "."));
    };
    switch (m_operation.code) {
    case OpCode::Floor:
    case OpCode::Ceil:
    case OpCode::IsFinite:
        return only(isFloat(first.dtype), "floating-point values");
    case OpCode::Not:
    case OpCode::And:
    case OpCode::Or:
    case OpCode::Xor:
        return only(!isFloat(first.dtype), "integers or bools");
    case OpCode::ReduceAnd:
    case OpCode::ReduceOr:
        return only(!isFloat(first.dtype), "bools or integers");
    case OpCode::Neg:
    case OpCode::Abs:
    case OpCode::Sign:
    case OpCode::Square:
    case OpCode::Add:
    case OpCode::Sub:
    case OpCode::Mul:
    case OpCode::Div:
    case OpCode::Rem:
    case OpCode::ReduceSum:
        return only(first.dtype != DType::Bool, "numbers");
    default:
        return only(opEntry(m_operation.code).kind != OpKind::Transcendental
                        || isFloat(first.dtype),
                    "floating-point values");
    }
}

Result<Types> Inference::elementwise() const
{
    const OpKind kind = opEntry(m_operation.code).kind;
    const bool select = m_operation.code == OpCode::SelectN;
    const Type& first = operand(select ? 1 : 0);
    if (select && (operand(0).dtype != DType::Bool || operand(0).shape != first.shape)) {
        return error("takes a bool mask of shape " + toString(first.shape) + ", not "
                     + toString(operand(0)) + ".");
    }
    for (std::size_t i = select ? 2 : 1; i < m_operation.operands.size(); ++i) {
        if (operand(i) != first) {
            return error("takes operands of one type, not " + toString(first) + " and "
                         + toString(operand(i)) + ".");
        }
    }
    if (const Status fit = dtypes(); !fit) {
        return fit.error();
    }
    Type result = first;
    if (kind == OpKind::Comparison) {
        result.dtype = DType::Bool;
    } else if (kind == OpKind::Convert) {
        result.dtype = params<DTypeParams>().dtype;
    }
    return Types{result};
}

Result<Types> Inference::reduction() const
{
    if (const Status fit = dtypes(); !fit) {
        return fit.error();
    }
    const Type& input = operand(0);
    std::vector<Extent> kept;
    std::set<std::int32_t> axes(params<AxesParams>().axes.begin(), params<AxesParams>().axes.end());
    for (const std::int32_t axis : axes) {
        if (axis < 0 || static_cast<std::size_t>(axis) >= input.shape.rank()) {
            return error("names axis " + std::to_string(axis) + " of " + toString(input)
                         + ", which has rank " + std::to_string(input.shape.rank()) + ".");
        }
        if (m_operation.code == OpCode::Squeeze
            && input.shape[static_cast<std::size_t>(axis)] != 1) {
            return error("drops axis " + std::to_string(axis) + " of " + toString(input)
                         + ", which is not 1.");
        }
    }
    for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
        if (!axes.contains(static_cast<std::int32_t>(axis))) {
            kept.push_back(input.shape[axis]);
        }
    }
    return Types{{input.dtype, Shape(kept), {}}};
}

Result<Types> Inference::iota() const
{
    const auto& [dtype, shape, dimension] = params<IotaParams>();
    if (dimension < 0 || static_cast<std::size_t>(dimension) >= shape.rank()) {
        return error("counts along axis " + std::to_string(dimension) + " of " + toString(shape)
                     + ".");
    }
    return Types{{dtype, shape, {}}};
}

Result<Types> Inference::broadcast() const
{
    const auto& [shape, dimensions] = params<BroadcastParams>();
    const Type& input = operand(0);
    if (dimensions.size() != input.shape.rank()) {
        return error("maps " + std::to_string(dimensions.size()) + " axes of " + toString(input)
                     + ".");
    }
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const auto to = static_cast<std::size_t>(dimensions[i]);
        const bool rises = i == 0 || dimensions[i - 1] < dimensions[i];
        if (!rises || to >= shape.rank() || (input.shape[i] != 1 && input.shape[i] != shape[to])) {
            return error("cannot place axis " + std::to_string(i) + " of " + toString(input)
                         + " in " + toString(shape) + ".");
        }
    }
    return Types{{input.dtype, shape, {}}};
}

Result<Types> Inference::reshape() const
{
    const Shape& shape = params<ShapeParams>().shape;
    if (shape.elements() != operand(0).shape.elements()) {
        return error("cannot make " + toString(shape) + " of " + toString(operand(0))
                     + ": the numbers of elements differ.");
    }
    return Types{{operand(0).dtype, shape, {}}};
}

Result<Types> Inference::transpose() const
{
    const auto& permutation = params<PermutationParams>().permutation;
    std::vector<std::int32_t> sorted = permutation;
    std::sort(sorted.begin(), sorted.end());
    const Error wrong = error("takes a permutation of the axes of " + toString(operand(0)) + ".");
    if (sorted.size() != operand(0).shape.rank()) {
        return wrong;
    }
    std::vector<Extent> extents;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (sorted[i] != static_cast<std::int32_t>(i)) {
            return wrong;
        }
        extents.push_back(operand(0).shape[static_cast<std::size_t>(permutation[i])]);
    }
    return Types{{operand(0).dtype, Shape(extents), {}}};
}

Result<Types> Inference::dot() const
{
    const auto& dimensions = params<DotParams>();
    const Type &lhs = operand(0), &rhs = operand(1);
    const auto mismatch = [&](const std::vector<std::int32_t>& l,
                              const std::vector<std::int32_t>& r) {
        if (l.size() != r.size()) {
            return true;
        }
        for (std::size_t i = 0; i < l.size(); ++i) {
            const auto a = static_cast<std::size_t>(l[i]), b = static_cast<std::size_t>(r[i]);
            if (a >= lhs.shape.rank() || b >= rhs.shape.rank() || lhs.shape[a] != rhs.shape[b]) {
                return true;
            }
        }
        return false;
    };
    if (mismatch(dimensions.lhsContracting, dimensions.rhsContracting)
        || mismatch(dimensions.lhsBatch, dimensions.rhsBatch)) {
        return error("cannot contract " + toString(lhs) + " with " + toString(rhs)
                     + ": the axes differ in size.");
    }
    if (lhs.dtype == DType::Bool || rhs.dtype == DType::Bool) {
        return error("does not take bool operands (" + toString(lhs) + " and " + toString(rhs)
                     + ").");
    }
    std::vector<Extent> extents;
    for (const std::int32_t axis : dimensions.lhsBatch) {
        extents.push_back(lhs.shape[static_cast<std::size_t>(axis)]);
    }
    const auto free = [&](const Shape& shape, const auto& contracting, const auto& batch) {
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            const auto here = static_cast<std::int32_t>(axis);
            if (std::count(contracting.begin(), contracting.end(), here) == 0
                && std::count(batch.begin(), batch.end(), here) == 0) {
                extents.push_back(shape[axis]);
            }
        }
    };
    free(lhs.shape, dimensions.lhsContracting, dimensions.lhsBatch);
    free(rhs.shape, dimensions.rhsContracting, dimensions.rhsBatch);
    return Types{{dimensions.dtype, Shape(extents), {}}};
}

Result<Types> Inference::memory() const
{
    const Type& ref = operand(0);
    if (!ref.isRef()) {
        return error("takes a ref, not " + toString(ref) + ".");
    }
    if (*ref.space != MemorySpace::Vmem && *ref.space != MemorySpace::Smem) {
        return error("reaches " + toString(ref)
                     + ": loads and stores work on vmem and smem refs, "
                       "other memory only through copies.");
    }
    const auto& entries = params<IndexerParams>().entries;
    if (entries.size() != ref.shape.rank()) {
        return error("indexes " + toString(ref) + " with " + std::to_string(entries.size())
                     + " indices.");
    }
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
        const IndexEntry& entry = entries[axis];
        const Extent last = entry.start + (entry.size - 1) * entry.stride;
        if (entry.size < 1 || entry.stride < 1 || entry.start < 0 || last >= ref.shape[axis]) {
            return error("reaches outside " + toString(ref) + ": axis " + std::to_string(axis)
                         + " from " + std::to_string(entry.start) + " to " + std::to_string(last)
                         + " of " + std::to_string(ref.shape[axis]) + ".");
        }
        if (entry.operand >= 0) {
            const auto at = static_cast<std::size_t>(entry.operand);
            const bool exists = at < m_operation.operands.size();
            if (!exists || operand(at) != Type{DType::Int32, Shape{}, {}}) {
                return error("indexes " + toString(ref) + " with "
                             + (exists ? toString(operand(at)) : "an operand that it lacks")
                             + "; an int32 scalar is right.");
            }
        }
    }
    const Type value{ref.dtype, indexedShape(params<IndexerParams>()), {}};
    if (m_operation.code == OpCode::Swap && operand(1) != value) {
        return error("stores " + toString(operand(1)) + " where the ref holds " + toString(value)
                     + ".");
    }
    return Types{value};
}

Result<Types> Inference::control() const
{
    Types results;
    const auto take = [&](const Region& region) {
        for (const ValueId value : region.results) {
            results.push_back(m_program.type(value));
        }
    };
    switch (m_operation.code) {
    case OpCode::Cond:
        if (!operand(0).isScalar()
            || (operand(0).dtype != DType::Bool && operand(0).dtype != DType::Int32)) {
            return error("takes a scalar bool or int32 index, not " + toString(operand(0)) + ".");
        }
        take(m_operation.regions.front());
        break;
    case OpCode::While:
        take(m_operation.regions.back());
        break;
    case OpCode::Scan:
        take(m_operation.regions.front());
        break;
    default:
        break;
    }
    return results;
}

Result<Types> Inference::run() const
{
    const OpEntry& entry = opEntry(m_operation.code);
    const auto count = static_cast<int>(m_operation.operands.size());
    if (count < entry.minOperands || (entry.maxOperands >= 0 && count > entry.maxOperands)) {
        return error("takes " + std::to_string(entry.minOperands)
                     + (entry.maxOperands < 0 ? " or more" : "")
                     + (entry.maxOperands == 1 ? " operand" : " operands") + ", not "
                     + std::to_string(count) + ".");
    }
    for (std::size_t i = 0; i < m_operation.operands.size(); ++i) {
        const bool mayBeRef =
            entry.kind == OpKind::Control || (entry.kind == OpKind::Memory && i == 0);
        if (operand(i).isRef() && !mayBeRef) {
            return error("takes values, not " + toString(operand(i)) + ".");
        }
    }
    switch (entry.kind) {
    case OpKind::Elementwise:
    case OpKind::Transcendental:
    case OpKind::Comparison:
    case OpKind::Convert:
    case OpKind::Select:
        return elementwise();
    case OpKind::Reduction:
        return reduction();
    case OpKind::Layout:
        switch (m_operation.code) {
        case OpCode::BroadcastInDim:
            return broadcast();
        case OpCode::Reshape:
            return reshape();
        case OpCode::Squeeze:
            return reduction();
        default:
            return transpose();
        }
    case OpKind::Generate:
        if (m_operation.code == OpCode::Iota) {
            return iota();
        }
        return Types{{DType::Int32, Shape{}, {}}};
    case OpKind::Dot:
        return dot();
    case OpKind::Memory:
        return memory();
    case OpKind::Control:
        return control();
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

} // namespace

Shape indexedShape(const IndexerParams& indexer)
{
    std::vector<Extent> extents;
    for (const IndexEntry& entry : indexer.entries) {
        if (entry.isSlice) {
            extents.push_back(entry.size);
        }
    }
    return Shape(extents);
}

Result<std::vector<Type>> inferTypes(const Program& program, const Operation& operation)
{
    try {
        return Inference(program, operation).run();
    } catch (const std::bad_variant_access&) {
        return userError(std::string(opName(operation.code))
                         + " has the parameters of another operation.");
    }
}

} // namespace pallascope::ir
