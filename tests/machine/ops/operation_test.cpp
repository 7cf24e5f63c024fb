#include "core/ir/opcodes.h"
#include "tests/machine/ops/operation_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace pallascope::machine_test {

namespace {

class Operation : public testing::TestWithParam<std::string_view>
{};

std::vector<OperationCase> allCases()
{
    std::vector<OperationCase> cases = elementwiseCases();
    for (const auto& more :
         {structuralCases(), manualDmaCases(), wholeCases(), gpuCases(), tensorCases()}) {
        cases.insert(cases.end(), more.begin(), more.end());
    }
    return cases;
}

std::vector<std::string_view> allNames()
{
    std::vector<std::string_view> names;
    for (const OperationCase& one : allCases()) {
        names.push_back(one.operation);
    }
    return names;
}

} // namespace

TEST_P(Operation, computesWhatItsNameSays)
{
    const std::vector<OperationCase> cases = allCases();
    const auto found = std::find_if(cases.begin(), cases.end(), [](const OperationCase& candidate) {
        return candidate.operation == GetParam();
    });
    ASSERT_NE(found, cases.end());
    found->check();
}

INSTANTIATE_TEST_SUITE_P(All, Operation, testing::ValuesIn(allNames()),
                         [](const auto& entry) { return std::string(entry.param); });

// tests/ops has the cases of all operations on values; this is about the others.
TEST(OperationCases, coverWhatTheEngineItselfDoes)
{
    const std::vector<std::string_view> names = allNames();
    for (const ir::OpEntry& entry : ir::opTable()) {
        const bool engines = ir::isEvaluatedByEngine(entry.code);
        const bool found = std::find(names.begin(), names.end(), entry.name) != names.end();
        EXPECT_TRUE(found || !engines) << entry.name << " has no case";
    }
}

TEST(OperationCases, areOnePerOperation)
{
    std::vector<std::string_view> names;
    for (const OperationCase& one : allCases()) {
        EXPECT_TRUE(ir::opFromName(one.operation)) << one.operation << " is no operation";
        names.push_back(one.operation);
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

} // namespace pallascope::machine_test
