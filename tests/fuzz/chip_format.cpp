// Chip files: they are read, printed and read again. A kernel for the vector unit and one for the
// matrix unit then run on them.
#include "core/chip/chip.h"
#include "resources/chip_files.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/use.h"

namespace pallascope::fuzz {

namespace {

const Corpus& chipCorpus()
{
    static const Corpus kCorpus = [] {
        std::vector<std::string> files;
        for (const resources::EmbeddedFile& file : resources::chipFiles()) {
            files.emplace_back(file.text);
        }
        return corpusOfJson(std::move(files));
    }();
    return kCorpus;
}

Outcome useChip(const std::string& path, const std::string& bytes)
{
    const Result<chip::Chip> chip = chip::parse(bytes, path);
    if (!chip) {
        return refusedBy(chip.error(), path);
    }
    const Result<chip::Chip> again = chip::parse(chip::pretty(*chip), path);
    require(again.has_value(), "is read but not once it is printed");
    require(chip::pretty(*again) == chip::pretty(*chip), "is another chip when read again");
    requireText(chip::pretty(*chip), "the printed chip");
    // A kernel need not fit the chip, but the sentence about that must name the kernel or a figure.
    const Ran add = runFor({.kernel = "add_vectors",
                            .parameters = {{"shape", "16,256"}, {"block", "8"}},
                            .chip = path},
                           "");
    const Ran matmul = runFor(
        {.kernel = "matmul",
         .parameters =
             {{"m", "16"}, {"n", "128"}, {"k", "256"}, {"bm", "16"}, {"bn", "128"}, {"bk", "128"}},
         .chip = path,
         .fullValues = false},
        "");
    for (const Ran* ran : {&add, &matmul}) {
        if (ran->run.view) {
            lookAt(*ran->run.view);
        }
    }
    return {true, add.outcome.legal || matmul.outcome.legal ? "ran" : "runs neither kernel"};
}

} // namespace

const Format kChipFormat{"chip", ".json",
                         []() -> const std::vector<std::string>& { return chipCorpus().files; },
                         [](Random& random) { return mutatedFile(chipCorpus(), random); }, useChip};

} // namespace pallascope::fuzz
