// Every parameter of every kernel: what it accepts, and the sentence for what it does not accept.
#include "tests/kernels/support.h"

#include <gtest/gtest.h>

#include <set>

namespace pallascope::kernel_test {

namespace {

using kernels::Kernel;
using kernels::Parameter;

template<class Visit>
void forEveryParameter(Parameter::Type type, const Visit& visit)
{
    int visited = 0;
    for (const Kernel& kernel : kernels::all()) {
        for (const Parameter& parameter : kernel.parameters) {
            if (parameter.type == type) {
                SCOPED_TRACE(kernel.name + " " + parameter.name);
                visit(kernel, parameter);
                ++visited;
            }
        }
    }
    EXPECT_GT(visited, 0);
}

std::string messageOf(const Kernel& kernel, const std::string& name, const std::string& value)
{
    const auto result = kernels::arguments(kernel, {{name, value}});
    EXPECT_FALSE(result) << "\"" << value << "\" was accepted";
    if (result) {
        return "";
    }
    EXPECT_EQ(result.error().about, (std::vector<About>{{Subject::Parameter, name}}));
    return result.error().message;
}

bool accepts(const Kernel& kernel, const std::string& name, const std::string& value)
{
    return kernels::arguments(kernel, {{name, value}}).has_value();
}

std::string said(const Kernel& kernel, const Parameter& parameter, const std::string& value)
{
    return "The parameter " + parameter.name + " of " + kernel.name + " is \"" + value + "\"; ";
}

const std::vector<std::string> kNotWhole{
    "", "abc", "1.5", "1e3", " 5", "5 ", "+5", "0x8", "--1", "99999999999999999999", "512k", "½"};

} // namespace

TEST(Kernels, areListedOnceAndTraceWithTheirDefaults)
{
    std::set<std::string> names;
    for (const Kernel& kernel : kernels::all()) {
        SCOPED_TRACE(kernel.name);
        EXPECT_TRUE(names.insert(kernel.name).second);
        EXPECT_EQ(kernels::find(kernel.name), &kernel);
        EXPECT_FALSE(kernel.help.empty());
        const auto arguments = kernels::arguments(kernel, {});
        ASSERT_TRUE(arguments);
        EXPECT_EQ(arguments->all().size(), kernel.parameters.size());
        EXPECT_TRUE(kernel.build(*arguments));
        EXPECT_FALSE(kernels::sourceText("kernels/" + kernel.name + ".cpp").empty());
        for (const Parameter& parameter : kernel.parameters) {
            EXPECT_FALSE(parameter.help.empty()) << parameter.name;
        }
    }
    EXPECT_EQ(kernels::find("nothing"), nullptr);
}

// What the builder writes out for a kernel is where the kernel asks for it: the builder's own text
// is in no trace.
TEST(Kernels, haveAllTheirOperationsInTheirOwnSources)
{
    for (const Kernel& kernel : kernels::all()) {
        const ir::Program program = *kernel.build(*kernels::arguments(kernel, {}));
        ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
            const std::string where = program.where(operation.location);
            EXPECT_EQ(where.find("builder"), std::string::npos)
                << ir::opName(operation.code) << " at " << where;
        });
    }
}

TEST(Parameters, thatAKernelLacksAreRefusedWithThoseItHas)
{
    const auto result = kernels::arguments(*kernels::find("add_vectors"), {{"bm", "8"}});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message,
              "The kernel add_vectors has no parameter \"bm\"; expected shape, block or dtype.");
}

TEST(IntegerParameters, takeTheirRangeAndNothingBeyond)
{
    forEveryParameter(Parameter::Type::Integer, [](const Kernel& kernel, const Parameter& p) {
        ASSERT_LT(p.minimum, p.maximum);
        EXPECT_TRUE(accepts(kernel, p.name, std::to_string(p.minimum)));
        EXPECT_TRUE(accepts(kernel, p.name, std::to_string(p.maximum)));
        std::vector<std::string> wrong = kNotWhole;
        wrong.push_back(std::to_string(p.minimum - 1));
        wrong.push_back(std::to_string(p.maximum + 1));
        wrong.push_back("-5");
        for (const std::string& value : wrong) {
            EXPECT_EQ(messageOf(kernel, p.name, value),
                      said(kernel, p, value) + "expected a whole number from "
                          + std::to_string(p.minimum) + " to " + std::to_string(p.maximum) + ".");
        }
    });
}

TEST(ChoiceParameters, takeTheirChoicesOnly)
{
    forEveryParameter(Parameter::Type::Choice, [](const Kernel& kernel, const Parameter& p) {
        ASSERT_GE(p.choices.size(), 2U);
        std::string listed;
        for (std::size_t i = 0; i < p.choices.size(); ++i) {
            EXPECT_TRUE(accepts(kernel, p.name, p.choices[i]));
            listed += p.choices[i]
                      + (i + 2 < p.choices.size()    ? ", "
                         : i + 2 == p.choices.size() ? " or "
                                                     : "");
        }
        for (const std::string value : {"", "f64", "IJK", "ijkl", "0"}) {
            EXPECT_EQ(messageOf(kernel, p.name, value),
                      said(kernel, p, value) + "expected " + listed + ".");
        }
    });
}

TEST(ChoiceParameters, takeADTypeByAnyOfItsNames)
{
    for (const char* kernel : {"matmul", "matmul_scratch", "add_vectors", "hopper_matmul"}) {
        for (const char* name : {"bf16", "bfloat16"}) {
            const auto taken = kernels::arguments(*kernels::find(kernel), {{"dtype", name}});
            ASSERT_TRUE(taken) << kernel << " " << name;
            EXPECT_EQ(taken->text("dtype"), "bf16");
            EXPECT_EQ(taken->dtype("dtype"), DType::BF16);
        }
    }
    EXPECT_NE(messageOf(*kernels::find("matmul"), "dtype", "float16").find("\"float16\""),
              std::string::npos);
}

TEST(ShapeParameters, takeUpToEightExtentsThatDoNotOverflow)
{
    forEveryParameter(Parameter::Type::Shape, [](const Kernel& kernel, const Parameter& p) {
        for (const char* value : {"1", "3,2,128,4", "3x2x128x4", "1,1,1,1,1,1,1,1"}) {
            EXPECT_TRUE(accepts(kernel, p.name, value)) << value;
        }
        std::vector<std::string> wrong = kNotWhole;
        for (const char* value : {"0", "4,0", "-3", "4,", ",4", "4,,4", "1,1,1,1,1,1,1,1,1"}) {
            wrong.emplace_back(value);
        }
        wrong.push_back(std::to_string(p.maximum + 1));
        for (const std::string& value : wrong) {
            EXPECT_EQ(messageOf(kernel, p.name, value),
                      said(kernel, p, value) + "expected up to 8 whole numbers from "
                          + std::to_string(p.minimum) + " to " + std::to_string(p.maximum)
                          + " such as 3,2,128,4.");
        }
        // 2^24 four times is 2^96 elements, which does not fit in 64 bits. 2^48 does, but is more
        // than 2^40.
        for (const char* value : {"16777216,16777216,16777216,16777216", "16777216,16777216"}) {
            EXPECT_EQ(messageOf(kernel, p.name, value),
                      said(kernel, p, value) + "expected at most 2^40 elements.");
        }
    });
}

} // namespace pallascope::kernel_test
