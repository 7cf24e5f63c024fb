#include "core/ir/infer.h"

#include "core/ir/type_rules.h"

namespace pallascope::ir {

namespace type_rules {

Error error(const Operation& operation, const std::string& what)
{
    return userError(std::string(opName(operation.code)) + " " + what);
}

bool hasAxis(const Type& type, std::int32_t axis)
{
    return axis >= 0 && static_cast<std::size_t>(axis) < type.shape.rank();
}

Error noAxis(const Operation& operation, const Type& type, std::int32_t axis)
{
    return error(operation, "names axis " + std::to_string(axis) + " of " + toString(type)
                                + ", which has rank " + std::to_string(type.shape.rank()) + ".");
}

Result<Types> iota(const Program&, const Operation& operation)
{
    const auto& [dtype, shape, dimension] = params<IotaParams>(operation);
    if (dimension < 0 || static_cast<std::size_t>(dimension) >= shape.rank()) {
        return error(operation, "counts along axis " + std::to_string(dimension) + " of "
                                    + toString(shape) + ".");
    }
    return Types{{dtype, shape, {}}};
}

Result<Types> iota2x32(const Program&, const Operation& operation)
{
    const Type half{DType::UInt32, params<ShapeParams>(operation).shape, {}};
    return Types{half, half};
}

Result<Types> gridQuery(const Program&, const Operation&)
{
    return Types{{DType::Int32, Shape{}, {}}};
}

Result<Types> nothing(const Program&, const Operation&)
{
    return Types{};
}

Result<Types> debugCheck(const Program& program, const Operation& operation)
{
    const Type& flag = operand(program, operation, 0);
    if (!flag.isScalar() || flag.dtype != DType::Bool) {
        return error(operation, "takes a scalar bool, not " + toString(flag) + ".");
    }
    return Types{};
}

Result<Types> control(const Program& program, const Operation& operation)
{
    Types results;
    const auto take = [&](const Region& region) {
        for (const ValueId value : region.results) {
            results.push_back(program.type(value));
        }
    };
    switch (operation.code) {
    case OpCode::Cond:
        if (const Type& index = operand(program, operation, 0);
            !index.isScalar() || (index.dtype != DType::Bool && index.dtype != DType::Int32)) {
            return error(operation, "takes a scalar bool or int32 index, not "
                                        + toString(operand(program, operation, 0)) + ".");
        }
        take(operation.regions.front());
        break;
    case OpCode::While:
        take(operation.regions.back());
        break;
    case OpCode::Scan:
    case OpCode::RunScoped:
    case OpCode::Fusion:
        take(operation.regions.front());
        break;
    default:
        break;
    }
    return results;
}

} // namespace type_rules

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
    const OpEntry& entry = opEntry(operation.code);
    const auto count = static_cast<int>(operation.operands.size());
    if (count < entry.minOperands || (entry.maxOperands >= 0 && count > entry.maxOperands)) {
        return type_rules::error(operation,
                                 "takes " + std::to_string(entry.minOperands)
                                     + (entry.maxOperands < 0 ? " or more" : "")
                                     + (entry.maxOperands == 1 ? " operand" : " operands")
                                     + ", not " + std::to_string(count) + ".");
    }
    if (operation.operands.size() > kMostValues) {
        return type_rules::error(operation, "takes " + std::to_string(count)
                                                + " operands; expected at most "
                                                + std::to_string(kMostValues) + ".");
    }
    for (std::size_t i = 0; i < operation.operands.size(); ++i) {
        const bool mayBeRef =
            endsSegment(entry.code)
            || ((entry.kind == OpKind::Memory || entry.kind == OpKind::View) && i == 0);
        const Type& type = program.type(operation.operands[i]);
        if (type.isRef() && !mayBeRef) {
            return type_rules::error(operation, "takes values, not " + toString(type) + ".");
        }
    }
    try {
        Result<std::vector<Type>> types = entry.types(program, operation);
        for (std::size_t i = 0; types && i < types->size(); ++i) {
            const Result<std::int64_t> elements = checkedElements((*types)[i].shape);
            if (!elements) {
                return elements.error();
            }
        }
        return types;
    } catch (const std::bad_variant_access&) {
        return type_rules::error(operation, "has the parameters of another operation.");
    }
}

} // namespace pallascope::ir
