// Operations that move, reduce, multiply or control, on small arrays.
#include "tests/machine/ops/operation_cases.h"
#include "tests/machine/support.h"

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <cmath>

namespace pallascope::machine_test {

namespace {

using ir::OpCode;
using Numbers = std::vector<double>;

constexpr DType kBf16 = DType::BF16, kBool = DType::Bool;

using ValueBody = std::function<pl::Operand(const std::vector<pl::Ref>& refs)>;

// What a body that returns one value stores in the output.
Numbers computed(const std::vector<Array>& inputs, DType dtype, const Shape& shape,
                 const ValueBody& body)
{
    const machine::RunResult run =
        runOneStep({.inputs = inputs, .dtype = dtype, .shape = shape, .grid = {1}},
                   [&](const std::vector<pl::Ref>& refs) { refs.back()[pl::all] = body(refs); });
    EXPECT_EQ(findingsBesidesBirths(run), "");
    return elementsOf(run.outputs[0]);
}

// Here NaN equals NaN, and -0 differs from 0.
void expectSame(const Numbers& got, const Numbers& want)
{
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        const bool bothNan = std::isnan(got[i]) && std::isnan(want[i]);
        EXPECT_TRUE(bothNan || (got[i] == want[i] && std::signbit(got[i]) == std::signbit(want[i])))
            << "element " << i << " is " << got[i] << ", not " << want[i];
    }
}

void selectN()
{
    const Array mask = arrayOf(kBool, {4}, {0, 1, 1, 0});
    for (const DType dtype : {kF32, kBf16, kInt, kBool}) {
        const Array no = arrayOf(dtype, {4}, {0, 0, 1, 1}), yes = arrayOf(dtype, {4}, {1, 1, 0, 0});
        expectSame(computed({mask, no, yes}, dtype, {4},
                            [](const auto& refs) {
                                return pl::select(refs[0][pl::all], refs[2][pl::all],
                                                  refs[1][pl::all]);
                            }),
                   {0, 1, 0, 1});
    }
    // The side that is not selected may have any value.
    expectSame(computed({arrayOf(kBool, {2}, {0, 1}), arrayOf(kF32, {2}, {-0.0, kNan}),
                         arrayOf(kF32, {2}, {kInf, -kInf})},
                        kF32, {2},
                        [](const auto& refs) {
                            return pl::select(refs[0][pl::all], refs[2][pl::all], refs[1][pl::all]);
                        }),
               {-0.0, -kInf});
}

void convert()
{
    const auto converted = [](DType from, DType to, const Numbers& numbers) {
        const Shape shape{static_cast<Extent>(numbers.size())};
        return computed({arrayOf(from, shape, numbers)}, to, shape,
                        [&](const auto& refs) { return pl::convert(refs[0][pl::all], to); });
    };
    // bf16 has 8 significant bits: 257 and 259 lie half way between neighbours, and ties go to
    // even.
    expectSame(converted(kF32, kBf16, {257, 259, 258.5, -257, 1e39, kNan, -0.0, 3.39e38}),
               {256, 260, 258, -256, kInf, kNan, -0.0, 3.38953138925153547590e38});
    expectSame(converted(kBf16, kF32, {1.5, -0.0, kInf, kNan}), {1.5, -0.0, kInf, kNan});
    // f32 has 24 significant bits, which matters for 2^24 + 1 and 2^24 + 3.
    expectSame(converted(kInt, kF32, {16777217, 16777219, kMax, kMin, -5}),
               {16777216, 16777220, 2147483648.0, kMin, -5});
    expectSame(converted(kInt, kBf16, {257, 259, -3}), {256, 260, -3});
    // Rounds towards zero and saturates; NaN becomes 0.
    expectSame(converted(kF32, kInt, {2.9, -2.9, 1e10, -1e10, kInf, -kInf, kNan, -0.5}),
               {2, -2, kMax, kMin, kMax, kMin, 0, 0});
    expectSame(converted(kBf16, kInt, {2.5, -2.5, 3e38}), {2, -2, kMax});
    expectSame(converted(kF32, kBool, {0, -0.0, 0.25, kNan}), {0, 0, 1, 1});
    expectSame(converted(kInt, kBool, {0, -1, kMin}), {0, 1, 1});
    expectSame(converted(kBool, kF32, {0, 1}), {0, 1});
    expectSame(converted(kBool, kInt, {0, 1}), {0, 1});
    expectSame(converted(kF32, kF32, {0.1}), {static_cast<double>(0.1F)});
}

// Reduces [2,3,4] over every set of axes, and compares with one pass over all elements.
void reduction(OpCode code, DType dtype, const Numbers& numbers, double start,
               const std::function<double(double, double)>& join)
{
    const Shape shape{2, 3, 4};
    const Array input = arrayOf(dtype, shape, numbers);
    for (unsigned set = 1; set < 8; ++set) {
        std::vector<std::int32_t> axes;
        std::vector<Extent> kept;
        std::int64_t strides[3] = {}, results = 1;
        for (std::int32_t axis = 2; axis >= 0; --axis) {
            const auto at = static_cast<std::size_t>(axis);
            if ((set >> at & 1U) != 0) {
                axes.insert(axes.begin(), axis);
            } else {
                kept.insert(kept.begin(), shape[at]);
                strides[at] = results;
                results *= shape[at];
            }
        }
        Numbers want(static_cast<std::size_t>(results), start);
        for (std::int64_t i = 0; i < 24; ++i) {
            const std::int64_t to =
                i / 12 * strides[0] + i / 4 % 3 * strides[1] + i % 4 * strides[2];
            double& sum = want[static_cast<std::size_t>(to)];
            sum = join(sum, input.at(i));
        }
        SCOPED_TRACE("axes " + std::to_string(set));
        const Shape out = kept.empty() ? Shape{1} : Shape(kept);
        expectSame(
            computed({input}, dtype, out,
                     [&](const auto& refs) { return pl::reduce(code, refs[0][pl::all], axes); }),
            want);
    }
}

Numbers spread(std::initializer_list<double> cycle)
{
    Numbers numbers;
    while (numbers.size() < 24) {
        numbers.insert(numbers.end(), cycle.begin(), cycle.end());
    }
    numbers.resize(24);
    return numbers;
}

double wrapped(double sum)
{
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(sum)));
}

void reduceSum()
{
    const auto plus = [](double a, double b) { return a + b; };
    reduction(OpCode::ReduceSum, kF32, spread({1, 2.5, -4, 8, 0.5, 3, -1}), 0, plus);
    reduction(OpCode::ReduceSum, kBf16, spread({1, 2, -4, 8, 3, -1, 5}), 0, plus);
    reduction(OpCode::ReduceSum, kF32, spread({1, kInf, 2, 3, 4, 5, 6, 7, -kInf, 9, kNan}), 0,
              plus);
    reduction(OpCode::ReduceSum, kInt, spread({kMax, 1, -7, kMin, 5, kMax, 3}), 0,
              [](double a, double b) { return wrapped(a + b); });
    // bf16 is summed in f32. A sum in bf16 would stop at 256.
    expectSame(computed({arrayOf(kBf16, {300}, Numbers(300, 1))}, kBf16, {1},
                        [](const auto& refs) {
                            return pl::reduce(OpCode::ReduceSum, refs[0][pl::all], {0});
                        }),
               {300});
}

void reduceMax()
{
    const auto join = [](double a, double b) {
        return std::isnan(a) || std::isnan(b) ? kNan : std::fmax(a, b);
    };
    for (const DType dtype : {kF32, kBf16}) {
        reduction(OpCode::ReduceMax, dtype, spread({1, -2, kInf, -kInf, 8, -3, 0.5}), -kInf, join);
        reduction(OpCode::ReduceMax, dtype, spread({-kInf, -5, -6, -7, kNan, -8, -9}), -kInf, join);
    }
    reduction(OpCode::ReduceMax, kInt, spread({kMin, -3, -9, kMax, 2}), kMin, join);
    reduction(OpCode::ReduceMax, kBool, spread({0, 0, 0, 0, 1, 0, 0}), 0, join);
}

void reduceMin()
{
    const auto join = [](double a, double b) {
        return std::isnan(a) || std::isnan(b) ? kNan : std::fmin(a, b);
    };
    for (const DType dtype : {kF32, kBf16}) {
        reduction(OpCode::ReduceMin, dtype, spread({1, -2, kInf, -kInf, 8, -3, 0.5}), kInf, join);
        reduction(OpCode::ReduceMin, dtype, spread({kInf, 5, 6, 7, kNan, 8, 9}), kInf, join);
    }
    reduction(OpCode::ReduceMin, kInt, spread({kMax, 3, 9, kMin, 2}), kMax, join);
    reduction(OpCode::ReduceMin, kBool, spread({1, 1, 1, 1, 0, 1, 1}), 1, join);
}

void reduceAnd()
{
    const auto join = [](double a, double b) {
        return static_cast<double>(static_cast<std::int64_t>(a) & static_cast<std::int64_t>(b));
    };
    reduction(OpCode::ReduceAnd, kBool, spread({1, 1, 1, 0, 1}), 1, join);
    reduction(OpCode::ReduceAnd, kInt, spread({7, -1, 14, 1023, kMin, kMax}), -1, join);
}

void reduceOr()
{
    const auto join = [](double a, double b) {
        return static_cast<double>(static_cast<std::int64_t>(a) | static_cast<std::int64_t>(b));
    };
    reduction(OpCode::ReduceOr, kBool, spread({0, 0, 0, 1, 0}), 0, join);
    reduction(OpCode::ReduceOr, kInt, spread({1, 2, 64, 0, kMin, 4096}), 0, join);
}

void broadcast()
{
    const auto to = [](const Array& input, const Shape& shape,
                       std::vector<std::int32_t> dimensions) {
        return computed({input}, input.dtype, shape, [&](const auto& refs) {
            return pl::broadcastTo(refs[0][pl::all].load(), shape, dimensions);
        });
    };
    for (const DType dtype : {kF32, kBf16, kInt}) {
        expectSame(to(counting(dtype, {3}), {2, 3}, {1}), {0, 1, 2, 0, 1, 2});
        expectSame(to(counting(dtype, {2}), {2, 3}, {0}), {0, 0, 0, 1, 1, 1});
        expectSame(to(counting(dtype, {2, 1}), {2, 3}, {0, 1}), {0, 0, 0, 1, 1, 1});
        expectSame(to(counting(dtype, {2, 2}), {2, 3, 2}, {0, 2}),
                   {0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3});
    }
    expectSame(computed({}, kBool, {3}, [](const auto&) { return pl::full({3}, 1, kBool); }),
               {1, 1, 1});
    expectSame(computed({}, kF32, {2}, [](const auto&) { return pl::full({2}, -0.0, kF32); }),
               {-0.0, -0.0});
}

void reshape()
{
    const Array input = counting(kBf16, {4, 6});
    expectSame(computed({input}, kBf16, {2, 3, 4},
                        [](const auto& refs) {
                            return pl::reshape(refs[0][pl::all], {2, 3, 4});
                        }),
               elementsOf(input));
    // A single element becomes a scalar and then an array again.
    expectSame(computed({arrayOf(kF32, {1, 1}, {5})}, kF32, {1},
                        [](const auto& refs) {
                            return pl::reshape(pl::reshape(refs[0][pl::all], {}) + 1.0, {1});
                        }),
               {6});
}

void squeeze()
{
    const Array input = counting(kInt, {1, 3, 1, 2});
    expectSame(computed({input}, kInt, {3, 2},
                        [](const auto& refs) {
                            return pl::apply(OpCode::Squeeze, {refs[0][pl::all]},
                                             ir::AxesParams{{0, 2}}, pl::Here::current());
                        }),
               elementsOf(input));
}

void transpose()
{
    const Shape shape{2, 3, 4};
    for (const DType dtype : {kF32, kBf16, kInt}) {
        const Array input = counting(dtype, shape);
        std::vector<std::int32_t> order = {0, 1, 2};
        do {
            const auto axis = [&](std::size_t i) { return static_cast<std::size_t>(order[i]); };
            const Shape out{shape[axis(0)], shape[axis(1)], shape[axis(2)]};
            Numbers want(24);
            for (std::int64_t i = 0; i < 24; ++i) {
                const std::int64_t index[3] = {i / 12, i / 4 % 3, i % 4};
                const std::int64_t at =
                    (index[axis(0)] * out[1] + index[axis(1)]) * out[2] + index[axis(2)];
                want[static_cast<std::size_t>(at)] = static_cast<double>(i);
            }
            expectSame(
                computed({input}, dtype, out,
                         [&](const auto& refs) { return pl::transpose(refs[0][pl::all], order); }),
                want);
        } while (std::next_permutation(order.begin(), order.end()));
    }
}

void iota()
{
    for (const DType dtype : {kF32, kBf16, kInt}) {
        expectSame(computed({}, dtype, {2, 3},
                            [&](const auto&) {
                                return pl::iota(dtype, {2, 3}, 0);
                            }),
                   {0, 0, 0, 1, 1, 1});
        expectSame(computed({}, dtype, {2, 3},
                            [&](const auto&) {
                                return pl::iota(dtype, {2, 3}, 1);
                            }),
                   {0, 1, 2, 0, 1, 2});
    }
}

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix matrixOf(const Array& array, Extent rows, Extent columns, Extent offset = 0)
{
    Matrix matrix(rows, columns);
    for (Extent i = 0; i < rows * columns; ++i) {
        matrix.data()[i] = array.at(offset + i);
    }
    return matrix;
}

void dotGeneral()
{
    // The elements are whole numbers up to 8, so sums are exact in f32 in any order.
    for (const DType dtype : {kF32, kBf16}) {
        Array x = counting(dtype, {5, 7}), y = counting(dtype, {7, 3});
        for (Array* array : {&x, &y}) {
            Numbers numbers = elementsOf(*array);
            for (double& number : numbers) {
                number = std::fmod(number * 5, 17) - 8;
            }
            *array = arrayOf(dtype, array->shape, numbers);
        }
        const auto product = [](const Array& a, const Array& b, const Shape& shape,
                                const ir::DotParams& dimensions) {
            return computed({a, b}, dimensions.dtype, shape, [&](const auto& refs) {
                return pl::dotGeneral(refs[0][pl::all], refs[1][pl::all], dimensions);
            });
        };
        const auto numbers = [](const Matrix& matrix) {
            return Numbers(matrix.data(), matrix.data() + matrix.size());
        };
        const Matrix a = matrixOf(x, 5, 7), b = matrixOf(y, 7, 3);
        expectSame(product(x, y, {5, 3}, {{1}, {0}, {}, {}, kF32}), numbers(a * b));
        const Matrix flipped = (a * b).transpose(); // y's free axis first
        expectSame(product(y, x, {3, 5}, {{0}, {1}, {}, {}, kF32}), numbers(flipped));
        const Array batches = counting(dtype, {2, 3, 4}), others = counting(dtype, {2, 5, 4});
        Numbers want;
        for (const Extent batch : {0, 1}) {
            const Matrix part = matrixOf(batches, 3, 4, batch * 12)
                                * matrixOf(others, 5, 4, batch * 20).transpose();
            want.insert(want.end(), part.data(), part.data() + part.size());
        }
        expectSame(product(batches, others, {2, 3, 5}, {{2}, {2}, {0}, {0}, kF32}), want);
    }
    // There is one rounding to bf16 at the end: 256 + 1 + 1 is 258, not 256.
    expectSame(computed({arrayOf(kBf16, {1, 3}, {256, 1, 1}), arrayOf(kBf16, {3, 1}, {1, 1, 1})},
                        kBf16, {1, 1},
                        [](const auto& refs) {
                            return pl::dot(refs[0][pl::all], refs[1][pl::all], kBf16);
                        }),
               {258});
    expectSame(computed({arrayOf(kF32, {2, 2}, {0, 1, kInf, 1}), arrayOf(kF32, {2, 1}, {kInf, 2})},
                        kF32, {2, 1},
                        [](const auto& refs) {
                            return pl::dot(refs[0][pl::all], refs[1][pl::all], kF32);
                        }),
               {kNan, kInf}); // 0 * inf + 2, inf * inf + 2
}

// Every step of a grid of 2 x 3 writes the `number` that it computes to its own place.
Numbers overGrid(const std::function<pl::Value()>& number)
{
    const machine::RunResult run =
        runOneStep({.inputs = {}, .dtype = kInt, .shape = {2, 3}, .grid = {2, 3}},
                   [&](const std::vector<pl::Ref>& refs) {
                       refs.back()[{pl::programId(0), pl::programId(1)}] = number();
                   });
    return elementsOf(run.outputs[0]);
}

void debugPrint()
{
    // A print changes neither results nor times.
    const OneStep step{.inputs = {arrayOf(DType::F32, {2}, {1, 2})}, .shape = {2}};
    const auto body = [](bool prints) {
        return [prints](const std::vector<pl::Ref>& refs) {
            const pl::Value x = refs[0][pl::all].load();
            if (prints) {
                pl::debugPrint("x = {}", {x});
            }
            refs[1][pl::all] = x + x;
        };
    };
    std::vector<std::string> lines;
    const ir::Program program = oneStepProgram(step, body(true));
    const Result<machine::RunResult> printed =
        machine::run(program, step.inputs, v5e(),
                     {.print = [&](const std::string& line) { lines.push_back(line); }});
    ASSERT_TRUE(printed) << printed.error().message;
    EXPECT_EQ(lines, std::vector<std::string>{"x = [1 2]"});
    const auto quiet = runOneStep(step, body(false)), loud = runOneStep(step, body(true));
    EXPECT_EQ(elementsOf(loud.outputs[0]), (std::vector<double>{2, 4}));
    EXPECT_EQ(quiet.trace->end(), loud.trace->end());
}

void debugCheck()
{
    // If the check does not hold, there is a finding with its text and line; otherwise there is
    // none.
    for (const double limit : {5.0, 1.0}) {
        const OneStep step{.inputs = {arrayOf(DType::F32, {2}, {1, 2})}, .shape = {2}};
        const auto run = runOneStep(step, [limit](const std::vector<pl::Ref>& refs) {
            const pl::Value x = refs[0][pl::all].load();
            pl::debugCheck(pl::reduce(ir::OpCode::ReduceMax, x, {0}) < limit, "too large");
            refs[1][pl::all] = x;
        });
        const auto found = findingsOf(run, "check_failed");
        ASSERT_EQ(found.size(), limit < 2 ? 1U : 0U) << findingsText(run);
        if (!found.empty()) {
            EXPECT_EQ(found[0].message, "too large");
            EXPECT_GE(found[0].source.line, 1);
        }
    }
}

void programId()
{
    expectSame(overGrid([] { return pl::programId(0) * 10 + pl::programId(1); }),
               {0, 1, 2, 10, 11, 12});
}

void numPrograms()
{
    expectSame(overGrid([] { return pl::numPrograms(0) * 10 + pl::numPrograms(1); }),
               Numbers(6, 23));
}

void get()
{
    for (const DType dtype : {kF32, kBf16, kInt}) {
        const Array input = counting(dtype, {4, 6});
        const auto slice = [&](const Shape& shape, const std::function<pl::Indexer()>& indexer) {
            return computed({input}, dtype, shape, [&](const auto& refs) {
                return pl::Operand(refs[0][indexer()].load());
            });
        };
        expectSame(slice({6}, [] { return pl::Indexer{2, pl::all}; }), {12, 13, 14, 15, 16, 17});
        expectSame(slice({2, 2},
                         [] {
                             return pl::Indexer{pl::ds(1, 2, 2), pl::ds(3, 2)};
                         }),
                   {9, 10, 21, 22});
        expectSame(slice({2, 3},
                         [] {
                             const pl::Value one =
                                 pl::reduce(OpCode::ReduceMax, pl::iota(kInt, {2}, 0), {0});
                             return pl::Indexer{pl::ds(one, 2), pl::ds(one + 1, 3)};
                         }),
                   {8, 9, 10, 14, 15, 16});
    }
}

void swap()
{
    const machine::RunResult run =
        runOneStep({.inputs = {counting(kF32, {2, 2})}, .dtype = kF32, .shape = {4, 4}},
                   [](const std::vector<pl::Ref>& refs) {
                       const pl::Ref& out = refs[1];
                       out[pl::all] = -1.0;
                       out[{pl::ds(0, 2, 2), pl::ds(1, 2)}] = refs[0][pl::all];
                       out[{3, 3}] = 7.0;
                       out[{3, 0}] += 1.0;
                   });
    expectSame(elementsOf(run.outputs[0]),
               {-1, 0, 1, -1, -1, -1, -1, -1, -1, 2, 3, -1, 0, -1, -1, 7});
}

void cond()
{
    // Element i is 10 if i is even, otherwise 20. The false branch is branch 0.
    expectSame(computed({}, kInt, {4},
                        [](const auto&) {
                            const auto ten = [] { return pl::full({4}, 10, kInt); };
                            const auto twenty = [] { return pl::full({4}, 20, kInt); };
                            pl::Value sum = pl::full({4}, 0, kInt);
                            for (const std::int32_t i : {0, 1, 2, 3}) {
                                const pl::Value even = pl::programId(0) + i;
                                const pl::Value chosen = pl::cond(
                                    even % 2 == 0, [&] { return std::vector{ten()}; },
                                    [&] { return std::vector{twenty()}; })[0];
                                const pl::Value here = pl::iota(kInt, {4}, 0) == i;
                                sum = pl::select(here, chosen, sum);
                            }
                            return sum;
                        }),
               {10, 20, 10, 20});
}

void whileLoop()
{
    // The Collatz sequence from 27 to 1 has 111 steps.
    expectSame(
        computed({}, kInt, {1},
                 [](const auto&) {
                     using Values = std::vector<pl::Value>;
                     const pl::Value zero = pl::programId(0);
                     const Values last = pl::whileLoop(
                         {zero + 27, zero}, [](Values v) { return v[0] != 1; },
                         [](Values v) -> Values {
                             return {pl::select(v[0] % 2 == 0, v[0] / 2, v[0] * 3 + 1), v[1] + 1};
                         });
                     return pl::broadcastTo(last[1], {1});
                 }),
        {111});
}

void scan()
{
    using Values = std::vector<pl::Value>;
    for (const std::int64_t length : {0, 1, 10}) {
        const double sum = static_cast<double>(length * (length - 1) / 2);
        expectSame(computed({arrayOf(kInt, {2}, {100, 200})}, kInt, {2},
                            [&](const auto& refs) {
                                return pl::foriLoop(length, {refs[0][pl::all].load()},
                                                    [](pl::Value i, Values carry) -> Values {
                                                        return {carry[0] + i};
                                                    })[0];
                            }),
                   {100 + sum, 200 + sum});
    }
}

// Blocks of 8 rows in reverse order. The last of the three overhangs the array of 20 rows.
void pipeline()
{
    const auto kernel = [](pl::Ref xHbm, pl::Ref outHbm) {
        const auto body = [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all] * 2.0; };
        const auto block = pl::block({8, 128}, [](auto i) { return pl::at(2 - i, 0); });
        pl::emitPipeline({.grid = {3}, .in = {block}, .out = {block}}, body)(xHbm, outHbm);
    };
    const Shape shape{20, 128};
    const ir::Program program = mustTrace(
        pl::kernel("doubled", {pl::in("x", kF32, shape), pl::out("out", kF32, shape)}, kernel));
    const Array input = normalArray(kF32, shape, 3);
    Numbers want = elementsOf(input);
    for (double& number : want) {
        number *= 2;
    }
    expectSame(elementsOf(mustRun(program, {input}).outputs[0]), want);
}

// Passes a value through scratch and out of the scope.
void runScoped()
{
    expectSame(computed({arrayOf(kInt, {2}, {100, 200})}, kInt, {2},
                        [&](const auto& refs) {
                            return pl::runScoped({{"held", kInt, {2}}}, [&](const auto& held) {
                                held[0][pl::all] = refs[0][pl::all] + 1;
                                return std::vector<pl::Value>{held[0][pl::all].load()};
                            })[0];
                        }),
               {101, 201});
}

} // namespace

std::vector<OperationCase> structuralCases()
{
    return {{"select_n", selectN},
            {"convert_element_type", convert},
            {"reduce_sum", reduceSum},
            {"reduce_max", reduceMax},
            {"reduce_min", reduceMin},
            {"reduce_and", reduceAnd},
            {"reduce_or", reduceOr},
            {"broadcast_in_dim", broadcast},
            {"reshape", reshape},
            {"squeeze", squeeze},
            {"transpose", transpose},
            {"iota", iota},
            {"dot_general", dotGeneral},
            {"debug_print", debugPrint},
            {"debug_check", debugCheck},
            {"program_id", programId},
            {"num_programs", numPrograms},
            {"get", get},
            {"swap", swap},
            {"cond", cond},
            {"while", whileLoop},
            {"scan", scan},
            {"pipeline", pipeline},
            {"run_scoped", runScoped}};
}

} // namespace pallascope::machine_test
