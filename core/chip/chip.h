// A chip described by data: memories, links, units, agents and constants, each figure with its
// source and status. The engine knows no chip by name; a new chip is a new file
// (docs/architecture.md).
#pragma once

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/base/units.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::chip {

// A figure that nobody has published ("value": null in the file). The model computes with its
// stand-in; a run that does so says it in a finding.
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
    std::string scope; // "chip" or "agent": who shares it
    Bytes bytes;
    Bytes granule{1}; // smallest unit of a copy
    std::vector<std::int64_t>
        tile; // extents of the native tile of 32-bit elements, last axes; empty: none
    std::optional<Bytes> defaultLimit; // what a kernel may use without asking (scoped limit)
};

struct Link
{
    std::string name;
    std::int32_t from = 0, to = 0; // indices of memories; the link serves the other direction too
                                   // where no other one does
    BytesPerSecond datasheet;
    double efficiency = 1.0; // achieved / datasheet
    Picoseconds latency;

    [[nodiscard]] BytesPerSecond achieved() const
    {
        return BytesPerSecond(datasheet.value() * efficiency);
    }
};

// What joins devices. Every device has `links` of these, each to one neighbour; both directions of
// a pair are links of their own.
struct Interconnect
{
    Link link; // `latency` is of one hop
    std::int64_t links = 1;
};

enum class UnitKind : std::uint8_t
{
    Matrix,
    Vector,
    Transcendental,
    Crosslane,
    Load,
    Store,
    Scalar
};

[[nodiscard]] std::string_view unitKindName(UnitKind kind); // "matrix", ...

// What a matrix unit does with operands of one dtype.
struct MatrixRate
{
    double cyclesPerRow = 1;       // one row of the left operand against one latched tile
    double peakFlopsPerSecond = 0; // datasheet, all instances together
};

// Instructions of a unit of this kind that an operation takes for each register of its result.
struct Instructions
{
    UnitKind kind = UnitKind::Vector;
    double count = 1;
};

struct Unit
{
    std::string name; // "MXU"
    UnitKind kind = UnitKind::Scalar;
    std::int64_t count = 1; // instances or slots that work side by side
    // Matrix: rows x columns of the array; left rows are processed in groups of rowGranule.
    std::int64_t rows = 0, columns = 0, rowGranule = 1;
    std::map<DType, MatrixRate> matrixRates; // dtypes it takes
    double cyclesPerTile = 0;   // more, of one instance, for each tile of the right operand
    double cyclesPerResult = 0; // of the vector unit, for each register of results and tile of k
    // Others: cycles that one instance needs for one register of `registerBytes` (scalar: one
    // operation).
    double cyclesPerRegister = 1;
    double peakFlopsPerSecond = 0; // Vector: for the roofline of kernels without dots
    std::vector<DType> packed;     // Vector: narrow dtypes that it computes with as they are packed
    std::int64_t latency = 0;      // cycles until what it makes can be used
};

struct AgentKind
{
    std::string name;       // "TensorCore"
    std::int64_t count = 1; // of one device, or of one slot
    std::int64_t slots = 1; // blocks of a core_map's grid that run at a time
    std::string slotName = "slot";
    Hertz clock;
    std::vector<std::int32_t> units;    // indices of units it owns
    std::optional<Bytes> registerBytes; // of its own vector registers, which values fill without
                                        // padding; else those of the chip, in tiles
    Picoseconds stepOverhead;
};

// How far published timings of a kind of work were from what the model said of them.
struct Residual
{
    std::string work; // "products", "attention" or "other": analysis/band.h says which is which
    std::int64_t rows = 0;    // timings
    double low = 0, high = 0; // measured / predicted - 1: nine tenths of the timings lie between
    // Of two timings: nine tenths of their ratios are at most 1 + this times the predicted ones,
    // and at least those divided by it; absent where nobody knows.
    std::optional<double> ratio;
    std::string source;
    bool operator==(const Residual&) const = default;
};

// One device of the chip: what a kernel runs on. The file's figures are those of the whole chip;
// memories shared by the chip, links, peaks and agents are divided by the number of devices here.
struct Chip
{
    std::string name;  // the file's name, without its ending
    std::string title; // the name for people
    std::vector<std::string> aliases;
    std::int64_t devices = 1; // of the whole chip
    std::vector<Memory> memories;
    std::vector<Link> links;
    std::optional<Interconnect> interconnect;
    std::vector<Unit> units;
    std::vector<AgentKind> agents;
    Bytes registerBytes{4096};   // of one vector register
    std::int64_t registers = 64; // vector registers
    std::map<std::string, std::vector<Instructions>, std::less<>> operations; // by their names
    std::int64_t overlap = 0;     // units share a segment as a norm of this exponent says; 0: fully
    Picoseconds stepOverhead;     // of one pipeline step
    Picoseconds stepOperand;      // more, for each operand whose blocks it copies
    Picoseconds kernelLaunch;     // before the first operation of a kernel
    Picoseconds fusionLaunch;     // before that of an operation around kernels
    Picoseconds nearFusionLaunch; // of one that copies nothing from HBM or to it
    std::vector<Residual> residuals;
    std::vector<UnknownFigure> unknown; // in the order of the file
    std::string json;                   // the file as it was read

    // The first of this kind that agents of a kind own; the first kind has those too that nobody
    // owns.
    [[nodiscard]] const Unit* unitOf(UnitKind kind, std::int32_t agent = 0) const;
    // Number of the agents of this kind, the first without a name; -1: none.
    [[nodiscard]] std::int32_t agentNamed(std::string_view kind) const;
    [[nodiscard]] std::int32_t memoryIndex(std::string_view name) const; // -1: none
    // The link that copies from one memory to another take: that which joins them in this
    // direction, else in the other, or, where one of them is HBM, any of HBM's; -1: none.
    [[nodiscard]] std::int32_t linkBetween(std::int32_t from, std::int32_t to) const;
};

// Parses a chip file. `name` is used in error sentences, which give the JSON pointer, the value and
// what would be right.
[[nodiscard]] Result<Chip> parse(std::string_view json, std::string_view name);

// The file again with its figures, indented, ready to be edited and passed back.
[[nodiscard]] std::string pretty(const Chip& chip);

} // namespace pallascope::chip
