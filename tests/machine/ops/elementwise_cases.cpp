// Elementwise operations: every combination of the edge values of every dtype, as arrays and as
// scalars, compared with the same operation in double or int64, rounded or wrapped once.
#include "core/ir/opcodes.h"
#include "tests/machine/ops/operation_cases.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace pallascope::machine_test {

namespace {

using Reals = double (*)(const double*);
using Wholes = std::int64_t (*)(const std::int64_t*);

// The result of an operation for each kind of operands; null: it does not accept that kind. Results
// of `wholes` wrap to 32 bits. `ulps` is how far floats may be off, in units in the last place.
struct Row
{
    std::string_view operation;
    int operands = 1;
    Reals reals = nullptr;
    Wholes wholes = nullptr;
    Wholes bools = nullptr;
    double ulps = 0;
};

// A NaN on either side is the result. +0 is larger than -0 (the sum of two zeros is -0 only if both
// are -0).
double larger(double a, double b)
{
    if (std::isnan(a) || std::isnan(b)) {
        return kNan;
    }
    return a == 0 && b == 0 ? a + b : std::fmax(a, b);
}

double smaller(double a, double b)
{
    return -larger(-a, -b);
}

// lax.div and lax.rem of integers round towards zero. By zero they give -1 and the dividend.
std::int64_t quotient(std::int64_t a, std::int64_t b)
{
    return b == 0 ? -1 : a / b;
}

std::int64_t rest(std::int64_t a, std::int64_t b)
{
    return b == 0 ? a : a - b * (a / b);
}

// Comparisons of every kind give 0 or 1.
template<class T, bool (*Holds)(double, double)>
T flag(const T* v)
{
    return Holds(static_cast<double>(v[0]), static_cast<double>(v[1])) ? 1 : 0;
}

template<bool (*Holds)(double, double)>
Row comparison(std::string_view name)
{
    return {name, 2, flag<double, Holds>, flag<std::int64_t, Holds>, flag<std::int64_t, Holds>};
}

bool equal(double a, double b)
{
    return a == b;
}

bool unequal(double a, double b)
{
    return !(a == b);
}

bool less(double a, double b)
{
    return a < b;
}

bool lessOrEqual(double a, double b)
{
    return a < b || a == b;
}

bool greater(double a, double b)
{
    return b < a;
}

bool greaterOrEqual(double a, double b)
{
    return b < a || a == b;
}

template<double (*Function)(double)>
Row transcendental(std::string_view name)
{
    return {name, 1, [](const double* v) { return Function(v[0]); }, nullptr, nullptr, 2};
}

const std::vector<Row>& operationRows()
{
    using D = const double*;
    using I = const std::int64_t*;
    static const std::vector<Row> kTable = {
        {"neg", 1, [](D v) { return -v[0]; }, [](I v) { return -v[0]; }},
        {"abs", 1, [](D v) { return std::fabs(v[0]); }, [](I v) { return std::abs(v[0]); }},
        {"sign", 1,
         [](D v) { return v[0] > 0   ? 1.0
                          : v[0] < 0 ? -1.0
                                     : v[0]; }, // zeros and NaN are unchanged
         [](I v) -> std::int64_t { return v[0] > 0   ? 1
                                          : v[0] < 0 ? -1
                                                     : 0; }},
        {"floor", 1, [](D v) { return std::floor(v[0]); }},
        {"ceil", 1, [](D v) { return std::ceil(v[0]); }},
        {"square", 1, [](D v) { return v[0] * v[0]; }, [](I v) { return v[0] * v[0]; }},
        {"not", 1, nullptr, [](I v) { return -v[0] - 1; },
         [](I v) -> std::int64_t { return 1 - v[0]; }},
        {"is_finite", 1, [](D v) { return v[0] - v[0] == 0 ? 1.0 : 0.0; }},
        transcendental<std::exp>("exp"),
        transcendental<std::exp2>("exp2"),
        transcendental<std::log>("log"),
        transcendental<std::log1p>("log1p"),
        transcendental<std::tanh>("tanh"),
        transcendental<std::sin>("sin"),
        transcendental<std::cos>("cos"),
        {"sqrt", 1, [](D v) { return std::sqrt(v[0]); }},
        {"rsqrt", 1, [](D v) { return 1 / std::sqrt(v[0]); }, nullptr, nullptr, 2},
        {"logistic", 1, [](D v) { return 1 / (1 + std::exp(-v[0])); }, nullptr, nullptr, 3},
        {"add", 2, [](D v) { return v[0] + v[1]; }, [](I v) { return v[0] + v[1]; }},
        {"sub", 2, [](D v) { return v[0] - v[1]; }, [](I v) { return v[0] - v[1]; }},
        {"mul", 2, [](D v) { return v[0] * v[1]; }, [](I v) { return v[0] * v[1]; }},
        {"div", 2, [](D v) { return v[0] / v[1]; }, [](I v) { return quotient(v[0], v[1]); }},
        {"rem", 2, [](D v) { return std::fmod(v[0], v[1]); }, [](I v) { return rest(v[0], v[1]); }},
        {"pow", 2, [](D v) { return std::pow(v[0], v[1]); }, nullptr, nullptr, 2},
        {"max", 2, [](D v) { return larger(v[0], v[1]); }, [](I v) { return std::max(v[0], v[1]); },
         [](I v) { return std::max(v[0], v[1]); }},
        {"min", 2, [](D v) { return smaller(v[0], v[1]); },
         [](I v) { return std::min(v[0], v[1]); }, [](I v) { return std::min(v[0], v[1]); }},
        {"and", 2, nullptr, [](I v) { return v[0] & v[1]; }, [](I v) { return v[0] * v[1]; }},
        {"or", 2, nullptr, [](I v) { return v[0] | v[1]; },
         [](I v) -> std::int64_t { return v[0] + v[1] > 0; }},
        {"xor", 2, nullptr, [](I v) { return v[0] ^ v[1]; },
         [](I v) -> std::int64_t { return v[0] != v[1]; }},
        comparison<equal>("eq"),
        comparison<unequal>("ne"),
        comparison<less>("lt"),
        comparison<lessOrEqual>("le"),
        comparison<greater>("gt"),
        comparison<greaterOrEqual>("ge"),
        {"clamp", 3, [](D v) { return smaller(larger(v[0], v[1]), v[2]); },
         [](I v) { return std::min(std::max(v[0], v[1]), v[2]); },
         [](I v) { return std::min(std::max(v[0], v[1]), v[2]); }},
    };
    return kTable;
}

// They are rounded to the dtype when they are written.
std::vector<double> edges(DType dtype, int operands)
{
    if (dtype == DType::Bool) {
        return {0, 1};
    }
    if (dtype == DType::Int32) {
        return {0, 1, -1, 2, -2, 3, -7, 46341, kMax, kMin};
    }
    std::vector<double> values = {0.0, -0.0, 1, -1, 0.5, -2.5, 3, kInf, -kInf, kNan, 3.4e38};
    if (operands < 3) {
        for (const double more : {-0.3, 1.00390625, 7.3, -7.0, 88.0, -100.0, 1e-3, 1.2e-38, 1e10,
                                  -3.4e38, 0.99609375, 5.5, 16777217.0}) {
            values.push_back(more);
        }
    }
    return values;
}

double rounded(DType dtype, double value)
{
    return arrayOf(dtype, {1}, {value}).at(0);
}

// The distance between neighbouring values of the dtype around `value`.
double ulp(DType dtype, double value)
{
    const int digits = dtype == DType::BF16 ? 8 : 24;
    return value == 0 ? 0 : std::ldexp(1.0, std::ilogb(value) - digits + 1);
}

bool close(DType dtype, double got, double want, double ulps)
{
    if (std::isnan(want) || std::isnan(got)) {
        return std::isnan(want) && std::isnan(got);
    }
    if (ulps == 0 || std::isinf(want) || std::isinf(got)) {
        return got == want && std::signbit(got) == std::signbit(want);
    }
    // No digits are guaranteed below.
    constexpr double kSmallest = std::numeric_limits<float>::min();
    return std::fabs(got - want) <= ulps * ulp(dtype, want) + kSmallest;
}

bool takes(const Row& row, DType dtype)
{
    return dtype == DType::Bool    ? row.bools != nullptr
           : dtype == DType::Int32 ? row.wholes != nullptr
                                   : row.reals != nullptr;
}

double expected(const Row& row, DType dtype, DType result, const double* values)
{
    if (isFloat(dtype)) {
        const bool keeps = row.operation == "rem";
        const double number = row.reals(values);
        const double exact =
            !keeps && std::fabs(number) < 0x1p-126 ? std::copysign(0.0, number) : number;
        // Arithmetic is done in f32 and then rounded again to narrower types.
        return result == DType::Bool ? exact : rounded(result, rounded(DType::F32, exact));
    }
    std::int64_t whole[3] = {};
    for (std::size_t i = 0; i < static_cast<std::size_t>(row.operands); ++i) {
        whole[i] = static_cast<std::int64_t>(values[i]);
    }
    const std::int64_t exact = dtype == DType::Bool ? row.bools(whole) : row.wholes(whole);
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(exact));
}

// All combinations of the edge values, as one array for each operand.
std::vector<Array> inputsOf(const Row& row, DType dtype)
{
    const std::vector<double> values = edges(dtype, row.operands);
    std::size_t count = 1;
    for (int i = 0; i < row.operands; ++i) {
        count *= values.size();
    }
    std::vector<Array> inputs;
    std::size_t stride = 1;
    for (int i = 0; i < row.operands; ++i) {
        std::vector<double> elements;
        for (std::size_t at = 0; at < count; ++at) {
            elements.push_back(values[at / stride % values.size()]);
        }
        stride *= values.size();
        inputs.push_back(arrayOf(dtype, {static_cast<Extent>(count)}, elements));
    }
    return inputs;
}

void checkDtype(const Row& row, DType dtype)
{
    const ir::OpCode code = *ir::opFromName(row.operation);
    const bool yieldsBool = ir::opEntry(code).kind == ir::OpKind::Comparison;
    const DType result = yieldsBool ? DType::Bool : dtype;
    const OneStep step{
        .inputs = inputsOf(row, dtype), .dtype = result, .shape = inputsOf(row, dtype)[0].shape};
    const auto operands = static_cast<std::size_t>(row.operands);
    const RefsBody whole = [&](const std::vector<pl::Ref>& refs) {
        std::vector<pl::Operand> loaded;
        for (std::size_t i = 0; i < operands; ++i) {
            loaded.emplace_back(refs[i][pl::all].load());
        }
        refs.back()[pl::all] = pl::elementwise(code, loaded);
    };
    if (!takes(row, dtype)) {
        EXPECT_THROW((void)oneStepProgram(step, whole), std::runtime_error)
            << row.operation << " takes " << dtypeName(dtype);
        return;
    }
    const RefsBody elementByElement = [&](const std::vector<pl::Ref>& refs) {
        pl::foriLoop(step.shape.elements(), {}, [&](pl::Value i, std::vector<pl::Value>) {
            std::vector<pl::Operand> loaded;
            for (std::size_t k = 0; k < operands; ++k) {
                loaded.emplace_back(refs[k][i].load());
            }
            refs.back()[i] = pl::elementwise(code, loaded);
            return std::vector<pl::Value>{};
        });
    };
    for (const RefsBody& body : {whole, elementByElement}) {
        const machine::RunResult run = runOneStep(step, body);
        EXPECT_EQ(findingsBesidesBirths(run), "");
        for (std::int64_t i = 0; i < step.shape.elements(); ++i) {
            double values[3] = {};
            for (std::size_t k = 0; k < operands; ++k) {
                values[k] = step.inputs[k].at(i);
            }
            const double want = expected(row, dtype, result, values), got = run.outputs[0].at(i);
            ASSERT_TRUE(close(result, got, want, row.ulps))
                << row.operation << "(" << values[0] << ", " << values[1] << ", " << values[2]
                << ") of " << dtypeName(dtype) << " is " << got << ", not " << want;
        }
    }
}

} // namespace

std::vector<OperationCase> elementwiseCases()
{
    std::vector<OperationCase> cases;
    for (const Row& row : operationRows()) {
        cases.push_back(
            {row.operation, [&row] {
                 for (const DType dtype : {DType::F32, DType::BF16, DType::Int32, DType::Bool}) {
                     checkDtype(row, dtype);
                 }
             }});
    }
    return cases;
}

} // namespace pallascope::machine_test
