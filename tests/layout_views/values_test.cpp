// The picture of what a ref holds: what its cells show, and that no number stands for what is none.
#include "tests/layout_views/scene_probe.h"
#include "views/layout/values/difference.h"
#include "views/layout/values/values.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <random>

using namespace pallascope;
using namespace pallascope::layout;
using layout::values::Kind;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

SharedBytes flags(std::int64_t count, int flag)
{
    SharedBytes bytes = allocateBytes(count);
    std::memset(bytes.get(), flag, static_cast<std::size_t>(count));
    return bytes;
}

ValuesView viewOf(const Shape& shape, const std::vector<double>& elements)
{
    ValuesView view{.name = "out", .memory = "VMEM", .elements = makeArray(DType::F32, shape)};
    view.color = Role::Operand3;
    view.defined = flags(shape.elements(), 1);
    view.arriving = flags(shape.elements(), 0);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        view.elements.as<float>()[i] = static_cast<float>(elements[i]);
    }
    return view;
}

ValuesView filled(const Shape& shape, double value)
{
    return viewOf(shape, std::vector<double>(static_cast<std::size_t>(shape.elements()), value));
}

void set(const SharedBytes& bytes, std::int64_t element, int flag)
{
    bytes.get()[element] = static_cast<std::byte>(flag);
}

// Some of everything.
ValuesView mixed(const Shape& shape, std::mt19937& draw)
{
    const std::vector<double> some{1, -2, 0.5, kInf, -kInf, kNan};
    std::vector<double> elements;
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
        elements.push_back(some[draw() % (draw() % 20 < 17 ? 3 : some.size())]);
    }
    ValuesView view = viewOf(shape, elements);
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
        set(view.defined, i, draw() % 10 == 0 ? 0 : 1);
        set(view.arriving, i, draw() % 12 == 0 ? 1 : 0);
    }
    return view;
}

} // namespace

TEST(Values, countsWhatIsNoNumberApartFromTheNumbers)
{
    ValuesView view = viewOf({3, 3}, {1, -3, kNan, kInf, -kInf, 5, 7, 0, 9});
    set(view.defined, 6, 0);  // the 7 is only what lies in undefined memory
    set(view.arriving, 8, 1); // the 9 is what the copy overwrites
    const values::Counts counts = values::countsOf(view);
    EXPECT_EQ(counts.values, 4);
    EXPECT_EQ(counts.nan, 1);
    EXPECT_EQ(counts.inf, 2);
    EXPECT_EQ(counts.undefined, 1);
    EXPECT_EQ(counts.arriving, 1);
    EXPECT_EQ(counts.least, -3);
    EXPECT_EQ(counts.largest, 5);
    EXPECT_EQ(counts.mean, 0.75);
    EXPECT_EQ(counts.leastMagnitude, 1);
}

// Against a search through all elements of each cell.
TEST(Values, aCellShowsTheWorstOfItsElements)
{
    std::mt19937 draw(1);
    const auto upTo = [&](std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(1, most)(draw);
    };
    for (int round = 0; round < 80; ++round) {
        const Shape shape{upTo(9), upTo(9)};
        const ValuesView view = mixed(shape, draw);
        const std::int64_t side = upTo(4);
        const values::Plane plane = values::planeOf(shape, 0);
        const values::Region region{upTo(shape[0]) - 1, upTo(shape[1]) - 1, upTo(9), upTo(9)};
        values::Region inside = region;
        inside.rows = std::min(region.rows, shape[0] - region.row);
        inside.columns = std::min(region.columns, shape[1] - region.column);
        const values::Scanned scanned = values::scan(view, plane, inside, side);
        const values::Cells& cells = scanned.cells;
        std::map<Kind, std::int64_t> kinds;
        for (std::int64_t r = 0; r < cells.rows; ++r) {
            for (std::int64_t c = 0; c < cells.columns; ++c) {
                Kind worst = Kind::None;
                double farthest = 0;
                for (std::int64_t i = 0; i < side * side; ++i) {
                    const std::int64_t row = r * side + i / side, column = c * side + i % side;
                    if (row >= inside.rows || column >= inside.columns) {
                        continue;
                    }
                    const std::int64_t element =
                        (inside.row + row) * shape[1] + inside.column + column;
                    const Kind kind = values::kindOf(view, element);
                    ++kinds[kind];
                    worst = std::max(worst, kind);
                    if (kind == Kind::Value) {
                        farthest = std::max(farthest, std::fabs(view.elements.at(element)));
                    }
                }
                const auto& cell = cells.cells[static_cast<std::size_t>(r * cells.columns + c)];
                ASSERT_EQ(cell.kind, worst) << "round " << round;
                if (worst == Kind::Value) {
                    ASSERT_EQ(std::fabs(cell.value), farthest) << "round " << round;
                }
            }
        }
        ASSERT_EQ(scanned.counts.values, kinds[Kind::Value]);
        ASSERT_EQ(scanned.counts.arriving, kinds[Kind::Arriving]);
        ASSERT_EQ(scanned.counts.undefined, kinds[Kind::Undefined]);
        ASSERT_EQ(scanned.counts.inf, kinds[Kind::Inf]);
        ASSERT_EQ(scanned.counts.nan, kinds[Kind::Nan]);
    }
}

// Every dtype has a reader; each must agree with the array's own.
TEST(Values, everyDtypeIsReadAsItsArrayReadsIt)
{
    for (const DTypeEntry& entry : kDTypes) {
        ValuesView view{.name = "x", .elements = normalArray(entry.type, {5, 40}, 7)};
        double least = kInf, largest = -kInf, sum = 0;
        for (std::int64_t i = 0; i < 200; ++i) {
            least = std::min(least, view.elements.at(i));
            largest = std::max(largest, view.elements.at(i));
            sum += view.elements.at(i);
        }
        const values::Counts counts = values::countsOf(view);
        EXPECT_EQ(counts.values, 200) << entry.name;
        EXPECT_EQ(counts.least, least) << entry.name;
        EXPECT_EQ(counts.largest, largest) << entry.name;
        EXPECT_DOUBLE_EQ(counts.mean, sum / 200) << entry.name;
    }
}

TEST(Values, aVectorIsWrappedAndAHigherRankShowsThePlaneOfTheElement)
{
    const values::Plane vector = values::planeOf({300}, 5);
    EXPECT_EQ(vector.columns, 128);
    EXPECT_EQ(vector.rows, 3);
    EXPECT_EQ(vector.at(2, 43), 299);
    EXPECT_FALSE(vector.at(2, 44)) << "the last row is not full";
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
    view.defined = flags(8 * 128, 0);
    const Scene scene = layoutValues(view, {}, {640, 500});
    EXPECT_FALSE(test::hasText(scene, "42"));
    EXPECT_TRUE(test::hasText(scene, "undefined"));
    EXPECT_NE(scene.caption.find("|1024| undefined"), std::string::npos) << scene.caption;
}

TEST(Values, elementsOnTheirWayAreNeverShownAsNumbers)
{
    ValuesView view = filled({8, 128}, 42);
    view.arriving = flags(8 * 128, 1);
    const Scene scene = layoutValues(view, {}, {640, 500});
    EXPECT_FALSE(test::hasText(scene, "42"));
    EXPECT_TRUE(test::hasText(scene, "on its way"));
    EXPECT_NE(scene.caption.find("|1024| on their way"), std::string::npos) << scene.caption;
}

TEST(Values, aRefOfWhichNothingIsDefinedNeedsNoData)
{
    const ValuesView view{.name = "out", .memory = "HBM", .elements = {DType::F32, {16, 16}, {}}};
    const ValuesSight sight = sightOf(view, {}, {400, 400});
    EXPECT_EQ(sight.all.undefined, 256);
    EXPECT_EQ(sight.all.values, 0);
    EXPECT_FALSE(rangeOf(sight));
}

TEST(Values, whatIsNotKnownShowsNoElementAndSaysWhy)
{
    ValuesView view{.name = "out", .memory = "HBM", .elements = {DType::F32, {16, 16}, {}}};
    view.unknown = "Nobody computed it.";
    const Scene scene = layoutValues(view, {}, {400, 400});
    EXPECT_TRUE(test::hasText(scene, "Nobody computed it."));
    EXPECT_FALSE(test::hasText(scene, "undefined"));
    EXPECT_FALSE(test::hasText(scene, "0"));
    EXPECT_NE(scene.caption.find("not known"), std::string::npos) << scene.caption;
}

TEST(Values, theNumbersAreThoseAroundTheElement)
{
    std::vector<double> elements;
    for (int i = 0; i < 64 * 64; ++i) {
        elements.push_back(i);
    }
    const ValuesSight sight = sightOf(viewOf({64, 64}, elements),
                                      {.element = std::vector<std::int64_t>{30, 40}}, {620, 500});
    const values::Region& table = sight.frame.numbers;
    EXPECT_GE(table.rows, 5);
    EXPECT_GE(table.columns, 5);
    EXPECT_LE(std::abs(table.row + table.rows / 2 - 30), 1);
    EXPECT_LE(std::abs(table.column + table.columns / 2 - 40), 1);
    const Scene scene = layoutSight(sight, ValuesScale::Range);
    EXPECT_TRUE(test::hasText(scene, "out[30, 40]"));
    for (std::int64_t row = table.row; row < table.row + table.rows; ++row) {
        for (std::int64_t column = table.column; column < table.column + table.columns; ++column) {
            EXPECT_TRUE(test::hasText(scene, std::to_string(row * 64 + column)))
                << row << ", " << column;
        }
    }
}

// The counts of the whole ref are the same whether all of it is in sight, a part, or one plane.
TEST(Values, theWholeIsCountedWhateverIsInSight)
{
    std::mt19937 draw(9);
    for (const Shape& shape : {Shape{300}, Shape{40, 50}, Shape{3, 4, 20, 30}}) {
        const ValuesView view = mixed(shape, draw);
        const values::Counts all = values::countsOf(view);
        for (const std::int64_t side : {0, 1}) {
            for (const Size size : {Size{347, 200}, {900, 900}}) {
                const ValuesSight sight = sightOf(view, {.side = side}, size);
                EXPECT_EQ(sight.all.values, all.values);
                EXPECT_EQ(sight.all.nan, all.nan);
                EXPECT_EQ(sight.all.undefined, all.undefined);
                EXPECT_EQ(sight.all.least, all.least);
                const ValuesSight known = sightOf(view, {.side = side}, size, all);
                EXPECT_EQ(known.element, sight.element);
                EXPECT_EQ(known.cells.cells, sight.cells.cells);
                EXPECT_EQ(known.frame.region, sight.frame.region);
            }
        }
    }
}

// A range that is held only grows.
TEST(Values, aHeldRangeCoversWhatItCoveredBefore)
{
    const Size size{640, 500};
    const auto range = [&](double value, const std::optional<ValuesRange>& held) {
        return rangeOf(sightOf(filled({4, 4}, value), {}, size), held);
    };
    const auto first = range(3, {});
    ASSERT_TRUE(first);
    EXPECT_EQ(*first, (ValuesRange{3, 3, 3}));
    const auto second = range(-2, first);
    EXPECT_EQ(*second, (ValuesRange{-2, 3, 2}));
    EXPECT_EQ(range(1, second), (ValuesRange{-2, 3, 1}));
    EXPECT_EQ(range(0, second), (ValuesRange{-2, 3, 2})) << "0 has no magnitude";
}

// A point of the map and the element there, over shapes, sizes of cells and corners.
TEST(Values, aPointOfTheMapIsAnElementOfItsCell)
{
    std::mt19937 draw(3);
    const std::vector<Shape> shapes{{7}, {300}, {8, 128}, {64, 64}, {2, 3, 40, 24}, {2048, 3}};
    for (const Shape& shape : shapes) {
        for (const std::int64_t side : {0, 1, 2, 4}) {
            const ValuesSight sight =
                sightOf(filled(shape, 1),
                        {.element = indexOf(shape, shape.elements() / 2),
                         .side = side,
                         .corner = std::pair(std::int64_t{5}, std::int64_t{9})},
                        {420, 420});
            const values::Frame& frame = sight.frame;
            EXPECT_LE(frame.region.row + frame.region.rows, sight.plane.rows);
            EXPECT_LE(frame.region.column + frame.region.columns, sight.plane.columns);
            for (int i = 0; i < 50; ++i) {
                std::uniform_real_distribution<double> share(0, 1);
                const double x = frame.map.x + share(draw) * frame.map.w;
                const double y = frame.map.y + share(draw) * frame.map.h;
                const auto element = elementAt(sight, x, y);
                if (!element) {
                    EXPECT_LT(shape.rank(), 2U) << "only the last row of a vector is not full";
                    continue;
                }
                const auto cell = [&](double px) {
                    return static_cast<std::int64_t>(px / frame.px);
                };
                const std::int64_t row = sight.plane.rowOf(*element) - frame.region.row;
                const std::int64_t column = sight.plane.columnOf(*element) - frame.region.column;
                EXPECT_EQ(row / frame.side, cell(y - frame.map.y)) << toString(shape);
                EXPECT_EQ(column / frame.side, cell(x - frame.map.x)) << toString(shape);
            }
        }
    }
}

TEST(Values, aDifferenceIsOneOfElementsThatBothRefsHave)
{
    std::mt19937 draw(11);
    const Shape shape{12, 20};
    const ValuesView a = mixed(shape, draw), b = mixed(shape, draw);
    const ValuesView difference = values::differenceOf(a, b);
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
        const Kind kinds[] = {values::kindOf(a, i), values::kindOf(b, i)};
        const auto either = [&](Kind kind) { return kinds[0] == kind || kinds[1] == kind; };
        const double expected = a.elements.at(i) - b.elements.at(i);
        const Kind kind = either(Kind::Arriving)    ? Kind::Arriving
                          : either(Kind::Undefined) ? Kind::Undefined
                          : std::isnan(expected)    ? Kind::Nan
                          : std::isinf(expected)    ? Kind::Inf
                                                    : Kind::Value;
        ASSERT_EQ(values::kindOf(difference, i), kind) << i;
        if (kind == Kind::Value || kind == Kind::Inf) {
            ASSERT_EQ(values::valueOf(difference, i), expected) << i;
        }
    }
}

TEST(Values, nothingLeavesThePictureForAnyShapeAndSize)
{
    std::mt19937 draw(5);
    const std::vector<Shape> shapes{{},         {1},       {7},       {1000},         {8, 128},
                                    {512, 512}, {1, 4096}, {2048, 1}, {2, 3, 16, 24}, {0, 8}};
    for (const Shape& shape : shapes) {
        for (const Size size : {Size{347, 160}, {360, 300}, {640, 520}, {1600, 900}}) {
            for (const ValuesScale scale : {ValuesScale::Range, ValuesScale::Log}) {
                for (const std::int64_t side : {0, 1, 8}) {
                    ValuesView view = mixed(shape, draw);
                    if (shape.rank() > 1) {
                        view.block = shape;
                        view.block[shape.rank() - 1] = std::max<Extent>(1, shape[1] / 4);
                    }
                    const Scene scene = layoutValues(view, {.scale = scale, .side = side}, size);
                    EXPECT_TRUE(test::textsOutside(scene).empty())
                        << toString(shape) << " " << size.width << " side " << side << ": "
                        << test::textsOutside(scene).front();
                }
            }
        }
    }
}
