// Every operation on values, compared with JAX, or with NumPy in float64: types, results, and
// results that reuse the memory of an operand.
#include "core/base/element.h"
#include "core/ir/infer.h"
#include "core/machine/ops/evaluate.h"
#include "core/machine/ops/ops.h"
#include "tests/ops/cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace pallascope::ops_test {
namespace {

using machine::RuntimeValue;

// The position of a code in the order of the numbers that codes stand for. Neighbours differ by
// one.
std::int64_t place(DType dtype, std::uint32_t code)
{
    const std::uint32_t sign = 1U << static_cast<unsigned>(dtypeBits(dtype) - 1);
    const auto magnitude = static_cast<std::int64_t>(code & (sign - 1U));
    return (code & sign) != 0 ? -magnitude : magnitude;
}

// Says where the two arrays differ; empty if they do not. All NaNs count as equal.
std::string difference(const Array& expected, const Array& actual, int ulp)
{
    if (expected.dtype != actual.dtype || expected.shape != actual.shape) {
        return "another type";
    }
    for (std::int64_t i = 0; i < expected.shape.elements(); ++i) {
        const double a = expected.at(i), b = actual.at(i);
        const std::uint32_t x = readCode(expected.dtype, expected.data.get(), i),
                            y = readCode(actual.dtype, actual.data.get(), i);
        const bool near = ulp > 0 && std::isfinite(a) && std::isfinite(b)
                          && std::abs(place(expected.dtype, x) - place(expected.dtype, y)) <= ulp;
        if (x != y && !near && !(std::isnan(a) && std::isnan(b))) {
            return "element " + std::to_string(i) + " is " + std::to_string(b) + ", not "
                   + std::to_string(a);
        }
    }
    return "";
}

std::vector<RuntimeValue> operandsOf(const Case& one)
{
    std::vector<RuntimeValue> operands;
    for (const Array& array : one.in) {
        operands.push_back(valueOf(array));
    }
    return operands;
}

TEST(Operations, everyValueOperationHasACase)
{
    std::set<ir::OpCode> covered;
    for (const Case& one : cases()) {
        covered.insert(one.code);
    }
    for (const ir::OpEntry& entry : ir::opTable()) {
        const bool engines = ir::isEvaluatedByEngine(entry.code);
        EXPECT_TRUE(engines || covered.contains(entry.code)) << entry.name << " has no case";
    }
}

TEST(Operations, typesAreThoseOfJax)
{
    for (const Case& one : cases()) {
        const Single test = single(one);
        const Result<std::vector<ir::Type>> types = ir::inferTypes(test.program, test.operation);
        ASSERT_TRUE(types) << one.name << ": " << types.error().message;
        ASSERT_EQ(types->size(), one.out.size()) << one.name;
        for (std::size_t i = 0; i < types->size(); ++i) {
            EXPECT_EQ((*types)[i], test.program.type(test.operation.results[i])) << one.name;
        }
    }
}

TEST(Operations, resultsAreThoseOfJax)
{
    for (const Case& one : cases()) {
        const std::vector<RuntimeValue> results = run(one, operandsOf(one));
        for (std::size_t i = 0; i < results.size(); ++i) {
            EXPECT_EQ(difference(one.out[i], arrayOf(results[i]), one.ulp), "")
                << one.name << " on " << (one.in.empty() ? "" : dtypeName(one.in[0].dtype))
                << ", result " << i;
            EXPECT_TRUE(results[i].shadow.all()) << one.name;
        }
    }
}

TEST(Operations, scalarsInPlaceHaveTheElementsOfArrays)
{
    std::set<ir::OpCode> done;
    for (const Case& one : cases()) {
        const bool isInt = std::all_of(one.in.begin(), one.in.end(), [](const Array& array) {
            return array.dtype == DType::Int32;
        });
        const Single test = single(one);
        for (std::int64_t i = 0; isInt && !one.in.empty() && i < one.in[0].shape.elements(); ++i) {
            std::vector<RuntimeValue> operands;
            for (const Array& array : one.in) {
                const bool same = array.shape == one.in[0].shape;
                operands.push_back(RuntimeValue::scalarOf(array.dtype, array.at(same ? i : 0)));
            }
            std::vector<RuntimeValue*> pointers;
            for (RuntimeValue& operand : operands) {
                pointers.push_back(&operand);
            }
            RuntimeValue result;
            if (!machine::ops::scalarInPlace(test.operation, pointers, result)) {
                break;
            }
            done.insert(one.code);
            EXPECT_EQ(result.dtype, one.out[0].dtype) << one.name;
            EXPECT_EQ(result.scalar, one.out[0].at(i)) << one.name << ", element " << i;
            EXPECT_TRUE(result.isScalar() && result.shadow.all()) << one.name;
            operands[0].shadow = machine::Shadow::noneDefined();
            EXPECT_FALSE(machine::ops::scalarInPlace(test.operation, pointers, result)) << one.name;
        }
    }
    for (const ir::OpCode code : {ir::OpCode::Add, ir::OpCode::Div, ir::OpCode::Eq, ir::OpCode::Lt,
                                  ir::OpCode::Neg, ir::OpCode::ShiftLeft}) {
        EXPECT_TRUE(done.contains(code)) << ir::opName(code);
    }
}

TEST(Operations, storageOfDyingOperandsDoesNotChangeResults)
{
    for (const Case& one : cases()) {
        const Single test = single(one);
        if (test.operation.results.size() != 1) {
            continue;
        }
        std::vector<RuntimeValue> operands = operandsOf(one);
        std::vector<RuntimeValue*> pointers;
        for (RuntimeValue& operand : operands) {
            pointers.push_back(&operand);
        }
        const RuntimeValue result = machine::evaluate(test.operation, pointers, ~0U);
        EXPECT_EQ(difference(one.out[0], arrayOf(result), one.ulp), "") << one.name;
    }
}

TEST(Operations, longArraysAreComputedLikeShortOnes)
{
    // Longer than the chunks that are widened and the smallest parts for threads, in every dtype.
    for (const DType dtype : {DType::F32, DType::BF16, DType::Int8, DType::UInt32}) {
        constexpr Extent kLong = 50'001;
        const Array a = normalArray(dtype, Shape{kLong}, 1),
                    b = normalArray(dtype, Shape{kLong}, 2);
        Case one{.name = "long mul", .code = ir::OpCode::Mul, .in = {a, b}, .out = {a}};
        const Array all = arrayOf(run(one, {valueOf(a), valueOf(b)}).front());
        for (const std::int64_t i : {0, 511, 512, 16383, 16384, 32768, 50'000}) {
            const auto scalar = [&](const Array& array) {
                return RuntimeValue::scalarOf(dtype, array.at(i));
            };
            EXPECT_EQ(all.at(i), run(one, {scalar(a), scalar(b)}).front().scalar)
                << dtypeName(dtype) << " " << i;
        }
    }
}

} // namespace
} // namespace pallascope::ops_test
