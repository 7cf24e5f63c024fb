// Makes the random runs of many subcores that many_agents.h describes.
#include "tests/support/many_agents.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <tuple>

namespace pallascope::test {

namespace {

using trace::kNone;

// A cycle takes a nanosecond. Unit 1 of the subcores works in two stretches with a gap between
// them, and unit 2 works after it.
void addTemplates(trace::Info& info, std::mt19937_64& random)
{
    for (int i = 0; i < 6; ++i) {
        trace::SegmentTemplate segment;
        const auto length = static_cast<std::int64_t>(3 + random() % (i < 3 ? 20 : 400));
        segment.cycles = Cycles(length);
        segment.clock = Hertz(1'000'000'000);
        segment.duration = toPicoseconds(segment.cycles, segment.clock);
        segment.operations = {0, 1};
        segment.retire = {Cycles(length - 1), Cycles(length)};
        segment.marks = {{1, 0, Cycles(0), Cycles(length / 3)},
                         {1, 1, Cycles(length / 2), Cycles(length / 4)},
                         {2, 1, Cycles(length - 1), Cycles(1)}};
        segment.flopsByUnit = segment.executedFlopsByUnit = {Flops(0), Flops(1), Flops(0)};
        info.templates.edit().push_back(std::move(segment));
    }
}

trace::Info infoOf(std::int32_t subcores, std::mt19937_64& random)
{
    trace::Info info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}};
    info.links = {{"HBM", 0, 0, BytesPerSecond(1e9), BytesPerSecond(1e9), {}}};
    info.units = {
        {"MXU", UnitKind::Matrix}, {"SC VPU", UnitKind::Vector}, {"SC scalar", UnitKind::Scalar}};
    info.listing = {{"f", 0}};
    info.operations = {{"mul", "mul", 0, {}}, {"add", "add", 0, {}}};
    info.agents = {"TensorCore 0"};
    for (std::int32_t i = 0; i < subcores; ++i) {
        info.agents.push_back("SparseCore " + std::to_string(i / 16) + " vector subcore "
                              + std::to_string(i % 16));
        info.semaphores.push_back({"done", "semaphore", i + 1});
    }
    addTemplates(info, random);
    return info;
}

} // namespace

std::shared_ptr<const trace::Trace> manyAgents(std::uint64_t seed, std::int32_t subcores)
{
    std::mt19937_64 random(seed);
    trace::TraceBuilder builder;
    builder.info = infoOf(subcores, random);
    // (begin, template, agent), to be sorted by begin.
    std::vector<std::tuple<std::int64_t, std::int32_t, std::int32_t>> segments;
    std::vector<std::tuple<std::int64_t, std::int64_t, std::int32_t>> waits;
    std::int64_t end = 0;
    for (std::int32_t agent = 1; agent <= subcores; ++agent) {
        std::int64_t t = 1000 * agent;
        for (int i = 0; i < 60; ++i) {
            const auto id = static_cast<std::int32_t>(random() % 6);
            segments.emplace_back(t, id, agent);
            t += builder.info.templates[static_cast<std::size_t>(id)].duration.value();
            if (random() % 3 == 0) {
                const auto wait = static_cast<std::int64_t>(random() % 90'000);
                waits.emplace_back(t, t + wait, agent);
                t += wait;
            }
            t += agent <= 2 ? 100'000 : 0;
        }
        end = std::max(end, t);
    }
    waits.emplace_back(500, end - 700, 0); // this agent waits until the others are done
    std::sort(segments.begin(), segments.end());
    std::sort(waits.begin(), waits.end());
    for (const auto& [begin, id, agent] : segments) {
        builder.segments.templateId.push_back(id);
        builder.segments.agent.push_back(agent);
        builder.segments.step.push_back(kNone);
        builder.segments.begin.push_back(begin);
    }
    for (const auto& [begin, until, agent] : waits) {
        builder.waits.copy.push_back(kNone);
        builder.waits.semaphore.push_back(agent == 0 ? kNone : agent - 1);
        builder.waits.agent.push_back(agent);
        builder.waits.step.push_back(kNone);
        builder.waits.begin.push_back(begin);
        builder.waits.end.push_back(until);
    }
    builder.end = Picoseconds(end);
    Result<std::shared_ptr<const trace::Trace>> trace = std::move(builder).finish();
    if (!trace) {
        throw std::logic_error(trace.error().message);
    }
    return *trace;
}

} // namespace pallascope::test
