// Saved sweeps: they are read, printed in every form, written and read again, and resumed.
#include "app/run_job/chips.h"
#include "core/study/sweep_file.h"
#include "kernels/kernel.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/use.h"

namespace pallascope::fuzz {

namespace {

const study::SweepSubject& subject()
{
    static const study::SweepSubject kSubject = study::subjectOf(
        "add_vectors", {{"shape", "64,256"}}, PALLASCOPE_VERSION, {}, app::builtInChips());
    return kSubject;
}

const study::SweepPlan& plan()
{
    static const study::SweepPlan kPlan{
        {{"block", {"8", "16", "7", "64"}}, {"dtype", {"f32", "bf16"}}},
        {app::builtInChips()[0], app::builtInChips()[3]},
        {},
        [](const study::Parameters& parameters) -> Result<ir::Program> {
            std::map<std::string, std::string> given = parameters;
            given["shape"] = "64,256";
            const kernels::Kernel& kernel = *kernels::find("add_vectors");
            const Result<kernels::Arguments> arguments = kernels::arguments(kernel, given);
            return arguments ? kernel.build(*arguments) : Result<ir::Program>(arguments.error());
        }};
    return kPlan;
}

std::vector<study::SweepRow> sweepFrom(std::vector<study::SweepRow> done)
{
    const auto rows = study::sweep(plan(), {.threads = 1, .done = std::move(done)});
    require(rows.has_value(), "the sweep does not run");
    std::vector<study::SweepRow> finished;
    for (const std::optional<study::SweepRow>& row : *rows) {
        require(row.has_value(), "the sweep leaves out a row");
        finished.push_back(*row);
    }
    return finished;
}

const Corpus& sweepCorpus()
{
    static const Corpus kCorpus = corpusOfJson(
        {study::toJson(subject(), sweepFrom({})), study::toJson(subject(), {sweepFrom({})[0]})});
    return kCorpus;
}

Outcome useSweep(const std::string& path, const std::string& bytes)
{
    const auto saved = study::rowsFromJson(bytes, subject(), path);
    if (!saved) {
        return refusedBy(saved.error(), path);
    }
    study::SweepSubject kept = subject(); // with the chips of rows that it does not ask for
    kept.chips.insert(saved->chips.begin(), saved->chips.end());
    const std::string written = study::toJson(kept, saved->rows);
    const auto again = study::rowsFromJson(written, subject(), path);
    require(again.has_value(), "is read but not once it is written");
    require(study::toJson(kept, again->rows) == written, "is another sweep when read again");
    const std::vector<study::SweepRow> all = sweepFrom(saved->rows);
    const std::string table = study::toText(plan(), all), csv = study::toCsv(plan(), all);
    require(!table.empty() && !csv.empty(), "is not printed");
    requireText(table, "the table");
    requireText(csv, "the CSV");
    requireJson(study::toJson(subject(), all), "the resumed sweep");
    return {true, "resumed"};
}

} // namespace

const Format kSweepFormat{
    "sweep", ".json", []() -> const std::vector<std::string>& { return sweepCorpus().files; },
    [](Random& random) { return mutatedFile(sweepCorpus(), random); }, useSweep};

} // namespace pallascope::fuzz
