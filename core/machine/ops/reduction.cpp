// Sums, maxima and other reductions over axes. Elements are combined in row-major order; floats
// are summed in f32.
#include "core/base/check.h"
#include "core/machine/ops/lanes.h"
#include "core/machine/ops/ops.h"
#include "core/machine/ops/rules_arithmetic.h"
#include "core/machine/ops/rules_bits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace pallascope::machine::ops {

namespace {

struct Sum : rules::Add
{
    static double start(DType) { return 0; }
};

struct Product : rules::Mul
{
    static double start(DType) { return 1; }
};

struct Largest : rules::Max
{
    static constexpr arith::Binary kInAnyOrder = arith::Binary::Max;

    static double start(DType dtype) { return lowestNumber(dtype); }
};

struct Smallest : rules::Min
{
    static constexpr arith::Binary kInAnyOrder = arith::Binary::Min;

    static double start(DType dtype) { return highestNumber(dtype); }
};

struct All : rules::And
{
    // Starts with all bits set.
    static double start(DType dtype)
    {
        return dtypeEntry(dtype).kind == DTypeKind::Signed ? -1 : highestNumber(dtype);
    }
};

struct Any : rules::Or
{
    static double start(DType) { return 0; }
};

// An input viewed as outer x length x inner lanes; the reduction runs over length.
struct Cube
{
    RuntimeValue value;
    Shape kept;
    std::int64_t outer = 1, length = 1, inner = 1;
    SharedBytes lanes; // shared with the value if it holds lanes already

    template<class T>
    [[nodiscard]] const typename Stored<T>::Type* as() const
    {
        return reinterpret_cast<const typename Stored<T>::Type*>(lanes.get());
    }
};

SharedBytes lanesOf(const RuntimeValue& value)
{
    const std::int64_t count = value.elements();
    if (!value.isScalar() && storedAsLanes(value.dtype)) {
        return value.data;
    }
    SharedBytes lanes = allocateBytes(std::max<std::int64_t>(1, count) * kMostLaneBytes);
    if (value.isScalar()) {
        const Lane lane = scalarLane(value.dtype, value.scalar);
        std::copy_n(reinterpret_cast<const std::byte*>(&lane), laneBytes(value.dtype), lanes.get());
    } else {
        widen(value.dtype, value.data.get(), 0, count, lanes.get());
    }
    return lanes;
}

Cube cubeOf(const RuntimeValue& input, const std::vector<std::int32_t>& axes)
{
    const auto rank = static_cast<std::int32_t>(input.shape.rank());
    const auto reduced = [&](std::int32_t axis) {
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
    };
    std::vector<std::int32_t> before, middle, behind;
    for (std::int32_t axis = 0; axis < rank; ++axis) {
        (reduced(axis) ? middle : middle.empty() ? before : behind).push_back(axis);
    }
    const bool adjacent =
        middle.empty()
        || middle.back() - middle.front() + 1 == static_cast<std::int32_t>(middle.size());
    Cube cube;
    std::vector<Extent> kept;
    for (const std::int32_t axis : before) {
        kept.push_back(input.shape[static_cast<std::size_t>(axis)]);
        cube.outer *= kept.back();
    }
    for (const std::int32_t axis : middle) {
        cube.length *= input.shape[static_cast<std::size_t>(axis)];
    }
    for (const std::int32_t axis : behind) {
        kept.push_back(input.shape[static_cast<std::size_t>(axis)]);
        cube.inner *= kept.back();
    }
    cube.kept = Shape(kept);
    cube.value = input;
    if (!adjacent) {
        before.insert(before.end(), middle.begin(), middle.end());
        before.insert(before.end(), behind.begin(), behind.end());
        cube.value = transposed(input, before);
    }
    cube.lanes = lanesOf(cube.value);
    return cube;
}

// An element is defined if all elements that it was made of are, or if one of them decides.
Shadow reducedShadow(const Cube& cube, std::optional<double> deciding)
{
    const Shadow& shadow = cube.value.shadow;
    const std::int64_t count = cube.outer * cube.inner;
    if (shadow.all() || (shadow.none() && cube.length > 0)) {
        return shadow;
    }
    const SharedBytes defined = shadow.expanded(cube.value.elements());
    SharedBytes mask = allocateBytes(count);
    std::fill_n(mask.get(), count, std::byte{1});
    const auto forEach = [&](const auto& function) {
        for (std::int64_t i = 0; i < cube.outer * cube.length; ++i) {
            for (std::int64_t k = 0; k < cube.inner; ++k) {
                const std::int64_t at = i * cube.inner + k;
                function(mask[i / cube.length * cube.inner + k], defined[at], at);
            }
        }
    };
    forEach([](std::byte& all, std::byte one, std::int64_t) { all &= one; });
    if (deciding) {
        forEach([&](std::byte& all, std::byte one, std::int64_t at) {
            all |= one
                   & static_cast<std::byte>(readElement(cube.value.dtype, cube.value.data.get(), at)
                                            == *deciding);
        });
    }
    return Shadow::fromMask(std::move(mask), count);
}

RuntimeValue fromLanes(const Cube& cube, DType dtype, const void* lanes,
                       std::optional<double> deciding = {})
{
    RuntimeValue result = RuntimeValue::arrayOf(dtype, cube.kept);
    if (result.isScalar()) {
        Lane lane{};
        std::copy_n(static_cast<const std::byte*>(lanes), laneBytes(dtype),
                    reinterpret_cast<std::byte*>(&lane));
        result.scalar = laneScalar(dtype, lane);
    } else {
        narrow(dtype, lanes, result.data.get(), 0, result.elements());
    }
    result.shadow = reducedShadow(cube, deciding);
    return result;
}

constexpr std::int64_t kRows = 8;

// Reduces several rows side by side. Each keeps its own order, and the CPU need not wait for one
// sum before it continues another.
template<class Rule, class T, std::int64_t rows, class Stored>
void reduceRows(const Stored* in, std::int64_t length, Stored* sums)
{
    std::array<Stored, static_cast<std::size_t>(rows)> sum;
    std::copy_n(sums, rows, sum.begin());
    for (std::int64_t i = 0; i < length; ++i) {
        for (std::int64_t row = 0; row < rows; ++row) {
            Stored& one = sum[static_cast<std::size_t>(row)];
            one = Rule{}(static_cast<T>(one), static_cast<T>(in[row * length + i]));
        }
    }
    std::copy_n(sum.begin(), rows, sums);
}

template<class Rule, class T>
RuntimeValue reduceLanes(const Cube& cube, std::optional<double> deciding)
{
    const auto* in = cube.as<T>();
    std::vector<typename Stored<T>::Type> sums(static_cast<std::size_t>(cube.outer * cube.inner),
                                               static_cast<T>(Rule::start(cube.value.dtype)));
    const auto inner = static_cast<std::size_t>(cube.inner);
    if (inner == 1) {
        if constexpr (Float<T> && requires { Rule::kInAnyOrder; }) {
            arith::reduceRowsF32(Rule::kInAnyOrder, in, cube.outer, cube.length,
                                 static_cast<T>(Rule::start(cube.value.dtype)), sums.data());
        } else {
            std::int64_t row = 0;
            for (; row + kRows <= cube.outer; row += kRows) {
                reduceRows<Rule, T, kRows>(in + row * cube.length, cube.length, sums.data() + row);
            }
            for (; row < cube.outer; ++row) {
                reduceRows<Rule, T, 1>(in + row * cube.length, cube.length, sums.data() + row);
            }
        }
        return fromLanes(cube, cube.value.dtype, sums.data(), deciding);
    }
    for (std::int64_t i = 0; i < cube.outer * cube.length; ++i, in += inner) {
        auto* sum = sums.data() + static_cast<std::size_t>(i / cube.length) * inner;
        if constexpr (requires { Rule::all(sum, in, sum, cube.inner); }) {
            Rule::all(sum, in, sum, cube.inner);
        } else {
            for (std::size_t k = 0; k < inner; ++k) {
                sum[k] = Rule{}(static_cast<T>(sum[k]), static_cast<T>(in[k]));
            }
        }
    }
    return fromLanes(cube, cube.value.dtype, sums.data(), deciding);
}

template<class Rule>
RuntimeValue reduce(const Call& call)
{
    const Cube cube = cubeOf(call.operand(0), call.params<ir::AxesParams>().axes);
    return visitLane(cube.value.dtype, [&](auto zero) -> RuntimeValue {
        using T = decltype(zero);
        if constexpr (std::invocable<const Rule&, T, T>) {
            return reduceLanes<Rule, T>(cube,
                                        decidingNumber(call.operation.code, cube.value.dtype));
        } else {
            PALLASCOPE_CHECK(false && "the type rule admits no such dtype");
        }
    });
}

// Combines each element with all elements before it along the axis, or with all behind it.
template<class Rule>
RuntimeValue cumulate(const Call& call)
{
    const auto& [axis, reverse] = call.params<ir::CumulativeParams>();
    const RuntimeValue& input = call.operand(0);
    const Cube cube = cubeOf(input, {axis});
    const std::int64_t count = input.elements();
    SharedBytes sums = cube.lanes;
    if (sums == cube.value.data) { // the input must not change
        sums = allocateBytes(count * laneBytes(input.dtype));
        std::copy_n(cube.lanes.get(), count * laneBytes(input.dtype), sums.get());
    }
    const Shadow& shadow = input.shadow;
    const bool partial = !shadow.all() && !shadow.none();
    SharedBytes defined = partial ? shadow.expanded(count) : nullptr;
    SharedBytes mask = partial ? allocateBytes(count) : nullptr;
    if (partial) {
        std::copy_n(defined.get(), count, mask.get());
    }
    visitLane(input.dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::invocable<const Rule&, T, T> && !Boolean<T>) {
            auto* lanes = reinterpret_cast<typename Stored<T>::Type*>(sums.get());
            for (std::int64_t i = 0; i < cube.outer * (cube.length - 1) * cube.inner; ++i) {
                const std::int64_t inner = i % cube.inner, row = i / cube.inner,
                                   turn = row % (cube.length - 1) + 1,
                                   at = reverse ? cube.length - 1 - turn : turn,
                                   before = reverse ? at + 1 : at - 1,
                                   block = row / (cube.length - 1) * cube.length;
                const std::int64_t to = (block + at) * cube.inner + inner,
                                   from = (block + before) * cube.inner + inner;
                lanes[to] = Rule{}(static_cast<T>(lanes[from]), static_cast<T>(lanes[to]));
                if (partial) {
                    mask[to] &= mask[from];
                }
            }
        }
    });
    RuntimeValue result = RuntimeValue::arrayOf(input.dtype, input.shape);
    narrow(input.dtype, sums.get(), result.data.get(), 0, count);
    result.shadow = partial ? Shadow::fromMask(std::move(mask), count) : shadow;
    return result;
}

// The index of the first best element. The first NaN counts as better than any number.
template<class Better>
RuntimeValue argReduce(const Call& call)
{
    const auto& [axis, dtype] = call.params<ir::ArgParams>();
    const Cube cube = cubeOf(call.operand(0), {axis});
    std::vector<std::int32_t> places(static_cast<std::size_t>(cube.outer * cube.inner), 0);
    visitLane(cube.value.dtype, [&](auto zero) {
        using T = decltype(zero);
        const auto isNan = [](T value) {
            if constexpr (Float<T>) {
                return std::isnan(value);
            } else {
                return false;
            }
        };
        for (std::size_t slot = 0; slot < places.size(); ++slot) {
            const auto place = static_cast<std::int64_t>(slot);
            const auto* in =
                cube.as<T>() + place / cube.inner * cube.length * cube.inner + place % cube.inner;
            auto best = static_cast<T>(in[0]);
            for (std::int64_t i = 1; i < cube.length && !isNan(best); ++i) {
                const auto next = static_cast<T>(in[i * cube.inner]);
                if (isNan(next) || Better{}(next, best)) {
                    best = next;
                    places[slot] = static_cast<std::int32_t>(i);
                }
            }
        }
    });
    return fromLanes(cube, dtype, places.data());
}

} // namespace

RuntimeValue reduceSum(const Call& call)
{
    return reduce<Sum>(call);
}

RuntimeValue reduceMax(const Call& call)
{
    return reduce<Largest>(call);
}

RuntimeValue reduceMin(const Call& call)
{
    return reduce<Smallest>(call);
}

RuntimeValue reduceAnd(const Call& call)
{
    return reduce<All>(call);
}

RuntimeValue reduceOr(const Call& call)
{
    return reduce<Any>(call);
}

RuntimeValue reduceProd(const Call& call)
{
    return reduce<Product>(call);
}

RuntimeValue cumsum(const Call& call)
{
    return cumulate<rules::Add>(call);
}

RuntimeValue cumprod(const Call& call)
{
    return cumulate<rules::Mul>(call);
}

RuntimeValue cummax(const Call& call)
{
    return cumulate<rules::Max>(call);
}

RuntimeValue cummin(const Call& call)
{
    return cumulate<rules::Min>(call);
}

RuntimeValue argmax(const Call& call)
{
    return argReduce<rules::Gt>(call);
}

RuntimeValue argmin(const Call& call)
{
    return argReduce<rules::Lt>(call);
}

} // namespace pallascope::machine::ops
