// Arrays that a file gives by recipes: their elements are compared with the formulas of
// docs/kernel_format.md. Also members of archives, which are read only when they are asked for.
#include "core/base/element.h"
#include "core/kernel_file/npy.h"
#include "core/kernel_file/recipe.h"
#include "tests/kernel_file/raw_zip.h"
#include "tests/kernel_file/support.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace pallascope::kernel_file_test {

namespace {

using kernel_file::FillRecipe;
using kernel_file::IotaRecipe;
using kernel_file::MaskRecipe;
using kernel_file::Recipe;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The index of an element along each axis.
std::vector<Extent> indexOf(std::int64_t element, const Shape& shape)
{
    std::vector<Extent> index(shape.rank());
    for (std::size_t axis = shape.rank(); axis-- > 0; element /= shape[axis]) {
        index[axis] = element % shape[axis];
    }
    return index;
}

std::int64_t sumAt(std::int64_t element, const Shape& shape, const std::vector<std::int64_t>& steps)
{
    std::int64_t sum = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        sum += steps[axis] * indexOf(element, shape)[axis];
    }
    return sum;
}

void expectElements(const Recipe& recipe, DType dtype, const Shape& shape, const auto& expected)
{
    SCOPED_TRACE(std::string(dtypeName(dtype)) + "[" + toString(shape) + "]");
    const Status sound = kernel_file::checkRecipe(recipe, dtype, shape);
    ASSERT_TRUE(sound) << sound.error().message;
    const Array array = kernel_file::makeFrom(recipe, dtype, shape);
    ASSERT_EQ(array.dtype, dtype);
    ASSERT_EQ(array.shape, shape);
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
        ASSERT_EQ(array.at(i), expected(i)) << i;
    }
}

Shape randomShape(std::mt19937_64& random)
{
    std::vector<Extent> extents(random() % 5);
    for (Extent& extent : extents) {
        extent = static_cast<Extent>(1 + random() % 7);
    }
    return Shape(extents);
}

std::vector<std::int64_t> randomSteps(std::mt19937_64& random, const Shape& shape)
{
    std::vector<std::int64_t> steps(shape.rank());
    for (std::int64_t& step : steps) {
        step = static_cast<std::int64_t>(random() % 7) - 3;
    }
    return steps;
}

TEST(KernelFileRecipe, anIotaCountsAlongEveryAxis)
{
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const Shape shape = randomShape(random);
        const IotaRecipe iota{static_cast<std::int64_t>(random() % 9) - 4,
                              randomSteps(random, shape)};
        for (const DType dtype : {DType::Int32, DType::F32, DType::BF16, DType::Int8}) {
            expectElements(iota, dtype, shape, [&](std::int64_t i) {
                return static_cast<double>(iota.start + sumAt(i, shape, iota.steps));
            });
        }
    }
}

TEST(KernelFileRecipe, anIotaMayUseAllOfADtype)
{
    for (const DTypeEntry& entry : kDTypes) {
        const std::int64_t most =
            isFloat(entry.type) ? 2 << entry.format.mantissaBits : highestInteger(entry.type);
        const std::int64_t least = isFloat(entry.type) ? -most : lowestInteger(entry.type);
        SCOPED_TRACE(entry.name);
        const auto count = static_cast<Extent>(std::min<std::int64_t>(most - least + 1, 300));
        expectElements(IotaRecipe{least, {1}}, entry.type, {count},
                       [&](std::int64_t i) { return static_cast<double>(least + i); });
        expectElements(IotaRecipe{most, {-1}}, entry.type, {count},
                       [&](std::int64_t i) { return static_cast<double>(most - i); });
        EXPECT_FALSE(kernel_file::checkRecipe(IotaRecipe{most, {1}}, entry.type, {2}));
        EXPECT_FALSE(kernel_file::checkRecipe(IotaRecipe{least, {-1}}, entry.type, {2}));
    }
}

TEST(KernelFileRecipe, aMaskIsInsideItsBounds)
{
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const Shape shape = randomShape(random);
        MaskRecipe mask{.steps = randomSteps(random, shape)};
        if (random() % 3 != 0) {
            mask.low = static_cast<std::int64_t>(random() % 9) - 4;
        }
        if (random() % 3 != 0) {
            mask.high = static_cast<std::int64_t>(random() % 9) - 4;
        }
        const auto expected = [&](std::int64_t i) {
            const std::int64_t sum = sumAt(i, shape, mask.steps);
            return sum >= mask.low.value_or(sum) && sum <= mask.high.value_or(sum) ? mask.inside
                                                                                   : mask.outside;
        };
        expectElements(mask, DType::Bool, shape, expected);
        expectElements(mask, DType::Int4, shape, expected);
        mask.inside = 0;
        mask.outside = -kInfinite;
        expectElements(mask, DType::BF16, shape, expected);
        expectElements(mask, DType::F32, shape, expected);
    }
}

TEST(KernelFileRecipe, aFillIsTheSameEverywhere)
{
    for (const double value : {0.0, 1.0, -2.5, kInfinite, 1e-45}) {
        const double single = static_cast<double>(static_cast<float>(value));
        expectElements(FillRecipe{single}, DType::F32, {3, 5},
                       [&](std::int64_t) { return single; });
    }
    expectElements(FillRecipe{4294967295.0}, DType::UInt32, {7},
                   [](std::int64_t) { return 4294967295.0; });
    expectElements(FillRecipe{-8}, DType::Int4, {2, 3}, [](std::int64_t) { return -8.0; });
    const Array nan = kernel_file::makeFrom(FillRecipe{std::nan("")}, DType::BF16, {4});
    EXPECT_TRUE(kernel_file::checkRecipe(FillRecipe{std::nan("")}, DType::BF16, {4}));
    EXPECT_TRUE(std::isnan(nan.at(3)));
    EXPECT_TRUE(std::signbit(kernel_file::makeFrom(FillRecipe{-0.0}, DType::F32, {1}).at(0)));
    EXPECT_FALSE(kernel_file::checkRecipe(FillRecipe{0.1}, DType::F32, {4}));
    EXPECT_FALSE(kernel_file::checkRecipe(FillRecipe{std::nan("")}, DType::F4E2M1FN, {4}));
    EXPECT_FALSE(kernel_file::checkRecipe(FillRecipe{std::nan("")}, DType::Int32, {4}));
}

TEST(KernelFileRecipe, tilesRepeatAlongEveryAxis)
{
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const Array part =
            normalArray(seed % 2 == 0 ? DType::F32 : DType::Int8, randomShape(random), seed);
        std::vector<Extent> repeats(part.shape.rank());
        for (Extent& count : repeats) {
            count = static_cast<Extent>(1 + random() % 4);
        }
        const Array whole = kernel_file::tiled(part, repeats);
        for (std::int64_t i = 0; i < whole.shape.elements(); ++i) {
            const std::vector<Extent> index = indexOf(i, whole.shape);
            std::int64_t from = 0;
            for (std::size_t axis = 0; axis < index.size(); ++axis) {
                ASSERT_EQ(whole.shape[axis], part.shape[axis] * repeats[axis]);
                from = from * part.shape[axis] + index[axis] % part.shape[axis];
            }
            ASSERT_EQ(whole.at(i), part.at(from)) << i;
        }
    }
}

// ---- members of archives ------------------------------------------------------------------------

// The example, whose inputs are f32[64,128], with a row of numbers as its first input.
struct Example
{
    Array row = normalArray(DType::F32, {1, 128}, 3);
    nlohmann::json file = nlohmann::json::parse(
        readBytes(std::filesystem::path(PALLASCOPE_EXAMPLES) / "add.kernel.json"));

    explicit Example(const std::string& repeats)
    {
        file["inputs"][0] = {{"npy", "a.npy"}, {"repeats", nlohmann::json::parse(repeats)}};
    }

    [[nodiscard]] RawMember array() const
    {
        std::string bytes = kernel_file::npyHeader(row.dtype, row.shape);
        bytes.append(reinterpret_cast<const char*>(row.data.get()),
                     static_cast<std::size_t>(row.byteCount()));
        return stored("a.npy", bytes);
    }

    [[nodiscard]] Result<kernel_file::KernelFile> parsed(const RawMember& array) const
    {
        return kernel_file::parse(rawZip({stored("kernel.json", file.dump()), array}), "f");
    }
};

const ir::Type kWhole{DType::F32, {64, 128}, {}};

TEST(KernelFileMember, repeatsMakeTheWholeArrayAndAreKept)
{
    const Example example("[64, 1]");
    const auto file = example.parsed(example.array());
    ASSERT_TRUE(file) << file.error().message;
    const Array whole = kernel_file::makeInput(file->inputs[0], kWhole).value();
    for (std::int64_t i = 0; i < whole.shape.elements(); ++i) {
        ASSERT_EQ(whole.at(i), example.row.at(i % 128));
    }
    const TemporaryFolder folder;
    const Status saved = kernel_file::save(*file, folder.file("k.pallascope"));
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_LT(readBytes(folder.file("k.pallascope")).size(), 4096U) << "the row, not the array";
    const auto again = kernel_file::load(folder.file("k.pallascope"));
    ASSERT_TRUE(again) << again.error().message;
    const Array same = kernel_file::makeInput(again->inputs[0], kWhole).value();
    EXPECT_EQ(
        std::memcmp(same.data.get(), whole.data.get(), static_cast<std::size_t>(whole.byteCount())),
        0);
}

TEST(KernelFileMember, repeatsThatDoNotFitAreRefused)
{
    for (const char* repeats : {"[64]", "[64, 0]", "[63, 1]", "[64, -1]", "[64, 1, 1]"}) {
        const Example example(repeats);
        const auto file = example.parsed(example.array());
        ASSERT_FALSE(file) << repeats;
        EXPECT_EQ(file.error().message.rfind("f: /inputs/0/repeats is [", 0), 0U)
            << file.error().message;
    }
    const auto file = Example("[32, 1]").parsed(Example("[32, 1]").array());
    ASSERT_FALSE(file);
    EXPECT_NE(file.error().message.find("has the shape [1,128]; expected [2,128]"),
              std::string::npos)
        << file.error().message;
}

TEST(KernelFileMember, oneThatIsDamagedIsFoundWhenItIsAskedFor)
{
    const Example example("[64, 1]");
    RawMember damaged = example.array();
    damaged.crc ^= 1U;
    const auto file = example.parsed(damaged);
    ASSERT_TRUE(file) << file.error().message;
    const Result<Array> array = kernel_file::makeInput(file->inputs[0], kWhole);
    ASSERT_FALSE(array);
    EXPECT_EQ(array.error().message, "f: a.npy is damaged.");
    const TemporaryFolder folder;
    const Status saved = kernel_file::save(*file, folder.file("k.pallascope"));
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().message, "f: a.npy is damaged.");
    EXPECT_EQ(folder.fileCount(), 0U);
}

} // namespace

} // namespace pallascope::kernel_file_test
