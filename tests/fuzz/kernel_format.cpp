// Kernel files: they are read, verified, printed, written and read again, and run without and with
// values.
#include "core/ir/print.h"
#include "core/ir/verify.h"
#include "core/kernel_file/document.h"
#include "core/kernel_file/kernel_file.h"
#include "core/study/compare.h"
#include "tests/fuzz/archive_corpus.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/kernel_seeds.h"
#include "tests/fuzz/mutate_program.h"
#include "tests/fuzz/use.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pallascope::fuzz {

namespace {

constexpr std::int64_t kMostSmallBytes = 16 << 20; // of arguments, in a run with values
constexpr std::size_t kMostSmallSteps = 2000;      // in a run that is drawn

// An error means that a member of the archive is damaged, which was not noticed earlier.
std::optional<Error> requireRoundTrip(const kernel_file::KernelFile& kernel)
{
    const bool archive = std::any_of(kernel.inputs.begin(), kernel.inputs.end(),
                                     [](const kernel_file::Input& input) {
                                         return std::holds_alternative<kernel_file::Stored>(input);
                                     });
    const char* const ending = archive ? ".pallascope" : ".kernel.json";
    const std::string first = scratchFile(std::string("first") + ending);
    const std::string second = scratchFile(std::string("second") + ending);
    const Status saved = kernel_file::save(kernel, first);
    if (archive && !saved) {
        return saved.error();
    }
    require(saved.has_value(), "is read but not written: " + (saved ? "" : saved.error().message));
    const Result<kernel_file::KernelFile> again = kernel_file::load(first);
    require(again.has_value(), "is written but not read: " + (again ? "" : again.error().message));
    const bool hasNan = // NaN is not equal to itself
        std::any_of(kernel.program.values.begin(), kernel.program.values.end(),
                    [](const ir::Value& value) { return std::isnan(value.literal.value_or(0)); });
    require(hasNan || again->program == kernel.program, "is another program when read again");
    require(kernel_file::save(*again, second).has_value(), "is not written again");
    require(bytesOf(first) == bytesOf(second), "is another file when written again");
    return std::nullopt;
}

bool isSmall(const ir::Program& program)
{
    std::int64_t bytes = 0;
    for (const ir::Argument& argument : program.arguments) {
        const ir::Type& type = program.type(argument.ref);
        const std::int64_t elements = type.shape.elements();
        bytes += elements > kMostSmallBytes ? elements : elements * dtypeBytes(type.dtype);
        if (bytes > kMostSmallBytes) {
            return false;
        }
    }
    return true;
}

// A chip with SparseCores if the program asks for other agents than those of the first kind.
std::string chipFor(const ir::Program& program)
{
    bool asks = false;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        const auto* mesh = std::get_if<ir::CoreMapParams>(&operation.params);
        asks = asks || (mesh != nullptr && !mesh->agents.empty());
    });
    return asks ? "tpu_v7x" : "tpu_v5e";
}

Outcome useKernel(const std::string& path, const std::string&)
{
    const Result<kernel_file::KernelFile> file = kernel_file::load(path);
    if (!file) {
        return refusedBy(file.error(), path);
    }
    require(ir::verify(file->program).has_value(), "is read but not verified");
    const std::string listing = ir::printText(file->program);
    require(!listing.empty(), "is not printed");
    requireText(listing, "the listing");
    if (const std::optional<Error> damaged = requireRoundTrip(*file)) {
        return refusedBy(*damaged, path);
    }
    const std::string chip = chipFor(file->program);
    const Ran needed = runFor({.kernel = path, .chip = chip, .fullValues = false}, path);
    if (!needed.run.view) {
        return needed.outcome;
    }
    if (needed.run.view->trace->steps().size() <= kMostSmallSteps) {
        lookAt(*needed.run.view);
    }
    if (!isSmall(file->program)) {
        return {true, "ran without values"};
    }
    const Ran full = runFor({.kernel = path, .chip = chip, .keepResults = true}, path);
    if (full.run.view) {
        const Result<study::Comparison> same =
            study::compare(*needed.run.view->trace, *full.run.view->trace);
        require(same && !same->parting, "does something else without values");
    }
    return full.outcome;
}

const Corpus& texts()
{
    static const Corpus kCorpus = corpusOfJson(kernelTexts());
    return kCorpus;
}

const std::vector<ir::Program>& programs()
{
    static const std::vector<ir::Program> kPrograms = [] {
        std::vector<ir::Program> all;
        for (const std::string& text : texts().files) {
            all.push_back(kernel_file::parse(text, "seed").value().program);
        }
        return all;
    }();
    return kPrograms;
}

std::string mutatedKernel(Random& random)
{
    if (random.oneIn(2)) {
        return mutatedFile(texts(), random);
    }
    kernel_file::Document document;
    document.program = mutatedProgram(random.pick(programs()), random);
    return kernel_file::toJson(document);
}

const ArchiveCorpus& archives()
{
    static const ArchiveCorpus kCorpus(kernelArchives());
    return kCorpus;
}

} // namespace

const Format kKernelFormat{"kernel", ".kernel.json",
                           []() -> const std::vector<std::string>& { return texts().files; },
                           mutatedKernel, useKernel};

const Format kArchiveFormat{"archive", ".pallascope",
                            []() -> const std::vector<std::string>& { return archives().files(); },
                            [](Random& random) { return archives().mutated(random); }, useKernel};

} // namespace pallascope::fuzz
