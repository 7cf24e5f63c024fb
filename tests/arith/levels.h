// The levels of instructions as a parameter of tests.
#pragma once

#include "core/machine/arith/dot.h"

#include <gtest/gtest.h>

#include <string>

namespace pallascope::arith {

[[nodiscard]] inline auto everyLevel()
{
    return testing::Values(DotLevel::V2, DotLevel::V3, DotLevel::V4);
}

[[nodiscard]] inline std::string levelName(const testing::TestParamInfo<DotLevel>& level)
{
    switch (level.param) {
    case DotLevel::V2:
        return "V2";
    case DotLevel::V3:
        return "V3";
    case DotLevel::V4:
        return "V4";
    }
    return "unknown";
}

} // namespace pallascope::arith
