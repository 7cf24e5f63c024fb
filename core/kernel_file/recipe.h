// Arrays that a file describes with a few numbers instead of their elements. Recipes are checked
// when a file is read, and the elements are made when they are asked for.
#pragma once

#include "core/base/array.h"
#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace pallascope::kernel_file {

// The result of normalArray with this seed.
struct NormalRecipe
{
    std::uint64_t seed = 0;
    bool operator==(const NormalRecipe&) const = default;
};

struct ZerosRecipe
{
    bool operator==(const ZerosRecipe&) const = default;
};

// The same value in every element.
struct FillRecipe
{
    double value = 0;
    bool operator==(const FillRecipe&) const = default;
};

// Each element is `start` plus the sum of steps[axis] * index[axis].
struct IotaRecipe
{
    std::int64_t start = 0;
    std::vector<std::int64_t> steps;
    bool operator==(const IotaRecipe&) const = default;
};

// `inside` if the sum of steps[axis] * index[axis] is from `low` to `high`, otherwise `outside`.
struct MaskRecipe
{
    std::vector<std::int64_t> steps;
    std::optional<std::int64_t> low, high; // absent: no bound
    double inside = 1, outside = 0;
    bool operator==(const MaskRecipe&) const = default;
};

using Recipe = std::variant<NormalRecipe, ZerosRecipe, FillRecipe, IotaRecipe, MaskRecipe>;

// Checks that the recipe can make an array of that dtype and shape with every element exact.
// Errors start with the JSON pointer within an input's entry: "/iota/steps has ...".
[[nodiscard]] Status checkRecipe(const Recipe& recipe, DType dtype, const Shape& shape);
// Requires a recipe that has passed checkRecipe.
[[nodiscard]] Array makeFrom(const Recipe& recipe, DType dtype, const Shape& shape);

// Repeats the array this many times along each axis, as numpy.tile does.
[[nodiscard]] Array tiled(const Array& part, const std::vector<Extent>& repeats);

} // namespace pallascope::kernel_file
