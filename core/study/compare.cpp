// Finds the first event in which two runs differ, and writes comparisons as text and JSON.
#include "core/study/compare.h"

#include "core/analysis/band.h"
#include "core/analysis/block_grids.h"
#include "core/analysis/figures.h"
#include "core/base/format.h"
#include "core/study/faster.h"
#include "core/study/faults.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace pallascope::study {

namespace {

using Json = nlohmann::ordered_json;
using trace::Trace;

// The block's text without the operand's name and the brackets.
std::string blockText(const trace::Operand& operand, std::int64_t block)
{
    const std::string name = trace::blockName(operand, block);
    return name.substr(operand.name.size() + 1, name.size() - operand.name.size() - 2);
}

const trace::Operand& operandOf(const Trace& trace, std::size_t copy)
{
    return trace.info().operands[static_cast<std::size_t>(trace.copies().operand[copy])];
}

std::string copyText(const Trace& trace, std::size_t copy)
{
    const trace::Copies& copies = trace.copies();
    if (copy >= copies.size()) {
        return "no more copies";
    }
    const trace::Operand& operand = operandOf(trace, copy);
    const std::int32_t step = copies.step[copy];
    return fmt::format("{}({}) {} slot {}, {}, {}", operand.name,
                       blockText(operand, copies.block[copy]),
                       copies.out[copy] != 0 ? "out of" : "into", copies.slot[copy],
                       bytesText(Bytes(copies.bytes[copy])),
                       step < 0 ? "outside the steps" : fmt::format("in step {}", step));
}

// The operations of a segment: "load x, dot, 2 × store out".
std::string workText(const trace::Info& info, const trace::SegmentTemplate& work)
{
    if (work.isBookkeeping()) {
        return work.kind == trace::SegmentKind::Launch ? "launch" : "step overhead";
    }
    const auto labelOf = [&](std::int32_t operation) -> const std::string& {
        return info.operations[static_cast<std::size_t>(operation)].label;
    };
    std::string text;
    for (std::size_t i = 0, next = 0; i < work.operations.size(); i = next) {
        const std::string& label = labelOf(work.operations[i]);
        while (next < work.operations.size() && labelOf(work.operations[next]) == label) {
            ++next;
        }
        text += (text.empty() ? "" : ", ")
                + (next - i > 1 ? fmt::format("{} × {}", next - i, label) : label);
    }
    return text;
}

const trace::SegmentTemplate* workOf(const Trace& trace, std::size_t segment)
{
    const trace::Segments& segments = trace.segments();
    return segment >= segments.size()
               ? nullptr
               : &trace.info().templates[static_cast<std::size_t>(segments.templateId[segment])];
}

std::string workText(const Trace& trace, std::size_t segment)
{
    const trace::SegmentTemplate* const work = workOf(trace, segment);
    return work == nullptr ? "no more work" : workText(trace.info(), *work);
}

// How many operations the segments have in common at their beginning, by their labels.
std::size_t commonOperations(const Trace& a, const Trace& b, std::size_t segment)
{
    const auto labelOf = [](const Trace& trace, std::int32_t operation) {
        return trace.info().operations[static_cast<std::size_t>(operation)].label;
    };
    const trace::SegmentTemplate *one = workOf(a, segment), *other = workOf(b, segment);
    if (one == nullptr || other == nullptr) {
        return 0;
    }
    const auto end =
        std::mismatch(one->operations.begin(), one->operations.end(), other->operations.begin(),
                      other->operations.end(), [&](std::int32_t x, std::int32_t y) {
                          return labelOf(a, x) == labelOf(b, y);
                      });
    return static_cast<std::size_t>(end.first - one->operations.begin());
}

// The line of the operation of this number in a segment; empty if there is none.
std::string sourceOf(const Trace& trace, std::size_t segment, std::size_t number)
{
    const trace::SegmentTemplate* const work = workOf(trace, segment);
    if (work == nullptr || number >= work->operations.size()) {
        return "";
    }
    const auto operation = static_cast<std::size_t>(work->operations[number]);
    return analysis::sourceText(trace.info(), trace.info().operations[operation].source);
}

Parting partingAtCopy(const Trace& a, const Trace& b, std::size_t i, Parting::What what)
{
    Parting parting{.what = what, .a = copyText(a, i), .b = copyText(b, i)};
    const Trace& one = i < a.copies().size() ? a : b;
    parting.operand = operandOf(one, i).name;
    parting.block = blockText(operandOf(one, i), one.copies().block[i]);
    parting.step = trace::StepRow::of(one.copies().step[i]);
    parting.timeA = i < a.copies().size() ? Picoseconds(a.copies().start[i]) : a.end();
    parting.timeB = i < b.copies().size() ? Picoseconds(b.copies().start[i]) : b.end();
    return parting;
}

Parting partingAtWork(const Trace& a, const Trace& b, std::size_t i, Parting::What what)
{
    const std::size_t common = commonOperations(a, b, i);
    Parting parting{.what = what,
                    .a = workText(a, i),
                    .b = workText(b, i),
                    .sourceA = sourceOf(a, i, common),
                    .sourceB = sourceOf(b, i, common)};
    const Trace& one = i < a.segments().size() ? a : b;
    parting.step = trace::StepRow::of(one.segments().step[i]);
    parting.timeA = i < a.segments().size() ? Picoseconds(a.segments().begin[i]) : a.end();
    parting.timeB = i < b.segments().size() ? Picoseconds(b.segments().begin[i]) : b.end();
    return parting;
}

std::optional<Parting> earlier(std::optional<Parting> a, std::optional<Parting> b)
{
    if (!a || !b) {
        return a ? a : b;
    }
    return std::min(b->timeA, b->timeB) < std::min(a->timeA, a->timeB) ? b : a;
}

bool sameCopy(const Trace& a, const Trace& b, std::size_t i)
{
    const trace::Copies &x = a.copies(), &y = b.copies();
    const trace::Operand &of = operandOf(a, i), &with = operandOf(b, i);
    return x.step[i] == y.step[i] && x.block[i] == y.block[i] && x.out[i] == y.out[i]
           && x.slot[i] == y.slot[i] && x.bytes[i] == y.bytes[i] && of.name == with.name
           && of.blockCounts == with.blockCounts && of.indices == with.indices;
}

std::optional<Parting> otherCopy(const Trace& a, const Trace& b)
{
    for (std::size_t i = 0; i < std::max(a.copies().size(), b.copies().size()); ++i) {
        const bool both = i < a.copies().size() && i < b.copies().size();
        if (!both || !sameCopy(a, b, i)) {
            return partingAtCopy(a, b, i, Parting::What::Copy);
        }
    }
    return std::nullopt;
}

std::optional<Parting> otherWork(const Trace& a, const Trace& b)
{
    const trace::Segments &left = a.segments(), &right = b.segments();
    const auto textsOf = [](const trace::Info& info) {
        std::vector<std::string> texts;
        for (const trace::SegmentTemplate& work : info.templates) {
            texts.push_back(workText(info, work));
        }
        return texts;
    };
    const std::vector<std::string> textsA = textsOf(a.info()), textsB = textsOf(b.info());
    const auto same = [&](std::size_t i) {
        return left.step[i] == right.step[i]
               && textsA[static_cast<std::size_t>(left.templateId[i])]
                      == textsB[static_cast<std::size_t>(right.templateId[i])];
    };
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
        const bool both = i < left.size() && i < right.size();
        if (!both || !same(i)) {
            return partingAtWork(a, b, i, Parting::What::Work);
        }
    }
    return std::nullopt;
}

// "ready + 1 of TensorCore 0"; a wait takes from its semaphore.
std::string signalText(const Trace& trace, std::size_t i)
{
    const trace::Signals& signals = trace.signals();
    if (i >= signals.size()) {
        return "no more of them";
    }
    const trace::Info& info = trace.info();
    return fmt::format("{} {} {} of {}",
                       info.semaphores[static_cast<std::size_t>(signals.semaphore[i])].name,
                       signals.amount[i] < 0 ? "-" : "+", std::abs(signals.amount[i]),
                       info.agents[static_cast<std::size_t>(signals.agent[i])]);
}

std::optional<Parting> otherSignal(const Trace& a, const Trace& b)
{
    const trace::Signals &left = a.signals(), &right = b.signals();
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
        Parting parting{
            .what = Parting::What::Signal, .a = signalText(a, i), .b = signalText(b, i)};
        if (parting.a != parting.b) {
            parting.timeA = i < left.size() ? Picoseconds(left.time[i]) : a.end();
            parting.timeB = i < right.size() ? Picoseconds(right.time[i]) : b.end();
            return parting;
        }
    }
    return std::nullopt;
}

// The first event that is the same in both runs but happens at another time.
std::optional<Parting> otherTime(const Trace& a, const Trace& b)
{
    std::optional<Parting> copy, work;
    for (std::size_t i = 0; i < a.copies().size() && !copy; ++i) {
        if (a.copies().start[i] != b.copies().start[i] || a.copies().end[i] != b.copies().end[i]) {
            copy = partingAtCopy(a, b, i, Parting::What::Time);
            if (copy->timeA == copy->timeB) { // it takes longer or shorter
                copy->timeA = Picoseconds(a.copies().end[i]);
                copy->timeB = Picoseconds(b.copies().end[i]);
            }
        }
    }
    const auto lasts = [](const Trace& trace, std::size_t i) {
        const auto id = static_cast<std::size_t>(trace.segments().templateId[i]);
        return trace.info().templates[id].duration;
    };
    for (std::size_t i = 0; i < a.segments().size() && !work; ++i) {
        if (a.segments().begin[i] != b.segments().begin[i] || lasts(a, i) != lasts(b, i)) {
            work = partingAtWork(a, b, i, Parting::What::Time);
            if (work->timeA == work->timeB) {
                work->timeA += lasts(a, i);
                work->timeB += lasts(b, i);
            }
        }
    }
    return earlier(copy, work);
}

std::string title(const trace::Info& info)
{
    std::string text = info.kernel;
    for (const std::string& name : info.parameterOrder) {
        const auto value = info.parameters.find(name);
        text += value == info.parameters.end() ? "" : " " + name + "=" + value->second;
    }
    return text + " on " + info.chipName;
}

// The lines tell an author more than names of operations, of which there are many.
std::string otherWorkText(const Parting& parting)
{
    const std::string &a = parting.sourceA, &b = parting.sourceB;
    return !a.empty() && a == b ? fmt::format("they have other operations for {}", a)
                                : fmt::format("A has {}; B has {}", a.empty() ? parting.a : a,
                                              b.empty() ? parting.b : b);
}

std::string partingText(const std::optional<Parting>& parting)
{
    if (!parting) {
        return "They are the same: every event, at the same times.\n";
    }
    const std::string place =
        parting->step ? fmt::format("in step {}", parting->step->number) : "outside the steps";
    const std::string when =
        fmt::format("A at {}, B at {}", timeText(parting->timeA), timeText(parting->timeB));
    switch (parting->what) {
    case Parting::What::Copy:
        return fmt::format("They part at a copy: A moves {}; B moves {} ({}).\n", parting->a,
                           parting->b, when);
    case Parting::What::Work:
        return fmt::format("They part at what is computed {}: {} ({}).\n", place,
                           otherWorkText(*parting), when);
    case Parting::What::Signal:
        return fmt::format("They part at a semaphore: A has {}; B has {} ({}).\n", parting->a,
                           parting->b, when);
    case Parting::What::Time:
        return fmt::format("The same events; they part in time {}, at {}: {}.\n", place, parting->a,
                           when);
    }
    return {};
}

Json numberJson(const analysis::Figure& figure, double value)
{
    return figure.isCounted ? Json(std::llround(value)) : Json(value);
}

} // namespace

Result<Comparison> compare(const Trace& a, const Trace& b)
{
    const Result<analysis::Report> left = analysis::report(a), right = analysis::report(b);
    if (!left || !right) {
        return left ? right.error() : left.error();
    }
    Comparison comparison{*left,
                          *right,
                          title(a.info()),
                          title(b.info()),
                          {a.info().findings, a.info().check},
                          {b.info().findings, b.info().check},
                          {}};
    comparison.parting = earlier(otherCopy(a, b), otherWork(a, b));
    // At other times, changes of semaphores may come in another order and be the same ones.
    const bool hasOthers = a.signals().size() != b.signals().size();
    if (!comparison.parting && !hasOthers) {
        comparison.parting = otherTime(a, b);
    }
    if (!comparison.parting) {
        comparison.parting = otherSignal(a, b);
    }
    return comparison;
}

std::string toText(const Comparison& comparison)
{
    std::string text = "A  " + comparison.titleA + "\nB  " + comparison.titleB + "\n\n";
    const std::vector<analysis::Figure> lines = analysis::figuresOf(comparison.a, comparison.b);
    std::size_t width = 15;
    for (const analysis::Figure& line : lines) {
        width = line.isShown() ? std::max(width, std::string_view(line.name).size()) : width;
    }
    for (const analysis::Figure& line : lines) {
        if (!line.isShown()) {
            continue;
        }
        // fmt pads by the displayed width, also for µ.
        text += fmt::format("{:<{}} {:>12} {:>12}   {}\n", line.name, width, line.textA, line.textB,
                            analysis::changeText(line));
        text += &line == &lines.front() ? bandLines(comparison.a, comparison.b, width) : "";
    }
    text += fmt::format("{:<{}} {:>12} {:>12}\n\n", "bound by", width,
                        toString(comparison.a.boundBy), toString(comparison.b.boundBy));
    return text + faultLines(comparison) + fasterText(comparison) + partingText(comparison.parting);
}

std::string toJson(const Comparison& comparison)
{
    Json json = {{"a", comparison.titleA}, {"b", comparison.titleB}, {"values", Json::object()}};
    for (const analysis::Figure& line : analysis::figuresOf(comparison.a, comparison.b)) {
        json["values"][line.key] = {{"a", numberJson(line, line.a)},
                                    {"b", numberJson(line, line.b)},
                                    {"ratio", line.a != 0 ? Json(line.b / line.a) : Json(nullptr)}};
    }
    const auto ofBand = [&](Picoseconds analysis::Band::*end) {
        const auto seconds = [&](const analysis::Report& report) {
            return report.band ? Json(toSeconds((*report.band).*end).value()) : Json(nullptr);
        };
        return Json{{"a", seconds(comparison.a)}, {"b", seconds(comparison.b)}};
    };
    json["values"]["time_low_s"] = ofBand(&analysis::Band::low);
    json["values"]["time_high_s"] = ofBand(&analysis::Band::high);
    json["values"]["time_support"] = {{"a", Json::parse(analysis::supportJson(comparison.a.band))},
                                      {"b", Json::parse(analysis::supportJson(comparison.b.band))}};
    json["faster"] = Json::parse(fasterJson(comparison));
    json["faults"] = Json::parse(faultsJson(comparison));
    json["values"]["bound_by"] = {{"a", toString(comparison.a.boundBy)},
                                  {"b", toString(comparison.b.boundBy)}};
    if (const auto& parting = comparison.parting) {
        const char* what = parting->what == Parting::What::Copy     ? "copy"
                           : parting->what == Parting::What::Work   ? "work"
                           : parting->what == Parting::What::Signal ? "signal"
                                                                    : "time";
        json["parting"] = {
            {"what", what},
            {"step", parting->step ? Json(parting->step->number) : Json(nullptr)},
            {"operand", parting->operand.empty() ? Json(nullptr) : Json(parting->operand)},
            {"block", parting->operand.empty() ? Json(nullptr) : Json(parting->block)},
            {"a", parting->a},
            {"b", parting->b},
            {"source_a", parting->sourceA.empty() ? Json(nullptr) : Json(parting->sourceA)},
            {"source_b", parting->sourceB.empty() ? Json(nullptr) : Json(parting->sourceB)},
            {"time_a_s", toSeconds(parting->timeA).value()},
            {"time_b_s", toSeconds(parting->timeB).value()}};
    } else {
        json["parting"] = nullptr;
    }
    return json.dump(2) + "\n";
}

} // namespace pallascope::study
