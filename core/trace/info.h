// What a trace says about the run as a whole: the program, the chip, the operands, the templates
// that its rows refer to. Plain values; everything that a view needs and that is not a time is
// here.
#pragma once

#include "core/base/dtype.h"
#include "core/base/shape.h"
#include "core/base/shared_list.h"
#include "core/base/units.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::trace {

// A file whose lines the operations point to, with its text, so that a trace shows its source
// anywhere.
struct SourceFile
{
    std::string path;
    std::string text;
    bool operator==(const SourceFile&) const = default;
};

struct SourceLine
{
    std::int32_t file = -1; // index into Info::sources, -1: unknown
    std::int32_t line = 0;  // from 1
    auto operator<=>(const SourceLine&) const = default;
};

// One operation of the program. `listingLine` indexes Info::listing.
struct Operation
{
    std::string name;  // the jaxpr's name: "dot_general", "get", "swap", "add"
    std::string label; // what a bar says: "dot", "load x", "store out", "add"
    std::int32_t listingLine = 0;
    SourceLine source;
    bool operator==(const Operation&) const = default;
};

// One line of the printed program (reads like a jaxpr). `operation` is -1 for braces and block
// specs.
struct ListingLine
{
    std::string text;
    std::int32_t operation = -1;
    bool operator==(const ListingLine&) const = default;
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

struct Unit
{
    std::string
        name; // as the chip file names it: "MXU", "VPU", "EUP", "XLU", "load", "store", "scalar"
    UnitKind kind = UnitKind::Scalar;
    bool operator==(const Unit&) const = default;
};

struct Memory
{
    std::string name; // "HBM", "VMEM", "SMEM"
    Bytes capacity;
    std::optional<Bytes> scopedLimit; // the limit that applies: asked for, else the chip's default
    bool operator==(const Memory&) const = default;
};

struct Link
{
    std::string name;              // "HBM"
    std::int32_t from = 0, to = 0; // memories
    BytesPerSecond datasheet;
    BytesPerSecond achieved;
    std::string kind; // what devices have of it, "HBM" of "device 1 HBM"; empty: its name
    bool operator==(const Link&) const = default;
};

enum class Direction : std::uint8_t
{
    In,
    Out,
    InOut
};

// One operand of a pipeline, in the order of the kernel's signature (inputs, then outputs); or what
// a dma_start of the program copies, which belongs to no pipeline and has no slots.
struct Operand
{
    std::string name;
    DType dtype = DType::F32;
    Direction direction = Direction::In; // copied by hand InOut: from HBM to HBM
    Shape array;                         // logical shape
    Shape block;                     // logical block shape, one extent per array axis (squeezed: 1)
    std::vector<Extent> blockCounts; // blocks per array axis, row-major block numbers
    std::vector<std::int32_t>
        gridAxes;                 // per array axis: the grid axis it follows, -1: none or mixed
    std::int32_t pipeline = 0;    // -1: copied by hand
    std::int32_t firstBuffer = 0; // its slots are buffers firstBuffer .. firstBuffer + slots - 1
    std::int32_t slots = 2;
    Bytes arrayBytes;  // logical
    Bytes blockBytes;  // logical, one whole block
    Bytes slotBytes;   // in its memory, tile padding included
    SourceLine source; // its block spec
    // Its blocks are gathered or scattered along this axis of the array: they are lists of elements
    // there. -1: none.
    std::int32_t indirectAxis = -1;
    // Those lists, in order of their numbers, block[indirectAxis] elements each (kNoElement behind
    // those of a short one); blockCounts has how many there are. Some may lie outside the array.
    std::vector<std::int32_t> indices;
    // Axes of the array whose blocks do not lie one after the other: blocks are numbered there by
    // their first element, the first of them `elementPads` (one entry each) before the array, …
    std::vector<std::int32_t> elementAxes;
    std::vector<Extent> elementPads;
    // … or by first element and length, as first * block + length - 1.
    std::vector<std::int32_t> sliceAxes;
    bool isAround = false; // what operations around kernels read or write
    bool operator==(const Operand&) const = default;
};

inline constexpr std::int64_t kMostIndices = std::int64_t{1} << 22; // of one operand

// A place in an on-chip memory: a slot of an operand, or scratch.
struct Buffer
{
    std::string name;          // "x·0", "acc"
    std::int32_t operand = -1; // -1: scratch
    std::int32_t slot = 0;
    std::int32_t memory = 0;
    Bytes address;
    Bytes bytes; // tile padding included
    DType dtype = DType::F32;
    Shape shape;
    bool operator==(const Buffer&) const = default;
};

struct Pipeline
{
    std::string name;     // "my_kernel"
    std::string origin;   // "emit_pipeline" or "pallas_call (modelled on emit_pipeline)"
    std::string schedule; // "0.12"
    std::vector<Extent> grid;
    std::vector<std::string> axisNames; // "i", "j", "k"
    std::int32_t firstOperand = 0;
    std::int32_t operandCount = 0;
    std::int64_t steps = 0;
    std::int32_t agent = 0; // that runs it
    SourceLine source;
    bool operator==(const Pipeline&) const = default;
};

// One semaphore of one agent.
struct Semaphore
{
    std::string name; // "sem", "sem[1]"
    std::string kind; // "semaphore", "dma_semaphore" or "barrier_semaphore"
    std::int32_t agent = 0;
    bool operator==(const Semaphore&) const = default;
};

// Where one operation of a segment runs: half-open [offset, offset + length) cycles from its start.
struct Mark
{
    std::int32_t unit = 0;
    std::int32_t operation = -1; // -1: not an operation (step overhead)
    Cycles offset;
    Cycles length;
    bool operator==(const Mark&) const = default;
};

enum class SegmentKind : std::uint8_t
{
    Body,
    StepOverhead,
    Launch, // of a kernel or of an operation of XLA around kernels
    Fusion  // such an operation
};

// What a straight-line stretch of operations costs; its instances are rows of the trace.
// Useful FLOPs of a matrix unit that run at the rate of a dtype, in so many passes.
struct Products
{
    DType dtype = DType::BF16;
    std::int32_t passes = 1;
    Flops flops;
    bool operator==(const Products&) const = default;
};

struct SegmentTemplate
{
    SegmentKind kind = SegmentKind::Body;
    Cycles cycles;
    Picoseconds duration;
    Hertz clock;
    std::vector<std::int32_t> operations;   // executed, in program order
    std::vector<Cycles> retire;             // per operation, from the start, never decreasing
    std::vector<Mark> marks;                // in program order; never overlapping on a unit
    std::vector<Flops> flopsByUnit;         // useful, one per Info::units
    std::vector<Flops> executedFlopsByUnit; // with tile padding
    std::int64_t transcendentals = 0;
    std::vector<Products> products; // of its matrix unit; empty in older files
    bool operator==(const SegmentTemplate&) const = default;

    // The agent keeps books: no unit of the chip works.
    [[nodiscard]] bool isBookkeeping() const
    {
        return kind == SegmentKind::StepOverhead || kind == SegmentKind::Launch;
    }

    [[nodiscard]] Flops flops() const
    {
        Flops sum;
        for (const Flops flops : flopsByUnit) {
            sum += flops;
        }
        return sum;
    }
};

enum class FindingClass : std::uint8_t
{
    Structural,
    Value
};

// One cause: kind, operand, source line; the first step where it shows, and how often.
struct Finding
{
    std::string kind; // a name of findings.inc, or of another version
    FindingClass category = FindingClass::Structural;
    std::string message;                     // one sentence with numbers
    std::string operand;                     // empty: none
    std::int64_t step = -1;                  // first grid step, -1: before the run
    std::optional<std::int64_t> relatedStep; // the other step of a pair (the earlier visit)
    SourceLine source;
    std::int64_t count = 1;
    bool operator==(const Finding&) const = default;
};

// What a kernel printed, or a value that it recorded, when the operation that does it retired.
struct Print
{
    std::string text;
    std::int32_t step = -1; // row of Trace::steps, -1: outside any
    std::int32_t agent = 0;
    Picoseconds time;
    SourceLine source;
    bool operator==(const Print&) const = default;
};

// The comparison with the kernel's reference result.
struct Check
{
    bool checked = false;
    bool passed = false;
    double maxAbsError = 0;
    double maxRelError = 0; // largest difference / largest reference value
    std::string method;     // "16 rows and 16 columns against an f64 product, and a checksum"
    bool operator==(const Check&) const = default;
};

struct Info
{
    std::string kernel;
    std::map<std::string, std::string> parameters;
    std::vector<std::string> parameterOrder;
    std::string chip;     // the name that --chip takes
    std::string chipName; // the name for people
    std::string
        chipJson; // the whole chip file, so that a trace can be analysed and replayed anywhere
    std::string values;                          // "full" or "needed"
    std::map<std::string, std::string> settings; // of the machine; empty in older files
    std::uint64_t seed = 0;
    std::string program; // the name only; titles with sizes are made by views

    SharedList<SourceFile> sources;
    SharedList<ListingLine> listing;
    SharedList<Operation> operations;
    std::vector<Unit> units;
    std::vector<Memory> memories;
    std::vector<Link> links;
    std::vector<std::string> agents; // "TensorCore 0"
    std::vector<Pipeline> pipelines;
    SharedList<Operand> operands;
    SharedList<Buffer> buffers;
    std::vector<Semaphore> semaphores; // those of pipelines are not among them
    SharedList<SegmentTemplate> templates;
    std::vector<Finding> findings;
    std::vector<Print> prints;     // by time; the first ones of the run
    std::int64_t printsBeyond = 0; // more that were not kept
    // Of a captured kernel: whether JAX takes it for a TPU ("yes", "no"), and why not.
    std::string jaxAccepts = "unknown", jaxReason;
    Check check;
    Bytes temporariesEstimate; // values of a body beyond the register file
    std::int64_t events = 0;   // executed operations, copies, waits, semaphore changes

    bool operator==(const Info&) const = default;

    // Of the mesh that the program ran on: each has one link of the first kind.
    [[nodiscard]] std::int32_t deviceCount() const
    {
        std::int32_t count = 0;
        for (const Link& link : links) {
            count += !link.kind.empty() && link.kind == links.front().kind ? 1 : 0;
        }
        return std::max(count, 1);
    }

    // How often HBM is read or written for a byte that a link moves: 2 between two devices' HBM.
    [[nodiscard]] int hbmPasses(std::size_t link) const
    {
        const auto isHbm = [this](std::int32_t memory) {
            return memories[static_cast<std::size_t>(memory)].name == "HBM" ? 1 : 0;
        };
        return isHbm(links[link].from) + isHbm(links[link].to);
    }

    // Whether an operand's copies are read from HBM and written to it.
    [[nodiscard]] bool staysInHbm(std::size_t operand) const
    {
        return operands[operand].pipeline < 0 && operands[operand].direction == Direction::InOut;
    }
};

} // namespace pallascope::trace
