// Traces: they are opened as the window does, drawn, compared with themselves, saved and opened
// again.
#include "app/run_job/chips.h"
#include "core/study/compare.h"
#include "core/trace_file/trace_file.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/use.h"
#include "tests/support/random_trace.h"

#include <zlib.h>

namespace pallascope::fuzz {

namespace {

Corpus makeCorpus()
{
    std::vector<std::string> files;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        trace::TraceBuilder builder = test::randomBuilder(seed);
        builder.info.chipJson = app::builtInChips()[0].json;
        files.push_back(trace_file::toJson(*std::move(builder).finish().value()));
    }
    for (const app::RunRequest& request :
         {app::RunRequest{.kernel = "add_vectors",
         .parameters = {{"shape", "16,256"}, {"block", "8"}}},
          app::RunRequest{
              .kernel = "matmul",
 .parameters = {
     {"m", "16"}, {"n", "128"}, {"k", "256"}, {"bm", "16"}, {"bn", "128"}, {"bk", "128"}}}}) {
        const Result<app::FinishedRun> run = app::runKernel(request);
        require(run.has_value(), "a seed does not run");
        files.push_back(trace_file::toJson(*run->view->trace));
    }
    return corpusOfJson(std::move(files));
}

const Corpus& traceCorpus()
{
    static const Corpus kCorpus = makeCorpus();
    return kCorpus;
}

std::string gzipped(const std::string& text)
{
    z_stream stream{};
    constexpr int kGzip = 15 + 16;
    require(deflateInit2(&stream, 1, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK, "no zlib");
    std::string packed(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

// Most of a trace is events, but most of its meaning is in the other half. Two changes in three are
// only in that.
std::string mutatedTrace(Random& random)
{
    if (random.oneIn(3)) {
        return mutatedFile(traceCorpus(), random);
    }
    const Json& tree = random.pick(traceCorpus().trees);
    const Json& other = random.pick(traceCorpus().trees);
    return R"({"traceEvents":)" + tree["traceEvents"].dump() + R"(,"pallascope":)"
           + mutatedTree(tree["pallascope"], other["pallascope"], random) + "}";
}

const Corpus& packedCorpus()
{
    static const Corpus kCorpus = [] {
        Corpus packed;
        for (const std::string& text : traceCorpus().files) {
            packed.files.push_back(gzipped(text));
        }
        return packed;
    }();
    return kCorpus;
}

Outcome useTrace(const std::string& path, const std::string&)
{
    const Result<app::FinishedRun> run = app::openTrace(path);
    if (!run) {
        return refusedBy(run.error(), path);
    }
    const trace::Trace& trace = *run->view->trace;
    lookAt(*run->view);
    const Result<study::Comparison> comparison = study::compare(trace, trace);
    require(comparison && !comparison->parting, "is not like itself");
    requireJson(study::toJson(*comparison), "the comparison");
    require(!study::toText(*comparison).empty(), "the comparison is empty");
    requireText(study::toText(*comparison), "the comparison");
    const std::string copy = scratchFile("copy.trace.json.gz");
    require(trace_file::save(trace, copy).has_value(), "is not saved");
    const Result<std::shared_ptr<const trace::Trace>> again = trace_file::load(copy);
    require(again.has_value(),
            "is saved but not opened again: " + (again ? std::string() : again.error().message));
    require(trace_file::toJson(**again) == trace_file::toJson(trace),
            "is another trace when opened again");
    return {true, "opened"};
}

} // namespace

const Format kTraceFormat{"trace", ".trace.json",
                          []() -> const std::vector<std::string>& { return traceCorpus().files; },
                          mutatedTrace, useTrace};

const Format kPackedTraceFormat{
    "packed_trace", ".trace.json.gz",
    []() -> const std::vector<std::string>& { return packedCorpus().files; },
    [](Random& random) {
        return random.oneIn(2) ? gzipped(mutatedTrace(random))
                               : mutatedFile(packedCorpus(), random);
    },
    useTrace};

} // namespace pallascope::fuzz
