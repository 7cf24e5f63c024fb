// Figures that nobody has published. They must cause a finding in the runs that need them, and in
// no others.
#include "tests/study/runs.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

namespace pallascope::study {

namespace {

using nlohmann::json;

const std::map<std::string, std::string> kSmall{{"m", "256"},  {"n", "256"},  {"k", "256"},
                                                {"bm", "128"}, {"bn", "128"}, {"bk", "128"}};

// The v5e with some figures marked unknown; their values serve as stand-ins.
chip::Chip without(const std::vector<const char*>& pointers)
{
    json file = json::parse(chip::v5eText());
    for (const char* pointer : pointers) {
        json& figure = file[json::json_pointer(pointer)];
        figure["stand_in"] = figure["value"];
        figure["value"] = nullptr;
    }
    Result<chip::Chip> chip = chip::parse(file.dump(), "a test");
    PALLASCOPE_CHECK(chip.has_value());
    return *std::move(chip);
}

std::string unknownMessage(const trace::Trace& trace)
{
    std::string message;
    for (const trace::Finding& finding : trace.info().findings) {
        if (finding.kind == "unknown_figure") {
            EXPECT_TRUE(message.empty()) << "two findings";
            EXPECT_EQ(finding.category, trace::FindingClass::Structural);
            message = finding.message;
        }
    }
    return message;
}

} // namespace

TEST(UnknownFigures, thatARunNeedsAreOneFindingWithTheirNames)
{
    const auto trace = neededRun(programOf("matmul", kSmall),
                                 without({"/links/0/efficiency", "/units/4/cycles_per_register",
                                          "/units/0/rates/bf16/cycles_per_row"}));
    const std::string message = unknownMessage(*trace);
    for (const char* part : {"TPU v5e", "HBM/efficiency", "0.80", "load/cycles_per_register",
                             "MXU/rates/bf16/cycles_per_row"}) {
        EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
    }
    EXPECT_EQ(trace->info().findings.front().kind, "unknown_figure");
    EXPECT_EQ(trace->info().findings.front().count, 3);
}

TEST(UnknownFigures, thatARunDoesNotNeedAreNoFinding)
{
    // A product of bf16 needs neither a rate for int8 nor a transcendental unit.
    const auto product =
        neededRun(programOf("matmul", kSmall),
                  without({"/units/0/rates/int8/cycles_per_row", "/units/2/cycles_per_register"}));
    EXPECT_EQ(unknownMessage(*product), "");
    // A sum needs nothing of the matrix unit and no scalar memory.
    const auto sum = neededRun(
        programOf("add_vectors", {}),
        without({"/units/0/rows", "/units/0/rates/int8/peak_flops_per_s", "/memories/2/bytes"}));
    EXPECT_EQ(unknownMessage(*sum), "");
}

TEST(UnknownFigures, standInsGiveTheTimesOfTheFiguresTheyStandFor)
{
    const ir::Program program = programOf("matmul", kSmall);
    const auto known = neededRun(program, chipNamed("tpu_v5e"));
    const auto unknown = neededRun(program, without({"/constants/step_overhead_s"}));
    EXPECT_EQ(known->end(), unknown->end());
    EXPECT_EQ(unknownMessage(*known), "");
    EXPECT_NE(unknownMessage(*unknown).find("constants/step_overhead_s"), std::string::npos);
}

TEST(UnknownFigures, ofTheBuiltInChipsAreNotNeededByAProduct)
{
    for (const resources::EmbeddedFile& file : resources::chipFiles()) {
        const Result<chip::Chip> chip = chip::parse(file.text, file.name);
        ASSERT_TRUE(chip);
        if (chip->multiprocessor) {
            continue; // a GPU, which does not run it
        }
        EXPECT_EQ(unknownMessage(*neededRun(programOf("matmul", kSmall), *chip)), "") << file.name;
    }
}

TEST(ChipFormat, theWholeChipInTheDocumentRuns)
{
    std::ifstream file(PALLASCOPE_DOCS "/chip_format.md");
    std::ostringstream text;
    text << file.rdbuf();
    const std::string document = text.str();
    const std::size_t begin = document.rfind("```json\n") + 8, end = document.rfind("```");
    ASSERT_LT(begin, end);
    const Result<chip::Chip> chip =
        chip::parse(document.substr(begin, end - begin), "docs/chip_format.md");
    ASSERT_TRUE(chip) << chip.error().message;
    const auto trace = neededRun(programOf("add_vectors", {}), *chip);
    // Whole arrays are copied one after the other: 4 KiB each at 90 GB/s, with 1 us of latency
    // after the one before.
    const std::int64_t copy = 1'000'000 + 45'512; // ps; 4096 / 90e9 s = 45 511.1 ps
    const std::int64_t step = 2'000 + 100'000;    // 2 cycles of the stand-in, and the step overhead
    EXPECT_EQ(trace->end(), Picoseconds(3 * copy + step));
    EXPECT_NE(unknownMessage(*trace).find("store/cycles_per_register (nobody said)"),
              std::string::npos);
}

} // namespace pallascope::study
