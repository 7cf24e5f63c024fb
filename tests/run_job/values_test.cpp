// What the Values dock asks of a run: its refs, and their elements at any moment.
#include "app/run_job/values_numpy.h"
#include "app/run_job/values_source.h"
#include "core/base/element.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

using namespace pallascope;
using namespace pallascope::app;

namespace {

RunRequest smallMatmul(bool fullValues)
{
    RunRequest request{.chip = "tpu_v5e", .fullValues = fullValues, .check = false};
    for (const char* size : {"m", "n", "k"}) {
        request.parameters[size] = "256";
    }
    for (const char* name : {"bm", "bn", "bk"}) {
        request.parameters[name] = "128";
    }
    return request;
}

struct Opened
{
    FinishedRun run;
    std::unique_ptr<ValuesSource> values;
};

Opened opened(const RunRequest& request, bool isReopened = false)
{
    Opened both{*runKernel(request), nullptr};
    both.values = std::move(*openValues(both.run.request, *both.run.view, isReopened));
    return both;
}

std::size_t refOf(const ValuesSource& values, const std::string& name, const std::string& memory)
{
    for (std::size_t i = 0; i < values.refs().size(); ++i) {
        if (values.refs()[i].name == name && values.refs()[i].memory == memory) {
            return i;
        }
    }
    throw std::runtime_error("no ref " + name);
}

layout::ValuesSight look(ValuesSource& values, const ValuesAsk& ask)
{
    return std::move(**values.look(ask, {}));
}

layout::ValuesView smallView(DType dtype)
{
    layout::ValuesView view{.name = "x", .memory = "VMEM", .elements = makeArray(dtype, {2, 3})};
    for (std::int64_t i = 0; i < 6; ++i) {
        writeElement(dtype, view.elements.data.get(), i, static_cast<double>(i + 1));
    }
    return view;
}

} // namespace

TEST(ValuesSource, offersEveryRefOnceWithItsArraysCut)
{
    const Opened both = opened(smallMatmul(true));
    const auto& refs = both.values->refs();
    ASSERT_EQ(refs.size(), 6U);
    EXPECT_EQ(refs[0].name, "x");
    EXPECT_EQ(refs[0].memory, "HBM");
    EXPECT_EQ(refs[0].block, (Shape{128, 128}));
    const ValuesRef& slot = refs[refOf(*both.values, "out", "VMEM")];
    EXPECT_TRUE(slot.isBlock);
    EXPECT_EQ(slot.shape, (Shape{128, 128}));
    EXPECT_EQ(slot.color, refs[refOf(*both.values, "out", "HBM")].color);
    EXPECT_TRUE(both.values->note().empty());
}

// The same moments in any order give the same pictures.
TEST(ValuesSource, goesToAnyMomentInAnyOrder)
{
    Opened both = opened(smallMatmul(true));
    const std::size_t out = refOf(*both.values, "out", "HBM");
    const Picoseconds end = both.run.view->trace->end();
    std::vector<std::int64_t> undefined;
    constexpr std::int64_t kMoments = 24;
    const auto at = [&](std::int64_t moment) {
        return look(*both.values, {.time = Picoseconds(end.value() * moment / kMoments),
                                   .ref = out,
                                   .size = {400, 400}})
            .all;
    };
    for (std::int64_t i = 0; i <= kMoments; ++i) {
        undefined.push_back(at(i).undefined);
    }
    EXPECT_EQ(undefined.front(), 256 * 256);
    EXPECT_EQ(undefined.back(), 0);
    EXPECT_TRUE(std::is_sorted(undefined.rbegin(), undefined.rend()));
    std::mt19937 draw(1);
    for (int round = 0; round < 60; ++round) {
        const auto moment = static_cast<std::int64_t>(draw() % (kMoments + 1));
        EXPECT_EQ(at(moment).undefined, undefined[static_cast<std::size_t>(moment)]) << moment;
    }
}

TEST(ValuesSource, saysOfARefThatIsNotThereThatItIsNot)
{
    Opened both = opened(smallMatmul(true));
    const layout::ValuesSight sight = look(*both.values, {.time = both.run.view->trace->end(),
                                                          .ref = refOf(*both.values, "x", "VMEM"),
                                                          .size = {400, 400}});
    EXPECT_NE(sight.unknown.find("does not exist at this moment"), std::string::npos);
    EXPECT_TRUE(sight.numbers.empty());
}

TEST(ValuesSource, knowsOnlyWhatDecidesTheTimeIfValuesAreNeededOnes)
{
    Opened both = opened(smallMatmul(false));
    for (std::size_t i = 0; i < both.values->refs().size(); ++i) {
        EXPECT_FALSE(both.values->refs()[i].isKnown);
        const layout::ValuesSight sight =
            look(*both.values, {.time = both.run.view->trace->end(), .ref = i, .size = {400, 400}});
        EXPECT_NE(sight.unknown.find("is not known"), std::string::npos);
        EXPECT_TRUE(sight.cells.cells.empty() && sight.numbers.empty());
    }
    EXPECT_TRUE(both.values->note().empty()) << "no ref is known";
}

// Two devices, the second of which holds other numbers.
TEST(ValuesSource, looksForTheFirstAgentOfTheDeviceThatIsAskedFor)
{
    const Opened both = opened({.kernel = PALLASCOPE_DOCS "/../tests/golden/two_gpus.kernel.json",
                                .chip = "h100_sxm",
                                .check = false});
    const trace::Info& info = both.run.view->trace->info();
    ASSERT_EQ(info.deviceCount(), 2);
    const std::string ofSecond = info.agents[info.agentsPerDevice()];
    bool differ = false;
    for (std::size_t ref = 0; ref < both.values->refs().size(); ++ref) {
        const auto seen = [&](std::optional<std::int32_t> device, const std::string& agent) {
            const ValuesAsk ask{.time = both.run.view->trace->end(),
                                .ref = ref,
                                .agent = agent,
                                .device = device,
                                .size = {400, 400}};
            return look(*both.values, ask).numbers;
        };
        const auto numbersOf = [](const auto& numbers) {
            std::string all;
            for (const auto& number : numbers) {
                all += std::to_string(number.value) + " ";
            }
            return all;
        };
        const std::string first = numbersOf(seen(0, "")), second = numbersOf(seen(1, ""));
        EXPECT_EQ(first, numbersOf(seen({}, "")));
        EXPECT_EQ(second, numbersOf(seen(1, ofSecond)));
        differ = differ || first != second;
    }
    EXPECT_TRUE(differ);
}

TEST(ValuesSource, refusesAKernelThatIsNotTheTracesOwn)
{
    const FinishedRun run = *runKernel(smallMatmul(false));
    RunRequest other = smallMatmul(false);
    other.parameters["dtype"] = "f32";
    const auto values = openValues(other, *run.view, true);
    ASSERT_FALSE(values);
    EXPECT_NE(values.error().message.find("not the kernel any more"), std::string::npos);
}

TEST(ValuesNumpy, writesFloatsThatPythonReads)
{
    layout::ValuesView view = smallView(DType::F32);
    view.elements.as<float>()[1] = std::numeric_limits<float>::infinity();
    view.elements.as<float>()[2] = std::numeric_limits<float>::quiet_NaN();
    view.elements.as<float>()[3] = 0.1F;
    view.defined = allocateBytes(6);
    std::memset(view.defined.get(), 1, 6);
    view.defined[4] = std::byte{0};
    EXPECT_EQ(numpyText(view, layout::values::planeOf({2, 3}, 0), {0, 0, 2, 3}),
              "# x[0:2, 0:3] in VMEM, 1 undefined or on its way\n"
              "np.array([[1, np.inf, np.nan],\n [0.1, np.nan, 6]], dtype=np.float32)\n");
}

TEST(ValuesNumpy, masksIntegersThatAreUndefined)
{
    layout::ValuesView view = smallView(DType::Int32);
    view.arriving = allocateBytes(6);
    std::memset(view.arriving.get(), 0, 6);
    view.arriving[0] = std::byte{1};
    EXPECT_EQ(numpyText(view, layout::values::planeOf({2, 3}, 0), {0, 0, 1, 2}),
              "# x[0:1, 0:2] in VMEM, 1 undefined or on its way\n"
              "np.ma.array([[0, 2]],\n mask=[[1, 0]], dtype=np.int32)\n");
    EXPECT_FALSE(npyBytes(view)) << "no integer says that it is undefined";
}

TEST(ValuesNumpy, aFileHasAllElementsBehindItsHeader)
{
    const Result<std::string> bytes = npyBytes(smallView(DType::BF16));
    ASSERT_TRUE(bytes);
    EXPECT_EQ(bytes->substr(1, 5), "NUMPY");
    std::uint16_t last = 0;
    std::memcpy(&last, bytes->data() + bytes->size() - 2, 2);
    EXPECT_EQ(bf16ToFloat(last), 6);
}
