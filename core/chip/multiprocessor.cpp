#include "core/chip/multiprocessor.h"

#include "core/chip/node.h"

namespace pallascope::chip {

namespace {

constexpr std::int64_t kMostThreads = kMostUnits;
constexpr std::int64_t kMostHertz = 1'000'000'000'000;

// A figure whose value is [major, minor].
void parseCapability(const Node& node, Multiprocessor& sm)
{
    const Node value = node.sourced();
    const std::vector<Node> parts = value.list();
    if (parts.size() != 2) {
        value.fail("a list of the major and the minor number, such as [9, 0]");
    }
    const auto part = [](const Node& one) {
        const std::optional<std::int64_t> number = one.integer();
        if (!number || *number < 0 || *number > 99) {
            one.fail("a whole number from 0 to 99");
        }
        return *number;
    };
    sm.computeMajor = part(parts[0]);
    sm.computeMinor = part(parts[1]);
}

void parseThreads(const Node& node, Multiprocessor& sm)
{
    sm.threads = node["threads"].whole(kMostThreads, "threads");
    if (sm.threads % kWarpgroupThreads != 0) {
        node["threads"].failNumber("a multiple of 128, the threads of a warpgroup");
    }
    sm.threadsPerBlock = node["threads_per_block"].whole(sm.threads, "threads");
    sm.blocks = node["blocks"].whole(kMostUnits, "blocks");
    sm.warpGranule = node["warp_granule"].whole(sm.warps(), "warps");
    sm.registers = node["registers"].whole(1 << 24, "registers");
    sm.registersPerThread = node["registers_per_thread"].whole(kMostUnits, "registers");
    sm.registerGranule = node["register_granule"].whole(sm.registers, "registers");
    sm.namedBarriers = node["named_barriers"].whole(kMostUnits, "barriers");
}

void parseShared(const Node& node, Bytes shared, Multiprocessor& sm)
{
    sm.shared = shared;
    sm.sharedPerBlock = Bytes(node["shared_per_block"].whole(shared.value(), "bytes"));
    sm.sharedReserved = Bytes(node["shared_reserved"].whole(shared.value(), "bytes"));
    sm.sharedGranule = Bytes(node["shared_granule"].whole(shared.value(), "bytes"));
    sm.sharedBytesPerCycle = node["shared_bytes_per_cycle"].rate("bytes");
    sm.sharedLoadCycles = node["shared_load_cycles"].atLeastZero("cycles");
    const auto rate = [&](const std::string& key) -> std::optional<double> {
        return node.has(key) ? std::optional(node[key].rate("bytes")) : std::nullopt;
    };
    sm.tensorLoadBytesPerCycle = rate("tensor_load_bytes_per_cycle");
    sm.tensorStoreBytesPerCycle = rate("tensor_store_bytes_per_cycle");
    sm.portBytesPerCycle = rate("port_bytes_per_cycle");
    sm.writtenPerLostCycle = rate("written_bytes_per_lost_cycle");
    sm.spilledBytesPerCycle = rate("spilled_bytes_per_cycle");
}

void parseClusters(const Node& node, Multiprocessor& sm)
{
    sm.gpcs = node["gpcs"].whole(kMostUnits, "clusters");
    if (node.has("cluster_blocks")) {
        sm.clusterBlocks = node["cluster_blocks"].whole(kMostUnits, "blocks");
        sm.clusterBlocksMost = sm.clusterBlocks;
    }
    if (node.has("cluster_blocks_most")) {
        sm.clusterBlocksMost = node["cluster_blocks_most"].whole(kMostUnits, "blocks");
    }
}

void parseTimes(const Node& node, Multiprocessor& sm)
{
    const auto cycles = [&](const std::string& key) -> std::optional<double> {
        return node.has(key) ? std::optional(node[key].atLeastZero("cycles")) : std::nullopt;
    };
    sm.copyCycles = cycles("copy_cycles");
    sm.productWaitCycles = cycles("product_wait_cycles");
    sm.registerProductWaitCycles = cycles("register_product_wait_cycles");
    sm.arriveCycles = node["arrive_cycles"].atLeastZero("cycles");
    sm.waitCycles = node["wait_cycles"].atLeastZero("cycles");
    sm.boostClock = Hertz(node["boost_clock_hz"].whole(kMostHertz, "Hz"));
    sm.sustainedClock = Hertz(node["sustained_clock_hz"].whole(kMostHertz, "Hz"));
}

} // namespace

Multiprocessor parseMultiprocessor(const Node& node, Bytes shared)
{
    Multiprocessor sm;
    parseCapability(node["compute_capability"], sm);
    parseThreads(node, sm);
    parseShared(node, shared, sm);
    parseClusters(node, sm);
    parseTimes(node, sm);
    if (node.has("l1_with_shared_bytes")) {
        sm.l1WithShared = Bytes(node["l1_with_shared_bytes"].whole(kMostBytes, "bytes"));
        sm.l1LoadCycles = node["l1_load_cycles"].atLeastZero("cycles");
    }
    if (node.has("atomic_cycles")) {
        sm.atomicCycles = node["atomic_cycles"].atLeastZero("cycles");
    }
    sm.l2Usable = Bytes(node["l2_usable_bytes"].whole(kMostBytes, "bytes"));
    return sm;
}

} // namespace pallascope::chip
