#include "core/analysis/losses.h"
#include "core/base/format.h"
#include "core/trace/pipelines.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>

namespace pallascope::analysis {

namespace {

constexpr double kWorthwhile = 0.01; // of the run's time

struct Words
{
    LossKind kind;
    std::string_view name; // for the JSON
    std::string_view text; // {} stands for the unit, link or operand
    std::string_view help; // empty: a kernel's author can do nothing about it
    // The same for a kernel of a GPU; empty: as above.
    std::string_view gpuText = {}, gpuHelp = {};
};

constexpr std::array kWords{
    Words{LossKind::Padding, "padding", "padding of products",
          "products whose extents fill the rows and columns of the {} would save it"},
    Words{LossKind::IdleCores, "idle_cores", "idle cores",
          "a parallel grid axis, captured with as many cores, or a mesh of cores would use them",
          "idle SMs",
          "a grid that fills whole waves of the SMs' places, or blocks that divide the work more "
          "evenly, would use them"},
    Words{LossKind::MatrixRate, "matrix_rate", "{} under its peak",
          "more rows of the left operand in each product would save some of it", "",
          "a second warpgroup that multiplies while the first one waits, or larger tiles, would "
          "save some of it"},
    Words{LossKind::PaddedCopies, "padded_copies", "padding of {} in HBM",
          "a shape of {} whose last two axes fill the rows and lanes of its tiles would save it"},
    Words{LossKind::Refetch, "refetch", "blocks of {} copied again",
          "larger blocks, or an order of the grid in which they stay, would save it",
          "traffic of {} beyond its size",
          "larger tiles, clusters of blocks that share them, or an order of the blocks in which L2 "
          "still has them, would save it"},
    Words{LossKind::LinkRate, "link_rate", "{} under its datasheet rate", ""},
    Words{LossKind::OtherLinks, "other_links", "copies over {}",
          "fewer bytes over that link, or others that are idle meanwhile, would save some of it"},
    Words{LossKind::Units, "units", "{} work", "fewer operations of the {} unit would save it"},
    Words{LossKind::Masks, "masks", "masks",
          "masking only the blocks that need it would save most of it"},
    Words{LossKind::Chains, "chains", "dependent operations",
          "more independent work in each step would fill the gaps", "",
          "more warpgroups on each SM would fill the gaps"},
    Words{LossKind::StepOverhead, "step_overhead", "step overhead",
          "fewer and larger steps would save most of it, if they do no more work"},
    Words{LossKind::BlockStarts, "block_starts", "starting blocks",
          "fewer and larger blocks, or a persistent grid of a block per place, would save most of "
          "it"},
    Words{LossKind::Prologue, "prologue", "prologue",
          "smaller first blocks, or more steps, would hide more of it"},
    Words{LossKind::Epilogue, "epilogue", "epilogue",
          "smaller last blocks, or more steps, would hide more of it"},
    Words{LossKind::Waits, "waits", "waits for other cores and semaphores",
          "work divided more evenly would save it", "waits at barriers and for products",
          "other work between a product and the wait for it, more warpgroups on each SM, or work "
          "divided more evenly among them, would save some of it"},
    Words{
        LossKind::Copies, "copies", "copies not hidden",
        "steps that compute as long as they copy, or more buffers in a pltpu.emit_pipeline, would "
        "hide them",
        "", "{} would hide them"},
    Words{LossKind::DeviceCopies, "device_copies", "copies between devices not hidden",
          "starting them before the work that does not need them would hide them"},
    Words{LossKind::Launches, "launches", "launches",
          "fewer kernels and operations around them would save it"},
    Words{
        LossKind::Fusions, "fusions", "operations around kernels",
        "fewer of them, arguments and results that lie as kernels read and write them, or donated "
        "arguments where a kernel updates them in place would save some of it"},
};

// Copies by hand go from one ref to another.
bool isByHand(const std::string& operand)
{
    return operand.find(trace::kCopyArrow) != std::string::npos;
}

// Whether copies take longest, so that products of smaller tiles, which copy more, do not help.
bool takesCopies(const Report& report)
{
    return report.losses.multiplies && report.boundBy.kind == BoundKind::Memory
           && report.boundBy.of != report.onChipName;
}

// How a GPU's kernel has more bytes under way at a time, apart from slots; empty: not at all. Where
// the SMs have room for more blocks than the grid has, it takes smaller ones.
std::string moreUnderWay(const Report& report)
{
    if (report.isSmFull) {
        return "larger tiles, which have more bytes under way,";
    }
    if (!report.leavesPlaces) {
        return "more blocks on each SM";
    }
    return takesCopies(report) ? "" : "smaller tiles, which make more blocks for each SM,";
}

// What hides the copies of a GPU's kernel. Blocks that only load into registers have no slots, and
// Triton only starts early what products load. Where shared memory is full, a slot more may cost a
// block.
std::string whatHidesCopies(const Report& report)
{
    const std::string blocks = moreUnderWay(report);
    const std::string orBlocks = blocks.empty() ? "" : " or " + blocks;
    const bool hasSlots = std::ranges::any_of(report.traffic, [](const Traffic& row) {
        return row.way == trace::Summary::Read && isByHand(row.operand);
    });
    if (!hasSlots && !report.losses.multiplies) {
        return blocks;
    }
    const std::string slots =
        fmt::format("more slots of SMEM (max_concurrent_steps{})",
                    report.losses.multiplies ? ", or Triton's num_stages" : "");
    if (!report.isSharedMemoryFull) {
        return slots + orBlocks;
    }
    if (report.blocksTogether > 1) {
        return fmt::format("{}, as long as an SM still runs {} blocks at a time,{}", slots,
                           report.blocksTogether, orBlocks);
    }
    return takesCopies(report)
               ? "fewer slots of SMEM, if an SM then runs more blocks at a time, or a "
                 "cluster of blocks that share tiles,"
               : "smaller tiles, which leave shared memory for " + slots
                     + " or for more blocks on each SM,";
}

// Copies by hand, which go from one ref to another, have neither blocks nor an order of a grid.
constexpr Words kCopiedByHand{LossKind::Refetch, "refetch", "parts of {} copied again",
                              "keeping on chip what is copied more than once would save it"};

const Words& wordsOf(LossKind kind)
{
    return *std::find_if(kWords.begin(), kWords.end(),
                         [kind](const Words& words) { return words.kind == kind; });
}

std::string filled(std::string_view text, const std::string& of)
{
    return fmt::format(fmt::runtime(text), of);
}

std::string ofText(const Loss& loss)
{
    return loss.of.empty() ? "other" : loss.of;
}

const Words& wordsOf(const Loss& loss, const Report& report)
{
    const bool again = loss.kind == LossKind::Refetch && !report.isGpu;
    return again && isByHand(loss.of) ? kCopiedByHand : wordsOf(loss.kind);
}

std::string helpText(const Loss& loss, const Report& report)
{
    const Words& words = wordsOf(loss, report);
    const bool hasOther = report.isGpu && !words.gpuHelp.empty();
    return filled(hasOther ? words.gpuHelp : words.help,
                  loss.kind == LossKind::Copies ? whatHidesCopies(report) : ofText(loss));
}

} // namespace

std::string_view lossName(LossKind kind)
{
    return wordsOf(kind).name;
}

std::vector<std::string> lossNames()
{
    std::vector<std::string> names;
    for (const Words& words : kWords) {
        names.emplace_back(words.name);
    }
    return names;
}

std::string lossText(const Loss& loss, const Report& report)
{
    const Words& words = wordsOf(loss, report);
    const bool hasOther = report.isGpu && !words.gpuText.empty();
    return filled(hasOther ? words.gpuText : words.text, ofText(loss));
}

ShownLosses shownLosses(const Report& report)
{
    ShownLosses shown;
    for (const Loss& loss : report.losses.beyond) {
        if (ratio(loss.time, report.time) < kWorthwhile) {
            shown.others += loss.time;
        } else {
            shown.large.push_back(loss);
        }
    }
    std::ranges::stable_sort(shown.large, std::greater(), &Loss::time);
    return shown;
}

std::string advice(const Report& report)
{
    if (report.isStopped()) {
        return ""; // nothing about a part of a run helps the whole
    }
    const auto sentence = [&](const std::string& without, bool keepsPart, Picoseconds gain,
                              const std::string& help) {
        return fmt::format("{} {} it would take {}{}, {} less: {}",
                           keepsPart ? "with less time in" : "without", without,
                           keepsPart ? "at best " : "", timeText(report.time - gain),
                           percentText(ratio(gain, report.time), 1), help);
    };
    const Loss *largest = nullptr, *again = nullptr;
    for (const Loss& loss : report.losses.beyond) {
        if (!wordsOf(loss.kind).help.empty() && (largest == nullptr || loss.gain > largest->gain)) {
            largest = &loss;
        }
        again = loss.kind == LossKind::Refetch ? &loss : again;
    }
    if (largest == nullptr) {
        return "";
    }
    // Where each of two hides what the other one costs, neither is worth much alone.
    constexpr double kMuch = 1.5;
    const Picoseconds both = report.losses.gainOfLargerBlocks;
    if (again != nullptr && ratio(both, report.time) >= kWorthwhile
        && static_cast<double>(both.value()) > kMuch * static_cast<double>(largest->gain.value())) {
        return sentence("step overhead and " + lossText(*again, report), false, both,
                        "larger blocks would save most of both");
    }
    if (ratio(largest->gain, report.time) < kWorthwhile) {
        return "";
    }
    return sentence(lossText(*largest, report), largest->keepsPart, largest->gain,
                    helpText(*largest, report));
}

} // namespace pallascope::analysis
