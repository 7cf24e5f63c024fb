#include "core/trace/pipelines.h"

#include "core/trace/columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace pallascope::trace {

namespace {

using Range = std::pair<std::size_t, std::size_t>; // of operands

Range operandsOf(const Pipeline& pipeline)
{
    return {at(pipeline.firstOperand), at(pipeline.firstOperand + pipeline.operandCount)};
}

// The rows of one pipeline are copies of each other; but for agent, grid and number of operands.
bool isCopy(const Info& info, const Pipeline& a, const Pipeline& b)
{
    if (std::tie(a.name, a.origin, a.schedule, a.axisNames, a.source, a.operandCount)
        != std::tie(b.name, b.origin, b.schedule, b.axisNames, b.source, b.operandCount)) {
        return false;
    }
    const auto [first, last] = operandsOf(a);
    return std::equal(info.operands.begin() + static_cast<std::ptrdiff_t>(first),
                      info.operands.begin() + static_cast<std::ptrdiff_t>(last),
                      info.operands.begin() + b.firstOperand,
                      [](const Operand& x, const Operand& y) {
                          return std::tie(x.name, x.array, x.block, x.firstBuffer, x.slots)
                                 == std::tie(y.name, y.array, y.block, y.firstBuffer, y.slots);
                      });
}

std::uint64_t endOf(const Buffer& buffer) // of any file: may wrap
{
    return static_cast<std::uint64_t>(buffer.address.value())
           + static_cast<std::uint64_t>(buffer.bytes.value());
}

// Buffers stand in the order of their pipelines: slots, then scratch. Scratch that does not follow
// what lies before it belongs to the next pipeline, which has no slots.
class BufferOwners
{
public:
    BufferOwners(const Info& info, const PipelineKinds& kinds)
        : m_info(info)
        , m_kinds(kinds)
        , m_hasSlots(kinds.all.size(), false)
    {
        for (const Buffer& buffer : info.buffers) {
            if (buffer.operand >= 0) {
                m_hasSlots[at(kindOf(buffer))] = true;
            }
        }
    }

    [[nodiscard]] std::vector<std::int32_t> owners()
    {
        std::vector<std::int32_t> owners;
        for (const Buffer& buffer : m_info.buffers) {
            const auto before = m_ends.find(buffer.memory);
            const bool follows =
                before == m_ends.end()
                || before->second == static_cast<std::uint64_t>(buffer.address.value());
            if (buffer.operand >= 0) {
                enter(kindOf(buffer));
            } else if (!follows && at(m_kind) + 1 < m_hasSlots.size()
                       && !m_hasSlots[at(m_kind) + 1]) {
                enter(m_kind + 1);
            }
            m_ends[buffer.memory] = endOf(buffer);
            owners.push_back(m_kind);
        }
        return owners;
    }

private:
    [[nodiscard]] std::int32_t kindOf(const Buffer& buffer) const
    {
        const std::int32_t pipeline = m_info.operands[at(buffer.operand)].pipeline;
        return pipeline < 0 ? 0 : m_kinds.ofPipeline[at(pipeline)];
    }

    void enter(std::int32_t kind)
    {
        if (kind != m_kind) {
            m_kind = kind;
            m_ends.clear();
        }
    }

    const Info& m_info;
    const PipelineKinds& m_kinds;
    std::vector<bool> m_hasSlots; // by kind
    std::int32_t m_kind = 0;
    std::map<std::int32_t, std::uint64_t> m_ends; // by memory, of the kind's buffers so far
};

// What runs in another one's body has its buffers behind that one's.
void findAround(const Info& info, PipelineKinds& kinds)
{
    using Place = std::pair<std::int32_t, std::uint64_t>; // memory, address
    std::map<Place, std::int32_t> endingAt;               // the last kind whose buffers end there
    for (std::size_t buffer = 0; buffer < info.buffers.size();) {
        const std::int32_t kind = kinds.ofBuffer[buffer];
        std::map<std::int32_t, std::uint64_t> ends;
        const std::size_t first = buffer;
        for (; buffer < info.buffers.size() && kinds.ofBuffer[buffer] == kind; ++buffer) {
            const Buffer& of = info.buffers[buffer];
            ends[of.memory] = endOf(of);
            const auto around =
                endingAt.find({of.memory, static_cast<std::uint64_t>(of.address.value())});
            const bool isFirst =
                std::none_of(info.buffers.begin() + static_cast<std::ptrdiff_t>(first),
                             info.buffers.begin() + static_cast<std::ptrdiff_t>(buffer),
                             [&](const Buffer& before) { return before.memory == of.memory; });
            if (isFirst && of.address > Bytes(0) && around != endingAt.end()) {
                kinds.all[at(kind)].around = around->second;
            }
        }
        for (const auto& [memory, end] : ends) {
            endingAt[{memory, end}] = kind;
        }
    }
}

std::string_view chipName(const Operand& operand)
{
    return operand.direction == Direction::InOut ? std::string_view() : otherName(operand);
}

// Of manual DMA from HBM to HBM, whose ends are both named.
std::vector<std::int32_t> targetsOf(const Info& info)
{
    std::map<std::string_view, std::int32_t> named;
    for (std::size_t number = 0; number < info.operands.size(); ++number) {
        named.try_emplace(arrayName(info.operands[number]), static_cast<std::int32_t>(number));
    }
    std::vector<std::int32_t> targets;
    for (std::size_t number = 0; number < info.operands.size(); ++number) {
        const auto target =
            info.staysInHbm(number) ? named.find(otherName(info.operands[number])) : named.end();
        targets.push_back(target == named.end() ? kNone : target->second);
    }
    return targets;
}

} // namespace

std::string_view arrayName(const Operand& operand)
{
    const std::string_view name = operand.name;
    const std::size_t arrow = name.find(kCopyArrow);
    if (operand.pipeline != -1 || arrow == std::string_view::npos) {
        return name;
    }
    return operand.direction == Direction::Out ? name.substr(arrow + kCopyArrow.size())
                                               : name.substr(0, arrow);
}

std::string_view otherName(const Operand& operand)
{
    const std::string_view name = operand.name, array = arrayName(operand);
    if (array.size() == name.size()) {
        return {};
    }
    return operand.direction == Direction::Out
               ? name.substr(0, name.size() - array.size() - kCopyArrow.size())
               : name.substr(array.size() + kCopyArrow.size());
}

bool PipelineKinds::leads(const Info& info, PipelineRow pipeline) const
{
    return info.pipelines[pipeline.index()].agent == all[at(ofPipeline[pipeline.index()])].agent;
}

bool PipelineKinds::isThere(BufferRow buffer, std::optional<std::int32_t> kind) const
{
    const std::int32_t owner = ofBuffer[buffer.index()];
    for (; owner >= 0 && kind && kind != owner; kind = all[at(*kind)].around) {
    }
    return owner < 0 || kind == owner;
}

Bytes PipelineKinds::used(const Info& info, std::optional<std::int32_t> kind,
                          std::int32_t memory) const
{
    Bytes sum;
    for (std::size_t buffer = 0; buffer < info.buffers.size(); ++buffer) {
        if (info.buffers[buffer].memory == memory && isThere(BufferRow::at(buffer), kind)) {
            sum += info.buffers[buffer].bytes;
        }
    }
    return sum;
}

std::optional<std::int32_t> PipelineKinds::largest(const Info& info, std::int32_t memory) const
{
    std::optional<std::int32_t> found;
    Bytes most(-1);
    for (std::size_t kind = 0; kind < all.size(); ++kind) {
        const Bytes bytes = used(info, static_cast<std::int32_t>(kind), memory);
        if (bytes > most) {
            most = bytes;
            found = static_cast<std::int32_t>(kind);
        }
    }
    return found;
}

PipelineKinds pipelineKindsOf(const Info& info)
{
    PipelineKinds kinds;
    std::vector<std::set<std::int32_t>> agents; // by kind
    for (std::size_t row = 0; row < info.pipelines.size(); ++row) {
        const Pipeline& pipeline = info.pipelines[row];
        const auto same =
            std::find_if(kinds.all.begin(), kinds.all.end(), [&](const PipelineKind& kind) {
                return isCopy(info, info.pipelines[at(kind.rows.front())], pipeline);
            });
        const auto kind = static_cast<std::size_t>(same - kinds.all.begin());
        if (same == kinds.all.end()) {
            kinds.all.push_back({{}, pipeline.agent, 1, {}});
            agents.emplace_back();
        }
        kinds.all[kind].rows.push_back(static_cast<std::int32_t>(row));
        kinds.ofPipeline.push_back(static_cast<std::int32_t>(kind));
        agents[kind].insert(pipeline.agent);
        kinds.all[kind].agents = static_cast<std::int64_t>(agents[kind].size());
        kinds.isShared = kinds.isShared || agents[kind].size() > 1;
    }
    if (kinds.all.empty()) {
        kinds.ofBuffer.assign(info.buffers.size(), -1);
        return kinds;
    }
    kinds.ofBuffer = BufferOwners(info, kinds).owners();
    findAround(info, kinds);
    return kinds;
}

LeadingSteps::LeadingSteps(const Trace& trace)
    : LeadingSteps(trace, pipelineKindsOf(trace.info()))
{}

LeadingSteps::LeadingSteps(const Trace& trace, const PipelineKinds& kinds)
    : m_steps(&trace.steps())
{
    if (!kinds.isShared) {
        return;
    }
    std::vector<bool> leads; // by pipeline
    for (std::size_t row = 0; row < trace.info().pipelines.size(); ++row) {
        leads.push_back(kinds.leads(trace.info(), PipelineRow::at(row)));
    }
    for (std::size_t row = 0; row < m_steps->size(); ++row) {
        if (leads[trace::at(m_steps->pipeline[row])]) {
            m_rows.push_back(StepRow::at(row));
        }
    }
}

std::size_t LeadingSteps::size() const
{
    return m_rows.empty() ? m_steps->size() : m_rows.size();
}

StepRow LeadingSteps::row(std::size_t number) const
{
    return m_rows.empty() ? StepRow::at(number) : m_rows[number];
}

std::size_t LeadingSteps::at(Picoseconds t) const
{
    const std::size_t begun = begunBy(m_steps->begin, t.value());
    const auto bound = std::lower_bound(m_rows.begin(), m_rows.end(), StepRow::at(begun));
    const std::size_t count = m_rows.empty() ? begun : trace::at(bound - m_rows.begin());
    return count == 0 ? 0 : count - 1;
}

Arrays arraysOf(const Info& info)
{
    using Key = std::tuple<std::string_view, std::vector<Extent>, DType, std::int64_t>;
    std::map<Key, std::int32_t> known;
    std::map<std::string_view, std::int32_t> inScratch; // by the name of the scratch
    Arrays arrays;
    arrays.targetOf = targetsOf(info);
    for (const Operand& operand : info.operands) {
        const Key key{arrayName(operand), operand.array.extents(), operand.dtype,
                      storedBytes(operand).value()};
        const auto number =
            known.try_emplace(key, static_cast<std::int32_t>(known.size())).first->second;
        arrays.ofOperand.push_back(number);
        if (const std::string_view scratch = chipName(operand); !scratch.empty()) {
            inScratch.try_emplace(scratch, number);
        }
    }
    for (const Buffer& buffer : info.buffers) {
        const auto scratch = inScratch.find(buffer.name);
        arrays.ofBuffer.push_back(buffer.operand >= 0 ? arrays.ofOperand[at(buffer.operand)]
                                  : scratch == inScratch.end() ? -1
                                                               : scratch->second);
    }
    return arrays;
}

Bytes reachOf(const Info& info, std::span<const std::int32_t> operands)
{
    struct Reach
    {
        double whole = 0;
        std::int64_t launches = 1;
        std::set<std::int32_t> devices;
        bool isManual = false;
    };

    std::map<std::int32_t, Reach> byKernel;
    double slices = 0;
    for (const std::int32_t row : operands) {
        const Operand& operand = info.operands[at(row)];
        Reach& reach = byKernel[operand.kernel];
        reach.whole = std::max(reach.whole, static_cast<double>(wholeBytes(operand).value()));
        reach.launches = std::max(reach.launches, operand.launches);
        double entries = 0;
        if (operand.pipeline == kNone) {
            reach.isManual = true;
        } else {
            const Pipeline& pipeline = info.pipelines[at(operand.pipeline)];
            reach.devices.insert(info.deviceOf(pipeline.agent));
            entries = static_cast<double>(pipeline.entries);
        }
        slices += operand.slicedBytes > Bytes(0) && entries > 0
                      ? entries * static_cast<double>(storedBytes(operand).value())
                      : std::numeric_limits<double>::infinity();
    }
    double all = 0;
    for (const auto& [kernel, reach] : byKernel) {
        // Each device makes a manual DMA, of its own part.
        const std::size_t parts = reach.isManual ? at(info.deviceCount()) : reach.devices.size();
        all += reach.whole * static_cast<double>(parts) * static_cast<double>(reach.launches);
    }
    constexpr double kMost = 9e18; // below 2^63
    return Bytes(std::llround(std::min({all, slices, kMost})));
}

} // namespace pallascope::trace
