// Saved traces: they come back whole, are the same bytes each time, and appear whole or not at all.
#include "core/trace_file/trace_file.h"
#include "tests/support/random_trace.h"
#include "tests/support/synthetic_trace.h"
#include "tests/trace/file_support.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace pallascope::trace_file {

using namespace trace;

namespace {

std::shared_ptr<const Trace> loaded(const std::string& text)
{
    Result<std::shared_ptr<const Trace>> trace = fromJson(text, "test");
    EXPECT_TRUE(trace) << trace.error().message;
    return trace ? *trace : nullptr;
}

} // namespace

TEST(TraceFiles, theMainJobComesBackWhole)
{
    for (const int block : {512, 1024, 2048}) {
        const std::shared_ptr<const Trace> trace = test::mainJob(block);
        const std::shared_ptr<const Trace> again = loaded(toJson(*trace));
        ASSERT_TRUE(again);
        EXPECT_TRUE(*again == *trace) << block;
    }
}

TEST(TraceFiles, randomRunsComeBackWholeAndSaveTheSameBytes)
{
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        const std::shared_ptr<const Trace> trace = test::randomTrace(seed);
        const std::string text = toJson(*trace);
        const std::shared_ptr<const Trace> again = loaded(text);
        ASSERT_TRUE(again);
        ASSERT_TRUE(*again == *trace);
        ASSERT_EQ(toJson(*again), text);
    }
}

TEST(TraceFiles, bothFormsOnDiskAreByteIdenticalAfterReopening)
{
    const ScratchFolder folder;
    const std::shared_ptr<const Trace> trace = test::mainJob(512);
    for (const char* name : {"a.trace.json", "a.trace.json.gz"}) {
        ASSERT_TRUE(save(*trace, folder / name));
        const Result<std::shared_ptr<const Trace>> again = load(folder / name);
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_TRUE(**again == *trace);
        const std::string other = std::string("b-") + name;
        ASSERT_TRUE(save(**again, folder / other));
        EXPECT_EQ(contentOf(folder / name),
                  contentOf(folder / other)); // so the file contains neither its name nor a time
    }
    EXPECT_EQ(contentOf(folder / "a.trace.json"), toJson(*trace));
    EXPECT_LT(std::filesystem::file_size(folder / "a.trace.json.gz"), 60'000U);
    EXPECT_EQ(folder.fileCount(), 4);
}

TEST(TraceFiles, aGzipFileIsKnownByItsContentNotItsName)
{
    const ScratchFolder folder;
    const std::shared_ptr<const Trace> trace = test::mainJob(2048);
    ASSERT_TRUE(save(*trace, folder / "a.gz"));
    std::filesystem::rename(folder / "a.gz", folder / "a.json");
    EXPECT_TRUE(load(folder / "a.json"));
}

TEST(TraceFiles, oddTextAndNumbersComeBack)
{
    TraceBuilder builder = test::mainJobBuilder(2048);
    builder.info.seed = UINT64_MAX;
    builder.info.kernel = "quote \" backslash \\ \xe2\x82\xac \xf0\x9f\x98\x80";
    builder.info.check.maxAbsError = std::numeric_limits<double>::infinity();
    builder.info.check.maxRelError = std::numeric_limits<double>::denorm_min();
    builder.info.findings = {{"k", FindingClass::Value, "m", "", -1, std::nullopt, {}, 2}};
    const std::shared_ptr<const Trace> trace = *std::move(builder).finish();
    const std::shared_ptr<const Trace> again = loaded(toJson(*trace));
    ASSERT_TRUE(again);
    EXPECT_TRUE(*again == *trace);
}

// They are written out so that no terminal, picture or window gets them.
TEST(TraceFiles, controlCharactersOfNamesAreWrittenOut)
{
    TraceBuilder builder = test::mainJobBuilder(2048);
    builder.info.kernel = "tab\t \x1b[31m\n";
    builder.info.sources = {{"a\nb.cpp", "int main()\n{\n\t\x1b}\n"}};
    const std::shared_ptr<const Trace> trace = *std::move(builder).finish();
    const std::shared_ptr<const Trace> again = loaded(toJson(*trace));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->info().kernel, "tab\\x09 \\x1b[31m\\x0a");
    EXPECT_EQ(again->info().sources[0].path, "a\\x0ab.cpp");
    EXPECT_EQ(again->info().sources[0].text, "int main()\n{\n\t\\x1b}\n");
    EXPECT_TRUE(*loaded(toJson(*again)) == *again);
}

TEST(TraceFiles, numbersPastEveryIntegerComeBack)
{
    TraceBuilder builder = test::mainJobBuilder(2048);
    builder.info.check.maxRelError = 428571428571428618240.0;
    builder.info.links[0].achieved = BytesPerSecond(1e18);
    builder.info.check.maxAbsError = std::numeric_limits<double>::max();
    const std::shared_ptr<const Trace> trace = *std::move(builder).finish();
    const std::shared_ptr<const Trace> again = loaded(toJson(*trace));
    ASSERT_TRUE(again);
    EXPECT_TRUE(*again == *trace);
}

TEST(TraceFiles, aNotANumberErrorComesBackAsOne)
{
    TraceBuilder builder = test::mainJobBuilder(2048);
    builder.info.check.maxAbsError = std::nan("");
    const std::shared_ptr<const Trace> again = loaded(toJson(**std::move(builder).finish()));
    ASSERT_TRUE(again);
    EXPECT_TRUE(std::isnan(again->info().check.maxAbsError));
}

TEST(TraceFiles, aZeroKeepsItsSign)
{
    TraceBuilder builder = test::mainJobBuilder(2048);
    builder.info.check.maxRelError = -0.0;
    const std::shared_ptr<const Trace> again = loaded(toJson(**std::move(builder).finish()));
    ASSERT_TRUE(again);
    EXPECT_TRUE(std::signbit(again->info().check.maxRelError));
}

TEST(TraceFiles, bytesThatAreNotUtf8BecomeReplacementCharacters)
{
    TraceBuilder builder = test::mainJobBuilder(2048);
    builder.info.program = "a\xff\xc3(\xed\xa0\x80z";
    const std::shared_ptr<const Trace> again = loaded(toJson(**std::move(builder).finish()));
    ASSERT_TRUE(again);
    const std::string mark = "\xef\xbf\xbd";
    EXPECT_EQ(again->info().program, "a" + mark + mark + "(" + mark + mark + mark + "z");
}

TEST(TraceFiles, ofOlderVersionsLackPrintsAndTheVerdict)
{
    nlohmann::json document = nlohmann::json::parse(toJson(*test::mainJob(2048)));
    for (const char* key : {"prints", "prints_beyond", "jax_accepts", "jax_reason", "settings"}) {
        EXPECT_EQ(document["pallascope"]["info"].erase(key), 1U) << key;
    }
    const std::shared_ptr<const Trace> old = loaded(document.dump());
    ASSERT_TRUE(old);
    EXPECT_TRUE(old->info().prints.empty());
    EXPECT_EQ(old->info().jaxAccepts, "unknown");
}

TEST(TraceFiles, ofOlderVersionsDoNotSayWhereIsWaited)
{
    TraceBuilder builder = test::mainJobBuilder(2048);
    builder.waits.operation.assign(builder.waits.size(), 2);
    builder.waits.operation[1] = kNone;
    const std::shared_ptr<const Trace> trace = std::move(builder).finish().value();
    nlohmann::json document = nlohmann::json::parse(toJson(*trace));
    EXPECT_EQ(*loaded(document.dump()), *trace);
    EXPECT_EQ(document["pallascope"]["waits"].erase("operation"), 1U);
    const std::shared_ptr<const Trace> old = loaded(document.dump());
    ASSERT_TRUE(old);
    EXPECT_TRUE(old->waits().operation.empty());
    EXPECT_EQ(old->waits().end, trace->waits().end);
}

// A column holds only the differences to its prediction, so each row of a regular kernel takes
// almost no bytes.
TEST(TraceFiles, theSectionOfARegularKernelIsSmall)
{
    const std::shared_ptr<const Trace> trace = test::mainJob(128);
    const std::string text = toJson(*trace);
    const std::size_t rows = trace->steps().size() + trace->segments().size()
                             + trace->copies().size() + trace->waits().size()
                             + trace->visits().size();
    EXPECT_EQ(rows, 299'008U);
    // Below one byte per row, uncompressed.
    EXPECT_LT(text.size() - text.find("\"pallascope\":"), rows);
}

TEST(TraceSaving, reportsProgressUpToOne)
{
    const ScratchFolder folder;
    std::vector<double> shares;
    SaveOptions options;
    options.progress = [&](double share) {
        shares.push_back(share);
        return true;
    };
    ASSERT_TRUE(save(*test::mainJob(256), folder / "a.json", options));
    ASSERT_GT(shares.size(), 3U);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_EQ(shares.back(), 1);
}

TEST(TraceSaving, cancelledLeavesTheOldFileAndNothingElse)
{
    const ScratchFolder folder;
    writeContent(folder / "a.json.gz", "old");
    for (const int calls : {0, 2}) {
        int left = calls;
        SaveOptions options;
        options.progress = [&](double) { return left-- > 0; };
        const Status status = save(*test::mainJob(256), folder / "a.json.gz", options);
        ASSERT_FALSE(status);
        EXPECT_EQ(status.error().kind, ErrorKind::Cancelled);
        EXPECT_EQ(contentOf(folder / "a.json.gz"), "old");
        EXPECT_EQ(folder.fileCount(), 1);
    }
}

TEST(TraceSaving, replacesAnOldFileAndKeepsALink)
{
    const ScratchFolder folder;
    const std::shared_ptr<const Trace> trace = test::mainJob(2048);
    writeContent(folder / "real.json", "old");
    std::filesystem::create_symlink("real.json", folder / "link.json");
    ASSERT_TRUE(save(*trace, folder / "link.json"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.json"));
    EXPECT_EQ(contentOf(folder / "real.json"), toJson(*trace));
    EXPECT_EQ(folder.fileCount(), 2);
}

TEST(TraceSaving, namesThePathAndTheReasonWhenItCannotWrite)
{
    const ScratchFolder folder;
    writeContent(folder / "file", "x");
    const std::shared_ptr<const Trace> trace = test::mainJob(2048);
    const auto messageOf = [&](const std::filesystem::path& path) {
        const Status status = save(*trace, path);
        EXPECT_FALSE(status) << path;
        return status ? std::string() : status.error().message;
    };
    EXPECT_EQ(messageOf(folder / ""), "Cannot write \"" + (folder / "").string()
                                          + "\": it is a folder; use the name of a file.");
    EXPECT_EQ(messageOf(folder / "no/such.json"),
              "Cannot write \"" + (folder / "no/such.json").string() + "\": there is no folder \""
                  + (folder / "no").string() + "\".");
    EXPECT_EQ(messageOf(folder / "file/a.json"),
              "Cannot write \"" + (folder / "file/a.json").string() + "\": there is no folder \""
                  + (folder / "file").string() + "\".");
    EXPECT_EQ(messageOf("/dev/full"), "Cannot write \"/dev/full\": it is not an ordinary file.");
    EXPECT_EQ(messageOf(""), "Cannot write \"\": it names no file.");
    EXPECT_EQ(folder.fileCount(), 1);
}

// A limit on file sizes stands in for a full disk, because write() fails in the same way.
TEST(TraceSaving, aFullDiskLeavesTheOldFileAndNothingElse)
{
    const ScratchFolder folder;
    writeContent(folder / "a.json", "old");
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{100'000, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const Status status = save(*test::mainJob(512), folder / "a.json");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, oldHandler);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message,
              "Cannot write \"" + (folder / "a.json").string() + "\": File too large.");
    EXPECT_EQ(contentOf(folder / "a.json"), "old");
    EXPECT_EQ(folder.fileCount(), 1);
}

} // namespace pallascope::trace_file
