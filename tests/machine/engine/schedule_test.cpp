// Random pipelines: their events are compared with those of the tests' oracle, their values with
// those of a plain loop.
#include "tests/machine/support.h"
#include "tests/machine/table_pipeline.h"
#include "tests/support/tried.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pallascope::machine_test {

namespace {

std::vector<Array> inputsOf(const ir::Program& program, std::uint64_t seed, bool data)
{
    std::vector<Array> inputs;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const Shape& shape = program.type(argument.ref).shape;
            inputs.push_back(data ? normalArray(DType::F32, shape, seed++)
                                  : Array{DType::F32, shape, nullptr});
        }
    }
    return inputs;
}

struct Element // of an array: its block, and its number there
{
    Index block;
    std::int64_t number = 0;
};

std::vector<Element> elementsByBlock(const Shape& shape)
{
    std::vector<Element> elements;
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
        Element element{Index(shape.rank()), i};
        std::int64_t rest = i;
        for (std::size_t axis = shape.rank(); axis-- > 0;) {
            element.block[axis] = rest % shape[axis] / kBlockSize;
            rest /= shape[axis];
        }
        elements.push_back(std::move(element));
    }
    return elements;
}

float largestOfBlock(const Array& array, const Index& block)
{
    float largest = -std::numeric_limits<float>::infinity();
    for (const Element& element : elementsByBlock(array.shape)) {
        if (element.block == block) {
            largest = std::max(largest, static_cast<float>(array.at(element.number)));
        }
    }
    return largest;
}

// What the body of tableProgram leaves in every output, computed without a pipeline. The last step
// that visits a block decides its value; a block that no step visits stays undefined (NaN).
std::vector<double> expectedOutput(const TablePipeline& pipeline, const std::vector<Array>& inputs,
                                   const OracleOperand& output, const Shape& shape)
{
    std::vector<double> values(static_cast<std::size_t>(shape.elements()),
                               std::numeric_limits<double>::quiet_NaN());
    const std::vector<Element> elements = elementsByBlock(shape);
    for (std::int64_t step = 0; step < pipeline.steps(); ++step) {
        float sum = 1.0F + static_cast<float>(step);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            sum += largestOfBlock(inputs[i],
                                  pipeline.operands[i].blockAt[static_cast<std::size_t>(step)]);
        }
        for (const Element& element : elements) {
            if (element.block == output.blockAt[static_cast<std::size_t>(step)]) {
                values[static_cast<std::size_t>(element.number)] = static_cast<double>(sum);
            }
        }
    }
    return values;
}

bool sameNumber(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

} // namespace

class RandomPipelines : public testing::TestWithParam<int>
{};

TEST_P(RandomPipelines, haveExactlyTheEventsOfThePublishedSchedule)
{
    const auto kPipelines = test::tried<std::int64_t>(1500);
    std::int64_t events = 0, inOuts = 0, trivial = 0, lookahead = 0, indirect = 0;
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(kPipelines); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const TablePipeline pipeline = randomPipeline(random, {.release = GetParam()});
        const ir::Program program = tableProgram(pipeline);
        const machine::RunResult run =
            mustRun(program, inputsOf(program, 0, false), machine::ValueMode::Needed);
        const std::vector<Event> expected =
            expectedEvents(pipeline.steps(), pipeline.operands, pipeline.release);
        const std::vector<Event> actual = eventsOf(*run.trace, pipeline);
        if (actual != expected) {
            ASSERT_EQ(toString(actual), toString(expected));
        }
        ASSERT_EQ(orderFault(*run.trace), "");
        events += static_cast<std::int64_t>(expected.size());
        for (const OracleOperand& operand : pipeline.operands) {
            inOuts += operand.inBuffers > 0 && operand.outBuffers > 0 ? 1 : 0;
            trivial += operand.trivial ? 1 : 0;
            lookahead += operand.lookahead ? 1 : 0;
            indirect += operand.indirect ? 1 : 0;
        }
    }
    // The generator must keep making what the test is for.
    EXPECT_GT(events, 40 * kPipelines);
    EXPECT_GT(inOuts, kPipelines / 5);
    EXPECT_GT(trivial, kPipelines / 5);
    EXPECT_GT(lookahead, kPipelines / 5);
    EXPECT_GT(indirect, GetParam() == 9 ? -1 : kPipelines / 5);
}

INSTANTIATE_TEST_SUITE_P(Jax0, RandomPipelines, testing::Values(9, 10, 11, 12));

// The tests above would pass with correct events and wrong data. The numbers must be those of a
// plain loop.
TEST(RandomPipelineValues, areThoseOfAPlainLoop)
{
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const TablePipeline pipeline = randomPipeline(random, {.inOuts = false});
        const ir::Program program = tableProgram(pipeline);
        const std::vector<Array> inputs = inputsOf(program, seed, true);
        const machine::RunResult run = mustRun(program, inputs);
        for (std::size_t o = 0; o < run.outputs.size(); ++o) {
            const std::vector<double> expected = expectedOutput(
                pipeline, inputs, pipeline.operands[inputs.size() + o], run.outputs[o].shape);
            const std::vector<double> actual = elementsOf(run.outputs[o]);
            for (std::size_t i = 0; i < expected.size(); ++i) {
                ASSERT_TRUE(sameNumber(actual[i], expected[i]))
                    << "output " << o << " element " << i << " is " << actual[i] << ", not "
                    << expected[i];
            }
        }
    }
}

} // namespace pallascope::machine_test
