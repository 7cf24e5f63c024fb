#include "core/analysis/band.h"
#include "core/analysis/block_grids.h"
#include "core/analysis/losses.h"
#include "core/analysis/speedup.h"
#include "core/analysis/used_memory.h"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace pallascope::analysis {

namespace {

using Json = nlohmann::ordered_json;

double seconds(Picoseconds time)
{
    return toSeconds(time).value();
}

// JSON has no NaN and no infinity, so they become null.
Json number(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

// A text that is a whole number becomes a number: {"m": 4096, "dtype": "bf16"}.
Json parameter(const std::string& text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? Json(value) : Json(text);
}

Json parameters(const Report& report, const trace::Info& info)
{
    Json json = Json::object();
    for (const std::string& name : info.parameterOrder) {
        if (const auto found = report.parameters.find(name); found != report.parameters.end()) {
            json[name] = parameter(found->second);
        }
    }
    return json;
}

Json trafficJson(const Report& report)
{
    constexpr std::array kWays{"read", "write", "on_chip"};
    Json json = Json::array();
    for (const ArrayTraffic& row : report.arrays) {
        json.push_back({{"operand", row.operand},
                        {"direction", kWays[row.way]},
                        {"copies", row.copies},
                        {"bytes", row.bytes.value()},
                        {"block_bytes", row.blockBytes.value()},
                        {"refetch_factor", row.refetchFactor}});
        if (!row.kernel.empty()) {
            json.back()["kernel"] = row.kernel;
        }
        if (row.paddingShare > 0) {
            json.back()["padding_share"] = row.paddingShare;
        }
    }
    return json;
}

Json findingsJson(const trace::Info& info)
{
    Json json = Json::array();
    for (const trace::Finding& finding : info.findings) {
        Json row = {
            {"kind", finding.kind},
            {"class", finding.category == trace::FindingClass::Structural ? "structural" : "value"},
            {"message", finding.message},
            {"operand", finding.operand.empty() ? Json(nullptr) : Json(finding.operand)},
            {"step", finding.step < 0 ? Json(nullptr) : Json(finding.step)}};
        const std::string source = sourceText(info, finding.source);
        row["source"] = source.empty() ? Json(nullptr) : Json(source);
        row["count"] = finding.count;
        if (finding.relatedStep) {
            row["related_step"] = *finding.relatedStep;
        }
        if (finding.time) {
            row["time_s"] = seconds(*finding.time);
        }
        if (finding.copyTime) {
            row["copy_time_s"] = seconds(*finding.copyTime);
        }
        json.push_back(std::move(row));
    }
    return json;
}

Json splitJson(const Report& report)
{
    const TimeSplit& split = report.split;
    Json json = {{"compute", seconds(split.compute)},
                 {"exposed_copies", seconds(split.exposedCopies)},
                 {"step_overhead", seconds(split.stepOverhead)},
                 {"prologue", seconds(split.prologue)},
                 {"epilogue", seconds(split.epilogue)},
                 {"launches", seconds(split.launches)},
                 {"fusions", seconds(split.fusions)},
                 {"idle", seconds(split.idle)}};
    if (report.isGpu) {
        json["products"] = seconds(split.products);
        json["other_agents"] = seconds(split.otherAgents);
    }
    return json;
}

Json lossesJson(const Losses& losses)
{
    Json json = Json::array();
    for (const Loss& loss : losses.beyond) {
        json.push_back({{"what", lossName(loss.kind)},
                        {"of", loss.of.empty() ? Json() : Json(loss.of)},
                        {"time_s", seconds(loss.time)},
                        {"gain_s", seconds(loss.gain)}});
    }
    return json;
}

Json flopsJson(const Report& report)
{
    Json json = Json::object();
    for (const auto& [unit, flops] : report.flopsByUnit) {
        json[unit] = flops.value();
    }
    return json;
}

Json ceilingsJson(const Report& report)
{
    Json json = Json::array();
    for (const Ceiling& one : report.roofline.ceilings) {
        json.push_back({{"name", one.name},
                        {"of", one.of},
                        {"bytes_per_s", one.datasheet.value()},
                        {"ridge", number(report.peakFlopsPerSecond / one.datasheet.value())}});
    }
    return json;
}

Json busyJson(const Report& report)
{
    Json json = Json::object();
    for (const auto& [name, time] : report.busy) {
        json[name] = seconds(time);
    }
    return json;
}

// Scratch of different kernels, or in older files of one, may have one name.
Json usedJson(const std::vector<UsedMemory>& used)
{
    Json json = Json::object();
    for (const UsedMemory& one : used) {
        json[one.operand] = json.value(one.operand, std::int64_t{0}) + one.bytes.value();
    }
    return json;
}

Json othersJson(const Report& report, const trace::Info& info)
{
    Json json = Json::array();
    for (const OtherMemory& other : otherMemories(report, info)) {
        json.push_back({{"memory", other.name},
                        {"peak_bytes", other.peak.value()},
                        {"capacity_bytes", other.capacity.value()},
                        {"by_operand", usedJson(other.byOperand)}});
    }
    return json;
}

Json checkJson(const trace::Check& check)
{
    return {{"checked", check.checked},
            {"passed", check.checked ? Json(check.passed) : Json(nullptr)},
            {"max_abs_error", check.checked ? number(check.maxAbsError) : Json(nullptr)},
            {"max_rel_error", check.checked ? number(check.maxRelError) : Json(nullptr)},
            {"method", check.checked ? Json(check.method) : Json(nullptr)}};
}

// What of other blocks would help most; null if nothing does.
Json tryJson(const Report& report, const std::vector<Alternative>& alternatives)
{
    const Alternative* better = best(report, alternatives);
    if (better == nullptr) {
        return {};
    }
    Json changed = Json::object();
    for (const auto& [name, value] : better->changed) {
        changed[name] = parameter(value);
    }
    const std::optional<Speedup> found = speedup(timed(*better, report), timed(report));
    return {{"name", better->name},
            {"parameters", std::move(changed)},
            {"time_s", seconds(better->time)},
            {"times", found ? number(found->times) : Json(nullptr)},
            {"surely", found && found->range ? Json(found->isSure()) : Json(nullptr)},
            {"bound_by", toString(better->boundBy)},
            {"vmem_bytes", better->vmem.value()}};
}

Json pieceJson(const PieceTime& piece, const trace::Info& info)
{
    const std::string source = sourceText(info, piece.source);
    Json json = {{"name", piece.name},
                 {"kind", pieceKindName(piece.kind)},
                 {"source", source.empty() ? Json(nullptr) : Json(source)},
                 {"times", piece.times},
                 {"time_s", seconds(piece.time)},
                 {"bound_by", nullptr},
                 {"busy_share", nullptr}};
    if (piece.bound) {
        json["bound_by"] = toString(piece.bound->by);
        json["busy_share"] = number(piece.bound->share);
    }
    return json;
}

} // namespace

std::string toJson(const Report& report, const trace::Info& info,
                   const std::vector<Alternative>& alternatives, std::span<const Seconds> walls)
{
    Json json;
    json["kernel"] = report.kernel;
    json["parameters"] = parameters(report, info);
    json["chip"] = report.chip;
    json["values"] = info.values;
    json["settings"] = info.settings;
    json["grid"] = report.grid;
    json["steps"] = report.steps;
    json["events"] = report.events;
    if (report.isStopped()) {
        json["stopped_by"] = report.stoppedBy;
    }
    json["time_s"] = seconds(report.time);
    json["time_low_s"] = report.band ? Json(seconds(report.band->low)) : Json();
    json["time_high_s"] = report.band ? Json(seconds(report.band->high)) : Json();
    json["time_support"] = Json::parse(supportJson(report.band));
    if (report.freshWaits > 0) {
        json["fresh_waits"] = report.freshWaits;
    }
    json["cycles"] = report.cycles.value();
    json["flops"] = report.flops.value();
    json["executed_flops"] = report.executedFlops.value();
    json["flops_by_unit"] = flopsJson(report);
    json["transcendentals"] = report.transcendentals;
    json["hbm_read_bytes"] = report.hbmRead.value();
    json["hbm_write_bytes"] = report.hbmWritten.value();
    json["traffic"] = trafficJson(report);
    if (report.l2) {
        json["l2"] = {{"hit_bytes", report.l2->hit.value()},
                      {"miss_bytes", report.l2->missed.value()},
                      {"hit_rate", report.l2->rate()}};
        if (report.l2->fromL1 > Bytes(0)) {
            json["l2"]["from_l1_bytes"] = report.l2->fromL1.value();
        }
    }
    json["arithmetic_intensity"] = number(report.arithmeticIntensity);
    json["ridge"] = number(report.roofline.ridge);
    if (!report.roofline.ceilings.empty()) {
        json["ceilings"] = ceilingsJson(report);
    }
    json["flops_per_s"] = number(report.flopsPerSecond);
    json["peak_flops_per_s"] = number(report.peakFlopsPerSecond);
    json["utilization"] = number(report.utilization);
    json["bound_by"] = toString(report.boundBy);
    json["busy_s"] = busyJson(report);
    json["time_split_s"] = splitJson(report);
    json["roofline_s"] = seconds(report.losses.roofline);
    json["beyond_roofline_s"] = lossesJson(report.losses);
    const std::string advised = advice(report);
    json["advice"] = advised.empty() ? Json() : Json(advised);
    json["try"] = tryJson(report, alternatives);
    json["verdict"] = plain(verdict(report, info, alternatives));
    json["vmem_peak_bytes"] = report.vmemPeak.value();
    json["vmem_by_operand"] = usedJson(report.vmemByOperand);
    json["vmem_temporaries_estimate_bytes"] = report.vmemTemporariesEstimate.value();
    json["vmem_scoped_limit_bytes"] = report.vmemScopedLimit.value();
    json["vmem_capacity_bytes"] = report.vmemCapacity.value();
    if (Json others = othersJson(report, info); !others.empty()) {
        json["other_memories"] = std::move(others);
    }
    for (const trace::BlockGrid& grid : info.blockGrids) {
        json["block_grids"].push_back(gridJson<Json>(grid, sourceText(info, grid.source)));
    }
    for (const PieceTime& piece : report.pieces) {
        json["program"].push_back(pieceJson(piece, info));
    }
    json["result"] = checkJson(report.check);
    json["findings"] = findingsJson(info);
    const auto kept = static_cast<std::int64_t>(info.prints.size());
    json["prints"] = kept + info.printsBeyond;
    json["prints_kept"] = kept;
    json["jax_accepts"] = info.jaxAccepts;
    json["jax_reason"] = info.jaxReason.empty() ? Json(nullptr) : Json(info.jaxReason);
    Json all = Json::array();
    for (const Seconds wall : walls) {
        all.push_back(wall.value());
    }
    json["wall_s"] = walls.empty() ? Json(nullptr) : all.back();
    json["wall_all_s"] = std::move(all);
    return json.dump(2) + "\n";
}

} // namespace pallascope::analysis
