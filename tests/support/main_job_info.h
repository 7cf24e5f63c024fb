// The info half of the synthetic main job. Private to tests/support.
#pragma once

#include "core/trace/info.h"

namespace pallascope::test {

// Rows of Info that the row builder refers to.
inline constexpr std::int32_t kX = 0, kY = 1, kOut = 2;
inline constexpr std::int32_t kZeroFill = 0, kDot = 1, kOverhead = 2; // templates

inline constexpr std::int64_t kClock = 1'500'000'000;
inline constexpr std::int64_t kStepOverhead = 330'000;         // ps
inline constexpr double kLinkRate = 819e9, kEfficiency = 0.80; // B/s

[[nodiscard]] trace::Info mainJobInfo(int block, int size);

} // namespace pallascope::test
