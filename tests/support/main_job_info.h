// The info half of the trace of the synthetic main job. Only tests/support uses it.
#pragma once

#include "core/trace/info.h"

namespace pallascope::test {

// The rows of Info that the code for the row half refers to.
inline constexpr std::int32_t kX = 0, kY = 1, kOut = 2;
inline constexpr std::int32_t kZeroFill = 0, kDot = 1, kOverhead = 2; // rows of templates

inline constexpr std::int64_t kClock = 1'500'000'000;
inline constexpr std::int64_t kStepOverhead = 330'000; // ps
// Bytes per second, and the share of it that is achieved.
inline constexpr double kLinkRate = 819e9, kEfficiency = 0.80;

[[nodiscard]] trace::Info mainJobInfo(int block, int size);

} // namespace pallascope::test
