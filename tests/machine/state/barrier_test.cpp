// Compares barriers with sequences of arrivals and waits recorded from JAX's own class
// (barrier_golden.json; jax/_src/pallas/mosaic_gpu/interpret/shared_memory.py, JAX 0.12). Sequences
// in which single warps wait are left out: agents are warpgroups.
#include "core/machine/state/barrier.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace pallascope::machine_test {

namespace {

using machine::Barrier, machine::BarrierFault;
using nlohmann::json;

std::string nameOf(BarrierFault fault)
{
    switch (fault) {
    case BarrierFault::Unobserved:
        return "unobserved";
    case BarrierFault::Missed:
        return "missed";
    case BarrierFault::Late:
        return "late";
    case BarrierFault::Overrun:
        return "overrun";
    }
    return {};
}

bool namesWarps(const json& test)
{
    for (const json& operation : test.at("ops")) {
        if (operation.size() > 1
            && operation.at(1).get<std::string>().find('.') != std::string::npos) {
            return true;
        }
    }
    return false;
}

// What each operation released, or the fault that ended the sequence.
json resultsOf(const json& test)
{
    Barrier barrier(test.at("n").get<std::int32_t>());
    std::set<std::string> blocked;
    const auto number = [](const std::string& agent) { return std::stoi(agent.substr(1)); };
    json results = json::array();
    for (const json& operation : test.at("ops")) {
        const auto what = operation.at(0).get<std::string>();
        json released = json::array();
        std::optional<BarrierFault> fault;
        if (what == "arrive") {
            const Barrier::Arrival arrival = barrier.arrive();
            fault = arrival.fault;
            if (arrival.completes && !fault) {
                for (const std::string& agent : blocked) {
                    barrier.observe(number(agent));
                    released.push_back(agent);
                }
                blocked.clear();
            }
        } else if (what == "wait") {
            const auto agent = operation.at(1).get<std::string>();
            const Barrier::Wait wait = barrier.wait(number(agent));
            fault = wait.fault;
            if (wait.blocks) {
                blocked.insert(agent);
            } else {
                released.push_back(agent);
            }
        } else if (barrier.arrived() != 0) {
            results.push_back("pending");
            break;
        }
        if (fault) {
            results.push_back(nameOf(*fault));
            break;
        }
        results.push_back(released);
    }
    return results;
}

} // namespace

TEST(Barrier, followsTheSequencesOfJax)
{
    const json golden = json::parse(
        std::ifstream(std::string(PALLASCOPE_MACHINE_TESTS) + "/state/barrier_golden.json"));
    int compared = 0;
    for (const json& test : golden.at("cases")) {
        if (namesWarps(test)) {
            continue;
        }
        ++compared;
        EXPECT_EQ(resultsOf(test), test.at("results")) << test.at("name");
    }
    EXPECT_EQ(compared, 13);
}

TEST(Barrier, refusesAPhaseThatNobodyHasSeen)
{
    Barrier barrier(1);
    EXPECT_FALSE(barrier.arrive().fault);
    EXPECT_EQ(barrier.arrive().fault, BarrierFault::Unobserved);
}

} // namespace pallascope::machine_test
