#include "core/analysis/stretch.h"

#include "core/analysis/owners.h"
#include "core/base/format.h"
#include "core/trace/mark_time.h"
#include "core/trace/summary.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::analysis {

namespace {

constexpr double kLeastBytes = 0.5; // less is what sums of doubles differ by

// How long launches and step overhead keep each unit busy, which is no work of the kernel's: the
// report of a run does not count it either.
std::vector<Picoseconds> bookkeeping(const trace::Trace& trace, const Stretch& stretch)
{
    std::vector<Picoseconds> busy(trace.info().units.size());
    Picoseconds longest;
    for (const trace::SegmentTemplate& segment : trace.info().templates) {
        longest = std::max(longest, segment.isBookkeeping() ? segment.duration : Picoseconds(0));
    }
    const trace::Segments& segments = trace.segments();
    const auto first = std::ranges::lower_bound(segments.begin, (stretch.begin - longest).value());
    for (auto row = static_cast<std::size_t>(first - segments.begin.begin()); row < segments.size();
         ++row) {
        const std::int64_t begin = segments.begin[row];
        const auto id = static_cast<std::size_t>(segments.templateId[row]);
        const trace::SegmentTemplate& segment = trace.info().templates[id];
        if (begin >= stretch.end.value()) {
            break;
        }
        if (!segment.isBookkeeping() || begin + segment.duration.value() <= stretch.begin.value()) {
            continue;
        }
        for (const trace::Mark& mark : segment.marks) {
            const auto inside = [&](Cycles cycles) {
                return std::clamp(begin + trace::markTime(segment, cycles), stretch.begin.value(),
                                  stretch.end.value());
            };
            busy[static_cast<std::size_t>(mark.unit)] +=
                Picoseconds(inside(mark.offset + mark.length) - inside(mark.offset));
        }
    }
    return busy;
}

void addTime(std::vector<StretchTime>& times, const std::string& name, Picoseconds time,
             std::int64_t over)
{
    if (time <= Picoseconds(0)) {
        return;
    }
    const auto same = std::find_if(times.begin(), times.end(),
                                   [&](const StretchTime& one) { return one.name == name; });
    (same == times.end() ? times.emplace_back(StretchTime{name, {}, over}) : *same).time += time;
}

std::int64_t linksOf(const trace::Info& info, const std::string& kind)
{
    return std::ranges::count_if(info.links,
                                 [&](const trace::Link& link) { return kindOf(link) == kind; });
}

// What a wait waits for: an array, a semaphore, or others. Only products of a GPU run beside the
// agent that has started them.
std::string causeOf(const trace::Trace& trace, std::size_t wait)
{
    const trace::Waits& waits = trace.waits();
    const trace::Info& info = trace.info();
    if (waits.copy[wait] != trace::kNone) {
        const auto copy = static_cast<std::size_t>(waits.copy[wait]);
        const auto operand = static_cast<std::size_t>(trace.copies().operand[copy]);
        return std::string(trace::arrayName(info.operands[operand]));
    }
    const std::int32_t semaphore = waits.semaphore.empty() ? trace::kNone : waits.semaphore[wait];
    if (semaphore != trace::kNone) {
        return info.semaphores[static_cast<std::size_t>(semaphore)].name;
    }
    if (info.blockGrids.empty()) {
        return "other cores or a delay";
    }
    return trace::kindOfWait(trace, wait) == trace::Summarizer::WaitKind::Own
               ? "products or a delay"
               : "other agents";
}

void addWaits(const trace::Trace& trace, Stretch& stretch)
{
    const trace::Waits& waits = trace.waits();
    const auto last = std::lower_bound(waits.begin.begin(), waits.begin.end(), stretch.end.value());
    const auto count = static_cast<std::size_t>(last - waits.begin.begin());
    for (std::size_t wait = 0; wait < count; ++wait) {
        const std::int64_t begin = std::max(waits.begin[wait], stretch.begin.value());
        const std::int64_t end = std::min(waits.end[wait], stretch.end.value());
        if (end > begin) {
            addTime(stretch.waits, causeOf(trace, wait), Picoseconds(end - begin), stretch.agents);
        }
    }
    std::stable_sort(stretch.waits.begin(), stretch.waits.end(),
                     [](const StretchTime& a, const StretchTime& b) { return a.time > b.time; });
}

StretchBytes& bytesOf(std::string_view array, Stretch& stretch)
{
    const auto same = std::find_if(stretch.bytes.begin(), stretch.bytes.end(),
                                   [&](const StretchBytes& one) { return one.array == array; });
    return same == stretch.bytes.end()
               ? stretch.bytes.emplace_back(StretchBytes{std::string(array)})
               : *same;
}

void addBytes(const trace::Index& index, Stretch& stretch)
{
    const trace::Info& info = index.trace().info();
    for (std::size_t i = 0; i < info.operands.size(); ++i) {
        const auto operand = trace::OperandRow::at(i);
        const trace::Index::Moved before = index.moved(operand, stretch.begin),
                                  after = index.moved(operand, stretch.end);
        const double outside = after.outsideHbm - before.outsideHbm;
        const double read = after.read - before.read, written = after.written - before.written;
        const std::string_view array = trace::arrayName(info.operands[i]);
        if (outside >= kLeastBytes) {
            bytesOf(array, stretch).outsideHbm += outside;
        }
        if (read < kLeastBytes && written < kLeastBytes) {
            continue;
        }
        const std::string_view other =
            info.staysInHbm(i) ? trace::otherName(info.operands[i]) : std::string_view();
        bytesOf(array, stretch).read += read;
        bytesOf(other.empty() ? array : other, stretch).written += written;
    }
}

std::string joined(const std::vector<std::string>& parts)
{
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> timesOf(const std::vector<StretchTime>& times, Picoseconds whole)
{
    std::vector<std::string> texts;
    for (const StretchTime& one : times) {
        texts.push_back(fmt::format("{} {} ({})", one.name, timeText(one.time),
                                    percentText(one.shareOf(whole), 1)));
    }
    return texts;
}

std::vector<std::string> movedTexts(const Stretch& stretch)
{
    std::vector<std::string> texts;
    const auto add = [&](const std::string& array, double bytes, const char* way) {
        if (bytes >= kLeastBytes) {
            texts.push_back(
                fmt::format("{} {} {}", array, bytesText(Bytes(std::llround(bytes))), way));
        }
    };
    for (const StretchBytes& row : stretch.bytes) {
        add(row.array, row.read, "read");
        add(row.array, row.written, "written");
        add(row.array, row.outsideHbm, stretch.hasL2 ? "from L2" : "moved outside HBM");
    }
    return texts;
}

nlohmann::ordered_json jsonOf(const std::vector<StretchTime>& times)
{
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const StretchTime& one : times) {
        json[one.name] = toSeconds(one.time).value();
    }
    return json;
}

} // namespace

Stretch stretchOf(const trace::Index& index, Picoseconds from, Picoseconds to)
{
    const trace::Trace& trace = index.trace();
    const trace::Info& info = trace.info();
    const auto inside = [&](Picoseconds time) {
        return std::clamp(time, Picoseconds(0), trace.end());
    };
    Stretch stretch{.begin = inside(std::min(from, to)),
                    .end = inside(std::max(from, to)),
                    .agents =
                        std::max<std::int64_t>(1, static_cast<std::int64_t>(index.agents().size())),
                    .hasL2 = info.hasL2()};
    stretch.flops = index.flops(stretch.end) - index.flops(stretch.begin);
    const std::vector<Picoseconds> besides = bookkeeping(trace, stretch);
    for (std::size_t i = 0; i < info.units.size(); ++i) {
        const auto unit = trace::UnitRow::at(i);
        addTime(stretch.busy, info.units[i].name,
                index.unitBusy(unit, stretch.end) - index.unitBusy(unit, stretch.begin)
                    - besides[i],
                index.agents().unitCount(unit));
    }
    for (const bool out : {false, true}) {
        for (std::size_t i = 0; i < info.links.size(); ++i) {
            const auto link = trace::LinkRow::at(i);
            addTime(stretch.busy, kindOf(info.links[i]) + (out ? " out" : " in"),
                    index.linkBusy(link, out, stretch.end)
                        - index.linkBusy(link, out, stretch.begin),
                    linksOf(info, kindOf(info.links[i])));
        }
    }
    addBytes(index, stretch);
    addWaits(trace, stretch);
    return stretch;
}

std::vector<std::string> stretchLines(const Stretch& stretch)
{
    const Picoseconds length = stretch.end - stretch.begin;
    std::vector<std::string> lines{timeText(length)};
    if (stretch.flops > 0 && length > Picoseconds(0)) {
        lines.front() += ", " + flopRateText(stretch.flops / toSeconds(length).value());
    }
    if (stretch.agents > 1) {
        lines.front() += fmt::format(", times summed and shares averaged over {} agents",
                                     countText(stretch.agents));
    }
    const auto add = [&](const char* what, const std::vector<std::string>& parts) {
        if (!parts.empty()) {
            lines.push_back(std::string(what) + "  " + joined(parts));
        }
    };
    add("busy", timesOf(stretch.busy, length));
    add("moved", movedTexts(stretch));
    add("waits for", timesOf(stretch.waits, length));
    return lines;
}

std::string toJson(const Stretch& stretch)
{
    nlohmann::ordered_json json;
    json["begin_s"] = toSeconds(stretch.begin).value();
    json["end_s"] = toSeconds(stretch.end).value();
    json["agents"] = stretch.agents;
    json["flops"] = stretch.flops;
    json["busy_s"] = jsonOf(stretch.busy);
    json["bytes"] = nlohmann::ordered_json::object();
    for (const StretchBytes& row : stretch.bytes) {
        json["bytes"][row.array] = {{"read", std::llround(row.read)},
                                    {"written", std::llround(row.written)}};
        if (row.outsideHbm > 0) {
            json["bytes"][row.array]["outside_hbm"] = std::llround(row.outsideHbm);
        }
    }
    json["waits_s"] = jsonOf(stretch.waits);
    return json.dump(2) + "\n";
}

} // namespace pallascope::analysis
