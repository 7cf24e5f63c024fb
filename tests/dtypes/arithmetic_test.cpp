// Operations on every dtype, compared with JAX on a CPU: all pairs of 4- and 8-bit codes, and a
// grid of edge cases of wider dtypes.
#include "core/base/element.h"
#include "core/machine/ops/evaluate.h"
#include "tests/dtypes/tables.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace pallascope::dtype_test {

namespace {

using machine::RuntimeValue;

RuntimeValue valueOf(const Array& array)
{
    return {.dtype = array.dtype, .shape = array.shape, .data = array.data};
}

class Arithmetic : public testing::TestWithParam<DTypeEntry>
{
protected:
    DType m_type = GetParam().type;
    const nlohmann::json& m_table = tables().at("arithmetic").at(std::string(GetParam().name));

    // For one operand the codes; for two operands every pair of codes in row-major order.
    [[nodiscard]] std::vector<RuntimeValue> operands(std::size_t count) const
    {
        const Codes codes =
            m_table.contains("operands")
                ? codesOf(m_table.at("operands").get<std::string>(), dtypeBytes(m_type))
                : allCodes(m_type);
        if (count == 1) {
            return {valueOf(arrayOf(m_type, codes))};
        }
        Codes left, right;
        for (const std::uint32_t a : codes) {
            left.insert(left.end(), codes.size(), a);
            right.insert(right.end(), codes.begin(), codes.end());
        }
        return {valueOf(arrayOf(m_type, left)), valueOf(arrayOf(m_type, right))};
    }

    template<class Function>
    void forEachResult(Function&& function);
};

RuntimeValue evaluated(ir::Operation operation, std::vector<RuntimeValue>& values)
{
    std::vector<RuntimeValue*> pointers;
    for (RuntimeValue& value : values) {
        pointers.push_back(&value);
        operation.operands.push_back({});
    }
    return machine::evaluate(operation, pointers, 0);
}

// Calls the function with every operation of the table: its name, its checksum, its operands and
// its result.
template<class Function>
void Arithmetic::forEachResult(Function&& function)
{
    for (const auto& [name, wanted] : m_table.items()) {
        if (name == "operands") {
            continue;
        }
        const std::optional<ir::OpCode> code = ir::opFromName(name);
        ASSERT_TRUE(code) << name << " is no operation";
        const ir::Operation operation{.code = *code};
        std::vector<RuntimeValue> values =
            operands(static_cast<std::size_t>(ir::opEntry(*code).minOperands));
        const RuntimeValue result = evaluated(operation, values);
        function(name, wanted.template get<std::string>(), operation, values, result);
    }
}

TEST_P(Arithmetic, isJaxs)
{
    forEachResult([](const std::string& name, const std::string& wanted, const auto&, const auto&,
                     const RuntimeValue& result) {
        const Codes codes = codesIn(result.dtype, result.data.get(), result.elements(), false);
        EXPECT_EQ(checksum(codes), wanted) << name;
    });
}

TEST_P(Arithmetic, ofScalarsIsThatOfArrays)
{
    forEachResult([this](const std::string& name, const auto&, const ir::Operation& operation,
                         const std::vector<RuntimeValue>& values, const RuntimeValue& result) {
        for (std::int64_t i = 0; i < result.elements(); i += 97) {
            std::vector<RuntimeValue> scalars;
            for (const RuntimeValue& value : values) {
                scalars.push_back(
                    RuntimeValue::scalarOf(m_type, readElement(m_type, value.data.get(), i)));
            }
            std::byte written[4] = {};
            writeElement(result.dtype, written, 0, evaluated(operation, scalars).scalar);
            ASSERT_EQ(
                codesIn(result.dtype, written, 1, false),
                codesIn(result.dtype, result.data.get() + i * dtypeBytes(result.dtype), 1, false))
                << name << " of element " << i;
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Of, Arithmetic, testing::ValuesIn(kDTypes),
                         [](const auto& test) { return std::string(test.param.name); });

RuntimeValue matrix(DType type, Extent rows, Extent columns, std::uint64_t seed)
{
    return valueOf(normalArray(type, {rows, columns}, seed));
}

RuntimeValue evaluated(const ir::Operation& operation, std::vector<RuntimeValue> operands)
{
    std::vector<RuntimeValue*> pointers;
    for (RuntimeValue& operand : operands) {
        pointers.push_back(&operand);
    }
    return machine::evaluate(operation, pointers, 0);
}

TEST(ArithmeticTest, productsOfNarrowOperandsAreSummedInF32OrInt32)
{
    constexpr Extent kM = 5, kK = 9, kN = 3;
    for (const DTypeEntry& entry : kDTypes) {
        const DType type = entry.type;
        if (type == DType::Bool) {
            continue;
        }
        const RuntimeValue a = matrix(type, kM, kK, 1), b = matrix(type, kK, kN, 2);
        const DType sumType = isFloat(type) ? DType::F32 : DType::Int32;
        for (const DType to : {sumType, type}) {
            const ir::Operation dot{.code = ir::OpCode::DotGeneral,
                                    .params = ir::DotParams{{1}, {0}, {}, {}, to}};
            const RuntimeValue result = evaluated(dot, {a, b});
            ASSERT_EQ(result.dtype, to);
            for (Extent i = 0; i < kM * kN; ++i) {
                double sum = 0, size = 0;
                for (Extent k = 0; k < kK; ++k) {
                    const double term = readElement(type, a.data.get(), i / kN * kK + k)
                                        * readElement(type, b.data.get(), k * kN + i % kN);
                    sum += term;
                    size += std::fabs(term);
                }
                const double found = readElement(to, result.data.get(), i);
                if (isFloat(type)) {
                    const double step =
                        to == DType::F32
                            ? 0
                            : std::fabs(sum) * std::ldexp(1, -entry.format.mantissaBits) + 0.25;
                    EXPECT_NEAR(found, sum, size * 0x1p-20 + step) << entry.name;
                } else {
                    EXPECT_EQ(found, roundTo(to, sum)) << entry.name;
                }
            }
        }
    }
}

TEST(ArithmeticTest, maximaOfNothingAreTheLeastValueOfTheDtype)
{
    for (const DTypeEntry& entry : kDTypes) {
        if (entry.type == DType::Bool) {
            continue;
        }
        const RuntimeValue none = RuntimeValue::arrayOf(entry.type, {2, 0});
        const ir::Operation most{.code = ir::OpCode::ReduceMax, .params = ir::AxesParams{{1}}};
        const RuntimeValue result = evaluated(most, {none});
        EXPECT_EQ(readElement(entry.type, result.data.get(), 1), lowestNumber(entry.type))
            << entry.name;
    }
}

TEST(ArithmeticTest, sumsOfNarrowIntegersWrapToTheirWidth)
{
    const RuntimeValue bytes = valueOf(arrayOf(DType::UInt8, {200, 100, 7}));
    const ir::Operation sum{.code = ir::OpCode::ReduceSum, .params = ir::AxesParams{{0}}};
    EXPECT_EQ(evaluated(sum, {bytes}).scalar, 51);
    const RuntimeValue words = valueOf(arrayOf(DType::UInt32, {0x9000'0000U, 0x3000'0000U, 5}));
    EXPECT_EQ(evaluated(sum, {words}).scalar, 0xc000'0005U);
}

} // namespace

} // namespace pallascope::dtype_test
