// Checks recipes for numbers that the dtype does not represent, and makes their arrays.
#include "core/kernel_file/recipe.h"

#include "core/base/check.h"
#include "core/base/element.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace pallascope::kernel_file {

namespace {

using Steps = std::vector<std::int64_t>;

struct Range
{
    std::int64_t least = 0, most = 0;
};

// The largest range of whole numbers that the dtype represents without gaps.
Range wholeNumbers(DType dtype)
{
    if (!isFloat(dtype)) {
        return {lowestInteger(dtype), highestInteger(dtype)};
    }
    const int digits = dtypeEntry(dtype).format.mantissaBits + 1;
    return {-(std::int64_t{1} << digits), std::int64_t{1} << digits};
}

// The range of start + the sum of steps[axis] * index[axis]; absent if it exceeds 64 bits. The
// partial sums over fewer axes lie in it too.
std::optional<Range> rangeOf(std::int64_t start, const Steps& steps, const Shape& shape)
{
    Range range{start, start};
    for (std::size_t axis = 0; axis < steps.size(); ++axis) {
        std::int64_t whole = 0;
        std::int64_t& end = steps[axis] < 0 ? range.least : range.most;
        if (__builtin_mul_overflow(steps[axis], shape[axis] - 1, &whole)
            || __builtin_add_overflow(end, whole, &end)) {
            return std::nullopt;
        }
    }
    return range;
}

Status checkSteps(const std::string& name, const Steps& steps, const Shape& shape)
{
    return steps.size() == shape.rank()
               ? Status(Done{})
               : userError(fmt::format("/{}/steps has {} numbers; {}, one for each axis of [{}], "
                                       "{} right",
                                       name, steps.size(), shape.rank(), toString(shape),
                                       shape.rank() == 1 ? "is" : "are"));
}

Error tooLarge(const std::string& name)
{
    return userError(fmt::format("/{}/steps make sums beyond 64 bits; use smaller ones", name));
}

// Accepts a whole number for an integer dtype, or a number that the float dtype represents
// exactly.
Status checkNumber(const std::string& where, double value, DType dtype)
{
    const Range whole = wholeNumbers(dtype);
    const bool fits = isFloat(dtype)
                          ? roundTo(dtype, value) == value
                                || (std::isnan(value) && std::isnan(roundTo(dtype, value)))
                          : value == std::floor(value) && value >= static_cast<double>(whole.least)
                                && value <= static_cast<double>(whole.most);
    return fits ? Status(Done{})
                : userError(fmt::format(
                    "{} is {}, which {} does not hold exactly; use a number that it holds", where,
                    value, dtypeName(dtype)));
}

struct RecipeChecker
{
    DType dtype;
    const Shape& shape;

    Status operator()(const NormalRecipe&) const { return Done{}; }

    Status operator()(const ZerosRecipe&) const { return Done{}; }

    Status operator()(const FillRecipe& fill) const
    {
        return checkNumber("/fill/value", fill.value, dtype);
    }

    Status operator()(const IotaRecipe& iota) const
    {
        if (Status right = checkSteps("iota", iota.steps, shape); !right) {
            return right;
        }
        const std::optional<Range> range = rangeOf(iota.start, iota.steps, shape);
        if (!range) {
            return tooLarge("iota");
        }
        const Range whole = wholeNumbers(dtype);
        if (range->least < whole.least || range->most > whole.most) {
            return userError(fmt::format(
                "/iota makes elements from {} to {}; expected {} to {}, which {} holds exactly",
                range->least, range->most, whole.least, whole.most, dtypeName(dtype)));
        }
        return Done{};
    }

    Status operator()(const MaskRecipe& mask) const
    {
        if (Status right = checkSteps("mask", mask.steps, shape); !right) {
            return right;
        }
        if (!rangeOf(0, mask.steps, shape)) {
            return tooLarge("mask");
        }
        if (Status right = checkNumber("/mask/inside", mask.inside, dtype); !right) {
            return right;
        }
        return checkNumber("/mask/outside", mask.outside, dtype);
    }
};

std::uint32_t codeOf(DType dtype, double value)
{
    std::array<std::byte, sizeof(std::uint32_t)> element{};
    writeElement(dtype, element.data(), 0, value);
    return readCode(dtype, element.data(), 0);
}

// Moves an index to the next row, in row-major order of all axes except the last.
void advance(std::vector<Extent>& index, const Shape& shape)
{
    for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == shape[axis];) {
        index[axis] = 0;
    }
}

// Sets each element to code(sum), where sum is start + the sum of steps[axis] * index[axis].
template<class Word, class Code>
void writeSums(Array& array, std::int64_t start, const Steps& steps, const Code& code)
{
    const Shape& shape = array.shape;
    const Extent row = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
    const std::int64_t step = steps.empty() ? 0 : steps.back();
    std::vector<Extent> index(shape.rank() == 0 ? 0 : shape.rank() - 1, 0);
    Word* const end = array.as<Word>() + shape.elements();
    for (Word* out = array.as<Word>(); out != end; out += row) {
        std::int64_t first = start;
        for (std::size_t axis = 0; axis < index.size(); ++axis) {
            first += steps[axis] * index[axis];
        }
        if (step == 0) {
            std::fill_n(out, row, static_cast<Word>(code(first)));
        } else {
            for (Extent i = 0; i < row; ++i) {
                out[i] = static_cast<Word>(code(first + i * step));
            }
        }
        advance(index, shape);
    }
}

template<class Code>
Array arrayOfSums(DType dtype, const Shape& shape, std::int64_t start, const Steps& steps,
                  const Code& code)
{
    Array array = makeArray(dtype, shape);
    switch (dtypeBytes(dtype)) {
    case 1:
        writeSums<std::uint8_t>(array, start, steps, code);
        break;
    case 2:
        writeSums<std::uint16_t>(array, start, steps, code);
        break;
    default:
        writeSums<std::uint32_t>(array, start, steps, code);
        break;
    }
    return array;
}

struct RecipeMaker
{
    DType dtype;
    const Shape& shape;

    Array operator()(const NormalRecipe& normal) const
    {
        return normalArray(dtype, shape, normal.seed);
    }

    Array operator()(const ZerosRecipe&) const
    {
        Array array = makeArray(dtype, shape);
        std::fill_n(array.data.get(), array.byteCount(), std::byte{0}); // 0 in every dtype
        return array;
    }

    Array operator()(const FillRecipe& fill) const
    {
        const std::uint32_t code = codeOf(dtype, fill.value);
        return arrayOfSums(dtype, shape, 0, Steps(shape.rank(), 0),
                           [code](std::int64_t) { return code; });
    }

    Array operator()(const IotaRecipe& iota) const
    {
        if (isFloat(dtype)) {
            return arrayOfSums(dtype, shape, iota.start, iota.steps, [this](std::int64_t sum) {
                return codeOf(dtype, static_cast<double>(sum));
            });
        }
        const auto bits = static_cast<unsigned>(dtypeBits(dtype));
        const std::uint32_t kept = ~std::uint32_t{0} >> (32U - bits);
        return arrayOfSums(dtype, shape, iota.start, iota.steps, [kept](std::int64_t sum) {
            return static_cast<std::uint32_t>(sum) & kept;
        });
    }

    Array operator()(const MaskRecipe& mask) const
    {
        using Limits = std::numeric_limits<std::int64_t>;
        const std::uint32_t inside = codeOf(dtype, mask.inside);
        const std::uint32_t outside = codeOf(dtype, mask.outside);
        const std::int64_t low = mask.low.value_or(Limits::min());
        const std::int64_t high = mask.high.value_or(Limits::max());
        return arrayOfSums(dtype, shape, 0, mask.steps, [=](std::int64_t sum) {
            return low <= sum && sum <= high ? inside : outside;
        });
    }
};

} // namespace

Status checkRecipe(const Recipe& recipe, DType dtype, const Shape& shape)
{
    return std::visit(RecipeChecker{dtype, shape}, recipe);
}

Array makeFrom(const Recipe& recipe, DType dtype, const Shape& shape)
{
    return std::visit(RecipeMaker{dtype, shape}, recipe);
}

Array tiled(const Array& part, const std::vector<Extent>& repeats)
{
    const std::size_t rank = part.shape.rank();
    PALLASCOPE_CHECK(repeats.size() == rank);
    if (std::all_of(repeats.begin(), repeats.end(), [](Extent count) { return count == 1; })) {
        return part;
    }
    std::vector<Extent> extents;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        extents.push_back(part.shape[axis] * repeats[axis]);
    }
    Array whole = makeArray(part.dtype, Shape(extents));
    const auto row = static_cast<std::size_t>(part.shape[rank - 1] * dtypeBytes(part.dtype));
    const std::size_t wide = row * static_cast<std::size_t>(repeats.back());
    std::vector<Extent> index(rank - 1, 0);
    std::byte* const end = whole.data.get() + whole.byteCount();
    for (std::byte* out = whole.data.get(); out != end; out += wide) {
        Extent from = 0;
        for (std::size_t axis = 0; axis < index.size(); ++axis) {
            from = from * part.shape[axis] + index[axis] % part.shape[axis];
        }
        std::memcpy(out, part.data.get() + static_cast<std::size_t>(from) * row, row);
        for (std::size_t filled = row; filled < wide; filled *= 2) { // doubles what is filled
            std::memcpy(out + filled, out, std::min(filled, wide - filled));
        }
        advance(index, whole.shape);
    }
    return whole;
}

} // namespace pallascope::kernel_file
