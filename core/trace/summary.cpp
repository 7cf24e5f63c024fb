#include "core/trace/summary.h"

#include "core/trace/agent_blocks.h"
#include "core/trace/agents.h"

#include <algorithm>
#include <utility>

namespace pallascope::trace {

Summarizer::Summarizer(const Info& info)
    : m_hasGrids(!info.blockGrids.empty())
{
    m_sums.instances.assign(info.templates.size(), 0);
    m_sums.moved.resize(info.operands.size());
    m_sums.linkBusy.resize(info.links.size());
    for (const SegmentTemplate& segment : info.templates) {
        m_durations.push_back(segment.duration);
        m_isKernels.push_back(segment.kind == SegmentKind::Body
                              || segment.kind == SegmentKind::StepOverhead);
    }
    for (const std::string& agent : info.agents) {
        m_isUnit.push_back(isUnitInstance(info, agent));
        m_isWarp.push_back(isWarp(agent));
    }
    for (std::size_t link = 0; link < info.links.size(); ++link) {
        m_hbmPasses.push_back(info.hbmPasses(link));
    }
    for (std::size_t operand = 0; operand < info.operands.size(); ++operand) {
        m_staysInHbm.push_back(info.staysInHbm(operand));
        m_staysOnChip.push_back(info.operands[operand].isOnChip);
    }
}

void Summarizer::addSegment(std::int32_t templateId, AgentRow agent, OptionalRow<StepRow> step,
                            Picoseconds begin)
{
    const auto id = static_cast<std::size_t>(templateId);
    if (m_isKernels[id]) {
        rowOf(m_ofAgent, agent).ran += m_durations[id];
    }
    if (!step) {
        m_outside += m_durations[id];
    } else {
        if (begin < m_firstInStep) { // rows come by begin, so this is the first one
            m_firstInStep = begin;
            m_sums.computeBefore = m_outside;
        }
        m_outside = Picoseconds(0);
    }
    ++m_sums.instances[id];
    coverCopies(begin.value());
    cover(begin.value(), (begin + m_durations[id]).value());
}

void Summarizer::addCopy(OperandRow operand, bool out, LinkRow link, Bytes bytes, Picoseconds start,
                         Picoseconds end)
{
    const std::size_t of = operand.index();
    if (of >= m_sums.moved.size()) {
        m_sums.moved.resize(of + 1); // an operand of a pipeline that was found late
    }
    const int passes = m_hbmPasses[link.index()];
    const bool isBetweenDevices = passes == 2;
    const auto count = [&](Summary::Way way, Bytes part) {
        ++m_sums.moved[of][way].copies;
        m_sums.moved[of][way].bytes += part;
        m_sums.moved[of][way].betweenDevices += isBetweenDevices ? part : Bytes(0);
    };
    if (passes == 0 || (of < m_staysOnChip.size() && m_staysOnChip[of])) {
        count(Summary::OnChip, bytes);
    } else if (of < m_staysInHbm.size() && m_staysInHbm[of]) {
        const Bytes read(bytes.value() * passes / 2);
        count(Summary::Read, read);
        count(Summary::Written, bytes * passes - read);
    } else {
        count(out ? Summary::Written : Summary::Read, bytes);
    }
    m_sums.linkBusy[link.index()] += end - start;
    const Interval copy{start.value(), end.value()};
    if (m_next < m_copies.size() && m_copies.back().end == copy.begin) {
        // Copies that follow each other without a gap on a busy link.
        m_copies.back().end = copy.end;
        return;
    }
    auto place = m_copies.end();
    while (place != m_copies.begin() + static_cast<std::ptrdiff_t>(m_next)
           && (place - 1)->begin > copy.begin) {
        --place; // another link may have a longer queue
    }
    m_copies.insert(place, copy);
}

void Summarizer::coverCopies(std::int64_t until)
{
    if (m_next == m_copies.size() || m_copies[m_next].begin > until) { // as is usual
        return;
    }
    while (m_next < m_copies.size() && m_copies[m_next].begin <= until) {
        cover(m_copies[m_next].begin, m_copies[m_next].end);
        ++m_next;
    }
    if (2 * m_next >= m_copies.size()) {
        m_copies.erase(m_copies.begin(), m_copies.begin() + static_cast<std::ptrdiff_t>(m_next));
        m_next = 0;
    }
}

Summarizer::WaitKind Summarizer::kindOf(OptionalRow<CopyRow> copy,
                                        OptionalRow<SemaphoreRow> semaphore,
                                        OptionalRow<OperationRow> operation, bool isFusion)
{
    if (isFusion) {
        return WaitKind::Fusion;
    }
    if (copy) {
        return operation ? WaitKind::ManualCopy : WaitKind::PipelineCopy;
    }
    return operation && !semaphore ? WaitKind::Own : WaitKind::Other;
}

void Summarizer::addWait(AgentRow agent, OptionalRow<StepRow> step, WaitKind kind,
                         Picoseconds begin, Picoseconds end, bool inBlock)
{
    if (begin == end) {
        return;
    }
    if (kind == WaitKind::Fusion) {
        m_sums.waitedInFusions += end - begin;
        m_fusionWaits.push_back({step, begin, end});
        return;
    }
    const bool isForCopy = kind == WaitKind::PipelineCopy || kind == WaitKind::ManualCopy;
    const auto add = [&](Summary::Agents& of) {
        (isForCopy ? of.copies : kind == WaitKind::Own ? of.own : of.others) += end - begin;
    };
    add(rowOf(m_ofAgent, agent));
    if (inBlock) {
        add(rowOf(m_waitsInBlocks, agent));
    }
    m_sums.waitedForCopies += isForCopy ? end - begin : Picoseconds(0);
    const Wait wait{step, begin, end, kind == WaitKind::PipelineCopy};
    if (!step || *step == StepRow{0} || begin < m_firstInStep) {
        m_waits.push_back(wait);
    } else {
        count(wait);
    }
}

void Summarizer::count(const Wait& wait)
{
    if (!wait.step) {
        return;
    }
    const std::size_t step = wait.step->index();
    if (step >= m_stalled.size()) {
        m_stalled.resize(step + 1, false);
    }
    m_sums.stalledSteps += m_stalled[step] ? 0 : 1;
    m_stalled[step] = true;
}

void Summarizer::markBlocks(const BegunBlocks& blocks, bool areThere)
{
    for (const std::int32_t first : blocks.firsts) {
        const auto from = static_cast<std::size_t>(first);
        const std::size_t to = from + static_cast<std::size_t>(blocks.agents);
        m_isInBlock.resize(std::max(m_isInBlock.size(), to), false);
        std::fill(m_isInBlock.begin() + static_cast<std::ptrdiff_t>(from),
                  m_isInBlock.begin() + static_cast<std::ptrdiff_t>(to), areThere);
    }
}

void Summarizer::beginBlocks(const std::vector<std::int32_t>& firsts, std::int64_t agents,
                             Picoseconds begin)
{
    BegunBlocks& begun = m_blocks[firsts.front()] = {firsts, agents, begin};
    markBlocks(begun, true);
}

void Summarizer::endBlocks(std::int32_t first, Picoseconds end)
{
    if (const auto found = m_blocks.find(first); found != m_blocks.end()) {
        const auto& [firsts, agents, begin] = found->second;
        const auto all = static_cast<std::int64_t>(firsts.size()) * agents;
        addBlocks(all, std::max(Picoseconds(0), end - begin));
        markBlocks(found->second, false);
        m_blocks.erase(found);
    }
}

Summarizer::SoFar Summarizer::soFar(Picoseconds now) const
{
    const std::int64_t ahead = std::max<std::int64_t>(0, m_until - now.value());
    return {m_sums.instances, m_sums.moved, m_sums.linkBusy,        m_ofAgent,
            m_waitsInBlocks,  m_outside,    m_sums.waitedForCopies, m_sums.inBlocks,
            m_covered - ahead};
}

void Summarizer::addAgain(const SoFar& from, const SoFar& to, std::int64_t times, std::int64_t of)
{
    const auto addCount = [&](std::int64_t& sum, std::int64_t before, std::int64_t after) {
        sum += (after - before) * times / of;
    };
    const auto add = [&](auto& sum, auto before, auto after) {
        std::int64_t value = sum.value();
        addCount(value, before.value(), after.value());
        sum = std::remove_reference_t<decltype(sum)>(value);
    };
    for (std::size_t i = 0; i < from.instances.size(); ++i) {
        addCount(m_sums.instances[i], from.instances[i], to.instances[i]);
    }
    for (std::size_t operand = 0; operand < from.moved.size(); ++operand) {
        for (const Summary::Way way : {Summary::Read, Summary::Written, Summary::OnChip}) {
            const Summary::Moved &before = from.moved[operand][way],
                                 &after = to.moved[operand][way];
            addCount(m_sums.moved[operand][way].copies, before.copies, after.copies);
            add(m_sums.moved[operand][way].bytes, before.bytes, after.bytes);
            add(m_sums.moved[operand][way].betweenDevices, before.betweenDevices,
                after.betweenDevices);
        }
    }
    for (std::size_t link = 0; link < from.linkBusy.size(); ++link) {
        add(m_sums.linkBusy[link], from.linkBusy[link], to.linkBusy[link]);
    }
    const auto addAgents = [&](std::vector<Summary::Agents>& sums,
                               const std::vector<Summary::Agents>& before,
                               const std::vector<Summary::Agents>& after) {
        for (std::size_t agent = 0; agent < before.size(); ++agent) {
            add(sums[agent].ran, before[agent].ran, after[agent].ran);
            add(sums[agent].copies, before[agent].copies, after[agent].copies);
            add(sums[agent].own, before[agent].own, after[agent].own);
            add(sums[agent].others, before[agent].others, after[agent].others);
        }
    };
    addAgents(m_ofAgent, from.ofAgent, to.ofAgent);
    addAgents(m_waitsInBlocks, from.waitsInBlocks, to.waitsInBlocks);
    add(m_outside, from.outside, to.outside);
    add(m_sums.waitedForCopies, from.waitedForCopies, to.waitedForCopies);
    add(m_sums.inBlocks, from.inBlocks, to.inBlocks);
    addCount(m_covered, from.covered, to.covered);
}

Summary::Agents Summarizer::averageAgent() const
{
    const auto waits = [](const Summary::Agents& one) { return one.copies > Picoseconds(0); };
    const bool all = std::ranges::none_of(m_ofAgent, waits);
    Summary::Agents sum;
    std::int64_t count = 0;
    for (std::size_t agent = 0; agent < m_ofAgent.size(); ++agent) {
        const Summary::Agents& one = m_ofAgent[agent];
        const bool isActive = one.all() > Picoseconds(0) && !isUnit(agent);
        if (isActive && (all || waits(one))) {
            sum += one;
            ++count;
        }
    }
    count = std::max<std::int64_t>(1, count);
    const auto average = [&](Picoseconds time) { return Picoseconds(time.value() / count); };
    return {average(sum.ran), average(sum.copies), average(sum.own), average(sum.others)};
}

Summary::Agents Summarizer::sumOfWarpgroups(const std::vector<Summary::Agents>& all) const
{
    Summary::Agents sum;
    for (std::size_t agent = 0; agent < all.size(); ++agent) {
        if (!isUnit(agent) && !(agent < m_isWarp.size() && m_isWarp[agent])) {
            sum += all[agent];
        }
    }
    return sum;
}

Summary Summarizer::finish(std::int64_t steps, Picoseconds firstBody, Picoseconds lastStepEnd,
                           Picoseconds end) &&
{
    coverCopies(end.value());
    // What belongs neither to the prologue nor to the epilogue.
    const auto addOutside = [&](const Wait& wait) {
        if (steps > 0 && wait.begin < firstBody) {
            m_sums.computeBefore += std::min(wait.end, firstBody) - wait.begin;
        } else if (wait.begin >= lastStepEnd) {
            m_sums.computeAfter += wait.end - wait.begin;
        }
    };
    for (const Wait& wait : m_waits) {
        const bool isOfFirst = !wait.step || *wait.step == StepRow{0};
        const bool inPrologue =
            steps == 0 || wait.begin < (isOfFirst ? firstBody : std::min(firstBody, m_firstInStep));
        const bool inEpilogue = !wait.step && wait.begin >= lastStepEnd;
        if (!inPrologue && !inEpilogue) {
            count(wait);
        } else if (wait.isPipelines && steps > 0) {
            m_sums.waitedAround +=
                (inPrologue ? std::min(wait.end, firstBody) : wait.end) - wait.begin;
        }
        if (!wait.step && !wait.isPipelines) {
            addOutside(wait);
        }
    }
    m_sums.steps = steps;
    m_sums.computeAfter += m_outside;
    std::ranges::for_each(m_fusionWaits, addOutside);
    m_sums.firstBody = firstBody;
    m_sums.lastStepEnd = lastStepEnd;
    for (const Summary::Agents& agent : m_ofAgent) {
        m_sums.busiest = std::max(m_sums.busiest, agent.ran);
    }
    while (!m_blocks.empty()) { // of a run that a finding has stopped
        endBlocks(m_blocks.begin()->first, end);
    }
    m_sums.agents = averageAgent();
    m_sums.warpgroups = sumOfWarpgroups(m_waitsInBlocks);
    if (m_hasGrids && m_sums.blocks == 0) { // of an older trace, which does not say when they ran
        m_sums.warpgroups = sumOfWarpgroups(m_ofAgent);
        m_sums.inBlocks = m_sums.warpgroups.all();
    }
    m_sums.idle = end - Picoseconds(m_covered);
    if (m_sums.passedBlocks > 0) { // what they covered is an estimate
        m_sums.idle = std::max(m_sums.idle, Picoseconds(0));
    }
    m_sums.end = end;
    return std::move(m_sums);
}

Summarizer::WaitKind kindOfWait(const Trace& trace, std::size_t wait)
{
    const Waits& waits = trace.waits();
    const auto operation =
        OperationRow::of(waits.operation.empty() ? kNone : waits.operation[wait]);
    const bool isFusion = operation && trace.info().operations[operation->index()].name == "fusion";
    const auto semaphore =
        SemaphoreRow::of(waits.semaphore.empty() ? kNone : waits.semaphore[wait]);
    return Summarizer::kindOf(CopyRow::of(waits.copy[wait]), semaphore, operation, isFusion);
}

Summary summaryOf(const Trace& trace)
{
    Summarizer sums(trace.info());
    const AgentBlocks ofAgents(trace);
    const Copies& copies = trace.copies();
    for (std::size_t i = 0; i < copies.size(); ++i) {
        sums.addCopy(OperandRow{copies.operand[i]}, copies.out[i] != 0, LinkRow{copies.link[i]},
                     Bytes(copies.bytes[i]), Picoseconds(copies.start[i]),
                     Picoseconds(copies.end[i]));
    }
    const Segments& segments = trace.segments();
    for (std::size_t i = 0; i < segments.size(); ++i) {
        sums.addSegment(segments.templateId[i], AgentRow{segments.agent[i]},
                        StepRow::of(segments.step[i]), Picoseconds(segments.begin[i]));
    }
    const Waits& waits = trace.waits();
    for (std::size_t i = 0; i < waits.size(); ++i) {
        sums.addWait(AgentRow{waits.agent[i]}, StepRow::of(waits.step[i]), kindOfWait(trace, i),
                     Picoseconds(waits.begin[i]), Picoseconds(waits.end[i]),
                     ofAgents.isInBlock(waits.agent[i], Picoseconds(waits.begin[i])));
    }
    const GridBlocks& blocks = trace.gridBlocks();
    sums.countBlocks(static_cast<std::int64_t>(blocks.size()));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks.claimed[i] == 0) {
            sums.addBlocks(agentsOfBlock(trace, i), Picoseconds(blocks.end[i] - blocks.begin[i]));
        }
    }
    const Steps& steps = trace.steps();
    const bool any = steps.size() > 0;
    return std::move(sums).finish(
        static_cast<std::int64_t>(steps.size()), Picoseconds(any ? steps.bodyBegin.front() : 0),
        Picoseconds(any ? *std::max_element(steps.end.begin(), steps.end.end()) : 0), trace.end());
}

} // namespace pallascope::trace
