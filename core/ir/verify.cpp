#include "core/ir/verify.h"

#include "core/ir/infer.h"

#include <set>

namespace pallascope::ir {

namespace {

class Verifier
{
public:
    explicit Verifier(const Program& program)
        : m_program(program)
    {}

    [[nodiscard]] Status run()
    {
        for (const Argument& argument : m_program.arguments) {
            if (!m_program.type(argument.ref).isRef()) {
                return userError("The argument " + argument.name + " of " + m_program.name
                                 + " is not a ref.");
            }
        }
        return region(m_program.body, 0);
    }

private:
    [[nodiscard]] Status region(const Region& region, std::size_t gridRank);
    [[nodiscard]] Status operation(const Operation& operation, std::size_t gridRank);
    [[nodiscard]] Status control(const Operation& operation, std::size_t gridRank);
    [[nodiscard]] Status pipeline(const Operation& operation);
    [[nodiscard]] Status spec(const Operation& operation, std::size_t operand,
                              const PipelineParams& params);
    [[nodiscard]] Status sameTypes(const Operation& operation, const std::vector<ValueId>& a,
                                   const std::vector<ValueId>& b, const std::string& what) const;

    [[nodiscard]] Error error(const Operation& operation, const std::string& sentence) const
    {
        return userError(m_program.where(operation.location) + ": " + sentence);
    }

    const Program& m_program;
    std::set<ValueId> m_defined;
};

Status Verifier::region(const Region& region, std::size_t gridRank)
{
    const std::set<ValueId> outside = m_defined; // what a region defines ends with it
    m_defined.insert(region.arguments.begin(), region.arguments.end());
    for (const Operation& op : region.operations) {
        if (Status status = operation(op, gridRank); !status) {
            return status;
        }
    }
    for (const ValueId result : region.results) {
        if (!m_program.value(result).literal && !m_defined.contains(result)) {
            return userError("A region of " + m_program.name
                             + " returns a value that it does not define.");
        }
    }
    m_defined = outside;
    return Done{};
}

Status Verifier::operation(const Operation& operation, std::size_t gridRank)
{
    for (const ValueId operand : operation.operands) {
        const bool exists =
            operand.index >= 0 && static_cast<std::size_t>(operand.index) < m_program.values.size();
        if (!exists || (!m_program.value(operand).literal && !m_defined.contains(operand))) {
            return error(operation, std::string(opName(operation.code))
                                        + " uses a value before it is defined.");
        }
    }
    if (operation.code == OpCode::ProgramId || operation.code == OpCode::NumPrograms) {
        const auto* axis = std::get_if<AxisParams>(&operation.params);
        if (axis == nullptr || axis->axis < 0 || static_cast<std::size_t>(axis->axis) >= gridRank) {
            return error(operation, std::string(opName(operation.code))
                                        + " asks for an axis that the grid does not have.");
        }
    }
    if (opEntry(operation.code).kind == OpKind::Control) {
        if (Status status = control(operation, gridRank); !status) {
            return status;
        }
    }
    const Result<std::vector<Type>> types = inferTypes(m_program, operation);
    if (!types) {
        return error(operation, types.error().message);
    }
    if (types->size() != operation.results.size()) {
        return error(operation, std::string(opName(operation.code))
                                    + " has another number of results than it should.");
    }
    for (std::size_t i = 0; i < types->size(); ++i) {
        if ((*types)[i] != m_program.type(operation.results[i])) {
            return error(operation, std::string(opName(operation.code)) + " yields "
                                        + toString((*types)[i]) + ", but its result is typed "
                                        + toString(m_program.type(operation.results[i])) + ".");
        }
        m_defined.insert(operation.results[i]);
    }
    return Done{};
}

Status Verifier::sameTypes(const Operation& operation, const std::vector<ValueId>& a,
                           const std::vector<ValueId>& b, const std::string& what) const
{
    bool same = a.size() == b.size();
    for (std::size_t i = 0; same && i < a.size(); ++i) {
        same = m_program.type(a[i]) == m_program.type(b[i]);
    }
    return same ? Status(Done{})
                : Status(error(operation, std::string(opName(operation.code)) + " " + what + "."));
}

Status Verifier::control(const Operation& operation, std::size_t gridRank)
{
    if (operation.code == OpCode::Pipeline) {
        return pipeline(operation);
    }
    for (const Region& inner : operation.regions) {
        if (Status status = region(inner, gridRank); !status) {
            return status;
        }
    }
    const std::size_t count = operation.regions.size();
    switch (operation.code) {
    case OpCode::Cond:
        if (count < 2) {
            return error(operation, "cond needs two branches or more.");
        }
        for (const Region& branch : operation.regions) {
            if (Status status =
                    sameTypes(operation, branch.results, operation.regions.front().results,
                              "has branches that return different types");
                !status) {
                return status;
            }
        }
        return Done{};
    case OpCode::Scan: {
        const bool sound = count == 1 && !operation.regions[0].arguments.empty()
                           && std::holds_alternative<ScanParams>(operation.params)
                           && std::get<ScanParams>(operation.params).length >= 0;
        if (!sound) {
            return error(operation, "scan needs a length and one body with a counter.");
        }
        std::vector<ValueId> carried = operation.regions[0].arguments;
        if (m_program.type(carried.front()) != Type{DType::Int32, Shape{}, {}}) {
            return error(operation, "scan counts in an int32 scalar, not "
                                        + toString(m_program.type(carried.front())) + ".");
        }
        carried.erase(carried.begin());
        if (Status status = sameTypes(operation, carried, operation.operands,
                                      "carries other types than its body takes");
            !status) {
            return status;
        }
        return sameTypes(operation, operation.regions[0].results, operation.operands,
                         "carries other types than its body returns");
    }
    case OpCode::While:
        if (count != 2 || operation.regions[0].results.size() != 1
            || m_program.type(operation.regions[0].results[0]) != Type{DType::Bool, Shape{}, {}}) {
            return error(operation, "while needs a condition that returns one bool, and a body.");
        }
        for (const Region& inner : operation.regions) {
            if (Status status = sameTypes(operation, inner.arguments, operation.operands,
                                          "carries other types than its regions take");
                !status) {
                return status;
            }
        }
        return sameTypes(operation, operation.regions[1].results, operation.operands,
                         "carries other types than its body returns");
    default:
        return Done{};
    }
}

Status Verifier::spec(const Operation& operation, std::size_t operand, const PipelineParams& params)
{
    const BlockSpec& spec = params.specs[operand];
    const Type& array = m_program.type(operation.operands[operand]);
    const std::string who = "The block spec of " + spec.name;
    if (spec.block.size() != array.shape.rank()) {
        return error(operation, who + " has " + std::to_string(spec.block.size())
                                    + " dimensions, its array "
                                    + toString(Type{array.dtype, array.shape, {}}) + " has "
                                    + std::to_string(array.shape.rank()) + ".");
    }
    for (const BlockDim& dim : spec.block) {
        if (dim.size < 1) {
            return error(operation, who + " has a block of " + std::to_string(dim.size)
                                        + " elements; 1 or more is right.");
        }
    }
    const bool isIn = spec.direction != BlockDirection::Out,
               isOut = spec.direction != BlockDirection::In;
    std::vector<Extent> kept;
    for (const BlockDim& dim : spec.block) {
        if (!dim.squeezed) {
            kept.push_back(dim.size);
        }
    }
    const Type& ref = m_program.type(operation.regions[0].arguments[operand]);
    if (!ref.isRef() || ref.dtype != array.dtype || ref.shape != Shape(kept)) {
        return error(operation, "The block ref of " + spec.name + " is typed " + toString(ref)
                                    + ", its spec cuts "
                                    + toString(Type{array.dtype, Shape(kept), {}}) + ".");
    }
    if ((isIn && spec.inBuffers < 1) || (isOut && spec.outBuffers < 1)) {
        return error(operation, who + " asks for less than one buffer.");
    }
    if (params.origin == PipelineOrigin::PallasCall
        && ((isIn && spec.inBuffers > 2) || (isOut && spec.outBuffers > 2))) {
        return error(operation,
                     who + " asks for " + std::to_string(isIn ? spec.inBuffers : spec.outBuffers)
                         + " buffers; a pallas_call has 1 or 2, emit_pipeline any number.");
    }
    const Region& map = operation.regions[operand + 1];
    if (map.arguments.size() != params.grid.size() || map.results.size() != array.shape.rank()) {
        return error(operation, "The index map of " + spec.name
                                    + " must take one index per grid axis and return "
                                    + std::to_string(array.shape.rank()) + " block indices.");
    }
    for (const ValueId result : map.results) {
        if (m_program.type(result) != Type{DType::Int32, Shape{}, {}}) {
            return error(operation, "The index map of " + spec.name
                                        + " must return int32 scalars, not "
                                        + toString(m_program.type(result)) + ".");
        }
    }
    return region(map, 0);
}

Status Verifier::pipeline(const Operation& operation)
{
    const auto* params = std::get_if<PipelineParams>(&operation.params);
    if (params == nullptr || operation.regions.size() != params->specs.size() + 1
        || operation.operands.size() != params->specs.size()
        || operation.regions[0].arguments.size()
               != params->specs.size() + params->scratchNames.size()) {
        return error(operation,
                     "pipeline needs one operand, one block ref and one index map per block spec.");
    }
    std::int64_t steps = 1;
    for (const Extent extent : params->grid) {
        if (extent < 1) {
            return error(operation, "pipeline has a grid axis of " + std::to_string(extent)
                                        + " steps; 1 or more is right.");
        }
        if (__builtin_mul_overflow(steps, extent, &steps)) {
            return error(operation, "pipeline has a grid of more than 2^63 steps.");
        }
    }
    for (std::size_t operand = 0; operand < params->specs.size(); ++operand) {
        if (Status status = spec(operation, operand, *params); !status) {
            return status;
        }
    }
    return region(operation.regions[0], params->grid.size());
}

} // namespace

Status verify(const Program& program)
{
    return Verifier(program).run();
}

} // namespace pallascope::ir
