#include "core/base/check.h"
#include "core/base/repeated_name.h"
#include "core/base/text.h"
#include "core/base/visible.h"
#include "core/chip/chip.h"
#include "core/chip/devices.h"
#include "core/chip/node.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace pallascope::chip {

namespace {

using Json = nlohmann::ordered_json;

Memory parseMemory(const Node& node)
{
    Memory memory{.name = node["name"].text(), .scope = node["scope"].text()};
    if (memory.scope != "chip" && memory.scope != "slot" && memory.scope != "agent") {
        node["scope"].fail("\"chip\", \"slot\" or \"agent\"");
    }
    memory.bytes = Bytes(node["bytes"].whole(kMostBytes, "bytes"));
    if (node.has("granule")) {
        memory.granule = Bytes(node["granule"].whole(kMostBytes, "bytes"));
    }
    if (node.has("default_limit")) {
        memory.defaultLimit = Bytes(node["default_limit"].whole(kMostBytes, "bytes"));
    }
    if (node.has("tile")) {
        const Node extents = node["tile"].sourced();
        for (const Node& extent : extents.list()) {
            const std::optional<std::int64_t> number = extent.integer();
            if (!number || *number < 1 || *number > kMostUnits) {
                extent.fail("a whole number from 1 to 65536");
            }
            memory.tile.push_back(*number);
        }
        if (memory.tile.size() != 2) {
            extents.fail("a list of two extents, such as [8, 128]");
        }
    }
    return memory;
}

std::int32_t memoryNamed(const std::vector<Memory>& memories, const Node& node)
{
    const std::string name = node.text();
    for (std::size_t i = 0; i < memories.size(); ++i) {
        if (memories[i].name == name) {
            return static_cast<std::int32_t>(i);
        }
    }
    node.fail("the name of one of the file's memories");
}

// Traces hold no link that is slower than a byte a second.
void parseEfficiency(const Node& node, Link& link)
{
    link.efficiency = node.figure(1e-6, 1, "a share from 1e-6 to 1");
    if (link.achieved().value() < 1) {
        node.failNumber("a share of bytes_per_s that is at least 1 byte a second");
    }
}

Link parseLink(const Node& node, const std::vector<Memory>& memories)
{
    Link link{.name = node["name"].text(),
              .from = memoryNamed(memories, node["from"]),
              .to = memoryNamed(memories, node["to"])};
    link.datasheet = BytesPerSecond(node["bytes_per_s"].rate("bytes a second"));
    parseEfficiency(node["efficiency"], link);
    link.latency = toPicoseconds(Seconds(node["latency_s"].seconds()));
    return link;
}

Interconnect parseInterconnect(const Node& node)
{
    Interconnect interconnect;
    interconnect.link.name = node["name"].text();
    interconnect.link.datasheet = BytesPerSecond(node["bytes_per_s"].rate("bytes a second"));
    parseEfficiency(node["efficiency"], interconnect.link);
    interconnect.link.latency = toPicoseconds(Seconds(node["latency_s"].seconds()));
    interconnect.links = node["links"].whole(kMostUnits, "links");
    if (node.has("topology")) {
        const std::string topology = node["topology"].text();
        if (topology != "torus" && topology != "switch") {
            node["topology"].fail("\"torus\" or \"switch\"");
        }
        interconnect.isSwitched = topology == "switch";
    }
    return interconnect;
}

void parseMatrix(const Node& node, Unit& unit)
{
    unit.rows = node["rows"].whole(kMostUnits, "rows");
    unit.columns = node["columns"].whole(kMostUnits, "columns");
    unit.rowGranule = node["row_granule"].whole(kMostUnits, "rows");
    unit.mmaRows =
        node.has("mma_rows") ? node["mma_rows"].whole(kMostUnits, "rows") : unit.rowGranule;
    if (node.has("mma_rate")) {
        unit.mmaRate = node["mma_rate"].figure(1e-6, 1, "a share from 1e-6 to 1");
    }
    const Node rates = node["rates"];
    const std::vector<std::string> names = rates.keys();
    if (names.empty()) {
        rates.fail("an object with a rate for each dtype");
    }
    for (const std::string& name : names) {
        const std::optional<DType> dtype = dtypeFromName(name);
        if (!dtype) {
            throw Bad{rates.pointer() + " names the dtype \"" + name + "\"; expected "
                      + dtypeNames()};
        }
        const Node rate = rates[name];
        unit.matrixRates[*dtype] = {rate["cycles_per_row"].cycles(),
                                    rate["peak_flops_per_s"].rate("FLOP/s")};
    }
    if (node.has("cycles_per_tile")) {
        unit.cyclesPerTile = node["cycles_per_tile"].atLeastZero("cycles");
    }
    if (node.has("cycles_per_result")) {
        unit.cyclesPerResult = node["cycles_per_result"].atLeastZero("cycles");
    }
}

std::vector<DType> parsePacked(const Node& node)
{
    std::vector<DType> dtypes;
    for (const Node& name : node.sourced().list()) {
        const std::optional<DType> dtype = dtypeFromName(name.text());
        if (!dtype || dtypeBits(*dtype) >= 32) {
            name.fail("the name of a dtype of fewer than 32 bits");
        }
        dtypes.push_back(*dtype);
    }
    return dtypes;
}

Unit parseUnit(const Node& node)
{
    Unit unit{.name = node["name"].text()};
    const std::optional<UnitKind> kind = unitKindFromName(node["kind"].text());
    if (!kind) {
        node["kind"].fail("matrix, vector, transcendental, crosslane, load, store or scalar");
    }
    unit.kind = *kind;
    unit.count = node["count"].whole(kMostUnits, "instances");
    if (node.has("slowed_by_products")) {
        unit.slowedByProducts = 1 + node["slowed_by_products"].atLeastZero("times");
    }
    if (node.has("delays_products")) {
        unit.delaysProducts = node["delays_products"].atLeastZero("cycles");
    }
    if (node.has("latency_cycles")) {
        unit.latency = node["latency_cycles"].whole(kMostUnits, "cycles");
    }
    if (unit.kind == UnitKind::Matrix) {
        parseMatrix(node, unit);
        return unit;
    }
    unit.cyclesPerRegister = node["cycles_per_register"].cycles();
    if (unit.kind == UnitKind::Vector) {
        unit.peakFlopsPerSecond = node["peak_flops_per_s"].rate("FLOP/s");
        if (node.has("packed")) {
            unit.packed = parsePacked(node["packed"]);
        }
    }
    return unit;
}

AgentKind parseAgent(const Node& node, const std::vector<Unit>& units)
{
    AgentKind agent{.name = node["kind"].text()};
    agent.count = node["count"].whole(kMostUnits, "agents");
    if (node.has("slots")) {
        agent.slots = node["slots"].whole(kMostUnits, "slots");
    }
    if (node.has("unit_owner")) {
        const std::string owner = node["unit_owner"].text();
        if (owner != "agent" && owner != "slot") {
            node["unit_owner"].fail("\"agent\" or \"slot\"");
        }
        agent.sharesUnits = owner == "slot";
    }
    if (node.has("slot_name")) {
        agent.slotName = node["slot_name"].text();
    }
    if (node.has("register_bytes")) {
        agent.registerBytes = Bytes(node["register_bytes"].whole(kMostBytes, "bytes"));
    }
    if (node.has("step_overhead_s")) {
        agent.stepOverhead = toPicoseconds(Seconds(node["step_overhead_s"].seconds()));
    }
    agent.clock = Hertz(node["clock_hz"].whole(1'000'000'000'000, "Hz"));
    for (const Node& owned : node["owns"].list()) {
        const std::string name = owned.text();
        const auto unit =
            std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == name; });
        if (unit == units.end()) {
            owned.fail("the name of one of the file's units");
        }
        agent.units.push_back(static_cast<std::int32_t>(unit - units.begin()));
    }
    return agent;
}

// The units of matrix products count only in what is `serial`.
std::vector<Instructions> instructionsIn(const Node& node, bool isSerial)
{
    std::vector<Instructions> found;
    for (const std::string_view name : kUnitKindNames) {
        const UnitKind kind = *unitKindFromName(name);
        if ((isSerial || kind != UnitKind::Matrix) && node.has(std::string(name))) {
            found.push_back({kind, node[std::string(name)].atLeastZero("instructions")});
        }
    }
    return found;
}

// What operations need beyond what follows from their kind.
void parseOperations(const Node& node, Chip& chip)
{
    if (!node.isObject()) {
        node.fail("an object with an entry for each operation");
    }
    for (const std::string& name : node.keys()) {
        const Node entry = node[name];
        std::vector<Instructions> instructions = instructionsIn(entry, false);
        if (entry.has("serial")) {
            chip.serial[name] = instructionsIn(entry["serial"], true);
        }
        if (!instructions.empty()) {
            chip.operations[name] = std::move(instructions);
        } else {
            entry.fail("an object with vector, transcendental, crosslane, load, store or scalar");
        }
    }
}

Residual parseResidual(const Node& node)
{
    Residual residual;
    residual.work = node["work"].text();
    if (residual.work != "products" && residual.work != "attention" && residual.work != "other") {
        node["work"].fail("products, attention or other");
    }
    const Node rows = node["rows"];
    residual.rows = static_cast<std::int64_t>(
        rows.number(1, static_cast<double>(kMostUnits), "a number of timings"));
    residual.low = node["low"].number(-0.99, 0, "a share from -0.99 to 0");
    residual.high = node["high"].number(0, kMostShare, "a share from 0 to 100");
    if (node.has("ratio")) {
        residual.ratio = node["ratio"].number(0, kMostShare, "a share from 0 to 100");
    }
    residual.source = node["source"].text();
    return residual;
}

void readHeader(const Node& root, Chip& chip)
{
    if (root["format"].text() != "pallascope.chip") {
        root["format"].fail("\"pallascope.chip\"");
    }
    if (root["version"].integer() != 1) {
        root["version"].fail("1");
    }
    chip.name = root["name"].text();
    chip.title = root["title"].text();
    if (root.has("aliases")) {
        for (const Node& alias : root["aliases"].list()) {
            chip.aliases.push_back(alias.text());
        }
    }
}

void readParts(const Node& root, Chip& chip)
{
    for (const Node& node : root["memories"].list()) {
        chip.memories.push_back(parseMemory(node));
    }
    for (const Node& node : root["links"].list()) {
        chip.links.push_back(parseLink(node, chip.memories));
    }
    if (root.has("interconnect")) {
        chip.interconnect = parseInterconnect(root["interconnect"]);
        const std::int32_t hbm = chip.memoryIndex("HBM").value_or(0);
        chip.interconnect->link.from = chip.interconnect->link.to = hbm;
    }
    for (const Node& node : root["units"].list()) {
        chip.units.push_back(parseUnit(node));
    }
    for (const Node& node : root["agents"].list()) {
        chip.agents.push_back(parseAgent(node, chip.units));
    }
    if (chip.memories.empty() || chip.links.empty() || chip.units.empty() || chip.agents.empty()) {
        throw Bad{"memories, links, units and agents must each name one at least"};
    }
}

void readConstants(const Node& constants, Chip& chip)
{
    chip.stepOverhead = toPicoseconds(Seconds(constants["step_overhead_s"].seconds()));
    const auto optional = [&](const std::string& key) {
        return constants.has(key) ? toPicoseconds(Seconds(constants[key].seconds()))
                                  : Picoseconds(0);
    };
    chip.stepOperand = optional("step_operand_s");
    chip.kernelLaunch = optional("kernel_launch_s");
    chip.fusionLaunch = optional("fusion_launch_s");
    chip.nearFusionLaunch = constants.has("near_fusion_launch_s") ? optional("near_fusion_launch_s")
                                                                  : chip.fusionLaunch;
    chip.registerBytes = Bytes(constants["register_bytes"].whole(kMostBytes, "bytes"));
    chip.registers = constants["registers"].whole(kMostUnits, "registers");
    if (constants.has("overlap_exponent")) {
        chip.overlap = constants["overlap_exponent"].powerOfTwo(64);
    }
}

void readMultiprocessor(const Node& node, Chip& chip)
{
    for (const char* name : {"SMEM", "L2"}) {
        if (!chip.memoryIndex(name)) {
            node.fail(std::string("no such object in a file without the memory ") + name);
        }
    }
    const std::int32_t shared = *chip.memoryIndex("SMEM");
    chip.multiprocessor =
        parseMultiprocessor(node, chip.memories[static_cast<std::size_t>(shared)].bytes);
}

void readChip(const Node& root, Chip& chip)
{
    readHeader(root, chip);
    readParts(root, chip);
    readConstants(root["constants"], chip);
    if (root.has("multiprocessor")) {
        readMultiprocessor(root["multiprocessor"], chip);
    }
    if (root.has("operations")) {
        parseOperations(root["operations"], chip);
    }
    if (root.has("residuals")) {
        for (const Node& node : root["residuals"].list()) {
            chip.residuals.push_back(parseResidual(node));
        }
    }
    for (std::size_t i = 0; i < chip.agents.size(); ++i) {
        if (!root["agents"].list()[i].has("step_overhead_s")) {
            chip.agents[i].stepOverhead = chip.stepOverhead;
        }
    }
    if (root.has("devices")) {
        chip.devices = root["devices"].whole(kMostUnits, "devices");
        if (const std::string number = divideAmongDevices(chip); !number.empty()) {
            root["devices"]["value"].fail("a number that divides the " + number);
        }
    }
}

// Makes the file's texts and names safe to print in a terminal.
void makeVisible(Json& json)
{
    if (json.is_string()) {
        json = visible(json.get<std::string>());
    } else if (json.is_array()) {
        for (Json& item : json) {
            makeVisible(item);
        }
    } else if (json.is_object()) {
        Json shown = Json::object();
        for (auto& [name, item] : json.items()) {
            makeVisible(item);
            shown[visible(name)] = std::move(item);
        }
        json = std::move(shown);
    }
}

} // namespace

Result<Chip> parse(std::string_view text, std::string_view name)
{
    const std::string who = "The chip file " + std::string(name);
    if (const int depth = bracketDepth(text); depth > 64) {
        return userError(who + " is nested " + std::to_string(depth)
                         + " levels deep; a chip file has at most 64.");
    }
    constexpr const char* kStart = "`pallascope describe CHIP --json` prints one to start from.";
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return userError(who + " is empty; " + kStart);
    }
    try {
        Json json = Json::parse(text);
        makeVisible(json);
        if (const std::optional<std::string> twice = repeatedName(text)) {
            return userError(who + " has " + *twice + " twice; expected it once.");
        }
        Chip chip;
        readChip(Node(&json, chip.unknown), chip);
        chip.json = json.dump();
        return chip;
    } catch (const Bad& bad) {
        return userError(who + ": " + bad.sentence + ".");
    } catch (const Json::parse_error& error) {
        const auto before = text.substr(0, std::min(error.byte, text.size()));
        return userError(who + " is not JSON from line "
                         + std::to_string(1 + std::count(before.begin(), before.end(), '\n'))
                         + " on; " + kStart);
    } catch (const Json::exception& error) {
        return userError(who + " cannot be read: " + error.what() + ".");
    }
}

std::string pretty(const Chip& chip)
{
    return Json::parse(chip.json).dump(2) + "\n";
}

} // namespace pallascope::chip
