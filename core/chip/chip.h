// A chip described by data: memories, links, units, agents and constants, each figure with its
// source and status. The engine does not know any chip by name; a new chip is a new file
// (docs/architecture.md).
#pragma once

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/base/unit_kind.h"
#include "core/base/units.h"
#include "core/chip/multiprocessor.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::chip {

// A figure that nobody has published ("value": null in the file). The model computes with a
// stand-in for it, and a run that does so says so in a finding.
struct UnknownFigure
{
    std::string pointer; // JSON pointer of the figure, "/units/2/cycles_per_register"
    std::string name;    // for people: "EUP/cycles_per_register"
    std::string why;     // the figure's source
    double standIn = 0;
};

struct Memory
{
    std::string name;  // "HBM", "VMEM", "SMEM"
    std::string scope; // "chip", "slot" or "agent": what shares it
    Bytes bytes;
    Bytes granule{1}; // the smallest unit of a copy
    // Extents of the native tile of 32-bit elements along the last axes; empty: none.
    std::vector<std::int64_t> tile;
    // How much a kernel may use without asking for more (the scoped limit).
    std::optional<Bytes> defaultLimit;
};

struct Link
{
    std::string name;
    // Indices of memories; it serves the other direction too if no other link does.
    std::int32_t from = 0, to = 0;
    BytesPerSecond datasheet;
    double efficiency = 1.0; // achieved / datasheet
    Picoseconds latency;

    [[nodiscard]] BytesPerSecond achieved() const
    {
        return BytesPerSecond(datasheet.value() * efficiency);
    }
};

// The links that join devices. Each device has `links` of them, each to one neighbour. The two
// directions between a pair of neighbours are separate links.
struct Interconnect
{
    Link link; // its latency is that of one hop
    std::int64_t links = 1;
    // Whether a switch joins all devices, each by all its links together, which then count as one.
    // Otherwise the devices form a torus, with a link for each direction along an axis.
    bool isSwitched = false;
};

// The rate of a matrix unit for operands of one dtype.
struct MatrixRate
{
    double cyclesPerRow = 1;       // for one row of the left operand against one latched tile
    double peakFlopsPerSecond = 0; // datasheet, of all instances together
};

// How many instructions of units of this kind an operation takes for each register of its result.
struct Instructions
{
    UnitKind kind = UnitKind::Vector;
    double count = 1;
};

struct Unit
{
    std::string name; // "MXU"
    UnitKind kind = UnitKind::Scalar;
    std::int64_t count = 1; // instances or slots that work in parallel
    // Matrix units: the array has rows x columns, and takes left rows in groups of rowGranule.
    std::int64_t rows = 0, columns = 0, rowGranule = 1;
    std::map<DType, MatrixRate> matrixRates; // for the dtypes that it accepts
    // On a GPU, of products whose operands come from registers (mma.sync): left rows are taken in
    // groups of mmaRows, and the rates are multiplied by mmaRate.
    std::int64_t mmaRows = 1;
    double mmaRate = 1;
    double cyclesPerTile = 0; // extra cycles of one instance for each tile of the right operand
    // Extra cycles of the vector unit for each register of results and each tile of k.
    double cyclesPerResult = 0;
    // Other units: the cycles that one instance needs for one register of `registerBytes` (scalar
    // units: for one operation).
    double cyclesPerRegister = 1;
    double peakFlopsPerSecond = 0; // vector units: for the roofline of kernels without dots
    // Vector units: the narrow dtypes in which they compute without widening.
    std::vector<DType> packed;
    std::int64_t latency = 0; // cycles until a result can be used
    // On a GPU: how many times as long its work takes while the tensor core works for other agents,
    // and how much of its own time it takes from that.
    double slowedByProducts = 1, delaysProducts = 0;
};

struct AgentKind
{
    std::string name;       // "TensorCore"
    std::int64_t count = 1; // on one device; or in one slot, if there are slots
    std::int64_t slots = 1; // with room for one block of a core_map's grid; an SM for several
    std::string slotName = "slot";
    Hertz clock;
    std::vector<std::int32_t> units; // indices of the units that it owns
    // Whether the units belong to a slot instead, whose agents take turns at them.
    bool sharesUnits = false;
    // Size of its own vector registers, which values fill without padding; absent: it uses the
    // chip's, in tiles.
    std::optional<Bytes> registerBytes;
    Picoseconds stepOverhead;
};

// How far the model's predictions for one kind of work were from published timings.
struct Residual
{
    std::string work;      // "products", "attention" or "other"; analysis/band.h defines them
    std::int64_t rows = 0; // number of timings
    // Bounds of measured / predicted - 1; nine tenths of the timings lie between them.
    double low = 0, high = 0;
    // For the ratio of two timings: in nine tenths of the pairs the measured ratio is at most 1 +
    // this times the predicted one, and at least the predicted one divided by that. Absent if it is
    // not known.
    std::optional<double> ratio;
    std::string source;
    bool operator==(const Residual&) const = default;
};

// One device of a chip: what a kernel runs on. The figures in a chip file are of the whole chip;
// here memories that the chip shares, links, peaks and agents are divided by the number of devices.
struct Chip
{
    std::string name;  // the file's name without its extension
    std::string title; // the name that people read
    std::vector<std::string> aliases;
    std::int64_t devices = 1; // in the whole chip
    std::vector<Memory> memories;
    std::vector<Link> links;
    std::optional<Interconnect> interconnect;
    std::vector<Unit> units;
    std::vector<AgentKind> agents;
    // Set: the chip is a GPU. The slots of its first kind of agents are multiprocessors.
    std::optional<Multiprocessor> multiprocessor;
    Bytes registerBytes{4096};   // size of one vector register
    std::int64_t registers = 64; // number of vector registers
    // Keyed by the operation's name.
    std::map<std::string, std::vector<Instructions>, std::less<>> operations;
    // Those of an operation that the instructions for its next register wait for.
    std::map<std::string, std::vector<Instructions>, std::less<>> serial;
    // Units overlap in a segment by a norm with this exponent; 0: they overlap fully.
    std::int64_t overlap = 0;
    Picoseconds stepOverhead;     // per pipeline step
    Picoseconds stepOperand;      // added to a step for each operand whose blocks it copies
    Picoseconds kernelLaunch;     // before the first operation of a kernel
    Picoseconds fusionLaunch;     // before the first operation of a fusion
    Picoseconds nearFusionLaunch; // the same for a fusion that reads and writes nothing in HBM
    std::vector<Residual> residuals;
    std::vector<UnknownFigure> unknown; // in the order in which the file has them
    std::string json;                   // the text of the file

    // The first unit of this kind that agents of a kind own; null if there is none. Units without
    // an owner belong to the first kind of agents.
    [[nodiscard]] const Unit* unitOf(UnitKind kind, std::int32_t agent = 0) const;
    // The index of this kind of agents, if there is one; the first kind if the name is empty.
    [[nodiscard]] std::optional<std::int32_t> agentNamed(std::string_view kind) const;
    [[nodiscard]] std::optional<std::int32_t> memoryIndex(std::string_view name) const;
    // The link that a copy from one memory to another takes. It is the link that joins them in this
    // direction, otherwise the one in the other direction, otherwise, if one of them is HBM, any
    // link of HBM; none if there is none.
    [[nodiscard]] std::optional<std::int32_t> linkBetween(std::int32_t from, std::int32_t to) const;
    // On a GPU: how long after a block has ended the first operation of the next one begins, in its
    // place. Blocks that have barriers set them up in that time.
    [[nodiscard]] Picoseconds blockStart(bool hasBarriers) const;
    // How many sets of the units there are that agents of a kind own, on one device.
    [[nodiscard]] std::int64_t unitSets(std::int32_t agent = 0) const;
};

// Parses a chip file. Errors start with `name` and give the JSON pointer, the value and what was
// expected.
[[nodiscard]] Result<Chip> parse(std::string_view json, std::string_view name);

// The file as indented text with its figures, ready to be edited and parsed again.
[[nodiscard]] std::string pretty(const Chip& chip);

} // namespace pallascope::chip
