// Compares the events of runs with schedules recorded from JAX's emit_pipeline
// (pipeline_golden.json).
#include "tests/machine/support.h"
#include "tests/machine/table_pipeline.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace pallascope::machine_test {

namespace {

using nlohmann::json;

const json& golden()
{
    static const json kGolden = json::parse(
        std::ifstream(std::string(PALLASCOPE_MACHINE_TESTS) + "/engine/pipeline_golden.json"));
    return kGolden;
}

TablePipeline pipelineOf(const json& test)
{
    TablePipeline pipeline{test.at("grid").get<std::vector<Extent>>(),
                           {},
                           std::stoi(test.at("version").get<std::string>().substr(2))};
    for (const json& operand : test.at("operands")) {
        const bool in = operand.at("kind") != "out", out = operand.at("kind") != "in";
        pipeline.operands.push_back(
            {operand.at("name").get<std::string>(), in ? operand.at("in_buffers").get<int>() : 0,
             out ? operand.at("out_buffers").get<int>() : 0, operand.at("trivial").get<bool>(),
             operand.at("lookahead").get<bool>(), operand.at("prefetched").get<int>(),
             operand.at("block_index").get<std::vector<Index>>()});
    }
    return pipeline;
}

// The name of a scope without the number of its stage, which a trace does not keep.
std::string phaseOf(std::string scope)
{
    while (!scope.empty() && std::string("_0123456789").find(scope.back()) != std::string::npos) {
        scope.pop_back();
    }
    return scope;
}

std::vector<Event> recordedEvents(const json& test)
{
    std::vector<Event> events;
    for (const json& event : test.at("events")) {
        events.push_back({event.at(0).get<std::int64_t>(), phaseOf(event.at(1).get<std::string>()),
                          event.at(2).get<std::string>(), event.at(3).get<std::string>(),
                          event.at(4).get<Index>(), event.at(5).get<std::int64_t>()});
    }
    return events;
}

std::vector<Array> shapesOf(const ir::Program& program)
{
    std::vector<Array> shapes;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            shapes.push_back({DType::F32, program.type(argument.ref).shape, nullptr});
        }
    }
    return shapes;
}

class GoldenSchedule : public testing::TestWithParam<std::string>
{};

std::vector<std::string> caseNames()
{
    std::vector<std::string> names;
    for (const auto& [name, test] : golden().items()) {
        names.push_back(name);
    }
    return names;
}

} // namespace

TEST(GoldenSchedules, areAllThere)
{
    EXPECT_EQ(golden().size(), 17U);
}

TEST_P(GoldenSchedule, isWhatTheMachineDoes)
{
    const json& test = golden().at(GetParam());
    const TablePipeline pipeline = pipelineOf(test);
    const ir::Program program = tableProgram(pipeline);
    const machine::RunResult run = mustRun(program, shapesOf(program), machine::ValueMode::Needed);
    EXPECT_EQ(toString(eventsOf(*run.trace, pipeline)), toString(recordedEvents(test)));
    EXPECT_EQ(orderFault(*run.trace), "");
}

TEST_P(GoldenSchedule, isWhatTheOracleOfTheseTestsSays)
{
    const json& test = golden().at(GetParam());
    const TablePipeline pipeline = pipelineOf(test);
    EXPECT_EQ(toString(expectedEvents(pipeline.steps(), pipeline.operands, pipeline.release)),
              toString(recordedEvents(test)));
}

INSTANTIATE_TEST_SUITE_P(Jax, GoldenSchedule, testing::ValuesIn(caseNames()),
                         [](const auto& param) { return param.param; });

} // namespace pallascope::machine_test
