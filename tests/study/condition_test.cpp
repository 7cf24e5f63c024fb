// Conditions on a report, such as "vmem>90%": how they are parsed and decided.
#include "core/study/condition.h"

#include <gtest/gtest.h>

namespace pallascope::study {

namespace {

constexpr const char* kReport = R"json({
  "time_s": 0.002, "utilization": 0.72, "bound_by": "memory(HBM)",
                     "steps" : 512, "vmem_peak_bytes" : 12, "vmem_scoped_limit_bytes" : 16,
                     "vmem_by_operand" : {"x" : 4},
                     "result" : {"checked" : false, "passed" : null},
                     "traffic"
    : [ {"operand" : "x", "bytes" : 100}, {"operand" : "y", "bytes" : 300} ],
                     "buffers" : [ {"name" : "a", "slots" : 2}, {"name" : "a", "slots" : 3} ],
                     "findings" : []
})json";

bool holds(const std::string& text)
{
    const Result<Condition> condition = parseCondition(text);
    EXPECT_TRUE(condition) << text;
    const Result<Verdict> verdict = evaluate(*condition, kReport);
    EXPECT_TRUE(verdict) << text << (verdict ? "" : ": " + verdict.error().message);
    return verdict && verdict->holds;
}

std::string refusal(const std::string& text)
{
    const Result<Condition> condition = parseCondition(text);
    if (!condition) {
        return condition.error().message;
    }
    const Result<Verdict> verdict = evaluate(*condition, kReport);
    EXPECT_FALSE(verdict) << text;
    return verdict ? "" : verdict.error().message;
}

} // namespace

TEST(Conditions, compareNumbersWithEveryOperator)
{
    EXPECT_TRUE(holds("steps>511"));
    EXPECT_FALSE(holds("steps>512"));
    EXPECT_TRUE(holds("steps>=512"));
    EXPECT_FALSE(holds("steps>=513"));
    EXPECT_TRUE(holds("steps<513"));
    EXPECT_FALSE(holds("steps<512"));
    EXPECT_TRUE(holds("steps<=512"));
    EXPECT_FALSE(holds("steps<=511"));
    EXPECT_TRUE(holds("steps=512"));
    EXPECT_FALSE(holds("steps=511"));
    EXPECT_TRUE(holds("steps!=511"));
    EXPECT_FALSE(holds("steps!=512"));
    EXPECT_TRUE(holds(" time_s > 1e-3 "));
}

TEST(Conditions, compareTimesAndBytesInUnits)
{
    EXPECT_TRUE(holds("time_s>1.9ms"));
    EXPECT_FALSE(holds("time_s>2ms"));
    EXPECT_TRUE(holds("time_s=2000us"));
    EXPECT_TRUE(holds("vmem<=12B"));
    EXPECT_FALSE(holds("vmem>1KiB"));
    EXPECT_TRUE(holds("traffic.y.bytes<1KiB"));
    EXPECT_EQ(evaluate(*parseCondition("time_s>1.9999999ms"), kReport)->actual, "2 ms");
    EXPECT_EQ(evaluate(*parseCondition("time_s<0.0020001s"), kReport)->actual, "0.002 s");
    EXPECT_TRUE(holds("time_s > 500 us"));
    EXPECT_EQ(refusal("time_s>2kg"),
              "The condition \"time_s>2kg\" compares a number with \"2kg\"; expected a number such "
              "as 70us, with a unit or without: ps, ns, us, ms or s.");
    EXPECT_EQ(refusal("vmem>3MB"),
              "The condition \"vmem>3MB\" compares a number with \"3MB\"; expected a number such "
              "as 1MiB, with a unit or without: B, KiB, MiB or GiB.");
    EXPECT_EQ(refusal("steps>2ms"), "The condition \"steps>2ms\" compares a number with \"2ms\"; "
                                    "expected a number such as 512, or another field.");
}

TEST(Conditions, compareAFieldWithAnother)
{
    EXPECT_TRUE(holds("traffic.y.bytes>traffic.x.bytes"));
    EXPECT_FALSE(holds("traffic.x.bytes>=traffic.y.bytes"));
    EXPECT_TRUE(holds("vmem<vmem_scoped_limit_bytes"));
    EXPECT_TRUE(holds("vmem_scoped_limit_bytes>vmem"));
    EXPECT_EQ(evaluate(*parseCondition("traffic.x.bytes<traffic.y.bytes"), kReport)->actual, "100");
    for (const char* mixed : {"time_s<traffic.x.bytes", "steps>time_s", "vmem>steps"}) {
        EXPECT_NE(refusal(mixed).find("compares a number with"), std::string::npos) << mixed;
    }
    EXPECT_NE(refusal("steps>bound_by").find("expected a number such as"), std::string::npos);
}

TEST(Conditions, percentagesAreOfTheLimitForMemoryAndOfOneForShares)
{
    EXPECT_TRUE(holds("vmem>74.9%"));
    EXPECT_FALSE(holds("vmem>75%"));
    EXPECT_TRUE(holds("vmem>=75%"));
    EXPECT_TRUE(holds("vmem>11"));
    EXPECT_TRUE(holds("vmem_by_operand.x=25%"));
    EXPECT_TRUE(holds("utilization<73%"));
    EXPECT_FALSE(holds("utilization<71%"));
}

TEST(Conditions, nameEveryFieldByItsPath)
{
    EXPECT_TRUE(holds("bound_by=memory"));
    EXPECT_TRUE(holds("bound_by=memory(HBM)"));
    EXPECT_FALSE(holds("bound_by=memory(VMEM)"));
    EXPECT_FALSE(holds("bound_by=compute"));
    EXPECT_TRUE(holds("bound_by!=compute"));
    EXPECT_TRUE(holds("traffic.1.bytes=300"));
    EXPECT_TRUE(holds("traffic.y.bytes>299"));
    EXPECT_TRUE(holds("result.checked=false"));
    EXPECT_TRUE(holds("result.passed=null"));
    EXPECT_FALSE(holds("result.passed=false"));
}

// The order of such a list depends on the run, so that numbers are no names.
TEST(Conditions, nameWhatLiesBeyondTheRooflineByItsCause)
{
    const std::string report = R"json({"beyond_roofline_s": [
        {"what": "refetch", "of": "x", "time_s": 0.2, "gain_s": 0.5},
        {"what": "units", "of": "VPU", "time_s": 0.1, "gain_s": 0.1}],
        "other_memories": [{"memory": "SMEM", "peak_bytes": 8}]})json";
    const auto holdsThere = [&report](const std::string& text) {
        const Result<Verdict> verdict = evaluate(*parseCondition(text), report);
        EXPECT_TRUE(verdict) << text << (verdict ? "" : ": " + verdict.error().message);
        return verdict && verdict->holds;
    };
    EXPECT_TRUE(holdsThere("beyond_roofline_s.refetch.gain_s=0.5"));
    EXPECT_TRUE(holdsThere("beyond_roofline_s.units.of=VPU"));
    EXPECT_TRUE(holdsThere("other_memories.SMEM.peak_bytes=8"));
    EXPECT_FALSE(holdsThere("beyond_roofline_s.padding.time_s>0")); // this run has none
    EXPECT_TRUE(holdsThere("beyond_roofline_s.padding.gain_s=0"));
    EXPECT_FALSE(evaluate(*parseCondition("beyond_roofline_s.paddings.gain_s>0"), report));
}

TEST(Conditions, sayANumberSoThatItIsSeenToHold)
{
    const auto actual = [](const std::string& text, const std::string& report) {
        const Result<Verdict> verdict = evaluate(*parseCondition(text), report);
        return verdict && verdict->holds ? verdict->actual : "";
    };
    const std::string report =
        R"json({"vmem_peak_bytes": 4194305, "vmem_scoped_limit_bytes": 4194304,
        "time_s": 0.00096912345, "utilization": 0.9000004, "flops_per_s": 1.5})json";
    EXPECT_EQ(actual("vmem_peak_bytes>=4194304", report), "4194305");
    EXPECT_EQ(actual("time_s>0.000969123", report), "0.0009691234");
    EXPECT_EQ(actual("time_s>0.0009", report), "0.000969123");
    EXPECT_EQ(actual("vmem>100%", report), "100.00002% of the limit of 4194304 bytes");
    EXPECT_EQ(actual("utilization>90%", report), "90.00004%");
    EXPECT_EQ(actual("flops_per_s>1", report), "1.5");
}

TEST(Conditions, ofAPartAreAPartOrAPercentage)
{
    EXPECT_EQ(
        refusal("utilization<80"),
        "The condition \"utilization<80\" compares utilization, which is from 0 to 1, with 80; "
        "expected a number such as 0.8 or 80%.");
    EXPECT_NE(refusal("utilization<200").find("0.5 or 50%"), std::string::npos);
    EXPECT_NE(refusal("traffic.x.padding_share>50").find("0.5 or 50%"), std::string::npos);
    EXPECT_TRUE(holds("utilization<=1"));
    EXPECT_TRUE(holds("utilization<80%"));
}

TEST(Conditions, ofSeveralElementsOfOneNameHoldForOneOfThem)
{
    EXPECT_TRUE(holds("buffers.a.slots>2"));
    EXPECT_TRUE(holds("buffers.a.slots<3"));
    EXPECT_FALSE(holds("buffers.a.slots>3"));
    EXPECT_FALSE(holds("buffers.0.slots>2"));
}

// A guard must not fail for a run that has nothing of what it guards against.
TEST(Conditions, ofWhatIsAbsentBecauseThereIsNoneHoldForNone)
{
    EXPECT_FALSE(holds("stopped_by=deadlock"));
    EXPECT_TRUE(holds("stopped_by!=deadlock"));
    EXPECT_FALSE(holds("traffic.x.padding_share>50%"));
    EXPECT_TRUE(holds("traffic.x.padding_share<50%"));
    EXPECT_FALSE(holds("findings.race.count>0"));
    EXPECT_NE(refusal("traffic.z.padding_share>1").find("no field"), std::string::npos);
    EXPECT_NE(refusal("padding_share>1").find("no field"), std::string::npos);
    EXPECT_NE(refusal("findings.rase.count>0").find("no field"), std::string::npos);
}

TEST(Conditions, nameFindingsByKindOrOperand)
{
    const std::string report = R"json({"findings": [
        {"kind": "race", "operand": "x", "count": 2}, {"kind": "deadlock", "operand": null, "count": 1}
    ]})json";
    const auto holdsThere = [&report](const std::string& text) {
        const Result<Verdict> verdict = evaluate(*parseCondition(text), report);
        return verdict && verdict->holds;
    };
    EXPECT_TRUE(holdsThere("findings.race.count=2"));
    EXPECT_TRUE(holdsThere("findings.x.count=2"));
    EXPECT_TRUE(holdsThere("findings.deadlock.count=1"));
    EXPECT_TRUE(holdsThere("findings.read_before_wait.count=0"));
}

// A guard against large errors must not let a NaN pass, nor call it a mistake of the command.
TEST(Conditions, ofANanAreThoseOfTheLargestError)
{
    const std::string start = R"json({"result": {"checked": )json";
    const std::string nan =
        start + R"json(true, "max_rel_error": null, "max_abs_error": null}})json";
    const std::string unchecked = start + R"json(false, "max_rel_error": null}})json";
    for (const char* const text : {"result.max_rel_error>0.001", "result.max_abs_error>=5"}) {
        const Result<Verdict> verdict = evaluate(*parseCondition(text), nan);
        ASSERT_TRUE(verdict) << verdict.error().message;
        EXPECT_TRUE(verdict->holds);
        EXPECT_EQ(verdict->actual, "NaN");
    }
    EXPECT_FALSE(evaluate(*parseCondition("result.max_rel_error<0.001"), nan)->holds);
    EXPECT_FALSE(evaluate(*parseCondition("result.max_rel_error>0.001"), unchecked));
}

TEST(Conditions, unknownFieldsAreNamedWithThoseLikeThem)
{
    EXPECT_EQ(refusal("utilisation<0.5")
                  .rfind("The report has no field \"utilisation\"; perhaps "
                         "utilization, ",
                         0),
              0U)
        << refusal("utilisation<0.5");
    EXPECT_NE(refusal("traffic.x.byte>1").find("traffic.x.bytes"), std::string::npos);
    EXPECT_NE(refusal("traffic.0.byte>1").find("traffic.0.bytes"), std::string::npos);
    EXPECT_NE(refusal("findings.rase.count>0").find("perhaps findings.race.count"),
              std::string::npos);
    EXPECT_NE(refusal("findings.foo.count>0").find("perhaps findings."), std::string::npos);
    EXPECT_NE(refusal("time>1").find("perhaps time_s"), std::string::npos);
    EXPECT_NE(refusal("traffic.z.bytes>1").find("no field \"traffic.z.bytes\""), std::string::npos);
    EXPECT_NE(refusal("traffic.2.bytes>1").find("no field"), std::string::npos);
    EXPECT_NE(refusal("a..b>1").find("no field"), std::string::npos);
}

TEST(Conditions, thatDoNotSuitTheirFieldAreRefused)
{
    EXPECT_NE(refusal("traffic>1").find("such as traffic.x"), std::string::npos);
    EXPECT_NE(refusal("findings=0").find("is a list"), std::string::npos);
    EXPECT_NE(refusal("result=1").find("such as result.checked"), std::string::npos);
    EXPECT_NE(refusal("bound_by>memory").find("use = or !="), std::string::npos);
    for (const char* const text : {"steps>50%", "time_s<50%", "traffic.x.bytes>50%"}) {
        EXPECT_NE(refusal(text).find("which is no share, with a percentage"), std::string::npos);
    }
    EXPECT_NE(refusal("steps>many").find("a number such as"), std::string::npos);
    EXPECT_NE(refusal("steps>%").find("a number such as"), std::string::npos);
    EXPECT_NE(refusal("steps>nan").find("a number such as"), std::string::npos);
    for (const char* text : {"", "steps", ">1", "steps>", "steps=>1", "steps!1", "steps==1"}) {
        EXPECT_NE(refusal(text).find("'vmem>90%'"), std::string::npos) << text;
    }
}

} // namespace pallascope::study
