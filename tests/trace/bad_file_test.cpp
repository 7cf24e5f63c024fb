// Files that are not traces, or not valid ones. For each there must be one sentence that names the
// file, the place and the value. tests/fuzz has random ones.
#include "core/trace_file/trace_file.h"
#include "tests/support/synthetic_trace.h"
#include "tests/trace/file_support.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace pallascope::trace_file {

using namespace trace;

namespace {

using nlohmann::json;

std::string small()
{
    static const std::string text = toJson(*test::mainJob(2048));
    return text;
}

std::string messageOf(const std::string& text)
{
    const Result<std::shared_ptr<const Trace>> trace = fromJson(text, "a.json");
    EXPECT_FALSE(trace) << "was accepted";
    return trace ? std::string() : trace.error().message;
}

// The message for the small trace with one value replaced; without a value, the key is removed.
std::string messageWith(const char* pointer, const std::optional<json>& value)
{
    json document = json::parse(small());
    const json::json_pointer place(pointer);
    if (value) {
        document[place] = *value;
    } else {
        document[place.parent_pointer()].erase(place.back());
    }
    return messageOf(document.dump());
}

std::string fileMessage(const std::filesystem::path& path)
{
    const Result<std::shared_ptr<const Trace>> trace = load(path);
    EXPECT_FALSE(trace) << path << " was accepted";
    return trace ? std::string() : trace.error().message;
}

} // namespace

// A name that occurs twice is named, whatever its spelling.
TEST(BadTraceFiles, withANameTwiceNameIt)
{
    const std::string text = small();
    const auto with = [&](const std::string& member) {
        return messageOf("{" + member + "," + text.substr(1));
    };
    for (const char* name : {"pallascope", "\\u0070allascope"}) {
        EXPECT_EQ(with("\"" + std::string(name) + "\":" + json::parse(text)["pallascope"].dump()),
                  "a.json: /pallascope is there twice; expected it once.");
    }
    for (const char* name : {"traceEvents", "trace\\u0045vents"}) {
        EXPECT_EQ(with("\"" + std::string(name) + "\":[]"),
                  "a.json: /traceEvents is there twice; expected it once.");
    }
    EXPECT_EQ(with(R"("x":1,"\u0078":2)"), "a.json: /x is there twice; expected it once.");
    std::string renamed = text; // this one is valid
    renamed.replace(renamed.find("traceEvents"), 11, "trace\\u0045vents");
    EXPECT_TRUE(fromJson(renamed, "a.json"));
    renamed.replace(renamed.find("\"ts\":"), 5, "\"ts\":-1");
    EXPECT_NE(messageOf(renamed).find("/traceEvents/"), std::string::npos);
}

TEST(BadTraceFiles, thatCannotBeReadNameThePathAndTheReason)
{
    const ScratchFolder folder;
    const auto path = [&](const char* name) { return (folder / name).string(); };
    writeContent(folder / "empty.json", "");
    writeContent(folder / "blank.json", " \n\t");
    EXPECT_EQ(fileMessage(folder / "none.json"), "There is no file \"" + path("none.json") + "\".");
    EXPECT_EQ(fileMessage(folder / ""), "\"" + path("") + "\" is a folder; expected a file.");
    EXPECT_EQ(fileMessage(folder / "empty.json"),
              path("empty.json") + " is empty; a trace is a JSON file.");
    EXPECT_EQ(fileMessage(folder / "blank.json"),
              path("blank.json") + " is empty; a trace is a JSON file.");
    EXPECT_EQ(fileMessage("/dev/zero"), "\"/dev/zero\" is a device; expected a file or a pipe.");
}

TEST(BadTraceFiles, damagedGzipIsToldFromCutShort)
{
    const ScratchFolder folder;
    ASSERT_TRUE(save(*test::mainJob(2048), folder / "a.json.gz"));
    const std::string packed = contentOf(folder / "a.json.gz");
    const std::string path = (folder / "b.json.gz").string();

    writeContent(path, packed.substr(0, packed.size() / 2));
    EXPECT_EQ(fileMessage(path), path + " is cut short: its gzip data ends before its end mark.");
    writeContent(path, packed.substr(0, 2));
    EXPECT_EQ(fileMessage(path), path + " is cut short: its gzip data ends before its end mark.");

    std::string damaged = packed;
    damaged[packed.size() / 2] = static_cast<char>(~damaged[packed.size() / 2]);
    writeContent(path, damaged);
    EXPECT_EQ(fileMessage(path), path + " is damaged: its gzip data does not unpack.");
    writeContent(path, packed + "tail");
    EXPECT_EQ(fileMessage(path), path + " is damaged: its gzip data does not unpack.");
}

TEST(BadTraceFiles, everyTruncationIsRefused)
{
    const std::string text = small();
    for (std::size_t length = 0; length + 2 < text.size(); length += 1 + length % 7) {
        ASSERT_FALSE(fromJson(text.substr(0, length), "a.json")) << length;
    }
}

TEST(BadTraceFiles, everyTruncationOfAGzipFileIsRefused)
{
    const ScratchFolder folder;
    ASSERT_TRUE(save(*test::mainJob(2048), folder / "a.json.gz"));
    const std::string packed = contentOf(folder / "a.json.gz");
    for (std::size_t length = 0; length < packed.size(); length += 41) {
        writeContent(folder / "b.json.gz", packed.substr(0, length));
        ASSERT_FALSE(load(folder / "b.json.gz")) << length;
    }
}

// Unless they stand for the same text: what repeats may be copied from farther back.
TEST(BadTraceFiles, flippedBytesOfAGzipFileAreRefused)
{
    const ScratchFolder folder;
    const std::shared_ptr<const Trace> whole = test::mainJob(2048);
    ASSERT_TRUE(save(*whole, folder / "a.json.gz"));
    const std::string packed = contentOf(folder / "a.json.gz");
    for (std::size_t at = 10; at < packed.size();
         at += 53) { // past the header, which holds no data
        std::string flipped = packed;
        flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
        writeContent(folder / "b.json.gz", flipped);
        const auto found = load(folder / "b.json.gz");
        ASSERT_TRUE(!found || toJson(**found) == toJson(*whole)) << at;
    }
}

TEST(BadTraceFiles, thatAreNotJsonSayWhatTheyAreInstead)
{
    EXPECT_EQ(messageOf("hello"), "a.json is not JSON, so it is not a trace.");
    EXPECT_EQ(messageOf(small().substr(0, small().size() / 2))
                  .find("a.json is cut short: it ends inside "),
              0U);
    EXPECT_EQ(messageOf("{\"a\":1"), "a.json is cut short: it ends inside an open bracket.");
    EXPECT_EQ(messageOf("{\"a\":\"b"), "a.json is cut short: it ends inside a string.");
    EXPECT_EQ(messageOf("{\"a\" 1}"),
              "a.json is not JSON: brackets, commas or words in it are wrong.");
    EXPECT_EQ(messageOf("{\"a\": 1e999}"),
              "a.json holds 1e999 at byte 6, which is malformed or out of "
              "range for a JSON number.");
    EXPECT_EQ(messageOf("[\"\xff\"]"), "a.json is not UTF-8 text, so it is not a trace.");
    EXPECT_EQ(messageOf(std::string(100'000, '[')), "a.json is nested too deeply to be a trace.");
    EXPECT_EQ(messageOf(std::string(5'000, '[') + std::string(5'000, ']')),
              "a.json is nested too deeply to be a trace.");
}

TEST(BadTraceFiles, foreignTracesAreToldSo)
{
    const std::string expected =
        "a.json is JSON but not a Pallascope trace: it has no \"pallascope\" "
        "section; traces that Pallascope saves have one.";
    EXPECT_EQ(messageOf(R"({"traceEvents":[{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1}]})"),
              expected);
    EXPECT_EQ(messageOf("[]"), expected);
    EXPECT_EQ(messageOf("3"), expected);
    EXPECT_EQ(messageOf("{}"), expected);
}

TEST(BadTraceFiles, otherFormatsAndVersionsAreRefused)
{
    EXPECT_EQ(messageWith("/pallascope/format", "x"),
              "a.json: /pallascope/format must be \"pallascope.trace\", not \"x\".");
    EXPECT_EQ(messageWith("/pallascope/version", 2),
              "a.json: /pallascope/version must be 1, the version that this program reads, not 2.");
    EXPECT_EQ(messageWith("/pallascope/version", std::nullopt),
              "a.json: /pallascope/version is missing.");
    EXPECT_EQ(messageWith("/pallascope", 1), "a.json: /pallascope must be an object, not 1.");
}

TEST(BadTraceFiles, missingAndWronglyTypedKeysAreNamedByPointer)
{
    EXPECT_EQ(messageWith("/pallascope/info", std::nullopt),
              "a.json: /pallascope/info is missing.");
    EXPECT_EQ(messageWith("/pallascope/info/units/2/name", std::nullopt),
              "a.json: /pallascope/info/units/2/name is missing.");
    EXPECT_EQ(messageWith("/pallascope/info/kernel", 5),
              "a.json: /pallascope/info/kernel must be a string, not 5.");
    EXPECT_EQ(messageWith("/pallascope/info/units", json::object()),
              "a.json: /pallascope/info/units must be a list, not an object.");
    EXPECT_EQ(
        messageWith("/pallascope/info/units/1/kind", "magic"),
        "a.json: /pallascope/info/units/1/kind must be one of matrix, vector, transcendental, "
        "crosslane, load, store, scalar, not \"magic\".");
    EXPECT_EQ(messageWith("/pallascope/info/operands/0/dtype", "f8"),
              "a.json: /pallascope/info/operands/0/dtype must be " + dtypeNames()
                  + ", not \"f8\".");
    EXPECT_EQ(
        messageWith("/pallascope/info/operands/0/slots", 2.5),
        "a.json: /pallascope/info/operands/0/slots must be a whole number from -2147483648 to "
        "2147483647, not 2.5.");
    EXPECT_EQ(messageWith("/pallascope/info/seed", -1),
              "a.json: /pallascope/info/seed must be a whole number from 0 to "
              "18446744073709551615, not -1.");
    EXPECT_EQ(messageWith("/pallascope/info/check/passed", 1),
              "a.json: /pallascope/info/check/passed must be true or false, not 1.");
    EXPECT_EQ(messageWith("/pallascope/info/parameters/m", 1),
              "a.json: /pallascope/info/parameters/m must be a string, not 1.");
    EXPECT_EQ(messageWith("/pallascope/end_ps", "soon"),
              "a.json: /pallascope/end_ps must be a whole number from -9223372036854775808 to "
              "9223372036854775807, not \"soon\".");
    EXPECT_EQ(messageWith("/traceEvents", std::nullopt), "a.json: /traceEvents is missing.");
}

TEST(BadTraceFiles, columnsOfAnotherLengthOrRangeAreNamedByPointer)
{
    EXPECT_EQ(messageWith("/pallascope/steps/rows", 9)
                  .find("a.json: /pallascope/steps/pipeline/runs makes 8 "
                        "rows, but the table has 9"),
              0U);
    EXPECT_EQ(messageWith("/pallascope/copies/slot/runs", json{0, 3}),
              "a.json: /pallascope/copies/slot/runs makes 3 rows, but the table has 20.");
    EXPECT_EQ(messageWith("/pallascope/copies/slot", std::nullopt),
              "a.json: /pallascope/copies/slot is missing.");
    EXPECT_EQ(messageWith("/pallascope/copies/slot/lag", 65),
              "a.json: /pallascope/copies/slot/lag must be a whole number from 0 to 64, not 65.");
    EXPECT_EQ(messageWith("/pallascope/copies/slot/runs", json{0, 2'000'000'000, 0, 2'000'000'000}),
              "a.json: /pallascope/copies/slot/runs makes 4000000000 rows, but the table has 20.");
    EXPECT_EQ(messageWith("/pallascope/copies/slot/runs", json{0, -1}),
              "a.json: /pallascope/copies/slot/runs/1 must be a count of rows, not -1.");
    EXPECT_EQ(messageWith("/pallascope/copies/slot/runs", json{5'000'000'000, 20}),
              "a.json: /pallascope/copies/slot has 5000000000 in row 0, which must lie between "
              "-2147483648 and 2147483647.");
    EXPECT_EQ(messageWith("/pallascope/steps/rows", -1),
              "a.json: /pallascope/steps/rows must be at least 0, not -1.");
}

// 2^31 - 1 rows of nothing are refused before any memory is allocated.
TEST(BadTraceFiles, aTableOfAbsurdLengthIsRefused)
{
    json document = json::parse(small());
    json& steps = document["/pallascope/steps"_json_pointer];
    for (auto& [name, column] : steps.items()) {
        if (name == "rows") {
            column = INT32_MAX;
        } else {
            column = {{"lag", 0}, {"runs", {0, INT32_MAX}}};
        }
    }
    EXPECT_EQ(messageOf(document.dump()),
              "a.json: /pallascope/steps/pipeline makes the tables larger than "
              "768 MiB, the most that can be read.");
}

TEST(BadTraceFiles, brokenRulesAreToldAsTheBuilderTellsThem)
{
    EXPECT_EQ(messageWith("/pallascope/end_ps", 5)
                  .find("a.json: /pallascope is not sound: steps row 0: begin"),
              0U);
    EXPECT_EQ(messageWith("/pallascope/info/pipelines/0/steps", 3),
              "a.json: /pallascope is not sound: pipelines[0].steps is 3, but its grid (2, 2, 2) "
              "has 8 points.");
}

TEST(BadTraceFiles, badEventsAreRefusedThoughTheSectionIsSound)
{
    const std::string time =
        " must be a number of microseconds from 0 to 9007199254740.991 (2^53 ns), not ";
    const std::string id = " must be a whole number from 0 to 2147483647, not ";
    const std::string event = "a.json: /traceEvents/4";
    EXPECT_EQ(messageWith("/traceEvents/4/ts", "0"), event + "/ts" + time + "\"0\".");
    EXPECT_EQ(messageWith("/traceEvents/4/ts", -0.001), event + "/ts" + time + "-0.001.");
    EXPECT_EQ(messageWith("/traceEvents/4/ts", 1e13), event + "/ts" + time + "10000000000000.0.");
    EXPECT_EQ(messageWith("/traceEvents/4/ts", nullptr), event + "/ts" + time + "null.");
    EXPECT_EQ(messageWith("/traceEvents/4/ts", true), event + "/ts" + time + "true.");
    EXPECT_EQ(messageWith("/traceEvents/4/dur", -1), event + "/dur" + time + "-1.");
    EXPECT_EQ(messageWith("/traceEvents/4/dur", json::array()), event + "/dur" + time + "a list.");
    EXPECT_EQ(messageWith("/traceEvents/4/pid", -1), event + "/pid" + id + "-1.");
    EXPECT_EQ(messageWith("/traceEvents/4/pid", "1"), event + "/pid" + id + "\"1\".");
    EXPECT_EQ(messageWith("/traceEvents/4/tid", 2147483648), event + "/tid" + id + "2147483648.");
    EXPECT_EQ(messageWith("/traceEvents/4/tid", 1.5), event + "/tid" + id + "1.5.");
    EXPECT_EQ(messageWith("/traceEvents/0/pid", 1e300),
              "a.json: /traceEvents/0/pid" + id + "1e+300.");
    EXPECT_EQ(messageWith("/traceEvents/4/ts", std::nullopt),
              event + " is an event without \"ts\".");
    EXPECT_EQ(messageWith("/traceEvents/4/dur", std::nullopt),
              event + " is a complete event without \"dur\".");
    EXPECT_EQ(messageWith("/traceEvents/4", 7), event + " must be an event object, not 7.");
    EXPECT_EQ(messageWith("/traceEvents/4/ph", 7), event + "/ph must be a string, not 7.");
    EXPECT_EQ(messageWith("/traceEvents", 7),
              "a.json: /traceEvents must be a list of events, not 7.");
}

TEST(BadTraceFiles, keysThatALaterVersionAddsAreIgnored)
{
    json document = json::parse(small());
    document["pallascope"]["info"]["new"] = 1;
    document["pallascope"]["tables"] = json::array();
    document["traceEvents"][4]["id"] = "x";
    EXPECT_TRUE(fromJson(document.dump(), "a.json"));
}

} // namespace pallascope::trace_file
