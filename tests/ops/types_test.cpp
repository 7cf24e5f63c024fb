// What operations refuse; the sentence must name it.
#include "core/ir/infer.h"
#include "core/kernel_file/params.h"
#include "tests/ops/cases.h"

#include <gtest/gtest.h>

namespace pallascope::ops_test {
namespace {

using ir::OpCode;
using ir::Type;

struct Refused
{
    OpCode code;
    std::vector<Type> operands;
    ir::Params params;
    std::string sentence; // a part of it
};

Type f32(std::initializer_list<Extent> shape)
{
    return {DType::F32, Shape(shape), {}};
}

Type i32(std::initializer_list<Extent> shape)
{
    return {DType::Int32, Shape(shape), {}};
}

Type boolean(std::initializer_list<Extent> shape)
{
    return {DType::Bool, Shape(shape), {}};
}

Result<std::vector<Type>> typesOf(OpCode code, const std::vector<Type>& operands,
                                  const ir::Params& params)
{
    ir::Program program;
    ir::Operation operation{.code = code, .params = params};
    for (const Type& type : operands) {
        operation.operands.push_back({static_cast<std::int32_t>(program.values.size())});
        program.values.push_back({type, {}, {}});
    }
    return ir::inferTypes(program, operation);
}

std::vector<Refused> refused()
{
    const Type x = f32({4, 6});
    const Type ref{DType::F32, Shape{4, 6}, ir::MemorySpace::Vmem};
    constexpr Extent kHuge = Extent{1} << 40;
    return {
        {OpCode::Add, {x, f32({6, 4})}, {}, "one type, not f32[4,6] and f32[6,4]"},
        {OpCode::Add, {x}, {}, "takes 2 operands, not 1"},
        {OpCode::Add, {boolean({4}), boolean({4})}, {}, "takes numbers, not bool[4]"},
        {OpCode::Exp, {i32({4})}, {}, "takes floating-point values, not i32[4]"},
        {OpCode::Clz, {x}, {}, "takes integers, not f32[4,6]"},
        {OpCode::And, {x, x}, {}, "integers or bools"},
        {OpCode::Neg, {ref}, {}, "takes values, not Ref<vmem>{f32[4,6]}"},
        {OpCode::Round, {x}, {}, "the parameters of another operation"},
        {OpCode::Pow, {x, boolean({4, 6})}, {}, "exponents"},
        {OpCode::SelectN, {f32({4, 6}), x, x}, {}, "takes a bool mask of shape [4,6]"},
        {OpCode::SelectN, {boolean({4}), x, x}, {}, "takes a bool mask of shape [4,6]"},
        {OpCode::SelectN, {boolean({4, 6}), x, f32({6, 4})}, {}, "one type"},
        {OpCode::Clamp, {f32({4}), x, x}, {}, "bounds of its value's type"},
        {OpCode::MultipleOf, {i32({})}, ir::MultipleOfParams{0}, "promises a multiple of 0"},
        {OpCode::BitcastConvertType, {x}, ir::DTypeParams{DType::BF16}, "keeps the width"},
        {OpCode::BitcastConvertType, {boolean({4})}, ir::DTypeParams{DType::Int8}, "bools"},
        {OpCode::Bitcast, {f32({4})}, ir::DTypeParams{DType::BF16}, "two axes or more"},
        {OpCode::Bitcast,
         {{DType::BF16, Shape{3, 8}, {}}},
         ir::DTypeParams{DType::F32},
         "whole rows"},
        {OpCode::StochasticRound, {x, x}, ir::DTypeParams{DType::BF16}, "uint32, not f32[4,6]"},
        {OpCode::StochasticRound,
         {x, {DType::UInt32, Shape{4, 6}, {}}},
         ir::DTypeParams{DType::F16},
         "not f32[4,6] to f16"},
        {OpCode::PackElementwise, {x}, ir::DTypeParams{DType::BF16}, "not 1 f32[4,6] as bf16"},
        {OpCode::UnpackElementwise,
         {i32({4})},
         ir::UnpackParams{2, DType::BF16, DType::F32},
         "bf16 number 2"},
        {OpCode::Threefry2x32, {x, x, x, x}, {}, "takes bits as uint32"},
        {OpCode::PrngRandomBits,
         {x, x, x},
         ir::ShapeParams{Shape{4}},
         "a key of two words and how many bits were drawn"},
        {OpCode::ReduceSum, {boolean({4})}, ir::AxesParams{{0}}, "takes numbers, not bool[4]"},
        {OpCode::ReduceAnd, {x}, ir::AxesParams{{0}}, "bools or integers"},
        {OpCode::ReduceSum, {x}, ir::AxesParams{{2}}, "names axis 2 of f32[4,6], which has rank 2"},
        {OpCode::Argmax, {x}, ir::ArgParams{-1}, "names axis -1"},
        {OpCode::Argmax, {f32({4, 0})}, ir::ArgParams{1}, "one element or more"},
        {OpCode::Argmin, {x}, ir::ArgParams{1, DType::F32}, "integer index"},
        {OpCode::BroadcastInDim, {x}, ir::BroadcastParams{Shape{6, 4}, {1, 0}}, "cannot place"},
        {OpCode::BroadcastInDim, {x}, ir::BroadcastParams{Shape{4, 6}, {0}}, "maps 1 axes"},
        {OpCode::Reshape, {x}, ir::ShapeParams{Shape{5, 5}}, "numbers of elements differ"},
        {OpCode::Reshape, {x}, ir::ShapeParams{Shape{kHuge, kHuge}}, "elements"},
        {OpCode::Squeeze, {x}, ir::AxesParams{{0}}, "which is not 1"},
        {OpCode::Transpose, {x}, ir::PermutationParams{{0, 0}}, "permutation"},
        {OpCode::Concatenate, {x, f32({4, 7})}, ir::AxisParams{0}, "cannot join f32[4,7]"},
        {OpCode::Concatenate, {x, x}, ir::AxisParams{2}, "names axis 2"},
        {OpCode::Concatenate, std::vector<Type>(65, x), ir::AxisParams{0}, "at most 64"},
        {OpCode::Stack, {x, f32({4})}, ir::AxisParams{0}, "one type"},
        {OpCode::Unstack, {f32({65, 2})}, ir::AxisParams{0}, "makes 65 values"},
        {OpCode::Split, {x}, ir::SplitParams{{2, 3}, 1}, "parts of 2, 3"},
        {OpCode::Split, {x}, ir::SplitParams{{7, -1}, 1}, "together they must be the axis"},
        {OpCode::Slice, {x}, ir::SliceParams{{0, 0}, {4, 7}, {}}, "takes 0:7:1 of axis 1"},
        {OpCode::Slice, {x}, ir::SliceParams{{0}, {4}, {}}, "one entry per axis"},
        {OpCode::Slice, {x}, ir::SliceParams{{0, 0}, {4, 6}, {1, 0}}, "takes 0:6:0"},
        {OpCode::Pad, {x, f32({})}, ir::PadParams{{0, 0}, {-5, 0}, {0, 0}}, "pads axis 0"},
        {OpCode::Pad,
         {x, i32({})},
         ir::PadParams{{0, 0}, {0, 0}, {0, 0}},
         "fills f32[4,6] with i32[]"},
        {OpCode::Pad, {x, f32({})}, ir::PadParams{{kHuge, kHuge}, {0, 0}, {0, 0}}, "elements"},
        {OpCode::Tile, {x}, ir::TileParams{{-1, 1}}, "-1 times"},
        {OpCode::Tile, {x}, ir::TileParams{{kHuge << 22, 1}}, "times"},
        {OpCode::Roll, {x, f32({})}, ir::RollParams{0}, "scalar integer, not f32[]"},
        {OpCode::Roll, {x, i32({})}, ir::RollParams{1, 1, 1}, "stride of 1 along axis 1"},
        {OpCode::Gather, {x, i32({4, 6})}, ir::GatherParams{0}, "not i32[4,6]"},
        {OpCode::Gather, {x, i32({4, 7, 1})}, ir::GatherParams{0}, "not i32[4,7,1]"},
        {OpCode::Scatter,
         {x, i32({2, 6, 1}), f32({2, 5})},
         ir::ScatterParams{0},
         "one update of f32[4,6] at each index"},
        {OpCode::Scatter, {x, i32({2, 6}), f32({2, 6})}, ir::ScatterParams{0}, "not i32[2,6]"},
        {OpCode::Scatter,
         {boolean({4, 6}), i32({4, 6, 1}), boolean({4, 6})},
         ir::ScatterParams{1, ir::Combine::Add},
         "numbers, not bool[4,6]"},
        {OpCode::Cumsum, {x}, ir::CumulativeParams{2}, "names axis 2"},
        {OpCode::Cummax, {boolean({2, 2})}, ir::CumulativeParams{}, "numbers, not bool[2,2]"},
        {OpCode::DynamicSlice, {x, i32({}), i32({})}, ir::SizesParams{{5, 6}}, "takes 5 of axis 0"},
        {OpCode::DynamicSlice, {x, i32({})}, ir::SizesParams{{4, 6}}, "one start and one size"},
        {OpCode::DynamicSlice, {x, i32({}), f32({})}, ir::SizesParams{{1, 1}}, "not f32[]"},
        {OpCode::DynamicUpdateSlice, {x, i32({1, 1}), i32({}), i32({})}, {}, "puts i32[1,1] into"},
        {OpCode::DynamicUpdateSlice, {x, f32({4, 7}), i32({}), i32({})}, {}, "takes 7 of axis 1"},
        {OpCode::Rev, {x}, ir::AxesParams{{1, 1}}, "twice"},
        {OpCode::Sort, {x, f32({4, 7})}, ir::SortParams{0, 1}, "of one shape"},
        {OpCode::Sort, {x, x}, ir::SortParams{0, 3}, "by the first 3"},
        {OpCode::DebugCheck, {i32({})}, ir::TextParams{"x"}, "scalar bool, not i32[]"},
        {OpCode::Iota, {}, ir::IotaParams{DType::Int32, Shape{4}, 1}, "axis 1 of [4]"},
        {OpCode::DotGeneral, {x, x}, ir::DotParams{{1}, {0}, {}, {}}, "the axes differ in size"},
        {OpCode::DotGeneral, {x, f32({6, 4})}, ir::DotParams{{1, 1}, {0, 0}, {}, {}}, "twice"},
        {OpCode::DotGeneral,
         {boolean({2, 2}), boolean({2, 2})},
         ir::DotParams{{1}, {0}, {}, {}},
         "bool operands"},
    };
}

TEST(Types, whatDoesNotFitIsRefusedInASentenceThatNamesIt)
{
    for (const Refused& wrong : refused()) {
        const Result<std::vector<Type>> types = typesOf(wrong.code, wrong.operands, wrong.params);
        const std::string name(ir::opName(wrong.code));
        ASSERT_FALSE(types) << name << ", expected: " << wrong.sentence;
        EXPECT_NE(types.error().message.find(wrong.sentence), std::string::npos)
            << types.error().message << "\nexpected: " << wrong.sentence;
        EXPECT_EQ(types.error().message.back(), '.');
    }
}

TEST(Types, kernelFilesKnowTheParametersOfEveryOperation)
{
    for (const Case& one : cases()) {
        EXPECT_EQ(kernel_file::paramsFor(one.code).index(), one.params.index()) << one.name;
    }
}

TEST(Types, whatACaseIsEvaluatedWithIsAskedForByItsRule)
{
    for (const Case& one : cases()) {
        Single test = single(one);
        if (std::holds_alternative<std::monostate>(one.params)) {
            continue;
        }
        test.operation.params = ir::ScanParams{3}; // no operation on values takes these parameters
        const Result<std::vector<Type>> types = ir::inferTypes(test.program, test.operation);
        ASSERT_FALSE(types) << one.name;
        EXPECT_NE(types.error().message.find("the parameters of another operation"),
                  std::string::npos)
            << types.error().message;
    }
}

} // namespace
} // namespace pallascope::ops_test
