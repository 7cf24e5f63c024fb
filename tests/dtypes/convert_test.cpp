// Conversions between every two dtypes, compared with JAX's convert_element_type on a CPU.
#include "core/base/element.h"
#include "core/machine/arith/convert.h"
#include "tests/dtypes/tables.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace pallascope::dtype_test {

namespace {

// The same inputs as in the script. f32 subnormals are left out, because JAX on a CPU computes with
// 0 instead.
Codes inputsOf(DType type, const nlohmann::json& table)
{
    if (dtypeBits(type) == 32) {
        return codesOf(table.at("inputs").get<std::string>(), 4);
    }
    Codes codes;
    for (const std::uint32_t code : allCodes(type)) {
        const double value =
            isFloat(type) ? static_cast<double>(widen(dtypeEntry(type).format, code)) : 0.0;
        if (!(value != 0 && std::fabs(value) < 0x1p-126)) {
            codes.push_back(code);
        }
    }
    EXPECT_EQ(checksum(codes), table.at("inputs").get<std::string>());
    return codes;
}

class Conversions : public testing::TestWithParam<DTypeEntry>
{
protected:
    DType m_from = GetParam().type;
    const nlohmann::json& m_table = tables().at("conversions").at(std::string(GetParam().name));
    Codes m_inputs = inputsOf(m_from, m_table);
};

TEST_P(Conversions, toEveryDtypeAreJaxs)
{
    for (const DTypeEntry& target : kDTypes) {
        const auto& wanted = m_table.at(std::string(target.name));
        const DType to = target.type;
        const auto converted = [&](const Codes& codes) {
            const Array from = arrayOf(m_from, codes);
            Array result = makeArray(to, from.shape);
            arith::convert(m_from, from.data.get(), to, result.data.get(), from.shape.elements());
            return codesIn(to, result.data.get(), from.shape.elements(), false);
        };
        Codes shown;
        for (std::size_t i = 0; i < m_inputs.size();
             i += std::max<std::size_t>(1, m_inputs.size() / 16)) {
            shown.push_back(m_inputs[i]);
        }
        EXPECT_EQ(converted(shown), codesOf(wanted[1].get<std::string>(), dtypeBytes(to)))
            << "to " << target.name;
        EXPECT_EQ(checksum(converted(m_inputs)), wanted[0].get<std::string>())
            << "to " << target.name;
    }
}

TEST_P(Conversions, ofOneNumberAreThoseOfArrays)
{
    const Array from = arrayOf(m_from, m_inputs);
    const std::int64_t count = from.shape.elements();
    for (const DTypeEntry& target : kDTypes) {
        const DType to = target.type;
        Array bulk = makeArray(to, from.shape);
        arith::convert(m_from, from.data.get(), to, bulk.data.get(), count);
        Array single = makeArray(to, from.shape);
        for (std::int64_t i = 0; i < count; ++i) {
            const double value = convertNumber(m_from, to, from.at(i));
            EXPECT_TRUE(value == roundTo(to, value) || std::isnan(value));
            writeElement(to, single.data.get(), i, value);
        }
        ASSERT_EQ(codesIn(to, bulk.data.get(), count, false),
                  codesIn(to, single.data.get(), count, false))
            << "to " << target.name;
    }
}

TEST_P(Conversions, workInPlaceWhereTheElementsAreOfOneSize)
{
    const std::int64_t count = static_cast<std::int64_t>(m_inputs.size());
    for (const DTypeEntry& target : kDTypes) {
        if (dtypeBytes(target.type) != dtypeBytes(m_from)) {
            continue;
        }
        const Array from = arrayOf(m_from, m_inputs);
        Array apart = makeArray(target.type, from.shape);
        arith::convert(m_from, from.data.get(), target.type, apart.data.get(), count);
        arith::convert(m_from, from.data.get(), target.type, from.data.get(), count);
        ASSERT_EQ(codesIn(target.type, from.data.get(), count),
                  codesIn(target.type, apart.data.get(), count))
            << "to " << target.name;
    }
}

INSTANTIATE_TEST_SUITE_P(From, Conversions, testing::ValuesIn(kDTypes),
                         [](const auto& test) { return std::string(test.param.name); });

} // namespace

} // namespace pallascope::dtype_test
