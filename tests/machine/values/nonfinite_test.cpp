// Compares the fast search for NaN and Inf with a search of one element at a time.
#include "core/machine/values/nonfinite.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace pallascope::machine_test {

namespace {

// `count` elements of 1 with `number` at index `at`. If `hidden`, that element alone is undefined.
machine::RuntimeValue valueWith(DType dtype, std::int64_t count, std::int64_t at, double number,
                                bool hidden)
{
    machine::RuntimeValue value = machine::RuntimeValue::arrayOf(dtype, Shape{count});
    machine::fillElements(dtype, value.data.get(), count, 1);
    writeElement(dtype, value.data.get(), at, number);
    if (hidden) {
        SharedBytes mask = machine::Shadow::allDefined().expanded(count);
        mask.get()[at] = std::byte{0};
        value.shadow = machine::Shadow::fromMask(mask, count);
    }
    return value;
}

} // namespace

TEST(NonFinite, isSeenInEveryDTypeAndPlaceUnlessItIsUndefined)
{
    for (const DTypeEntry& entry : kDTypes) {
        for (const std::int64_t count : {1, 7, 4096, 4097, 10'000}) {
            for (const std::int64_t at : {std::int64_t{0}, count / 2, count - 1}) {
                for (const double number : {kNan, kInf, -kInf, 0.0}) {
                    SCOPED_TRACE(std::string(entry.name) + " " + std::to_string(number));
                    const auto value = valueWith(entry.type, count, at, number, false);
                    const double kept = readElement(entry.type, value.data.get(), at);
                    const machine::NonFinite found = nonFiniteIn(value);
                    EXPECT_EQ(found.nan, std::isnan(kept));
                    EXPECT_EQ(found.inf, std::isinf(kept));
                    EXPECT_EQ(countNonFinite(value, true), std::isnan(kept) ? 1 : 0);
                    EXPECT_EQ(countNonFinite(value, false), std::isinf(kept) ? 1 : 0);
                    const auto hidden = valueWith(entry.type, count, at, number, true);
                    EXPECT_FALSE(nonFiniteIn(hidden).any());
                    EXPECT_EQ(countNonFinite(hidden, true) + countNonFinite(hidden, false), 0);
                }
            }
        }
    }
}

TEST(NonFinite, isSeenInScalars)
{
    EXPECT_TRUE(nonFiniteIn(machine::RuntimeValue::scalarOf(DType::F32, kNan)).nan);
    EXPECT_TRUE(nonFiniteIn(machine::RuntimeValue::scalarOf(DType::F32, -kInf)).inf);
    EXPECT_FALSE(nonFiniteIn(machine::RuntimeValue::scalarOf(DType::F32, 1)).any());
    machine::RuntimeValue undefined = machine::RuntimeValue::scalarOf(DType::F32, kNan);
    undefined.shadow = machine::Shadow::noneDefined();
    EXPECT_FALSE(nonFiniteIn(undefined).any());
}

} // namespace pallascope::machine_test
