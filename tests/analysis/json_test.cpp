// docs/report_format.md and the JSON of a report must name the same keys with the same types.
#include "core/analysis/stretch.h"
#include "tests/analysis/runs.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>
#include <set>

namespace pallascope::analysis_test {

namespace {

using Json = nlohmann::json;

Json jsonOf(const analysis::Report& report, const trace::Info& info,
            const std::vector<Seconds>& walls = {Seconds(0.5), Seconds(0.25)},
            const std::vector<analysis::Alternative>& alternatives = {})
{
    return Json::parse(analysis::toJson(report, info, alternatives, walls));
}

Json jsonOf(const trace::Trace& trace,
            const std::vector<Seconds>& walls = {Seconds(0.5), Seconds(0.25)})
{
    return jsonOf(analysis::report(trace).value(), trace.info(), walls);
}

// The main job with everything that a report can have.
trace::TraceBuilder full()
{
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.findings = {{"output_revisited",
                              trace::FindingClass::Structural,
                              "A sentence.",
                              "out",
                              8,
                              0,
                              {0, 7},
                              448,
                              Picoseconds(1'000'000),
                              Picoseconds(500'000)}};
    builder.info.check = {true, true, 0.5, 0.25, "rows against an f64 product"};
    builder.info.prints = {{"x = 1", 0, 0, Picoseconds(0), {}},
                           {"x = 2", 1, 0, Picoseconds(5), {}}};
    builder.info.printsBeyond = 5;
    builder.info.jaxAccepts = "no";
    builder.info.jaxReason = "Unimplemented primitive cumsum.";
    return builder;
}

enum class Of
{
    Run,
    Stretch
};

// Every row of the tables whose first cell is `key`, as key -> type cell. A key "  .name" belongs
// to the last row above it that does not begin with a dot.
std::map<std::string, std::string> documented(Of part)
{
    std::ifstream file(PALLASCOPE_REPORT_FORMAT);
    std::map<std::string, std::string> keys;
    std::string line, parent;
    Of now = Of::Run;
    while (std::getline(file, line)) {
        if (line.starts_with("## ")) {
            now = line == "## A stretch of a run" ? Of::Stretch : Of::Run;
        }
        if (now != part || !line.starts_with("| `")) {
            continue;
        }
        const std::size_t close = line.find('`', 3), bar = line.find('|', close);
        std::string key = line.substr(3, close - 3);
        const std::string type = line.substr(bar + 2, line.find('|', bar + 1) - bar - 3);
        if (key.starts_with("  .")) {
            key = parent + key.substr(2);
        } else {
            parent = key;
        }
        EXPECT_TRUE(keys.emplace(key, type).second) << key << " is documented twice";
    }
    return keys;
}

// The names in the objects of these keys come from the run.
const std::set<std::string> kOpen = {"parameters", "try.parameters",  "flops_by_unit",
                                     "busy_s",     "vmem_by_operand", "other_memories.by_operand",
                                     "bytes",      "waits_s",         "block_grids.allowed_blocks"};

void collect(const Json& json, const std::string& prefix, std::map<std::string, Json>& keys)
{
    for (const auto& [name, value] : json.items()) {
        const std::string key = prefix + name;
        keys[key] = value;
        if (value.is_object() && !kOpen.contains(key)) {
            collect(value, key + ".", keys);
        }
        if (value.is_array() && !value.empty() && value.front().is_object()) {
            collect(value.front(), key + ".", keys);
        }
    }
}

bool hasType(const Json& value, const std::string& type)
{
    if (value.is_null()) {
        return type.find("or null") != std::string::npos;
    }
    const std::string word = type.substr(0, type.find_first_of(", "));
    const std::map<std::string, bool> fits = {
        {"string", value.is_string()},         {"object", value.is_object()},
        {"array", value.is_array()},           {"boolean", value.is_boolean()},
        {"count", value.is_number_integer()},  {"bytes", value.is_number_integer()},
        {"cycles", value.is_number_integer()}, {"FLOP", value.is_number_integer()},
        {"s", value.is_number_float()},        {"FLOP/s", value.is_number()},
        {"FLOP/B", value.is_number()},         {"B/s", value.is_number()},
        {"ratio", value.is_number()},          {"0…1", value.is_number()},
        {"number", value.is_number()}};
    const auto found = fits.find(word);
    EXPECT_NE(found, fits.end()) << "no such type: " << type;
    return found != fits.end() && found->second;
}

} // namespace

// That the keys are those which the tables have, with the types that they have there.
void expectDocumented(std::map<std::string, Json> keys, Of part)
{
    const std::map<std::string, std::string> rows = documented(part);
    for (const auto& [key, value] : keys) {
        EXPECT_TRUE(rows.contains(key)) << key << " is not documented";
    }
    for (const auto& [key, type] : rows) {
        ASSERT_TRUE(keys.contains(key)) << key << " is documented and missing";
        EXPECT_TRUE(hasType(keys[key], type)) << key << " " << keys[key] << " is no " << type;
    }
}

TEST(Json, everyKeyIsDocumentedAndEveryDocumentedKeyExists)
{
    std::map<std::string, Json> keys;
    trace::TraceBuilder builder = full();
    trace::Buffer shared = builder.info.buffers[0];
    shared.operand = -1;
    shared.memory = static_cast<std::int32_t>(builder.info.memories.size());
    builder.info.memories.push_back({"SPMEM", Bytes(1 << 30), {}});
    builder.info.buffers.edit().push_back(shared);
    builder.info.blockGrids.push_back({.blocksPerSm = 1,
                                       .allowed = {{"registers", 1}, {"threads", 16}},
                                       .blocks = 300,
                                       .atATime = 132,
                                       .waves = 3,
                                       .last = 36});
    const auto trace = std::move(builder).finish().value();
    analysis::Report report = analysis::report(*trace).value();
    report.l2 = analysis::CacheReads{Bytes(3), Bytes(1), Bytes(4), Bytes(2)};
    report.stoppedBy = "deadlock";
    report.arrays.front().paddingShare = 0.5;
    report.arrays.front().kernel = "norm";
    report.pieces = {
        {.name = "norm",
         .times = 3,
         .time = Picoseconds(4),
         .bound = analysis::PieceBound{{analysis::BoundKind::Memory, "HBM"}, 0.5, {}}}};
    for (const bool isGpu : {false, true}) { // each has keys of its own
        report.isGpu = isGpu;
        collect(jsonOf(report, trace->info()), "", keys);
    }
    report.stoppedBy.clear(); // of a stopped run nothing else is tried
    const analysis::Alternative faster{
        .changed = {{"bm", "1024"}}, .name = "1024-blocks", .time = Picoseconds(1)};
    collect({{"try", jsonOf(report, trace->info(), {}, {faster})["try"]}}, "", keys);
    // `result` and its parts are documented in one row each.
    keys.erase("result");
    expectDocumented(std::move(keys), Of::Run);
}

TEST(Json, saysWhatToTryAsTheTextDoes)
{
    const auto trace = full().finish().value();
    const analysis::Report report = analysis::report(*trace).value();
    analysis::Alternative faster{.changed = {{"bm", "1024"}, {"order", "ikj"}},
                                 .name = "1024-blocks",
                                 .time = Picoseconds(report.time.value() / 2),
                                 .vmem = Bytes(7)};
    const auto tried = [&] { return jsonOf(report, trace->info(), {}, {faster})["try"]; };
    const Json found = tried();
    EXPECT_EQ(found["name"], "1024-blocks");
    EXPECT_EQ(found["parameters"], (Json{{"bm", 1024}, {"order", "ikj"}}));
    EXPECT_NEAR(found["times"].get<double>(), 2, 1e-6); // times are whole picoseconds
    EXPECT_TRUE(found["surely"].is_null());             // the alternative has no band
    EXPECT_EQ(found["vmem_bytes"], 7);
    faster.time = report.time;
    EXPECT_TRUE(tried().is_null());
    EXPECT_TRUE(jsonOf(*trace)["try"].is_null());
}

TEST(Json, timesOfAStretchAreTheNumbersNearestToThem)
{
    const analysis::Stretch stretch{.begin = Picoseconds(10'000'000),
                                    .end = Picoseconds(70'000'000)};
    const Json json = Json::parse(analysis::toJson(stretch));
    EXPECT_EQ(json["begin_s"], 1e-05);
    EXPECT_EQ(json["end_s"], 7e-05);
}

TEST(Json, everyKeyOfAStretchIsDocumented)
{
    const std::shared_ptr<const trace::Trace> trace = mainJob();
    const analysis::Stretch stretch =
        analysis::stretchOf(trace::Index(trace), Picoseconds(0), trace->end());
    std::map<std::string, Json> keys;
    collect(Json::parse(analysis::toJson(stretch)), "", keys);
    expectDocumented(std::move(keys), Of::Stretch);
}

TEST(Json, countsPrintsAndSaysWhatJaxSaid)
{
    const Json json = jsonOf(*full().finish().value());
    EXPECT_EQ(json["prints"], 7);
    EXPECT_EQ(json["prints_kept"], 2);
    EXPECT_EQ(json["jax_accepts"], "no");
    EXPECT_EQ(json["jax_reason"], "Unimplemented primitive cumsum.");
    const Json plain = jsonOf(*mainJob());
    EXPECT_EQ(plain["prints"], 0);
    EXPECT_EQ(plain["jax_accepts"], "unknown");
    EXPECT_TRUE(plain["jax_reason"].is_null());
}

TEST(Json, keysThatScriptsRelyOnExist)
{
    const Json json = jsonOf(*full().finish().value());
    for (const char* key : {"kernel",
                            "parameters",
                            "chip",
                            "grid",
                            "steps",
                            "events",
                            "time_s",
                            "cycles",
                            "flops",
                            "flops_by_unit",
                            "transcendentals",
                            "hbm_read_bytes",
                            "hbm_write_bytes",
                            "traffic",
                            "arithmetic_intensity",
                            "flops_per_s",
                            "peak_flops_per_s",
                            "utilization",
                            "bound_by",
                            "time_split_s",
                            "verdict",
                            "vmem_peak_bytes",
                            "vmem_by_operand",
                            "vmem_temporaries_estimate_bytes",
                            "vmem_scoped_limit_bytes",
                            "vmem_capacity_bytes",
                            "result",
                            "findings",
                            "wall_s"}) {
        EXPECT_TRUE(json.contains(key)) << key;
    }
}

TEST(Json, valuesAreThoseOfTheReport)
{
    const auto trace = full().finish().value();
    const analysis::Report report = analysis::report(*trace).value();
    const Json json = jsonOf(*trace);
    EXPECT_EQ(json["steps"], 512);
    EXPECT_EQ(json["hbm_read_bytes"], 536'870'912);
    EXPECT_EQ(json["hbm_write_bytes"], 67'108'864);
    EXPECT_EQ(json["flops_by_unit"]["MXU"], std::int64_t{2} * 4096 * 4096 * 4096);
    EXPECT_EQ(json["traffic"].size(), 3U);
    EXPECT_EQ(json["traffic"][2]["direction"], "write");
    EXPECT_EQ(json["traffic"][0]["block_bytes"], 524'288);
    EXPECT_DOUBLE_EQ(json["time_s"], static_cast<double>(trace->end().value()) * 1e-12);
    double split = 0;
    for (const auto& [name, part] : json["time_split_s"].items()) {
        split += part.get<double>();
    }
    EXPECT_NEAR(split, json["time_s"].get<double>(), 1e-15);
    EXPECT_EQ(json["busy_s"].size(), report.busy.size());
    EXPECT_EQ(json["vmem_by_operand"]["x"], 1'048'576);
    EXPECT_EQ(json["wall_s"], 0.25);
    EXPECT_EQ(json["wall_all_s"], (Json{0.5, 0.25}));
    EXPECT_EQ(json["verdict"].get<std::string>().find('|'), std::string::npos);
    EXPECT_EQ(json["result"]["max_rel_error"], 0.25);
    EXPECT_EQ(json["findings"][0]["source"], "kernels/matmul.cpp:7");
    EXPECT_EQ(json["findings"][0]["related_step"], 0);
    EXPECT_EQ(json["findings"][0]["time_s"], 1e-6);
    EXPECT_EQ(json["findings"][0]["copy_time_s"], 5e-7);
    EXPECT_EQ(json["findings"][0]["class"], "structural");
}

TEST(Json, wholeNumbersAmongTheParametersAreNumbers)
{
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.parameters = {{"m", "4096"}, {"dtype", "bf16"}, {"shape", "3,2"}};
    builder.info.parameterOrder = {"m", "dtype", "shape"};
    const Json json = jsonOf(*std::move(builder).finish().value());
    EXPECT_EQ(json["parameters"], (Json{{"m", 4096}, {"dtype", "bf16"}, {"shape", "3,2"}}));
}

TEST(Json, whatIsUnknownIsNull)
{
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.check = {};
    builder.info.findings = {
        {"over_scoped_limit", trace::FindingClass::Value, "A sentence.", "", -1, {}, {}, 1, {}}};
    const Json json = jsonOf(*std::move(builder).finish().value(), {});
    EXPECT_TRUE(json["wall_s"].is_null());
    EXPECT_EQ(json["wall_all_s"], Json::array());
    EXPECT_EQ(json["result"]["checked"], false);
    for (const char* key : {"passed", "max_abs_error", "max_rel_error", "method"}) {
        EXPECT_TRUE(json["result"][key].is_null()) << key;
    }
    const Json& finding = json["findings"][0];
    EXPECT_EQ(finding["class"], "value");
    for (const char* key : {"operand", "step", "source"}) {
        EXPECT_TRUE(finding[key].is_null()) << key;
    }
    EXPECT_FALSE(finding.contains("related_step"));
    EXPECT_FALSE(finding.contains("time_s"));
    EXPECT_FALSE(finding.contains("copy_time_s"));
    trace::TraceBuilder wrong = mainJobBuilder();
    wrong.info.check = {true, false, std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(), "all"};
    const Json result = jsonOf(*std::move(wrong).finish().value())["result"];
    EXPECT_EQ(result["passed"], false);
    EXPECT_TRUE(result["max_abs_error"].is_null());
    EXPECT_TRUE(result["max_rel_error"].is_null());
}

} // namespace pallascope::analysis_test
