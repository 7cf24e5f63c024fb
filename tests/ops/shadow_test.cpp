// Which elements are defined, derived from what operations compute: a defined element may not
// depend on an undefined one. Where elements only move, exactly those that are undefined stay
// undefined.
#include "core/base/element.h"
#include "tests/ops/cases.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

namespace pallascope::ops_test {
namespace {

using machine::RuntimeValue;
using machine::Shadow;

// Longer operands are left out, because the test takes quadratic time.
constexpr std::int64_t kMostElements = 64;

bool onlyMoves(ir::OpCode code)
{
    using enum ir::OpKind;
    const ir::OpKind kind = ir::opEntry(code).kind;
    return (kind == Layout || kind == Rearrange || kind == Crosslane) && code != ir::OpCode::Bitcast
           && code != ir::OpCode::Sort;
}

// The value with element `i` undefined and, if asked for, with its lowest bit flipped.
RuntimeValue spoilt(const Array& array, std::int64_t i, bool flip)
{
    Array changed = arrayOf(valueOf(array));
    if (flip) {
        writeCode(array.dtype, changed.data.get(), i,
                  readCode(array.dtype, changed.data.get(), i) ^ 1U);
    }
    RuntimeValue value = valueOf(changed);
    SharedBytes mask = allocateBytes(array.shape.elements());
    std::memset(mask.get(), 1, static_cast<std::size_t>(array.shape.elements()));
    mask[i] = std::byte{0};
    value.shadow = Shadow::fromMask(mask, array.shape.elements());
    return value;
}

void check(const Case& one, std::size_t operand, std::int64_t element)
{
    std::vector<RuntimeValue> before, after;
    for (std::size_t k = 0; k < one.in.size(); ++k) {
        const bool here = k == operand;
        before.push_back(here ? spoilt(one.in[k], element, false) : valueOf(one.in[k]));
        after.push_back(here ? spoilt(one.in[k], element, true) : valueOf(one.in[k]));
    }
    const std::vector<RuntimeValue> a = run(one, before), b = run(one, after);
    // If the mask is what changed, the chosen elements are those of another case.
    using enum ir::OpCode;
    const bool chooses = (operand > 0 && (one.code == Gather || one.code == DynamicSlice))
                         || one.code == Scatter || one.code == DynamicUpdateSlice;
    for (std::size_t r = 0; r < a.size(); ++r) {
        const Array x = arrayOf(a[r]), y = arrayOf(b[r]);
        const SharedBytes defined = a[r].shadow.expanded(a[r].elements());
        for (std::int64_t i = 0; i < x.shape.elements(); ++i) {
            const bool changed =
                readCode(x.dtype, x.data.get(), i) != readCode(y.dtype, y.data.get(), i);
            const bool isDefined = defined[i] != std::byte{0};
            EXPECT_FALSE(changed && isDefined) << one.name << ": element " << i << " of result "
                                               << r << " is called defined and depends on element "
                                               << element << " of operand " << operand;
            EXPECT_FALSE(onlyMoves(one.code) && !chooses && !changed && !isDefined
                         && one.code != ir::OpCode::Roll)
                << one.name << ": element " << i << " of result " << r
                << " is called undefined and does not depend on element " << element
                << " of operand " << operand;
        }
    }
}

TEST(Shadow, anElementIsUndefinedWhereItDependsOnAnUndefinedOne)
{
    std::map<std::pair<ir::OpCode, DType>, int> seen;
    for (const Case& one : cases()) {
        if (one.in.empty() || ++seen[{one.code, one.in.front().dtype}] > 4) {
            continue;
        }
        for (std::size_t k = 0; k < one.in.size(); ++k) {
            const std::int64_t count = one.in[k].shape.elements();
            for (std::int64_t i = 0; i<count; i += count> kMostElements ? 7 : 1) {
                check(one, k, i);
            }
        }
    }
}

TEST(Shadow, anElementwiseResultIsUndefinedOnlyInItsPlace)
{
    for (const Case& one : cases()) {
        using enum ir::OpKind;
        const ir::OpKind kind = ir::opEntry(one.code).kind;
        const bool elementwise =
            kind == Elementwise || kind == Transcendental || kind == Comparison;
        const bool decidable = one.code == ir::OpCode::And || one.code == ir::OpCode::Or
                               || one.code == ir::OpCode::Mul; // tested in the next test
        if (!elementwise || decidable || one.in.front().shape.elements() < 9) {
            continue;
        }
        std::vector<RuntimeValue> operands;
        for (const Array& array : one.in) {
            operands.push_back(valueOf(array));
        }
        operands.front() = spoilt(one.in.front(), 5, false);
        const RuntimeValue result = run(one, operands).front();
        ASSERT_EQ(result.shadow.kind, Shadow::Kind::Some) << one.name;
        for (std::int64_t i = 0; i < result.elements(); ++i) {
            EXPECT_EQ(result.shadow.bytes()[i], i == 5 ? 0 : 1) << one.name << " " << i;
        }
    }
}

// Tries every value of 4 bits, or of a bool, for the element that is undefined.
TEST(Shadow, whatIsTheSameForEveryValueOfAnUndefinedElementIsDefined)
{
    using enum ir::OpCode;
    for (const DType dtype : {DType::Bool, DType::Int4, DType::UInt4}) {
        const std::int64_t codes = dtype == DType::Bool ? 2 : 16;
        const auto holding = [&](std::int64_t known, std::int64_t other) {
            const RuntimeValue value = RuntimeValue::arrayOf(dtype, Shape{2});
            writeCode(dtype, const_cast<std::byte*>(value.data.get()), 0,
                      static_cast<std::uint32_t>(known));
            writeCode(dtype, const_cast<std::byte*>(value.data.get()), 1,
                      static_cast<std::uint32_t>(other));
            return arrayOf(value);
        };
        for (const auto code : {And, Or, Mul, ReduceAnd, ReduceOr}) {
            const bool reduces = code == ReduceAnd || code == ReduceOr;
            if (dtype == DType::Bool ? code == Mul : reduces) {
                continue; // this operation does not exist
            }
            for (std::int64_t known = 0; known < codes; ++known) {
                // The known element meets the undefined one, in two arrays or within one.
                std::set<std::uint32_t> seen;
                RuntimeValue result;
                for (std::int64_t other = 0; other < codes; ++other) {
                    Case one{.name = "deciding", .code = code};
                    const Array array = holding(known, other), mirror = holding(other, known);
                    std::vector<RuntimeValue> operands{spoilt(array, 1, false)};
                    one.in = {array};
                    if (reduces) {
                        one.params = ir::AxesParams{{0}};
                        one.out = {arrayOf(RuntimeValue::scalarOf(dtype, 0))};
                    } else {
                        operands.push_back(spoilt(mirror, 0, false));
                        one.in.push_back(mirror);
                        one.out = {array};
                    }
                    result = run(one, operands).front();
                    const Array found = arrayOf(result);
                    seen.insert(readCode(dtype, found.data.get(), 0));
                }
                EXPECT_EQ(result.shadow.all(), seen.size() == 1)
                    << ir::opEntry(code).name << " with " << known;
                EXPECT_EQ(result.shadow.none(), seen.size() > 1);
            }
        }
    }
}

TEST(Shadow, whatNothingIsDefinedOfIsUndefined)
{
    for (const Case& one : cases()) {
        std::vector<RuntimeValue> operands;
        bool any = false;
        for (const Array& array : one.in) {
            operands.push_back(valueOf(array));
            operands.back().shadow = Shadow::noneDefined();
            any = any || array.shape.elements() > 0;
        }
        const std::vector<RuntimeValue> results = run(one, operands);
        for (const RuntimeValue& result : results) {
            // A sum of nothing, and a filler from outside, are defined whatever the operand is.
            const bool made = result.elements() == 0 || one.code == ir::OpCode::DotGeneral
                              || ir::opEntry(one.code).kind == ir::OpKind::Reduction;
            EXPECT_TRUE(!any || made || result.shadow.none()) << one.name;
        }
    }
}

} // namespace
} // namespace pallascope::ops_test
