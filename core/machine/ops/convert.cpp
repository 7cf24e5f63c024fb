// Operations that change the dtype or choose: select, conversions, packed pairs, reinterpreted
// bits.
#include "core/machine/arith/convert.h"

#include "core/base/bitcast.h"
#include "core/machine/arith/threads.h"
#include "core/machine/ops/lanes.h"
#include "core/machine/ops/ops.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace pallascope::machine::ops {

namespace {

// The bits of element i. A scalar holds its number instead, which is encoded here.
std::uint32_t codeOf(const RuntimeValue& value, std::int64_t i)
{
    std::byte scalar[kMostLaneBytes];
    if (value.isScalar()) {
        writeElement(value.dtype, scalar, 0, value.scalar);
        return readCode(value.dtype, scalar, 0);
    }
    return readCode(value.dtype, value.data.get(), i);
}

void setCode(RuntimeValue& value, std::int64_t i, std::uint32_t code)
{
    std::byte scalar[kMostLaneBytes];
    writeCode(value.dtype, value.isScalar() ? scalar : value.data.get(), i, code);
    if (value.isScalar()) {
        value.scalar = readElement(value.dtype, scalar, 0);
    }
}

std::uint32_t lowBits(std::uint32_t value, int bits)
{
    return bits == 32 ? value : value & ((1U << static_cast<unsigned>(bits)) - 1U);
}

std::uint32_t signExtended(std::uint32_t value, int bits)
{
    const auto unused = static_cast<unsigned>(32 - bits);
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value << unused) >> unused);
}

// Definedness after a bitcast to another width. Rows of narrow elements (along the second axis
// from the last) are packed into rows of wide ones; a wide element is defined if all its parts
// are.
Shadow packedShadow(const RuntimeValue& value, const Shape& shape)
{
    if (value.shadow.kind != Shadow::Kind::Some) {
        return value.shadow;
    }
    const std::size_t row = shape.rank() - 2;
    const std::int64_t columns = shape[row + 1], count = shape.elements();
    const std::int64_t parts = std::max(value.shape[row] / std::max<Extent>(1, shape[row]),
                                        shape[row] / std::max<Extent>(1, value.shape[row]));
    const bool widens = shape[row] < value.shape[row];
    SharedBytes mask = allocateBytes(count);
    std::fill_n(mask.get(), count, std::byte{1});
    for (std::int64_t i = 0; i < std::max(count, value.elements()); ++i) {
        const std::int64_t wide = i / columns / parts * columns + i % columns;
        mask[widens ? wide : i] &= value.shadow.mask[widens ? i : wide];
    }
    return Shadow::fromMask(std::move(mask), count);
}

// Ignores the shadow of the case that is not chosen. An undefined mask element makes an undefined
// result.
Shadow selectShadow(const Call& call, std::int64_t count)
{
    const RuntimeValue& mask = call.operand(0);
    if (combined(call.operands, count).all()) {
        return Shadow::allDefined();
    }
    if (mask.isScalar()) {
        return mask.shadow.none() ? mask.shadow : call.operand(mask.scalar != 0 ? 2 : 1).shadow;
    }
    const SharedBytes known = mask.shadow.expanded(count),
                      no = call.operand(1).shadow.expanded(count),
                      yes = call.operand(2).shadow.expanded(count);
    SharedBytes defined = allocateBytes(count);
    const auto choose = [&, out = defined.get()](const auto* chosen) {
        for (std::int64_t i = 0; i < count; ++i) {
            out[i] = known[i] & (chosen[i] != 0 ? yes[i] : no[i]);
        }
    };
    if (mask.dtype == DType::Bool) {
        choose(mask.as<std::uint8_t>());
    } else {
        choose(mask.as<std::int32_t>());
    }
    return Shadow::fromMask(std::move(defined), count);
}

// Works with bit masks, so that the compiler can vectorize the loop. The result must not overlap
// the cases.
template<class T, class Mask>
void chooseElements(const Mask* chosen, const T* no, const T* yes, T* out, std::int64_t count)
{
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        const T all = chosen[i] != 0 ? std::numeric_limits<T>::max() : T{0};
        out[i] = static_cast<T>((yes[i] & all) | (no[i] & ~all));
    }
}

// T is an unsigned integer of the element's size.
template<class T>
void selectElements(const Call& call, RuntimeValue& result)
{
    const RuntimeValue& mask = call.operand(0);
    const auto choose = [&](const auto* chosen) {
        arith::parallelFor(result.elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            chooseElements(chosen + begin, call.operand(1).as<T>() + begin,
                           call.operand(2).as<T>() + begin, result.as<T>() + begin, end - begin);
        });
    };
    mask.dtype == DType::Bool ? choose(mask.as<std::uint8_t>()) : choose(mask.as<std::int32_t>());
}

} // namespace

RuntimeValue select(const Call& call)
{
    const RuntimeValue &mask = call.operand(0), &first = call.operand(1);
    if (call.operands.size() == 2) { // only one case: no choice
        return first;
    }
    const std::int64_t count = first.elements();
    Shadow shadow = selectShadow(call, count);
    if (mask.isScalar()) {
        RuntimeValue result = call.operand(mask.scalar != 0 ? 2 : 1);
        result.shadow = std::move(shadow);
        return result;
    }
    RuntimeValue result = RuntimeValue::arrayOf(first.dtype, first.shape);
    result.shadow = std::move(shadow);
    switch (dtypeBytes(first.dtype)) {
    case 1:
        selectElements<std::uint8_t>(call, result);
        break;
    case 2:
        selectElements<std::uint16_t>(call, result);
        break;
    default:
        selectElements<std::uint32_t>(call, result);
    }
    return result;
}

RuntimeValue converted(const RuntimeValue& value, DType dtype)
{
    if (value.dtype == dtype) {
        return value;
    }
    if (value.isScalar()) {
        RuntimeValue result =
            RuntimeValue::scalarOf(dtype, convertNumber(value.dtype, dtype, value.scalar));
        result.shadow = value.shadow;
        return result;
    }
    RuntimeValue result = RuntimeValue::arrayOf(dtype, value.shape);
    result.shadow = value.shadow;
    arith::convert(value.dtype, value.data.get(), dtype, result.data.get(), value.elements());
    return result;
}

namespace {

// The same numbers, those beyond the largest of the dtype as that one. NaN stays.
RuntimeValue cutOff(const RuntimeValue& value, DType dtype)
{
    const FloatFormat format = dtypeEntry(dtype).format;
    const float most = widen(format, format.largestFinite());
    RuntimeValue cut = converted(value, DType::F32);
    if (cut.isScalar()) {
        cut.scalar = cut.scalar > most ? most : cut.scalar < -most ? -most : cut.scalar;
        return cut;
    }
    RuntimeValue result = RuntimeValue::arrayOf(DType::F32, value.shape);
    result.shadow = value.shadow;
    const auto* const in = cut.as<float>();
    auto* const out = result.as<float>();
    for (std::int64_t i = 0; i < result.elements(); ++i) {
        out[i] = in[i] > most ? most : in[i] < -most ? -most : in[i];
    }
    return result;
}

} // namespace

RuntimeValue convert(const Call& call)
{
    const auto& [dtype, saturates] = call.params<ir::DTypeParams>();
    return saturates ? converted(cutOff(call.operand(0), dtype), dtype)
                     : converted(call.operand(0), dtype);
}

RuntimeValue bitcast(const Call& call)
{
    const DType dtype = call.params<ir::DTypeParams>().dtype;
    const RuntimeValue& value = call.operand(0);
    if (dtypeBits(dtype) != dtypeBits(value.dtype)) {
        const Array array = pallascope::bitcast({value.dtype, value.shape, value.data}, dtype);
        return {.dtype = dtype,
                .shape = array.shape,
                .data = array.data,
                .shadow = packedShadow(value, array.shape)};
    }
    RuntimeValue result = value; // the bytes do not change
    result.dtype = dtype;
    if (value.isScalar()) {
        setCode(result, 0, codeOf(value, 0));
    }
    return result;
}

RuntimeValue pack(const Call& call)
{
    const DType packed = call.params<ir::DTypeParams>().dtype;
    const RuntimeValue& first = call.operand(0);
    const int bits = dtypeBits(packed);
    const std::int64_t count = first.elements();
    const auto words = static_cast<std::size_t>(count);
    std::vector<std::uint32_t> sums(words, 0);
    for (std::size_t k = 0; k < call.operands.size(); ++k) {
        const RuntimeValue part =
            isFloat(packed) ? converted(call.operand(k), packed) : call.operand(k);
        for (std::size_t i = 0; i < words; ++i) {
            const std::uint32_t element = codeOf(part, static_cast<std::int64_t>(i));
            sums[i] |= lowBits(element, bits) << (k * static_cast<unsigned>(bits));
        }
    }
    const DType dtype = dtypeBits(first.dtype) == 32   ? DType::UInt32
                        : dtypeBits(first.dtype) == 16 ? DType::UInt16
                                                       : DType::UInt8;
    RuntimeValue result = RuntimeValue::arrayOf(dtype, first.shape);
    for (std::size_t i = 0; i < words; ++i) {
        setCode(result, static_cast<std::int64_t>(i), sums[i]);
    }
    result.shadow = combined(call.operands, count);
    return result;
}

RuntimeValue unpack(const Call& call)
{
    const auto& [index, packed, unpacked] = call.params<ir::UnpackParams>();
    const RuntimeValue& value = call.operand(0);
    const int bits = dtypeBits(packed);
    RuntimeValue parts = RuntimeValue::arrayOf(packed, value.shape);
    RuntimeValue result = RuntimeValue::arrayOf(unpacked, value.shape);
    const bool isSigned = dtypeEntry(packed).kind == DTypeKind::Signed;
    for (std::int64_t i = 0; i < value.elements(); ++i) {
        const std::uint32_t element =
            lowBits(codeOf(value, i) >> static_cast<unsigned>(index * bits), bits);
        if (isFloat(packed)) {
            setCode(parts, i, element);
        } else {
            setCode(result, i, isSigned ? signExtended(element, bits) : element);
        }
    }
    if (isFloat(packed)) {
        result = converted(parts, unpacked);
    }
    result.shadow = value.shadow;
    return result;
}

// Adds random bits below the last kept bit and truncates the sum. So the number is rounded up with
// a probability equal to the cut part. (Below the smallest normal number of an 8-bit dtype it is
// rounded to nearest.)
RuntimeValue stochasticRound(const Call& call)
{
    const DType dtype = call.params<ir::DTypeParams>().dtype;
    const RuntimeValue &value = call.operand(0), &random = call.operand(1);
    const int kept = dtype == DType::BF16     ? 7
                     : dtype == DType::F8E5M2 ? 2
                                              : 3; // bits of the mantissa
    const std::uint32_t below = (1U << static_cast<unsigned>(23 - kept)) - 1U;
    RuntimeValue cut = RuntimeValue::arrayOf(DType::F32, value.shape);
    for (std::int64_t i = 0; i < value.elements(); ++i) {
        std::uint32_t bits = codeOf(value, i);
        if ((bits & 0x7f80'0000U) != 0x7f80'0000U) { // finite
            bits = (bits + (codeOf(random, i) & below)) & ~below;
        }
        setCode(cut, i, bits);
    }
    RuntimeValue result = converted(cut, dtype);
    result.shadow = combined(call.operands, value.elements());
    return result;
}

} // namespace pallascope::machine::ops
