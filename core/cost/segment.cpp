// Adds up what the operations of a segment demand, and places them on the units.
#include "core/cost/segment.h"

#include "core/cost/in_order.h"
#include "core/cost/left_out.h"
#include "core/cost/place.h"
#include "core/cost/variation.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pallascope::cost {

namespace {

// The units that wait for each other's results. Units that move values, between lanes or from and
// to memory, work ahead of them.
bool computes(const chip::Unit& unit)
{
    return unit.kind == UnitKind::Matrix || unit.kind == UnitKind::Vector
           || unit.kind == UnitKind::Transcendental;
}

// The longest chain of operations that each depend on the one before, in the latencies of their
// units.
Cycles longestChain(const ir::Program& program, std::span<const ir::Operation* const> operations,
                    const std::vector<OperationCost>& costs, const chip::Chip& chip)
{
    std::map<ir::ValueId, Cycles> ready;
    Cycles longest;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        Cycles begin, latency;
        for (const ir::ValueId operand : operations[i]->operands) {
            if (!program.value(operand).literal) {
                begin = std::max(begin, ready[operand]);
            }
        }
        for (const Demand& demand : costs[i].demands) {
            latency = std::max(latency,
                               Cycles(chip.units[static_cast<std::size_t>(demand.unit)].latency));
        }
        for (const ir::ValueId result : operations[i]->results) {
            ready[result] = begin + latency;
        }
        longest = std::max(longest, begin + latency);
    }
    return longest;
}

void addProduct(const MatrixRun& run, Flops flops, std::vector<Products>& products)
{
    const auto same = std::find_if(products.begin(), products.end(),
                                   [&](const Products& one) { return one.run == run; });
    if (same == products.end()) {
        products.push_back({run, flops});
    } else {
        same->flops += flops;
    }
}

} // namespace

// The norm's exponent is a power of two, so that its root needs only square roots and is the same
// on every CPU.
Cycles together(const std::map<std::int32_t, Cycles>& totals, const chip::Chip& chip)
{
    Cycles most, mostComputing;
    const auto unitComputes = [&](std::int32_t unit) {
        return computes(chip.units[static_cast<std::size_t>(unit)]);
    };
    for (const auto& [unit, cycles] : totals) {
        most = std::max(most, cycles);
        mostComputing = unitComputes(unit) ? std::max(mostComputing, cycles) : mostComputing;
    }
    if (chip.overlap < 2 || mostComputing == Cycles(0)) {
        return most;
    }
    double sum = 0;
    for (const auto& [unit, cycles] : totals) {
        double power = unitComputes(unit) ? static_cast<double>(cycles.value())
                                                / static_cast<double>(mostComputing.value())
                                          : 0;
        for (std::int64_t exponent = 1; exponent < chip.overlap; exponent *= 2) {
            power *= power;
        }
        sum += power;
    }
    for (std::int64_t exponent = 1; exponent < chip.overlap; exponent *= 2) {
        sum = std::sqrt(sum);
    }
    const double computing = std::ceil(static_cast<double>(mostComputing.value()) * sum);
    return std::max(most, Cycles(static_cast<std::int64_t>(computing)));
}

Result<SegmentCost> segmentCost(const ir::Program& program,
                                std::span<const ir::Operation* const> operations,
                                const chip::Chip& chip, Runner runner)
{
    SegmentCost result;
    result.useful.assign(chip.units.size(), Flops(0));
    result.executed.assign(chip.units.size(), Flops(0));
    std::vector<OperationCost> costs;
    Variation variation(program);
    const bool isInOrder = runner.issuesInOrder(chip);
    const LeftOut* leftOut = isInOrder ? runner.leftOut : nullptr;
    for (const ir::Operation* operation : operations) {
        variation.add(*operation);
        if (leftOut != nullptr && leftOut->has(*operation)) {
            costs.emplace_back();
            continue;
        }
        Result<OperationCost> cost = operationCost(program, *operation, chip, runner, &variation);
        if (!cost) {
            return cost.error();
        }
        if (cost->product) {
            addProduct(*cost->product, cost->useful, result.products);
        }
        if (cost->flopsUnit >= 0) {
            result.useful[static_cast<std::size_t>(cost->flopsUnit)] += cost->useful;
            result.executed[static_cast<std::size_t>(cost->flopsUnit)] += cost->executed;
        }
        result.transcendentals += cost->transcendentals;
        result.awaited += cost->awaited;
        costs.push_back(std::move(*cost));
    }
    if (isInOrder) {
        placeInSections(program, operations, costs, chip, runner, result);
    } else {
        const std::map<std::int32_t, Cycles> work = workOf(costs);
        result.cycles =
            std::max(together(work, chip), longestChain(program, operations, costs, chip));
        placeWithin(program, operations, costs, work, result);
    }
    result.clock = chip.agents[static_cast<std::size_t>(runner.agent)].clock;
    constexpr double kLongest = 2e6; // s; below half of the longest run, 2^62 ps
    if (toSeconds(result.cycles, result.clock).value() > kLongest) {
        return limitError("One step's body takes longer than 23 days on " + chip.title
                          + "; use smaller blocks or a chip with a faster clock.");
    }
    result.duration = toPicoseconds(result.cycles, result.clock);
    return result;
}

} // namespace pallascope::cost
