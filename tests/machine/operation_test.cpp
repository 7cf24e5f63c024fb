#include "core/ir/opcodes.h"
#include "tests/machine/operation_cases.h"

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
    for (OperationCase& structural : structuralCases()) {
        cases.push_back(std::move(structural));
    }
    return cases;
}

std::vector<std::string_view> allNames()
{
    std::vector<std::string_view> names;
    for (const ir::OpEntry& entry : ir::opTable()) {
        names.push_back(entry.name);
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
    ASSERT_NE(found, cases.end()) << GetParam() << " has no case";
    found->check();
}

INSTANTIATE_TEST_SUITE_P(All, Operation, testing::ValuesIn(allNames()),
                         [](const auto& entry) { return std::string(entry.param); });

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
