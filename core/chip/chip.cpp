#include "core/chip/chip.h"

#include "core/base/check.h"
#include "core/base/repeated_name.h"
#include "core/base/text.h"
#include "core/base/visible.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace pallascope::chip {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<std::string_view, UnitKind>, 7> kUnitKinds{{
    {"matrix", UnitKind::Matrix},
    {"vector", UnitKind::Vector},
    {"transcendental", UnitKind::Transcendental},
    {"crosslane", UnitKind::Crosslane},
    {"load", UnitKind::Load},
    {"store", UnitKind::Store},
    {"scalar", UnitKind::Scalar},
}};

constexpr std::array<std::string_view, 4> kStatuses{"datasheet", "measured", "derived", "assumed"};

// Bounds that keep every product of the model inside int64; no chip is near them.
constexpr double kLargest = 1e18; // rates
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40, kMostUnits = 1 << 16;
constexpr double kMostCycles = 1e6, kMostSeconds = 0.1, kMostShare = 100;

// Thrown inside this file only; parse() turns it into an Error.
struct Bad
{
    std::string sentence;
};

// One place of the file, with its JSON pointer for error sentences.
class Node
{
public:
    Node(const Json& json, std::vector<UnknownFigure>& unknown)
        : m_json(json)
        , m_unknown(unknown)
    {}

    [[noreturn]] void fail(const std::string& what) const
    {
        std::string value = m_json.dump(-1, ' ', false, Json::error_handler_t::replace);
        if (value.size() > 60) {
            value = value.substr(0, 57) + "...";
        }
        throw Bad{(m_pointer.empty() ? "the file" : m_pointer) + " is " + value + "; " + what
                  + " is right"};
    }

    [[nodiscard]] bool has(const std::string& key) const
    {
        return m_json.is_object() && m_json.contains(key);
    }

    [[nodiscard]] Node operator[](const std::string& key) const
    {
        if (!m_json.is_object()) {
            fail("an object");
        }
        if (!m_json.contains(key)) {
            throw Bad{"the key " + m_pointer + "/" + key + " is missing"};
        }
        return {m_json.at(key), m_pointer + "/" + key, m_label.empty() ? key : m_label + "/" + key,
                m_unknown};
    }

    [[nodiscard]] std::vector<Node> list() const
    {
        if (!m_json.is_array()) {
            fail("a list");
        }
        std::vector<Node> nodes;
        for (std::size_t i = 0; i < m_json.size(); ++i) {
            nodes.push_back(
                Node(m_json[i], m_pointer + "/" + std::to_string(i), nameOf(m_json[i]), m_unknown));
        }
        return nodes;
    }

    [[nodiscard]] double number(double least, double most, const std::string& right) const
    {
        const double value = m_json.is_number() ? m_json.get<double>() : std::nan("");
        if (!std::isfinite(value) || value < least || value > most) {
            fail(right);
        }
        return value;
    }

    [[nodiscard]] std::string text() const
    {
        if (!m_json.is_string()) {
            fail("a text");
        }
        return visible(m_json.get_ref<const std::string&>());
    }

    // A figure: {"value": ..., "source": ..., "status": ...}. Checks it whole and gives the value,
    // or the stand-in of an unknown one, which it notes.
    [[nodiscard]] double figure(double least, double most, const std::string& right) const
    {
        const Node value = sourced();
        if (!value.m_json.is_null()) {
            return value.number(least, most, right);
        }
        if (!has("stand_in")) {
            value.fail(right + ", or null beside a \"stand_in\",");
        }
        const double standIn = (*this)["stand_in"].number(least, most, right);
        m_unknown.push_back({m_pointer, m_label, (*this)["source"].text(), standIn});
        return standIn;
    }

    // The value of a figure whose source and status are sound.
    [[nodiscard]] Node sourced() const
    {
        const Node value = (*this)["value"];
        if ((*this)["source"].text().empty()) {
            (*this)["source"].fail("a text that says where the figure comes from");
        }
        const std::string status = (*this)["status"].text();
        if (std::find(kStatuses.begin(), kStatuses.end(), status) == kStatuses.end()) {
            (*this)["status"].fail("datasheet, measured, derived or assumed");
        }
        if (has("also")) {
            for (const Node& other : (*this)["also"].list()) {
                if (other["value"].m_json.is_structured() != value.m_json.is_structured()
                    || other["source"].text().empty()) {
                    other.fail("an object with another value and its source");
                }
            }
        }
        return value;
    }

    [[nodiscard]] double rate(const std::string& unit) const
    {
        return figure(1, kLargest, "a number of " + unit + " from 1 to 1e18");
    }

    [[nodiscard]] double atLeastZero(const std::string& unit) const
    {
        return figure(0, kMostCycles, "a number of " + unit + " from 0 to 1e6");
    }

    [[nodiscard]] double cycles() const
    {
        return figure(1e-6, kMostCycles, "a number of cycles from 1e-6 to 1e6");
    }

    [[nodiscard]] double seconds() const
    {
        return figure(0, kMostSeconds, "a number of seconds from 0 to 0.1");
    }

    [[nodiscard]] std::int64_t whole(std::int64_t most, const std::string& unit) const
    {
        const std::string right =
            "a whole number of " + unit + " from 1 to " + std::to_string(most);
        const double number = figure(1, static_cast<double>(most), right);
        if (number != std::floor(number)) {
            failNumber(right);
        }
        return static_cast<std::int64_t>(number);
    }

    [[nodiscard]] std::int64_t powerOfTwo(std::int64_t most) const
    {
        const std::string right = "a power of two from 2 to " + std::to_string(most);
        const double number = figure(2, static_cast<double>(most), right);
        if (number != std::exp2(std::round(std::log2(number)))) {
            failNumber(right);
        }
        return static_cast<std::int64_t>(number);
    }

    [[nodiscard]] const Json& json() const { return m_json; }

    [[nodiscard]] const std::string& pointer() const { return m_pointer; }

private:
    Node(const Json& json, std::string pointer, std::string label,
         std::vector<UnknownFigure>& unknown)
        : m_json(json)
        , m_pointer(std::move(pointer))
        , m_label(std::move(label))
        , m_unknown(unknown)
    {}

    [[nodiscard]] static std::string nameOf(const Json& element)
    {
        for (const char* key : {"name", "kind"}) {
            if (element.is_object() && element.contains(key) && element[key].is_string()) {
                return element[key].get<std::string>();
            }
        }
        return {};
    }

    // Of a figure, or of its stand-in.
    [[noreturn]] void failNumber(const std::string& right) const
    {
        (*this)[(*this)["value"].m_json.is_null() ? "stand_in" : "value"].fail(right);
    }

    const Json& m_json;
    std::string m_pointer;
    std::string m_label; // for people: from the nearest named element on
    std::vector<UnknownFigure>& m_unknown;
};

Memory parseMemory(const Node& node)
{
    Memory memory{.name = node["name"].text(), .scope = node["scope"].text()};
    if (memory.scope != "chip" && memory.scope != "agent") {
        node["scope"].fail("\"chip\" or \"agent\"");
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
            const auto* const number = extent.json().get_ptr<const Json::number_integer_t*>();
            if (number == nullptr || *number < 1 || *number > kMostUnits) {
                extent.fail("a whole number from 1 to 65536");
            }
            memory.tile.push_back(*number);
        }
        if (memory.tile.size() != 2) {
            extents.fail("a list of two extents, such as [8, 128],");
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

Link parseLink(const Node& node, const std::vector<Memory>& memories)
{
    Link link{.name = node["name"].text(),
              .from = memoryNamed(memories, node["from"]),
              .to = memoryNamed(memories, node["to"])};
    link.datasheet = BytesPerSecond(node["bytes_per_s"].rate("bytes a second"));
    link.efficiency = node["efficiency"].figure(1e-6, 1, "a share from 1e-6 to 1");
    link.latency = toPicoseconds(Seconds(node["latency_s"].seconds()));
    return link;
}

Interconnect parseInterconnect(const Node& node)
{
    Interconnect interconnect;
    interconnect.link.name = node["name"].text();
    interconnect.link.datasheet = BytesPerSecond(node["bytes_per_s"].rate("bytes a second"));
    interconnect.link.efficiency = node["efficiency"].figure(1e-6, 1, "a share from 1e-6 to 1");
    interconnect.link.latency = toPicoseconds(Seconds(node["latency_s"].seconds()));
    interconnect.links = node["links"].whole(kMostUnits, "links");
    return interconnect;
}

void parseMatrix(const Node& node, Unit& unit)
{
    unit.rows = node["rows"].whole(kMostUnits, "rows");
    unit.columns = node["columns"].whole(kMostUnits, "columns");
    unit.rowGranule = node["row_granule"].whole(kMostUnits, "rows");
    const Node rates = node["rates"];
    if (!rates.json().is_object() || rates.json().empty()) {
        rates.fail("an object with a rate for each dtype");
    }
    for (const auto& [name, unused] : rates.json().items()) {
        const std::optional<DType> dtype = dtypeFromName(name);
        if (!dtype) {
            throw Bad{rates.pointer() + " names the dtype \"" + name + "\"; " + dtypeNames()
                      + " is right"};
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
    const std::string kind = node["kind"].text();
    const auto* found = std::find_if(kUnitKinds.begin(), kUnitKinds.end(),
                                     [&](const auto& entry) { return entry.first == kind; });
    if (found == kUnitKinds.end()) {
        node["kind"].fail("matrix, vector, transcendental, crosslane, load, store or scalar");
    }
    unit.kind = found->second;
    unit.count = node["count"].whole(kMostUnits, "instances");
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

// What operations take beside what their kind says.
void parseOperations(const Node& node, Chip& chip)
{
    if (!node.json().is_object()) {
        node.fail("an object with an entry for each operation");
    }
    for (const auto& [name, unused] : node.json().items()) {
        const Node entry = node[name];
        for (const auto& [kind, of] : kUnitKinds) {
            if (of != UnitKind::Matrix && entry.has(std::string(kind))) {
                chip.operations[name].push_back(
                    {of, entry[std::string(kind)].atLeastZero("instructions")});
            }
        }
        if (!chip.operations.contains(name)) {
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

// What the chip shares belongs to each device in equal parts.
void divide(Chip& chip, const Node& root)
{
    for (Memory& memory : chip.memories) {
        if (memory.scope == "chip") {
            memory.bytes = Bytes(memory.bytes.value() / chip.devices);
        }
    }
    for (Link& link : chip.links) {
        link.datasheet = BytesPerSecond(link.datasheet.value() / static_cast<double>(chip.devices));
    }
    if (chip.interconnect) {
        BytesPerSecond& rate = chip.interconnect->link.datasheet;
        rate = BytesPerSecond(rate.value() / static_cast<double>(chip.devices));
    }
    for (Unit& unit : chip.units) {
        unit.peakFlopsPerSecond /= static_cast<double>(chip.devices);
        for (auto& [dtype, rate] : unit.matrixRates) {
            rate.peakFlopsPerSecond /= static_cast<double>(chip.devices);
        }
    }
    for (AgentKind& agent : chip.agents) {
        std::int64_t& divided = agent.slots > 1 ? agent.slots : agent.count;
        if (divided % chip.devices != 0) {
            root["devices"]["value"].fail("a number that divides the "
                                          + std::string(agent.slots > 1 ? "slots" : "count")
                                          + " of " + agent.name);
        }
        divided /= chip.devices;
    }
}

void readChip(const Node& root, Chip& chip)
{
    if (root["format"].text() != "pallascope.chip") {
        root["format"].fail("\"pallascope.chip\"");
    }
    if (!root["version"].json().is_number_integer() || root["version"].json() != 1) {
        root["version"].fail("1");
    }
    chip.name = root["name"].text();
    chip.title = root["title"].text();
    if (root.has("aliases")) {
        for (const Node& alias : root["aliases"].list()) {
            chip.aliases.push_back(alias.text());
        }
    }
    for (const Node& node : root["memories"].list()) {
        chip.memories.push_back(parseMemory(node));
    }
    for (const Node& node : root["links"].list()) {
        chip.links.push_back(parseLink(node, chip.memories));
    }
    if (root.has("interconnect")) {
        chip.interconnect = parseInterconnect(root["interconnect"]);
        const std::int32_t hbm = std::max(chip.memoryIndex("HBM"), 0);
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
    const Node constants = root["constants"];
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
        divide(chip, root);
    }
}

// As terminals may show the file when it is printed.
void makeVisible(Json& json)
{
    if (json.is_string()) {
        json = visible(json.get<std::string>());
    } else if (json.is_structured()) {
        for (Json& item : json) {
            makeVisible(item);
        }
    }
}

} // namespace

std::string_view unitKindName(UnitKind kind)
{
    for (const auto& [name, candidate] : kUnitKinds) {
        if (candidate == kind) {
            return name;
        }
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

const Unit* Chip::unitOf(UnitKind kind, std::int32_t agent) const
{
    const auto owns = [](const AgentKind& owner, std::size_t unit) {
        return std::find(owner.units.begin(), owner.units.end(), static_cast<std::int32_t>(unit))
               != owner.units.end();
    };
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (units[i].kind != kind) {
            continue;
        }
        const auto ownsIt = [&](const AgentKind& one) { return owns(one, i); };
        if (ownsIt(agents[static_cast<std::size_t>(agent)])
            || (agent == 0 && std::none_of(agents.begin(), agents.end(), ownsIt))) {
            return &units[i];
        }
    }
    return nullptr;
}

std::int32_t Chip::agentNamed(std::string_view kind) const
{
    const auto found = std::find_if(agents.begin(), agents.end(), [&](const AgentKind& agent) {
        return kind.empty() || agent.name == kind;
    });
    return found == agents.end() ? -1 : static_cast<std::int32_t>(found - agents.begin());
}

std::int32_t Chip::memoryIndex(std::string_view memory) const
{
    for (std::size_t i = 0; i < memories.size(); ++i) {
        if (memories[i].name == memory) {
            return static_cast<std::int32_t>(i);
        }
    }
    return -1;
}

std::int32_t Chip::linkBetween(std::int32_t from, std::int32_t to) const
{
    const std::int32_t hbm = memoryIndex("HBM");
    const auto joining = [&](std::int32_t a, std::int32_t b) {
        return std::find_if(links.begin(), links.end(),
                            [=](const Link& link) { return link.from == a && link.to == b; });
    };
    auto found = joining(from, to);
    found = found == links.end() ? joining(to, from) : found;
    if (found == links.end() && (from == hbm || to == hbm)) {
        found = std::find_if(links.begin(), links.end(),
                             [&](const Link& link) { return link.from == hbm || link.to == hbm; });
    }
    return found == links.end() ? -1 : static_cast<std::int32_t>(found - links.begin());
}

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
            return userError(who + " has " + *twice + " twice; once is right.");
        }
        Chip chip;
        readChip(Node(json, chip.unknown), chip);
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
