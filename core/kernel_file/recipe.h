// Arrays that a file says in a few numbers in place of their elements. Checked when a file is read,
// made when somebody asks for the elements.
#pragma once

#include "core/base/array.h"
#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace pallascope::kernel_file {

// normalArray with the seed.
struct NormalRecipe
{
    std::uint64_t seed = 0;
    bool operator==(const NormalRecipe&) const = default;
};

struct ZerosRecipe
{
    bool operator==(const ZerosRecipe&) const = default;
};

// The same in every element.
struct FillRecipe
{
    double value = 0;
    bool operator==(const FillRecipe&) const = default;
};

// `start` and the sum of steps[axis] * index[axis].
struct IotaRecipe
{
    std::int64_t start = 0;
    std::vector<std::int64_t> steps;
    bool operator==(const IotaRecipe&) const = default;
};

// `inside` where the sum of steps[axis] * index[axis] is from `low` to `high`, else `outside`.
struct MaskRecipe
{
    std::vector<std::int64_t> steps;
    std::optional<std::int64_t> low, high; // absent: no bound
    double inside = 1, outside = 0;
    bool operator==(const MaskRecipe&) const = default;
};

using Recipe = std::variant<NormalRecipe, ZerosRecipe, FillRecipe, IotaRecipe, MaskRecipe>;

// Whether it makes an array of that dtype and shape, each element exactly. Errors start with the
// JSON pointer within an input's entry: "/iota/steps has ...".
[[nodiscard]] Status checkRecipe(const Recipe& recipe, DType dtype, const Shape& shape);
// `recipe` is checked.
[[nodiscard]] Array makeFrom(const Recipe& recipe, DType dtype, const Shape& shape);

// The array so many times side by side along each axis, as numpy.tile makes it.
[[nodiscard]] Array tiled(const Array& part, const std::vector<Extent>& repeats);

} // namespace pallascope::kernel_file
