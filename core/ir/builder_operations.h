// The operations on values that have no C++ operator, one function each.
#pragma once

#include "core/ir/builder_values.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::pl {

// Any elementwise operation, by its opcode: elementwise(OpCode::Exp, {x}).
[[nodiscard]] Value elementwise(ir::OpCode code, std::vector<Operand> operands,
                                Here here = Here::current());
[[nodiscard]] Value maximum(const Operand& a, const Operand& b, Here here = Here::current());
[[nodiscard]] Value exp(const Operand& a, Here here = Here::current());
// mask ? ifTrue : ifFalse
[[nodiscard]] Value select(const Operand& mask, const Operand& ifTrue, const Operand& ifFalse,
                           Here here = Here::current());
[[nodiscard]] Value convert(const Operand& value, DType dtype, Here here = Here::current());
// a[m,k] x b[k,n], accumulated and returned in `dtype` (preferred_element_type).
[[nodiscard]] Value dot(const Operand& a, const Operand& b, DType dtype,
                        Here here = Here::current());
[[nodiscard]] Value dotGeneral(const Operand& a, const Operand& b, ir::DotParams dimensions,
                               Here here = Here::current());
[[nodiscard]] Value reduce(ir::OpCode code, const Operand& value, std::vector<std::int32_t> axes,
                           Here here = Here::current());
[[nodiscard]] Value broadcastTo(const Operand& value, Shape shape,
                                std::vector<std::int32_t> dimensions = {},
                                Here here = Here::current());
[[nodiscard]] Value full(Shape shape, double number, DType dtype, Here here = Here::current());
[[nodiscard]] Value zerosLike(const Ref& ref, Here here = Here::current());
[[nodiscard]] Value reshape(const Operand& value, Shape shape, Here here = Here::current());
[[nodiscard]] Value transpose(const Operand& value, std::vector<std::int32_t> permutation,
                              Here here = Here::current());
[[nodiscard]] Value iota(DType dtype, Shape shape, std::int32_t dimension,
                         Here here = Here::current());
[[nodiscard]] Value power(const Operand& base, const Operand& exponent,
                          Here here = Here::current());
[[nodiscard]] Value integerPow(const Operand& value, std::int32_t exponent,
                               Here here = Here::current());
[[nodiscard]] Value round(const Operand& value,
                          ir::RoundingMethod method = ir::RoundingMethod::ToNearestEven,
                          Here here = Here::current());
[[nodiscard]] Value reciprocal(const Operand& value, bool approx = false,
                               Here here = Here::current());
[[nodiscard]] Value clamp(const Operand& low, const Operand& value, const Operand& high,
                          Here here = Here::current());
[[nodiscard]] Value argmax(const Operand& value, std::int32_t axis, DType dtype = DType::Int32,
                           Here here = Here::current());
[[nodiscard]] Value argmin(const Operand& value, std::int32_t axis, DType dtype = DType::Int32,
                           Here here = Here::current());
[[nodiscard]] Value squeeze(const Operand& value, std::vector<std::int32_t> axes,
                            Here here = Here::current());
[[nodiscard]] Value expandDims(const Operand& value, std::int32_t axis,
                               Here here = Here::current());
[[nodiscard]] Value concatenate(const std::vector<Operand>& values, std::int32_t axis,
                                Here here = Here::current());
[[nodiscard]] Value stack(const std::vector<Operand>& values, std::int32_t axis,
                          Here here = Here::current());
[[nodiscard]] std::vector<Value> unstack(const Operand& value, std::int32_t axis,
                                         Here here = Here::current());
[[nodiscard]] std::vector<Value> split(const Operand& value, std::vector<Extent> sizes,
                                       std::int32_t axis, Here here = Here::current());
// value[start:limit:strides], one entry for each axis; without strides all are 1.
[[nodiscard]] Value slice(const Operand& value, std::vector<Extent> start,
                          std::vector<Extent> limit, std::vector<Extent> strides = {},
                          Here here = Here::current());
[[nodiscard]] Value pad(const Operand& value, const Operand& filler, ir::PadParams padding,
                        Here here = Here::current());
[[nodiscard]] Value tile(const Operand& value, std::vector<Extent> repetitions,
                         Here here = Here::current());
// pltpu.repeat: `repeats` copies of the value one after the other along `axis`.
[[nodiscard]] Value repeat(const Operand& value, Extent repeats, std::int32_t axis,
                           Here here = Here::current());
// pltpu.roll: result[(i + shift) mod n] = value[i]. A strided roll shifts row r by r * stride more.
[[nodiscard]] Value roll(const Operand& value, const Operand& shift, std::int32_t axis,
                         Here here = Here::current());
[[nodiscard]] Value roll(const Operand& value, const Operand& shift, ir::RollParams params,
                         Here here = Here::current());
// jnp.take_along_axis, except that negative indices do not wrap. `indices` has the shape of the
// result.
[[nodiscard]] Value takeAlongAxis(const Operand& value, const Operand& indices, std::int32_t axis,
                                  ir::GatherMode mode = ir::GatherMode::FillOrDrop,
                                  Here here = Here::current());
[[nodiscard]] Value bitcastConvertType(const Operand& value, DType dtype,
                                       Here here = Here::current());
// pltpu.bitcast: packs or unpacks rows (the second axis from the last).
[[nodiscard]] Value bitcast(const Operand& value, DType dtype, Here here = Here::current());
[[nodiscard]] Value stochasticRound(const Operand& value, const Operand& randomBits, DType dtype,
                                    Here here = Here::current());
[[nodiscard]] Value packElementwise(const std::vector<Operand>& values, DType packed,
                                    Here here = Here::current());
[[nodiscard]] Value unpackElementwise(const Operand& value, ir::UnpackParams params,
                                      Here here = Here::current());
// Two uint32 arrays of random bits, made from a key (two arrays) and a counter (two arrays).
[[nodiscard]] std::vector<Value> threefry2x32(const std::vector<Operand>& keyAndCounter,
                                              Here here = Here::current());
[[nodiscard]] std::vector<Value> iota2x32Shape(Shape shape, Here here = Here::current());
[[nodiscard]] Value multipleOf(const Operand& value, std::int64_t multiple,
                               Here here = Here::current());
[[nodiscard]] Value stopGradient(const Operand& value, Here here = Here::current());
void debugCheck(const Operand& holds, std::string text, Here here = Here::current());
void debugPrint(std::string format, const std::vector<Operand>& values,
                Here here = Here::current());
// The index of this step on a grid axis. Axes are numbered as the grid was declared, whatever order
// the pipeline loops over them in.
[[nodiscard]] Value programId(std::int32_t axis, Here here = Here::current());
[[nodiscard]] Value numPrograms(std::int32_t axis, Here here = Here::current());

} // namespace pallascope::pl
