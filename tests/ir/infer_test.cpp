// The type rule of every operation, and the sentences with which it refuses, tried on operations
// made by hand.
#include "core/ir/infer.h"
#include "tests/ir/kernels.h"

#include <gtest/gtest.h>

namespace pallascope::ir {

namespace {

constexpr DType kF32 = DType::F32, kBf16 = DType::BF16, kInt = DType::Int32, kBool = DType::Bool;

class Infer : public testing::Test
{
protected:
    ValueId value(DType dtype, Shape shape, std::optional<MemorySpace> space = {})
    {
        return ir_test::freshValue(m_program, {dtype, std::move(shape), space});
    }

    // The types of the results, or the error's sentence.
    std::string rule(OpCode code, std::vector<ValueId> operands, Params params = {},
                     std::vector<Region> regions = {})
    {
        const Result<std::vector<Type>> types =
            inferTypes(m_program, {.code = code,
                                   .operands = std::move(operands),
                                   .params = std::move(params),
                                   .regions = std::move(regions)});
        if (!types) {
            EXPECT_EQ(types.error().kind, ErrorKind::User);
            return types.error().message;
        }
        std::string text;
        for (const Type& type : *types) {
            text += (text.empty() ? "" : " ") + toString(type);
        }
        return text;
    }

    Program m_program;
    const ValueId m_a = value(kF32, {8, 128}), m_b = value(kF32, {8, 128});
    const ValueId m_half = value(kBf16, {8, 128}), m_ints = value(kInt, {8, 128});
    const ValueId m_mask = value(kBool, {8, 128}), m_row = value(kF32, {128});
    const ValueId m_scalar = value(kInt, {}), m_number = value(kF32, {});
};

} // namespace

TEST_F(Infer, elementwiseKeepsTheTypeAndComparisonsYieldBool)
{
    EXPECT_EQ(rule(OpCode::Add, {m_a, m_b}), "f32[8,128]");
    EXPECT_EQ(rule(OpCode::Exp, {m_half}), "bf16[8,128]");
    EXPECT_EQ(rule(OpCode::Clamp, {m_a, m_b, m_a}), "f32[8,128]");
    EXPECT_EQ(rule(OpCode::Lt, {m_ints, m_ints}), "bool[8,128]");
    EXPECT_EQ(rule(OpCode::IsFinite, {m_a}), "bool[8,128]");
    EXPECT_EQ(rule(OpCode::SelectN, {m_mask, m_half, m_half}), "bf16[8,128]");
    EXPECT_EQ(rule(OpCode::ConvertElementType, {m_a}, DTypeParams{kBf16}), "bf16[8,128]");
    EXPECT_EQ(rule(OpCode::Neg, {m_scalar}), "i32[]");
}

TEST_F(Infer, elementwiseRefusesMixedTypesBothNamed)
{
    EXPECT_EQ(rule(OpCode::Add, {m_a, m_half}),
              "add takes operands of one type, not f32[8,128] and bf16[8,128].");
    EXPECT_EQ(rule(OpCode::Mul, {m_a, m_row}),
              "mul takes operands of one type, not f32[8,128] and f32[128].");
    EXPECT_EQ(rule(OpCode::Clamp, {m_a, m_b, m_row}),
              "clamp takes bounds of its value's type, or scalars: not f32[128] for f32[8,128].");
    EXPECT_EQ(rule(OpCode::SelectN, {m_a, m_a, m_a}),
              "select_n takes a bool mask of shape [8,128], not f32[8,128].");
    EXPECT_EQ(rule(OpCode::SelectN, {m_mask, m_row, m_row}),
              "select_n takes a bool mask of shape [128], not bool[8,128].");
}

TEST_F(Infer, aRefIsNotAValue)
{
    const ValueId ref = value(kF32, {8, 128}, MemorySpace::Vmem);
    const std::string notARef = ", not Ref<vmem>{f32[8,128]}.";
    EXPECT_TRUE(rule(OpCode::Neg, {ref}).ends_with(notARef));
    EXPECT_TRUE(rule(OpCode::ReduceSum, {ref}, AxesParams{{0}}).ends_with(notARef));
    EXPECT_EQ(rule(OpCode::Get, {m_a}, IndexerParams{}), "get takes a ref, not f32[8,128].");
}

TEST_F(Infer, everyOperationHasItsElementTypes)
{
    EXPECT_EQ(rule(OpCode::Exp, {m_ints}), "exp takes floating-point values, not i32[8,128].");
    EXPECT_EQ(rule(OpCode::Floor, {m_ints}), "floor takes floating-point values, not i32[8,128].");
    EXPECT_EQ(rule(OpCode::IsFinite, {m_mask}),
              "is_finite takes floating-point values, not bool[8,128].");
    EXPECT_EQ(rule(OpCode::And, {m_a, m_a}), "and takes integers or bools, not f32[8,128].");
    EXPECT_EQ(rule(OpCode::Not, {m_half}), "not takes integers or bools, not bf16[8,128].");
    EXPECT_EQ(rule(OpCode::ReduceOr, {m_a}, AxesParams{{0}}),
              "reduce_or takes bools or integers, not f32[8,128].");
    EXPECT_EQ(rule(OpCode::Add, {m_mask, m_mask}), "add takes numbers, not bool[8,128].");
    EXPECT_EQ(rule(OpCode::ReduceSum, {m_mask}, AxesParams{{0}}),
              "reduce_sum takes numbers, not bool[8,128].");
    EXPECT_EQ(rule(OpCode::Max, {m_mask, m_mask}), "bool[8,128]");
    EXPECT_EQ(rule(OpCode::Xor, {m_mask, m_mask}), "bool[8,128]");
}

TEST_F(Infer, theNumberOfOperandsIsChecked)
{
    EXPECT_EQ(rule(OpCode::Add, {m_a}), "add takes 2 operands, not 1.");
    EXPECT_EQ(rule(OpCode::Neg, {m_a, m_b}), "neg takes 1 operand, not 2.");
    EXPECT_EQ(rule(OpCode::Iota, {m_a}, IotaParams{kInt, {8}, 0}), "iota takes 0 operands, not 1.");
    EXPECT_EQ(rule(OpCode::Swap, {m_a}, IndexerParams{}), "swap takes 2 or more operands, not 1.");
}

TEST_F(Infer, parametersOfAnotherOperationAreRefusedNotRead)
{
    for (const OpCode code : {OpCode::ConvertElementType, OpCode::ReduceMax, OpCode::BroadcastInDim,
                              OpCode::Reshape, OpCode::Squeeze, OpCode::Transpose}) {
        EXPECT_EQ(rule(code, {m_a}),
                  std::string(opName(code)) + " has the parameters of another operation.");
    }
    EXPECT_EQ(rule(OpCode::Iota, {}), "iota has the parameters of another operation.");
    EXPECT_EQ(rule(OpCode::DotGeneral, {m_a, m_b}, AxesParams{}),
              "dot_general has the parameters of another operation.");
    EXPECT_EQ(rule(OpCode::Get, {value(kF32, {4}, MemorySpace::Vmem)}),
              "get has the parameters of another operation.");
}

TEST_F(Infer, reductionsDropTheirAxes)
{
    const ValueId cube = value(kF32, {2, 3, 4});
    EXPECT_EQ(rule(OpCode::ReduceSum, {cube}, AxesParams{{1}}), "f32[2,4]");
    EXPECT_EQ(rule(OpCode::ReduceMax, {cube}, AxesParams{{0, 2}}), "f32[3]");
    EXPECT_EQ(rule(OpCode::ReduceMin, {cube}, AxesParams{{0, 1, 2}}), "f32[]");
    EXPECT_EQ(rule(OpCode::ReduceSum, {cube}, AxesParams{}), "f32[2,3,4]");
    EXPECT_EQ(rule(OpCode::ReduceSum, {cube}, AxesParams{{3}}),
              "reduce_sum names axis 3 of f32[2,3,4], which has rank 3.");
    EXPECT_EQ(rule(OpCode::ReduceSum, {cube}, AxesParams{{-1}}),
              "reduce_sum names axis -1 of f32[2,3,4], which has rank 3.");
    EXPECT_EQ(rule(OpCode::Squeeze, {value(kInt, {1, 5, 1})}, AxesParams{{0, 2}}), "i32[5]");
    EXPECT_EQ(rule(OpCode::Squeeze, {cube}, AxesParams{{1}}),
              "squeeze drops axis 1 of f32[2,3,4], which is not 1.");
}

TEST_F(Infer, layoutOperationsCheckTheirAxes)
{
    EXPECT_EQ(rule(OpCode::BroadcastInDim, {m_row}, BroadcastParams{{8, 128}, {1}}), "f32[8,128]");
    EXPECT_EQ(rule(OpCode::BroadcastInDim, {m_number}, BroadcastParams{{2}, {}}), "f32[2]");
    EXPECT_EQ(rule(OpCode::BroadcastInDim, {m_row}, BroadcastParams{{8, 128}, {0}}),
              "broadcast_in_dim cannot place axis 0 of f32[128] in [8,128].");
    EXPECT_EQ(rule(OpCode::BroadcastInDim, {m_row}, BroadcastParams{{8, 128}, {}}),
              "broadcast_in_dim maps 0 axes of f32[128].");
    EXPECT_EQ(rule(OpCode::BroadcastInDim, {value(kF32, {4, 4})}, BroadcastParams{{4, 4}, {1, 0}}),
              "broadcast_in_dim cannot place axis 1 of f32[4,4] in [4,4].");
    EXPECT_EQ(rule(OpCode::Reshape, {m_a}, ShapeParams{{1024}}), "f32[1024]");
    EXPECT_EQ(rule(OpCode::Reshape, {m_a}, ShapeParams{{1000}}),
              "reshape cannot make [1000] of f32[8,128]: the numbers of elements differ.");
    EXPECT_EQ(rule(OpCode::Transpose, {m_a}, PermutationParams{{1, 0}}), "f32[128,8]");
    for (const std::vector<std::int32_t>& wrong :
         std::vector<std::vector<std::int32_t>>{{}, {0}, {0, 0}, {1, 2}, {-1, 0}, {0, 1, 2}}) {
        EXPECT_EQ(rule(OpCode::Transpose, {m_a}, PermutationParams{wrong}),
                  "transpose takes a permutation of the axes of f32[8,128].");
    }
    EXPECT_EQ(rule(OpCode::Iota, {}, IotaParams{kInt, {8, 128}, 1}), "i32[8,128]");
    EXPECT_EQ(rule(OpCode::Iota, {}, IotaParams{kInt, {8, 128}, 2}),
              "iota counts along axis 2 of [8,128].");
}

TEST_F(Infer, dotIsBatchThenLeftThenRightAxes)
{
    const ValueId x = value(kBf16, {2, 3, 4}), y = value(kBf16, {2, 4, 5});
    EXPECT_EQ(rule(OpCode::DotGeneral, {x, y}, DotParams{{2}, {1}, {0}, {0}, kF32}), "f32[2,3,5]");
    EXPECT_EQ(rule(OpCode::DotGeneral, {x, y}, DotParams{{2}, {1}, {}, {}, kBf16}),
              "bf16[2,3,2,5]");
    EXPECT_EQ(rule(OpCode::DotGeneral, {x, y}, DotParams{{1}, {1}, {}, {}, kF32}),
              "dot_general cannot contract bf16[2,3,4] with bf16[2,4,5]: the axes differ in size.");
    EXPECT_EQ(rule(OpCode::DotGeneral, {x, y}, DotParams{{3}, {1}, {}, {}, kF32}),
              "dot_general cannot contract bf16[2,3,4] with bf16[2,4,5]: the axes differ in size.");
    EXPECT_EQ(rule(OpCode::DotGeneral, {m_mask, m_mask}, DotParams{{1}, {1}, {}, {}, kF32}),
              "dot_general does not take bool operands (bool[8,128] and bool[8,128]).");
}

TEST_F(Infer, loadsAndStoresStayInsideTheirRef)
{
    const ValueId ref = value(kF32, {8, 128}, MemorySpace::Vmem);
    const IndexerParams row{{{false, 3, -1, 1, 1}, {true, 0, -1, 128, 1}}};
    const IndexerParams everyOther{{{true, 1, -1, 4, 2}, {true, 64, -1, 64, 1}}};
    EXPECT_EQ(rule(OpCode::Get, {ref}, row), "f32[128]");
    EXPECT_EQ(rule(OpCode::Get, {ref}, everyOther), "f32[4,64]");
    EXPECT_EQ(rule(OpCode::Swap, {ref, m_row}, row), "f32[128]");
    EXPECT_EQ(rule(OpCode::Swap, {ref, m_a}, row),
              "swap stores f32[8,128] where the ref holds f32[128].");
    EXPECT_EQ(rule(OpCode::Get, {ref}, IndexerParams{{{true, 0, -1, 8, 1}}}),
              "get indexes Ref<vmem>{f32[8,128]} with 1 indices.");
    EXPECT_EQ(rule(OpCode::Get, {ref}, IndexerParams{{{true, 2, -1, 4, 2}, {true, 0, -1, 128, 1}}}),
              "get reaches outside Ref<vmem>{f32[8,128]}: axis 0 from 2 to 8 of 8.");
    EXPECT_EQ(
        rule(OpCode::Get, {ref}, IndexerParams{{{false, -1, -1, 1, 1}, {true, 0, -1, 128, 1}}}),
        "get reaches outside Ref<vmem>{f32[8,128]}: axis 0 from -1 to -1 of 8.");
    const ValueId hbm = value(kF32, {8, 128}, MemorySpace::Hbm),
                  shared = value(kF32, {8, 128}, MemorySpace::Spmem);
    // Allowed in a fusion; the verifier checks where it is.
    EXPECT_EQ(rule(OpCode::Get, {hbm}, row), "f32[128]");
    EXPECT_EQ(rule(OpCode::Get, {shared}, row),
              "get reaches Ref<spmem>{f32[8,128]}: loads and stores work on refs to vmem, "
              "tilespmem, smem and tmem, other memory only through copies.");
}

TEST_F(Infer, dynamicIndicesAreInt32Scalars)
{
    const ValueId ref = value(kF32, {8}, MemorySpace::Vmem);
    const IndexerParams dynamic{{{true, 0, 1, 4, 1}}};
    EXPECT_EQ(rule(OpCode::Get, {ref, m_scalar}, dynamic), "f32[4]");
    EXPECT_EQ(rule(OpCode::Get, {ref, m_number}, dynamic),
              "get indexes Ref<vmem>{f32[8]} with f32[]; expected an int32 scalar.");
    EXPECT_EQ(rule(OpCode::Get, {ref}, dynamic), "get indexes Ref<vmem>{f32[8]} with an operand "
                                                 "that it lacks; expected an int32 scalar.");
    // An access that is never reached may be out of bounds.
    EXPECT_EQ(rule(OpCode::Get, {ref, m_scalar}, IndexerParams{{{true, 0, 1, 9, 1}}}), "f32[9]");
    EXPECT_EQ(rule(OpCode::Get, {ref}, IndexerParams{{{true, 0, -1, 9, 1}}}),
              "get reaches outside Ref<vmem>{f32[8]}: axis 0 from 0 to 8 of 8.");
}

TEST_F(Infer, controlReturnsWhatItsRegionsReturn)
{
    const Region two{.results = {m_a, m_scalar}};
    EXPECT_EQ(rule(OpCode::Cond, {value(kBool, {})}, {}, {two, two}), "f32[8,128] i32[]");
    EXPECT_EQ(rule(OpCode::Scan, {m_a, m_scalar}, ScanParams{3}, {two}), "f32[8,128] i32[]");
    EXPECT_EQ(rule(OpCode::While, {m_a, m_scalar}, {}, {Region{}, two}), "f32[8,128] i32[]");
    EXPECT_EQ(rule(OpCode::Cond, {m_number}, {}, {two, two}),
              "cond takes a scalar bool or int32 index, not f32[].");
    EXPECT_EQ(rule(OpCode::Cond, {m_mask}, {}, {two, two}),
              "cond takes a scalar bool or int32 index, not bool[8,128].");
}

} // namespace pallascope::ir
