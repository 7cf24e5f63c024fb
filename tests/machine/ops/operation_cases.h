// One case for each operation of the IR: its result is compared with plain C++ or Eigen. A new
// operation needs a row in elementwise_cases.cpp, or a function in structural_cases.cpp,
// manual_dma_cases.cpp or whole_cases.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

namespace pallascope::machine_test {

// The smallest and the largest int32, as an operand.
inline constexpr double kMin = std::numeric_limits<std::int32_t>::min();
inline constexpr double kMax = std::numeric_limits<std::int32_t>::max();

struct OperationCase
{
    std::string_view operation;  // the jaxpr's name
    std::function<void()> check; // with GoogleTest's expectations
};

[[nodiscard]] std::vector<OperationCase> elementwiseCases();
[[nodiscard]] std::vector<OperationCase> structuralCases();
[[nodiscard]] std::vector<OperationCase> manualDmaCases();
[[nodiscard]] std::vector<OperationCase> wholeCases();
[[nodiscard]] std::vector<OperationCase> gpuCases();
[[nodiscard]] std::vector<OperationCase> tensorCases();

} // namespace pallascope::machine_test
