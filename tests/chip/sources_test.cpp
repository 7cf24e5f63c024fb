// Every figure of every built-in chip says where it comes from.
#include "core/chip/chip.h"
#include "tests/chip/chip_file.h"
#include "tests/chip/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace pallascope::chip {

namespace {

bool namesAPublicDocument(const std::string& source, bool isGpu)
{
    constexpr std::array kOfTpus{"cloud.google.com/tpu/docs/",
                                 "JAX jax/_src/",
                                 "JAX docs/",
                                 "scaling-book ",
                                 "openxla/",
                                 "Jouppi et al., ",
                                 "AI-Hypercomputer/"};
    constexpr std::array kOfGpus{"NVIDIA ",
                                 "CUDA ",
                                 "openxla/",
                                 "RRZE-HPC/",
                                 "HPMLL/",
                                 "microsoft/vidur ",
                                 "Antoniomv7/",
                                 "chipsandcheese.com",
                                 "bench/gpu_chip",
                                 "bench/gpu_kernels",
                                 "B300 confidence ladder"};
    const auto named = [&](const char* document) {
        return source.find(document) != std::string::npos;
    };
    return isGpu ? std::any_of(kOfGpus.begin(), kOfGpus.end(), named)
                 : std::any_of(kOfTpus.begin(), kOfTpus.end(), named);
}

} // namespace

TEST(PublishedFigures, allSayWhereTheyComeFrom)
{
    for (const resources::EmbeddedFile& text : resources::chipFiles()) {
        SCOPED_TRACE(text.name);
        const json file = json::parse(text.text);
        std::vector<json::json_pointer> figures;
        collectFigures(file, json::json_pointer(), figures);
        EXPECT_GT(figures.size(), 30U);
        for (const json::json_pointer& pointer : figures) {
            const auto source = file[pointer]["source"].get<std::string>();
            const auto status = file[pointer]["status"].get<std::string>();
            EXPECT_GT(source.size(), 10U) << pointer;
            if (status == "datasheet" || status == "measured") {
                EXPECT_TRUE(namesAPublicDocument(source, file.contains("multiprocessor")))
                    << pointer << ": " << source;
            }
            for (const json& also : file[pointer].value("also", json::array())) {
                EXPECT_GT(also["source"].get<std::string>().size(), 10U) << pointer;
            }
        }
        std::vector<std::string> bare;
        json rest = file;
        for (const json& residual : file.value("residuals", json::array())) { // each has one source
            EXPECT_GT(residual["source"].get<std::string>().size(), 10U);
        }
        rest.erase("residuals");
        collectBareNumbers(rest, json::json_pointer(), bare);
        EXPECT_EQ(bare, std::vector<std::string>{"/version"});
    }
}

} // namespace pallascope::chip
