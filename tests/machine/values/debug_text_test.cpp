// Compares the lines of debug_print with lines written by hand.
#include "core/machine/values/debug_text.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {
namespace {

using machine::debugText;
using machine::RuntimeValue;

RuntimeValue countingValue(DType dtype, const Shape& shape)
{
    RuntimeValue value = RuntimeValue::arrayOf(dtype, shape);
    for (std::int64_t i = 0; i < value.elements(); ++i) {
        writeElement(dtype, value.data.get(), i, static_cast<double>(i));
    }
    return value;
}

std::string text(const std::string& format, const std::vector<RuntimeValue>& values)
{
    std::vector<const RuntimeValue*> pointers;
    for (const RuntimeValue& value : values) {
        pointers.push_back(&value);
    }
    return debugText(format, pointers);
}

TEST(DebugText, valuesTakeThePlacesOfTheFormat)
{
    const RuntimeValue half = RuntimeValue::scalarOf(DType::F32, 0.5),
                       yes = RuntimeValue::scalarOf(DType::Bool, 1);
    EXPECT_EQ(text("a {} b {x:.3}.", {half, yes}), "a 0.5 b True.");
    EXPECT_EQ(text("{{}} {}", {half}), "{} 0.5");
    EXPECT_EQ(text("more {", {half}), "more 0.5");
    EXPECT_EQ(text("left {} {}", {half}), "left 0.5 {}");
    EXPECT_EQ(text("", {half, yes}), "0.5 True");
}

TEST(DebugText, arraysAreListsAndLongAxesAreCut)
{
    EXPECT_EQ(text("", {countingValue(DType::Int32, {2, 3})}), "[[0 1 2] [3 4 5]]");
    EXPECT_EQ(text("", {countingValue(DType::Int32, {6})}), "[0 1 2 3 4 5]");
    EXPECT_EQ(text("", {countingValue(DType::UInt8, {7})}), "[0 1 2 ... 4 5 6]");
}

TEST(DebugText, whatIsUndefinedIsNoNumber)
{
    RuntimeValue value = countingValue(DType::F32, {2});
    SharedBytes mask = allocateBytes(2);
    mask[0] = std::byte{1};
    mask[1] = std::byte{0};
    value.shadow = machine::Shadow::fromMask(mask, 2);
    RuntimeValue scalar = RuntimeValue::scalarOf(DType::F32, 1);
    scalar.shadow = machine::Shadow::noneDefined();
    EXPECT_EQ(text("{} {}", {value, scalar}), "[0 ?] ?");
}

} // namespace
} // namespace pallascope::machine_test
