// The operations by their names in jnp, lax and pltpu, one thin function each.
#include "core/ir/builder.h"
#include "core/ir/tracer.h"

namespace pallascope::pl {

using detail::Tracer;
using ir::OpCode;

namespace {

// Records the operation with its operands as they are; numbers become literals of `dtype`. Returns
// at least `results` values, even after a mistake, so that the kernel's author can take them apart.
std::vector<Value> record(OpCode code, const std::vector<Operand>& operands, ir::Params params,
                          DType dtype, Here here, std::size_t results = 0)
{
    ir::Operation operation{.code = code, .params = std::move(params)};
    for (const Operand& operand : operands) {
        operation.operands.push_back(operand.isNumber()
                                         ? Tracer::current().literal(operand.number(), dtype, here)
                                         : operand.value().id());
    }
    std::vector<Value> values = Tracer::current().append(std::move(operation), here);
    while (values.size() < results) {
        values.push_back(values.front());
    }
    return values;
}

Value record1(OpCode code, const std::vector<Operand>& operands, ir::Params params, Here here,
              DType dtype = DType::Int32)
{
    return record(code, operands, std::move(params), dtype, here).front();
}

} // namespace

Value select(const Operand& mask, const Operand& ifTrue, const Operand& ifFalse, Here here)
{
    return apply(OpCode::SelectN, {mask, ifFalse, ifTrue}, {}, here); // select_n: case 0 is false
}

Value convert(const Operand& value, DType dtype, Here here)
{
    return apply(OpCode::ConvertElementType, {value}, ir::DTypeParams{dtype}, here);
}

Value dotGeneral(const Operand& a, const Operand& b, ir::DotParams dimensions, Here here)
{
    return apply(OpCode::DotGeneral, {a, b}, std::move(dimensions), here);
}

Value dot(const Operand& a, const Operand& b, DType dtype, Here here)
{
    return dotGeneral(a, b, {{1}, {0}, {}, {}, dtype}, here);
}

Value reduce(OpCode code, const Operand& value, std::vector<std::int32_t> axes, Here here)
{
    return apply(code, {value}, ir::AxesParams{std::move(axes)}, here);
}

Value broadcastTo(const Operand& value, Shape shape, std::vector<std::int32_t> dimensions,
                  Here here)
{
    return record1(OpCode::BroadcastInDim, {value},
                   ir::BroadcastParams{std::move(shape), std::move(dimensions)}, here, DType::F32);
}

Value full(Shape shape, double number, DType dtype, Here here)
{
    return broadcastTo(Value(Tracer::current().literal(number, dtype, here)), std::move(shape), {},
                       here);
}

Value zerosLike(const Ref& ref, Here here)
{
    return full(ref.shape(), 0.0, ref.dtype(), here);
}

Value reshape(const Operand& value, Shape shape, Here here)
{
    return apply(OpCode::Reshape, {value}, ir::ShapeParams{std::move(shape)}, here);
}

Value transpose(const Operand& value, std::vector<std::int32_t> permutation, Here here)
{
    return apply(OpCode::Transpose, {value}, ir::PermutationParams{std::move(permutation)}, here);
}

Value iota(DType dtype, Shape shape, std::int32_t dimension, Here here)
{
    return apply(OpCode::Iota, {}, ir::IotaParams{dtype, std::move(shape), dimension}, here);
}

Value power(const Operand& base, const Operand& exponent, Here here)
{
    return apply(OpCode::Pow, {base, exponent}, {}, here);
}

Value integerPow(const Operand& value, std::int32_t exponent, Here here)
{
    return apply(OpCode::IntegerPow, {value}, ir::IntegerPowParams{exponent}, here);
}

Value round(const Operand& value, ir::RoundingMethod method, Here here)
{
    return apply(OpCode::Round, {value}, ir::RoundParams{method}, here);
}

Value reciprocal(const Operand& value, bool approx, Here here)
{
    return apply(OpCode::Reciprocal, {value}, ir::ReciprocalParams{approx}, here);
}

Value clamp(const Operand& low, const Operand& value, const Operand& high, Here here)
{
    return apply(OpCode::Clamp, {low, value, high}, {}, here);
}

Value argmax(const Operand& value, std::int32_t axis, DType dtype, Here here)
{
    return record1(OpCode::Argmax, {value}, ir::ArgParams{axis, dtype}, here);
}

Value argmin(const Operand& value, std::int32_t axis, DType dtype, Here here)
{
    return record1(OpCode::Argmin, {value}, ir::ArgParams{axis, dtype}, here);
}

Value squeeze(const Operand& value, std::vector<std::int32_t> axes, Here here)
{
    return record1(OpCode::Squeeze, {value}, ir::AxesParams{std::move(axes)}, here);
}

Value expandDims(const Operand& operand, std::int32_t axis, Here here)
{
    const Value value = operand.value();
    std::vector<Extent> extents = value.shape().extents();
    const auto rank = static_cast<std::int32_t>(extents.size());
    const std::int32_t at = axis < 0 ? 0 : std::min(axis, rank);
    extents.insert(extents.begin() + at, 1);
    std::vector<std::int32_t> dimensions;
    for (std::int32_t i = 0; i < rank; ++i) {
        dimensions.push_back(i < at ? i : i + 1);
    }
    return broadcastTo(value, Shape(extents), std::move(dimensions), here);
}

Value concatenate(const std::vector<Operand>& values, std::int32_t axis, Here here)
{
    return record1(OpCode::Concatenate, values, ir::AxisParams{axis}, here);
}

Value stack(const std::vector<Operand>& values, std::int32_t axis, Here here)
{
    return record1(OpCode::Stack, values, ir::AxisParams{axis}, here);
}

std::vector<Value> unstack(const Operand& value, std::int32_t axis, Here here)
{
    const Value whole = value.value();
    const bool sound = axis >= 0 && static_cast<std::size_t>(axis) < whole.shape().rank();
    const auto parts = sound
                           ? static_cast<std::size_t>(whole.shape()[static_cast<std::size_t>(axis)])
                           : std::size_t{1};
    return record(OpCode::Unstack, {whole}, ir::AxisParams{axis}, DType::Int32, here, parts);
}

std::vector<Value> split(const Operand& value, std::vector<Extent> sizes, std::int32_t axis,
                         Here here)
{
    const std::size_t parts = sizes.size();
    return record(OpCode::Split, {value}, ir::SplitParams{std::move(sizes), axis}, DType::Int32,
                  here, parts);
}

Value slice(const Operand& value, std::vector<Extent> start, std::vector<Extent> limit,
            std::vector<Extent> strides, Here here)
{
    return record1(OpCode::Slice, {value},
                   ir::SliceParams{std::move(start), std::move(limit), std::move(strides)}, here);
}

Value pad(const Operand& operand, const Operand& filler, ir::PadParams padding, Here here)
{
    const Value value = operand.value();
    return record1(OpCode::Pad, {value, filler}, std::move(padding), here, value.dtype());
}

Value tile(const Operand& value, std::vector<Extent> repetitions, Here here)
{
    return record1(OpCode::Tile, {value}, ir::TileParams{std::move(repetitions)}, here);
}

Value repeat(const Operand& operand, Extent repeats, std::int32_t axis, Here here)
{
    const Value value = operand.value();
    std::vector<Extent> repetitions(value.shape().rank(), 1);
    if (axis >= 0 && static_cast<std::size_t>(axis) < repetitions.size()) {
        repetitions[static_cast<std::size_t>(axis)] = repeats;
    } else {
        Tracer::current().fail("repeat names axis " + std::to_string(axis) + " of a value of rank "
                                   + std::to_string(repetitions.size()) + ".",
                               here);
    }
    return tile(value, std::move(repetitions), here);
}

Value roll(const Operand& value, const Operand& shift, std::int32_t axis, Here here)
{
    return roll(value, shift, ir::RollParams{axis}, here);
}

Value roll(const Operand& value, const Operand& shift, ir::RollParams params, Here here)
{
    return record1(OpCode::Roll, {value, shift}, params, here);
}

Value takeAlongAxis(const Operand& operand, const Operand& indices, std::int32_t axis,
                    ir::GatherMode mode, Here here)
{
    const Value value = operand.value(), flat = indices.value();
    const auto behind = static_cast<std::int32_t>(flat.shape().rank());
    return record1(OpCode::Gather, {value, expandDims(flat, behind, here)},
                   ir::GatherParams{axis, mode}, here);
}

Value bitcastConvertType(const Operand& value, DType dtype, Here here)
{
    return record1(OpCode::BitcastConvertType, {value}, ir::DTypeParams{dtype}, here);
}

Value bitcast(const Operand& value, DType dtype, Here here)
{
    return record1(OpCode::Bitcast, {value}, ir::DTypeParams{dtype}, here);
}

Value stochasticRound(const Operand& value, const Operand& randomBits, DType dtype, Here here)
{
    return record1(OpCode::StochasticRound, {value, randomBits}, ir::DTypeParams{dtype}, here);
}

Value packElementwise(const std::vector<Operand>& values, DType packed, Here here)
{
    return record1(OpCode::PackElementwise, values, ir::DTypeParams{packed}, here);
}

Value unpackElementwise(const Operand& value, ir::UnpackParams params, Here here)
{
    return record1(OpCode::UnpackElementwise, {value}, params, here);
}

std::vector<Value> threefry2x32(const std::vector<Operand>& keyAndCounter, Here here)
{
    return record(OpCode::Threefry2x32, keyAndCounter, {}, DType::UInt32, here, 2);
}

std::vector<Value> iota2x32Shape(Shape shape, Here here)
{
    return record(OpCode::Iota2x32Shape, {}, ir::ShapeParams{std::move(shape)}, DType::Int32, here,
                  2);
}

Value multipleOf(const Operand& value, std::int64_t multiple, Here here)
{
    return record1(OpCode::MultipleOf, {value}, ir::MultipleOfParams{multiple}, here);
}

Value stopGradient(const Operand& value, Here here)
{
    return record1(OpCode::StopGradient, {value}, {}, here);
}

void debugCheck(const Operand& holds, std::string text, Here here)
{
    (void)record(OpCode::DebugCheck, {holds}, ir::TextParams{std::move(text)}, DType::Bool, here);
}

void debugPrint(std::string format, const std::vector<Operand>& values, Here here)
{
    (void)record(OpCode::DebugPrint, values, ir::TextParams{std::move(format)}, DType::Int32, here);
}

} // namespace pallascope::pl
