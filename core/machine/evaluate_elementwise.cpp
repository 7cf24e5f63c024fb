#include "core/base/check.h"
#include "core/machine/arith/convert.h"
#include "core/machine/arith/elementwise.h"
#include "core/machine/arith/threads.h"
#include "core/machine/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace pallascope::machine {

using ir::OpCode;

namespace {

constexpr std::int64_t kGrain = 16384; // elements per parallel chunk

// ---- scalar rules, one per operation
// ---------------------------------------------------------------

std::int32_t divide(std::int32_t a, std::int32_t b)
{
    if (b == 0) {
        return -1;
    }
    return a == std::numeric_limits<std::int32_t>::min() && b == -1 ? a : a / b;
}

std::int32_t remainder(std::int32_t a, std::int32_t b)
{
    if (b == 0) {
        return a;
    }
    return b == -1 ? 0 : a % b;
}

// Both zeros: max is +0, min is -0; a NaN on either side wins.
float maximum(float a, float b)
{
    if (std::isnan(a) || std::isnan(b)) {
        return std::numeric_limits<float>::quiet_NaN();
    }
    return a == b ? (std::signbit(a) ? b : a) : (a > b ? a : b);
}

float minimum(float a, float b)
{
    if (std::isnan(a) || std::isnan(b)) {
        return std::numeric_limits<float>::quiet_NaN();
    }
    return a == b ? (std::signbit(a) ? a : b) : (a < b ? a : b);
}

std::uint32_t bits(std::int32_t value)
{
    return static_cast<std::uint32_t>(value);
}

std::int32_t wrap(std::uint32_t value)
{
    return static_cast<std::int32_t>(value);
}

float unaryFloat(OpCode code, float a)
{
    switch (code) {
    case OpCode::Neg:
        return -a;
    case OpCode::Abs:
        return std::fabs(a);
    case OpCode::Sign:
        return std::isnan(a) || a == 0 ? a : std::copysign(1.0F, a);
    case OpCode::Floor:
        return std::floor(a);
    case OpCode::Ceil:
        return std::ceil(a);
    case OpCode::Square:
        return a * a;
    case OpCode::Exp:
        return std::exp(a);
    case OpCode::Exp2:
        return std::exp2(a);
    case OpCode::Log:
        return std::log(a);
    case OpCode::Log1p:
        return std::log1p(a);
    case OpCode::Tanh:
        return std::tanh(a);
    case OpCode::Logistic:
        return 1.0F / (1.0F + std::exp(-a));
    case OpCode::Sqrt:
        return std::sqrt(a);
    case OpCode::Rsqrt:
        return 1.0F / std::sqrt(a);
    case OpCode::Sin:
        return std::sin(a);
    case OpCode::Cos:
        return std::cos(a);
    default:
        PALLASCOPE_CHECK(false && "not a unary operation of floats");
    }
}

std::int32_t unaryInt(OpCode code, std::int32_t a)
{
    switch (code) {
    case OpCode::Neg:
        return wrap(0U - bits(a));
    case OpCode::Abs:
        return a < 0 ? wrap(0U - bits(a)) : a;
    case OpCode::Sign:
        return (a > 0) - (a < 0);
    case OpCode::Square:
        return wrap(bits(a) * bits(a));
    case OpCode::Not:
        return ~a;
    case OpCode::Floor:
    case OpCode::Ceil:
        return a;
    default:
        PALLASCOPE_CHECK(false && "not a unary operation of integers");
    }
}

float binaryFloat(OpCode code, float a, float b)
{
    switch (code) {
    case OpCode::Add:
        return a + b;
    case OpCode::Sub:
        return a - b;
    case OpCode::Mul:
        return a * b;
    case OpCode::Div:
        return a / b;
    case OpCode::Rem:
        return std::fmod(a, b);
    case OpCode::Max:
        return maximum(a, b);
    case OpCode::Min:
        return minimum(a, b);
    case OpCode::Pow:
        return std::pow(a, b);
    default:
        PALLASCOPE_CHECK(false && "not a binary operation of floats");
    }
}

std::int32_t binaryInt(OpCode code, std::int32_t a, std::int32_t b)
{
    switch (code) {
    case OpCode::Add:
        return wrap(bits(a) + bits(b));
    case OpCode::Sub:
        return wrap(bits(a) - bits(b));
    case OpCode::Mul:
        return wrap(bits(a) * bits(b));
    case OpCode::Div:
        return divide(a, b);
    case OpCode::Rem:
        return remainder(a, b);
    case OpCode::Max:
        return a > b ? a : b;
    case OpCode::Min:
        return a < b ? a : b;
    case OpCode::And:
        return a & b;
    case OpCode::Or:
        return a | b;
    case OpCode::Xor:
        return a ^ b;
    default:
        PALLASCOPE_CHECK(false && "not a binary operation of integers");
    }
}

template<class T>
bool compare(OpCode code, T a, T b)
{
    switch (code) {
    case OpCode::Eq:
        return a == b;
    case OpCode::Ne:
        return a != b;
    case OpCode::Lt:
        return a < b;
    case OpCode::Le:
        return a <= b;
    case OpCode::Gt:
        return a > b;
    case OpCode::Ge:
        return a >= b;
    default:
        PALLASCOPE_CHECK(false && "not a comparison");
    }
}

// Of uint32, where 32 bits mean other numbers than int32's; every other rule gives the same bits.
std::optional<std::uint32_t> unsignedRule(OpCode code, std::uint32_t a, std::uint32_t b)
{
    switch (code) {
    case OpCode::Abs:
        return a;
    case OpCode::Sign:
        return a != 0 ? 1 : 0;
    case OpCode::Div:
        return b == 0 ? 0xffff'ffffU : a / b;
    case OpCode::Rem:
        return b == 0 ? a : a % b;
    case OpCode::Max:
        return std::max(a, b);
    case OpCode::Min:
        return std::min(a, b);
    default:
        return std::nullopt;
    }
}

// ---- any dtype, one element
// ------------------------------------------------------------------------

double elementwiseScalar(const ir::Operation& operation, DType in, const double* a)
{
    const OpCode code = operation.code;
    const auto f = [&](int i) { return static_cast<float>(a[i]); };
    const auto n = [&](int i) { // the low 32 bits
        return static_cast<std::int32_t>(static_cast<std::int64_t>(a[i]));
    };
    switch (ir::opEntry(code).kind) {
    case ir::OpKind::Select:
        return a[0] != 0 ? a[2] : a[1];
    case ir::OpKind::Convert: {
        const DType to = std::get<ir::DTypeParams>(operation.params).dtype;
        return convertNumber(in, to, a[0]);
    }
    case ir::OpKind::Comparison:
        if (code == OpCode::IsFinite) {
            return std::isfinite(a[0]) ? 1 : 0;
        }
        return compare(code, a[0], a[1]);
    default:
        break;
    }
    if (code == OpCode::Clamp) {
        const double low =
            isFloat(in) ? static_cast<double>(maximum(f(1), f(0))) : std::max(a[1], a[0]);
        return isFloat(in) ? static_cast<double>(minimum(static_cast<float>(low), f(2)))
                           : std::min(low, a[2]);
    }
    const bool unary = operation.operands.size() == 1;
    if (isFloat(in)) {
        return roundTo(in, static_cast<double>(unary ? unaryFloat(code, f(0))
                                                     : binaryFloat(code, f(0), f(1))));
    }
    if (in == DType::Bool) {
        if (unary) {
            return a[0] != 0 ? 0 : 1; // not
        }
        return binaryInt(code, n(0), n(1)) != 0 ? 1 : 0;
    }
    if (in == DType::UInt32) {
        if (const auto bits32 = unsignedRule(code, bits(n(0)), unary ? 0U : bits(n(1)))) {
            return *bits32;
        }
    }
    return roundTo(in, unary ? unaryInt(code, n(0)) : binaryInt(code, n(0), n(1)));
}

// ---- whole arrays
// ----------------------------------------------------------------------------------

// The hot loops of the common dtypes; everything else goes element by element.
bool fastPath(const ir::Operation& operation, std::span<RuntimeValue* const> operands,
              RuntimeValue& result)
{
    const std::int64_t count = result.elements();
    const DType in = operands[0]->dtype;
    if (operation.code == OpCode::ConvertElementType) {
        arith::convert(in, operands[0]->data.get(), result.dtype, result.data.get(), count);
        return true;
    }
    if (in != DType::F32 || operands.size() != 2 || result.dtype != DType::F32) {
        return false;
    }
    const float* a = operands[0]->as<float>();
    const float* b = operands[1]->as<float>();
    float* out = result.as<float>();
    const auto loop = [&](auto&& rule) {
        arith::parallelFor(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                out[i] = rule(a[i], b[i]);
            }
        });
        return true;
    };
    switch (operation.code) {
    case OpCode::Add:
        arith::addF32(a, b, out, count);
        return true;
    case OpCode::Sub:
        return loop([](float x, float y) { return x - y; });
    case OpCode::Mul:
        return loop([](float x, float y) { return x * y; });
    case OpCode::Div:
        return loop([](float x, float y) { return x / y; });
    default:
        return false;
    }
}

void slowPath(const ir::Operation& operation, std::span<RuntimeValue* const> operands,
              RuntimeValue& result)
{
    const DType in = operands[operation.code == OpCode::SelectN ? 1 : 0]->dtype;
    arith::parallelFor(result.elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
        double values[3] = {};
        for (std::int64_t i = begin; i < end; ++i) {
            for (std::size_t k = 0; k < operands.size(); ++k) {
                values[k] = readElement(operands[k]->dtype, operands[k]->data.get(), i);
            }
            writeElement(result.dtype, result.data.get(), i,
                         elementwiseScalar(operation, in, values));
        }
    });
}

// select drops the shadow of the side that is not chosen; an undefined mask element stays
// undefined.
Shadow selectShadow(std::span<RuntimeValue* const> operands, std::int64_t count)
{
    if (operands[0]->shadow.all() && operands[1]->shadow.all() && operands[2]->shadow.all()) {
        return Shadow::allDefined();
    }
    const SharedBytes masks[3] = {operands[0]->shadow.expanded(count),
                                  operands[1]->shadow.expanded(count),
                                  operands[2]->shadow.expanded(count)};
    SharedBytes mask = allocateBytes(count);
    for (std::int64_t i = 0; i < count; ++i) {
        const bool chosen = operands[0]->isScalar() ? operands[0]->scalar != 0
                                                    : operands[0]->as<std::uint8_t>()[i] != 0;
        mask[i] = masks[0][i] & masks[chosen ? 2 : 1][i];
    }
    return Shadow::fromMask(std::move(mask), count);
}

} // namespace

RuntimeValue evaluateElementwise(const ir::Operation& operation,
                                 std::span<RuntimeValue* const> operands, std::uint32_t dying)
{
    const std::size_t typed = operation.code == OpCode::SelectN ? 1 : 0;
    const RuntimeValue& first = *operands[typed];
    const ir::OpKind kind = ir::opEntry(operation.code).kind;
    DType dtype = first.dtype;
    if (kind == ir::OpKind::Comparison) {
        dtype = DType::Bool;
    } else if (kind == ir::OpKind::Convert) {
        dtype = std::get<ir::DTypeParams>(operation.params).dtype;
    }
    const std::int64_t count = first.elements();
    const Shadow shadow =
        kind == ir::OpKind::Select ? selectShadow(operands, count) : combined(operands, count);
    if (first.isScalar()) {
        double values[3] = {};
        for (std::size_t k = 0; k < operands.size(); ++k) {
            values[k] = operands[k]->scalar;
        }
        RuntimeValue result =
            RuntimeValue::scalarOf(dtype, elementwiseScalar(operation, first.dtype, values));
        result.shadow = shadow;
        return result;
    }
    RuntimeValue result{.dtype = dtype, .shape = first.shape};
    for (std::size_t k = 0; k < operands.size() && !result.data; ++k) {
        // Nobody else holds a dying operand's storage: compute in place.
        if (((dying >> k) & 1U) != 0 && operands[k]->data.use_count() == 1
            && dtypeBytes(operands[k]->dtype) == dtypeBytes(dtype)) {
            result.data = operands[k]->data;
        }
    }
    if (!result.data) {
        result.data = allocateBytes(count * dtypeBytes(dtype));
    }
    if (!fastPath(operation, operands, result)) {
        slowPath(operation, operands, result);
    }
    result.shadow = shadow;
    return result;
}

} // namespace pallascope::machine
