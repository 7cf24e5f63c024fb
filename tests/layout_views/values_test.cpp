// The picture of what a ref holds: what its cells show, and that no number stands for what is none.
#include "tests/layout_views/scene_probe.h"
#include "views/layout/values/plane.h"
#include "views/layout/values/values.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

using namespace pallascope;
using namespace pallascope::layout;
using layout::values::Kind;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

ValuesView viewOf(const Shape& shape, const std::vector<double>& elements)
{
    ValuesView view{"out", "VMEM", makeArray(DType::F32, shape), {}, Role::Operand3};
    for (std::size_t i = 0; i < elements.size(); ++i) {
        view.elements.as<float>()[i] = static_cast<float>(elements[i]);
        view.defined.push_back(1);
    }
    return view;
}

ValuesView filled(const Shape& shape, double value)
{
    return viewOf(shape, std::vector<double>(static_cast<std::size_t>(shape.elements()), value));
}

} // namespace

TEST(Values, countsWhatIsNoNumberApartFromTheNumbers)
{
    ValuesView view = viewOf({2, 4}, {1, -3, kNan, kInf, -kInf, 5, 7, 0});
    view.defined[6] = 0; // the 7 is only what lies in undefined memory
    const values::Counts counts = values::countsOf(view);
    EXPECT_EQ(counts.values, 4);
    EXPECT_EQ(counts.nan, 1);
    EXPECT_EQ(counts.inf, 2);
    EXPECT_EQ(counts.undefined, 1);
    EXPECT_EQ(counts.least, -3);
    EXPECT_EQ(counts.largest, 5);
    EXPECT_EQ(counts.mean, 0.75);
    EXPECT_EQ(counts.leastMagnitude, 1);
}

// Against a search through all elements of each cell.
TEST(Values, aCellShowsTheWorstOfItsElements)
{
    std::mt19937 draw(1);
    const std::vector<double> some{1, -2, 0.5, kInf, -kInf, kNan};
    const auto upTo = [&](std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(1, most)(draw);
    };
    for (int round = 0; round < 50; ++round) {
        const Shape shape{upTo(9), upTo(9)};
        std::vector<double> elements;
        for (std::int64_t i = 0; i < shape.elements(); ++i) {
            elements.push_back(some[draw() % (draw() % 20 < 17 ? 3 : some.size())]);
        }
        ValuesView view = viewOf(shape, elements);
        for (std::uint8_t& defined : view.defined) {
            defined = draw() % 10 == 0 ? 0 : 1;
        }
        const std::int64_t side = upTo(4);
        const values::Plane plane = values::planeOf(shape, 0);
        const values::Cells cells = values::cellsOf(view, plane, side);
        for (std::int64_t r = 0; r < cells.rows; ++r) {
            for (std::int64_t c = 0; c < cells.columns; ++c) {
                Kind worst = Kind::None;
                double farthest = 0;
                for (std::int64_t i = 0; i < side * side; ++i) {
                    const std::int64_t row = r * side + i / side, column = c * side + i % side;
                    if (row >= shape[0] || column >= shape[1]) {
                        continue;
                    }
                    const std::int64_t element = row * shape[1] + column;
                    worst = std::max(worst, values::kindOf(view, element));
                    if (values::kindOf(view, element) == Kind::Value) {
                        farthest = std::max(farthest, std::fabs(view.elements.at(element)));
                    }
                }
                const auto& cell = cells.cells[static_cast<std::size_t>(r * cells.columns + c)];
                ASSERT_EQ(cell.kind, worst);
                if (worst == Kind::Value) {
                    ASSERT_EQ(std::fabs(cell.value), farthest);
                }
            }
        }
    }
}

TEST(Values, aVectorIsWrappedAndAHigherRankShowsThePlaneOfTheElement)
{
    const values::Plane vector = values::planeOf({300}, 5);
    EXPECT_EQ(vector.columns, 128);
    EXPECT_EQ(vector.rows, 3);
    EXPECT_EQ(vector.at(2, 43), 299);
    EXPECT_EQ(vector.at(2, 44), -1) << "the last row is not full";
    const values::Plane plane = values::planeOf({2, 3, 4, 5}, 3 * 20 + 7);
    EXPECT_EQ(plane.first, 60);
    EXPECT_EQ(plane.rows, 4);
    EXPECT_EQ(plane.columns, 5);
    EXPECT_EQ(values::planeOf({}, 0).elements, 1);
}

TEST(Values, goesToTheFirstNanThenToTheFirstInf)
{
    EXPECT_EQ(values::notableElement(viewOf({4}, {1, kInf, kNan, kNan})), 2);
    EXPECT_EQ(values::notableElement(viewOf({4}, {1, kInf, 2, -kInf})), 1);
    EXPECT_EQ(values::notableElement(viewOf({2}, {1, 2})), 0);
}

TEST(Values, undefinedElementsAreNeverShownAsNumbers)
{
    ValuesView view = filled({8, 128}, 42);
    view.defined.assign(view.defined.size(), 0);
    const Scene scene = layoutValues(view, {}, {640, 500});
    EXPECT_FALSE(test::hasText(scene, "42"));
    EXPECT_TRUE(test::hasText(scene, "undefined"));
    EXPECT_NE(scene.caption.find("|1024| undefined"), std::string::npos) << scene.caption;
}

TEST(Values, theNumbersAreThoseAroundTheElement)
{
    std::vector<double> elements;
    for (int i = 0; i < 64 * 64; ++i) {
        elements.push_back(i);
    }
    const Scene scene = layoutValues(viewOf({64, 64}, elements),
                                     {std::vector<std::int64_t>{30, 40}, {}}, {640, 500});
    EXPECT_TRUE(test::hasText(scene, "out[30, 40]"));
    EXPECT_TRUE(test::hasText(scene, "rows 28–32, columns 38–42"));
    for (const int element : {28 * 64 + 38, 30 * 64 + 40, 32 * 64 + 42}) {
        EXPECT_TRUE(test::hasText(scene, std::to_string(element))) << element;
    }
}

TEST(Values, nothingLeavesThePictureForAnyShapeAndSize)
{
    const std::vector<Shape> shapes{{},         {1},       {7},       {1000},         {8, 128},
                                    {512, 512}, {1, 4096}, {2048, 1}, {2, 3, 16, 24}, {0, 8}};
    for (const Shape& shape : shapes) {
        for (const Size size : {Size{360, 300}, {640, 520}, {1600, 900}}) {
            for (const ValuesScale scale : {ValuesScale::Range, ValuesScale::Log}) {
                ValuesView view = filled(shape, -1.5);
                if (!view.defined.empty()) {
                    view.defined.front() = 0;
                }
                const Scene scene = layoutValues(view, {{}, scale}, size);
                EXPECT_TRUE(test::textsOutside(scene).empty())
                    << toString(shape) << " " << size.width << ": "
                    << test::textsOutside(scene).front();
            }
        }
    }
}
