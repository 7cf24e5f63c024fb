// Which pipelines of a trace are one pipeline of the program, whose buffers are whose, and which
// operands go over the same array: what views and reports count and colour together.
#pragma once

#include "core/trace/row.h"
#include "core/trace/trace.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace pallascope::trace {

// One pipeline of the program: a row of Info::pipelines for each agent that runs it, and for each
// grid that it is entered with.
struct PipelineKind
{
    std::vector<std::int32_t> rows; // ascending
    // The agent of the first row. It leads: its steps and slots are shown, the others do the same
    // beside it.
    std::int32_t agent = 0;
    std::int64_t agents = 1;            // that run it
    std::optional<std::int32_t> around; // kind in whose body it runs
};

struct PipelineKinds
{
    std::vector<PipelineKind> all;        // in program order
    std::vector<std::int32_t> ofPipeline; // kind by row of Info::pipelines
    std::vector<std::int32_t> ofBuffer;   // kind by buffer; -1: of a program without pipelines
    bool isShared = false;                // several agents run one of them

    // Whether a row is that of the leading agent of its kind.
    [[nodiscard]] bool leads(const Info& info, PipelineRow pipeline) const;
    // Whether a buffer is there while a pipeline of a kind runs: its own, or one of those around
    // it. Kinds that do not run in each other run one after the other, and reuse the same bytes.
    [[nodiscard]] bool isThere(BufferRow buffer, std::optional<std::int32_t> kind) const;
    // The bytes of a memory that are taken meanwhile.
    [[nodiscard]] Bytes used(const Info& info, std::optional<std::int32_t> kind,
                             std::int32_t memory) const;
    // The kind that takes most of a memory, the first of equal ones; none without
    // pipelines.
    [[nodiscard]] std::optional<std::int32_t> largest(const Info& info, std::int32_t memory) const;
};

[[nodiscard]] PipelineKinds pipelineKindsOf(const Info& info);

// The steps of leading agents, in order; those of the others lie between their rows. A trace has
// none only where it has no steps.
class LeadingSteps
{
public:
    explicit LeadingSteps(const Trace& trace); // which it refers to
    LeadingSteps(const Trace& trace, const PipelineKinds& kinds);

    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] StepRow row(std::size_t number) const;
    // The one that has begun last by t; the first for earlier times.
    [[nodiscard]] std::size_t at(Picoseconds t) const;

private:
    const Steps* m_steps;
    std::vector<StepRow> m_rows; // empty: all rows
};

// Operands of several agents, kernels and manual DMAs go over the same array: one of the same
// name, shape, dtype and bytes in HBM. In manual DMA the name is that of the end in HBM, of two
// such ends the first. Arrays are numbered in the order in which operands bring them up.
struct Arrays
{
    std::vector<std::int32_t> ofOperand;
    // For each operand of manual DMA from HBM to HBM: the first operand over the array that it
    // writes. -1: no operand goes over it; or the operand is another one.
    std::vector<std::int32_t> targetOf;
    std::vector<std::int32_t> ofBuffer; // of scratch: the array that manual DMA brings to it or
                                        // takes from it, -1: none
};

[[nodiscard]] Arrays arraysOf(const Info& info);

// In the name of an operand of manual DMA, between its two ends.
inline constexpr std::string_view kCopyArrow = " \u2192 ";

// The name of the array that an operand goes over: of "kv_cache → kv_buffer" of a manual DMA
// "kv_cache".
[[nodiscard]] std::string_view arrayName(const Operand& operand);
// The name of the other end of a manual DMA, there "kv_buffer"; empty for other operands.
[[nodiscard]] std::string_view otherName(const Operand& operand);

// The bytes that the operand's array takes in HBM.
[[nodiscard]] inline Bytes storedBytes(const Operand& operand)
{
    return std::max(operand.arrayBytes, operand.paddedBytes);
}

// The same of the whole array, of which the operand's may be a slice.
[[nodiscard]] inline Bytes wholeBytes(const Operand& operand)
{
    return std::max(storedBytes(operand), operand.slicedBytes);
}

// The share of storedBytes, from 0 to below 1, that only fills up the array's tiles.
[[nodiscard]] inline double paddingShare(const Operand& operand)
{
    const Bytes stored = storedBytes(operand);
    return stored > Bytes(0) ? 1 - ratio(operand.arrayBytes, stored) : 0;
}

// The bytes in HBM that operands of one array can go over, on all devices that they are of: those
// of the array with each launch of each of their kernels, after which nothing of it is on chip.
// Operands that are slices of it reach a slice with each entry of their pipeline.
[[nodiscard]] Bytes reachOf(const Info& info, std::span<const std::int32_t> operands);

} // namespace pallascope::trace
