// Lessons: how their files are read, how figures come into their texts, and when a task is reached.
#include "core/study/amount.h"
#include "core/study/lesson.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pallascope::study {

namespace {

using LessonJson = nlohmann::ordered_json;

constexpr const char* kLessonReport = R"json({
  "kernel": "matmul", "chip": "tpu_v5e", "parameters": {"bm": 256, "n": 4096, "dtype": "bf16"},
  "time_s": 0.0008421, "utilization": 0.721, "bound_by": "memory(HBM)", "steps": 32768,
  "hbm_read_bytes": 12582912, "arithmetic_intensity": 227.78, "flops_per_s": 8.132e14,
  "busy_s": {"HBM": 0.00042105}, "hbm_bytes_per_s": 6.55e11,
  "traffic": [{"operand": "x", "direction": "read", "refetch_factor": 1.5}],
  "findings": []
})json";
constexpr const char* kReportBefore = R"json({"time_s": 0.0016842, "findings": []})json";

std::string lessonWords(const std::string& text, const std::string& report = kLessonReport)
{
    const auto parts = lessonText(text, report, report.empty() ? "" : kReportBefore);
    EXPECT_TRUE(parts) << (parts ? "" : parts.error().message);
    std::string all;
    for (const LessonPart& part : parts ? *parts : std::vector<LessonPart>()) {
        all += part.text;
    }
    return all;
}

LessonJson lessonJson()
{
    return LessonJson::parse(R"json({
      "format": "pallascope.lesson", "version": 1, "title": "T", "about": "A.",
      "steps": [
        {"title": "one", "text": "It takes {time_s}.",
         "run": {"kernel": "matmul", "chip": "tpu_v5e", "parameters": {"bm": 256, "dtype": "f32"}},
         "look": "grid", "at": "30%", "holds": ["steps>1"]},
        {"title": "two", "text": "Now `bm` is larger.", "run": {"parameters": {"bm": 512}},
         "keep": true,
         "task": {"text": "Faster.", "until": ["time_s<1ms"], "vary": ["bm", "chip"],
                  "answer": {"bm": 1024}}},
        {"title": "three", "text": "Another.", "run": {"kernel": "add_vectors"}}]})json");
}

std::string lessonRefusal(const LessonJson& json)
{
    const Result<Lesson> lesson = parseLesson(json.dump(), "l.json");
    EXPECT_FALSE(lesson);
    return lesson ? "" : lesson.error().message;
}

LessonTask taskWith(std::vector<std::string> until, std::vector<std::string> vary)
{
    return {"", std::move(until), std::move(vary), {}};
}

std::string reportWith(const char* key, const LessonJson& value)
{
    LessonJson json = LessonJson::parse(kLessonReport);
    json[LessonJson::json_pointer(key)] = value;
    return json.dump();
}

} // namespace

TEST(Lessons, areReadWithWhatStepsTakeOverFromTheStepBefore)
{
    const Result<Lesson> lesson = parseLesson(lessonJson().dump(), "l.json");
    ASSERT_TRUE(lesson) << lesson.error().message;
    ASSERT_EQ(lesson->steps.size(), 3U);
    const LessonStep &one = lesson->steps[0], &two = lesson->steps[1], &three = lesson->steps[2];
    EXPECT_EQ(one.run, (LessonRun{"matmul", "tpu_v5e", {{"bm", "256"}, {"dtype", "f32"}}}));
    EXPECT_EQ(one.view, "grid");
    EXPECT_DOUBLE_EQ(one.at, 0.3);
    EXPECT_FALSE(one.keepsBefore);
    EXPECT_EQ(two.run, (LessonRun{"matmul", "tpu_v5e", {{"bm", "512"}, {"dtype", "f32"}}}));
    EXPECT_TRUE(two.keepsBefore);
    ASSERT_TRUE(two.task.has_value());
    EXPECT_EQ(two.task->answer, (std::map<std::string, std::string>{{"bm", "1024"}}));
    // Another kernel begins anew: the chip and parameters of the one before may mean nothing to it.
    EXPECT_EQ(three.run, (LessonRun{"add_vectors", "", {}}));
}

TEST(Lessons, thatAreWrongSayWhereAndWhatWouldBeRight)
{
    struct Case
    {
        const char* pointer;
        LessonJson value; // null: the key is taken away
        const char* said;
    };

    const Case cases[] = {
        {"/format", "x", "l.json: it is no lesson: its \"format\" is not \"pallascope.lesson\"."},
        {"/version", 2, "l.json: version is 2; expected 1."},
        {"/title", nullptr, "l.json: title is missing."},
        {"/steps", LessonJson::array(), "l.json: steps has 0 elements; expected 1 to 100."},
        {"/steps/0/txet", "x", "l.json: steps[0].txet is not known; expected title, text"},
        {"/steps/0/run", nullptr, "l.json: steps[0].run is missing."},
        {"/steps/0/run/kernel", nullptr, "l.json: steps[0].run.kernel is missing: the first step"},
        {"/steps/0/run/parameters/bm", 256.5,
         "steps[0].run.parameters.bm is 256.5; expected a whole number or a text."},
        {"/steps/0/text", "{ before.time_s }", "steps[0].text compares with the run before, which"},
        {"/steps/0/at", "30", "l.json: steps[0].at is \"30\"; expected a share of the run"},
        {"/steps/0/at", "130%", "expected a share of the run, such as \"30%\"."},
        {"/steps/0/keep", true, "steps[0].keep is true; expected none in the first step"},
        {"/steps/0/holds/0", "steps", "l.json: steps[0].holds: The condition \"steps\" is not"},
        {"/steps/0/text", "a {b", "l.json: steps[0].text: \"{b\" has a { that nothing closes"},
        {"/steps/1/text", "a `b", "l.json: steps[1].text: \"`b\" has a ` that nothing closes"},
        {"/steps/1/keep", 1, "l.json: steps[1].keep is 1; expected true or false."},
        {"/steps/1/task/until", LessonJson::array(), "expected at least one condition."},
        {"/steps/1/task/answer/n", 3, "steps[1].task.answer.n is not among the parameters that"},
        {"/steps/2/text", "", "l.json: steps[2].text is \"\"; expected a text."},
    };
    for (const Case& each : cases) {
        LessonJson json = lessonJson();
        const LessonJson::json_pointer at(each.pointer);
        if (each.value.is_null()) {
            json.at(at.parent_pointer()).erase(at.back());
        } else {
            json[at] = each.value;
        }
        EXPECT_NE(lessonRefusal(json).find(each.said), std::string::npos)
            << each.pointer << ": " << lessonRefusal(json);
    }
    EXPECT_EQ(parseLesson("{", "l.json").error().message,
              "l.json: it is not JSON from line 1 on; expected a lesson.");
    EXPECT_EQ(parseLesson("{\n\"a\": ,}", "l.json").error().message,
              "l.json: it is not JSON from line 2 on; expected a lesson.");
    EXPECT_EQ(parseLesson("[]", "l.json").error().message.find("l.json: it is no lesson"), 0U);
    EXPECT_NE(parseLesson(R"({"format": "pallascope.lesson", "format": 1})", "l.json")
                  .error()
                  .message.find("occurs twice"),
              std::string::npos);
    EXPECT_NE(parseLesson(std::string(100000, '['), "l.json").error().message.find("too deeply"),
              std::string::npos);
}

TEST(Lessons, haveFiguresOfReportsInTheirTexts)
{
    EXPECT_EQ(lessonWords("{time_s} of {before.time_s}"), "842.1 µs of 1.68 ms");
    EXPECT_EQ(lessonWords("{hbm_read_bytes}, {utilization}, {steps}"),
              "12 MiB, 72.1 %, 32\u2009768");
    EXPECT_EQ(lessonWords("{busy_s.HBM/time_s} and {before.time_s : time_s}"), "50.0 % and 2.00");
    EXPECT_EQ(lessonWords("{arithmetic_intensity} {flops_per_s} {hbm_bytes_per_s}"),
              "227.8 FLOP/B 813.2 TFLOP/s 655 GB/s");
    EXPECT_EQ(lessonWords("{traffic.x.refetch_factor} {bound_by} {findings.race.count}"),
              "1.50 memory(HBM) 0");
    EXPECT_EQ(lessonWords("{time_s} {busy_s.HBM/time_s}", ""), "… …"); // the run has not ended
    const auto parts = lessonText("a `bm` {steps}b", kLessonReport);
    ASSERT_TRUE(parts);
    using Kind = LessonPart::Kind;
    EXPECT_EQ(*parts, (std::vector<LessonPart>{{"a ", Kind::Plain},
                                               {"bm", Kind::Name},
                                               {" ", Kind::Plain},
                                               {"32\u2009768", Kind::Figure},
                                               {"b", Kind::Plain}}));
    const auto unknown = lessonText("{tiem_s}", kLessonReport);
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().message.find("time_s"), std::string::npos);
    EXPECT_FALSE(lessonText("{traffic}", kLessonReport));
    EXPECT_FALSE(lessonText("{time_s/hbm_read_bytes}", kLessonReport));
    EXPECT_FALSE(lessonText("{bound_by:time_s}", kLessonReport));
}

TEST(Lessons, tasksAreReachedByRunsThatKeepWhatMustStay)
{
    const LessonTask faster = taskWith({"time_s<0.5ms", "findings.race.count=0"}, {"bm"});
    const auto progress = [&](const LessonTask& of, const std::string& report) {
        const auto found = progressOf(of, kLessonReport, report);
        EXPECT_TRUE(found) << (found ? "" : found.error().message);
        return *found;
    };
    const LessonProgress own = progress(faster, kLessonReport);
    EXPECT_FALSE(own.isReached());
    ASSERT_EQ(own.claims.size(), 2U);
    EXPECT_EQ(own.claims[0].actual, "0.8421 ms");
    EXPECT_FALSE(own.claims[0].holds);
    EXPECT_TRUE(own.claims[1].holds);

    LessonJson better = LessonJson::parse(reportWith("/time_s", 0.0004));
    better["parameters"]["bm"] = 512;
    EXPECT_TRUE(progress(faster, better.dump()).isReached());

    LessonJson smaller = better;
    smaller["parameters"]["n"] = 1024;
    EXPECT_EQ(progress(faster, smaller.dump()).apart, "n is 1024 here; the task keeps it at 4096.");
    EXPECT_FALSE(progress(faster, smaller.dump()).isReached());

    LessonJson other = better;
    other["chip"] = "tpu_v6e";
    EXPECT_EQ(progress(faster, other.dump()).apart,
              "The chip is tpu_v6e here; the task is about tpu_v5e.");
    EXPECT_TRUE(progress(taskWith({"time_s<0.5ms"}, {"bm", "chip"}), other.dump()).isReached());
    other["kernel"] = "add_vectors";
    other["parameters"] = {{"shape", "8"}};
    EXPECT_EQ(progress(taskWith({"time_s<0.5ms"}, {"bm", "chip"}), other.dump()).apart,
              "The kernel is add_vectors here; the task is about matmul.");
    EXPECT_FALSE(progressOf(taskWith({"nothing>1"}, {}), kLessonReport, kLessonReport));
}

TEST(Amounts, haveTheUnitsOfTheirFields)
{
    const auto value = [](std::string_view text, std::string_view field) {
        const auto amount = parseAmount(text, field);
        return amount ? amount->value : -1;
    };
    EXPECT_DOUBLE_EQ(value("70us", "time_s"), 70e-6);
    EXPECT_DOUBLE_EQ(value("1.5ms", "time_split_s.exposed_copies"), 1.5e-3);
    EXPECT_DOUBLE_EQ(value("0.00007", "time_s"), 70e-6);
    EXPECT_DOUBLE_EQ(value("2MiB", "vmem_peak_bytes"), 2097152);
    EXPECT_EQ(value("2MiB", "time_s"), -1);
    EXPECT_EQ(value("70us", "vmem_peak_bytes"), -1);
    EXPECT_EQ(value("70us", "flops_per_s"), -1);
    EXPECT_EQ(value("70us", "steps"), -1);
    EXPECT_DOUBLE_EQ(value("70 us", "time_s"), 70e-6);
    for (const char* wrong : {"", "us", "nan", "inf", "70u", "70 us "}) {
        EXPECT_EQ(value(wrong, "time_s"), -1) << wrong;
    }
}

} // namespace pallascope::study
