// What stands in for figures that nobody has published, as people read it.
#include "core/chip/stand_in.h"
#include "tests/chip/chip_file.h"

#include <gtest/gtest.h>

#include <map>

namespace pallascope::chip {

namespace {

Chip shippedChip(const std::string& name)
{
    return parse(chipText(name), name + ".json").value();
}

std::string standInOf(const Chip& chip, const std::string& name)
{
    for (const UnknownFigure& figure : chip.unknown) {
        if (figure.name == name) {
            return standInText(chip, figure);
        }
    }
    return "none";
}

} // namespace

TEST(StandIn, hasTheUnitOfItsFigure)
{
    const Chip v6e = shippedChip("tpu_v6e");
    for (const auto& [figure, text] : std::map<std::string, std::string>{
             {"SPMEM/bytes", "8 MiB"},
             {"SC VPU/count", "1"},
             {"SC VPU/cycles_per_register", "1 cycle"},
             {"SC VPU/peak_flops_per_s", "0.4 TFLOP/s"},
             {"vector subcore/step_overhead_s", "0.33 \u00b5s"},
             {"scalar subcore/clock_hz", "1.75 GHz"},
         }) {
        EXPECT_EQ(standInOf(v6e, figure), text) << figure;
    }
    EXPECT_EQ(standInOf(shippedChip("tpu_v7x"), "MXU/rates/int8/cycles_per_row"), "0.500 cycles");
}

// A kernel runs on one of the two devices of a v7x chip, and so the listing shows 16 MiB of SPMEM.
TEST(StandIn, ofWhatDevicesShareIsThePartOfOne)
{
    const Chip v7x = shippedChip("tpu_v7x");
    EXPECT_EQ(standInOf(v7x, "SPMEM/bytes"), "16 MiB of a device (32 MiB of the chip)");
    EXPECT_EQ(standInOf(v7x, "MXU/rates/int8/peak_flops_per_s"),
              "1153.5 TFLOP/s of a device (2307.0 TFLOP/s of the chip)");
    EXPECT_EQ(standInOf(v7x, "vector subcore/step_overhead_s"), "0.33 \u00b5s");
}

// The sources say what stands in: a step with three operands on the TensorCore of v5e.
TEST(StandIn, forAStepOfASparseCoreIsOneOfV5e)
{
    const Chip v5e = shippedChip("tpu_v5e");
    for (const char* const name : {"tpu_v5p", "tpu_v6e", "tpu_v7x"}) {
        const Chip chip = shippedChip(name);
        for (std::size_t i = 1; i < chip.agents.size(); ++i) {
            EXPECT_EQ(chip.agents[i].stepOverhead, v5e.stepOverhead + v5e.stepOperand * 3) << name;
        }
        for (const UnknownFigure& figure : chip.unknown) {
            if (figure.name.ends_with("step_overhead_s")) {
                EXPECT_NE(figure.why.find("0.33 us that a step with three operands takes"),
                          std::string::npos)
                    << figure.why;
            }
        }
    }
}

} // namespace pallascope::chip
