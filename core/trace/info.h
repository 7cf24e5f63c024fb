// What a trace says about the run as a whole: the program, the chip, the operands, and the
// templates that its rows refer to. These are plain values, and everything that a view needs and
// that is not a time is here.
#pragma once

#include "core/base/dtype.h"
#include "core/base/shape.h"
#include "core/base/shared_list.h"
#include "core/base/unit_kind.h"
#include "core/base/units.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::trace {

// A file to whose lines the operations point. It includes the text, so that a trace shows its
// source on any machine.
struct SourceFile
{
    std::string path;
    std::string text;
    bool operator==(const SourceFile&) const = default;
};

struct SourceLine
{
    std::int32_t file = -1; // index into Info::sources; -1: unknown
    std::int32_t line = 0;  // counted from 1
    auto operator<=>(const SourceLine&) const = default;
};

// One operation of the program. `listingLine` is an index into Info::listing.
struct Operation
{
    std::string name;  // its name in the jaxpr: "dot_general", "get", "swap", "add"
    std::string label; // the text on its bar: "dot", "load x", "store out", "add"
    std::int32_t listingLine = 0;
    SourceLine source;
    bool operator==(const Operation&) const = default;
};

// One line of the printed program, which reads like a jaxpr. `operation` is -1 for braces and block
// specs.
struct ListingLine
{
    std::string text;
    std::int32_t operation = -1;
    bool operator==(const ListingLine&) const = default;
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
    // The limit that applies: what the kernel asks for, otherwise the chip's default.
    std::optional<Bytes> scopedLimit;
    bool operator==(const Memory&) const = default;
};

struct Link
{
    std::string name;              // "HBM"
    std::int32_t from = 0, to = 0; // rows of Info::memories
    BytesPerSecond datasheet;
    BytesPerSecond achieved;
    // Its name without the device: "HBM" for "device 1 HBM"; empty: same as its name.
    std::string kind;
    bool operator==(const Link&) const = default;
};

enum class Direction : std::uint8_t
{
    In,
    Out,
    InOut
};

// One operand of a pipeline, in the order of the kernel's signature (inputs, then outputs). Or the
// array that a dma_start of the program copies; such an operand belongs to no pipeline and has no
// slots.
struct Operand
{
    std::string name;
    DType dtype = DType::F32;
    Direction direction = Direction::In; // of manual DMA, InOut means from HBM to HBM
    Shape array;                         // logical shape
    Shape block; // logical block shape, one extent for each array axis (1 if squeezed)
    // Number of blocks along each array axis; block numbers are row-major.
    std::vector<Extent> blockCounts;
    // For each array axis, the grid axis that it follows; -1: none or a mixture.
    std::vector<std::int32_t> gridAxes;
    std::int32_t pipeline = 0; // -1: manual DMA
    // Its slots are the buffers firstBuffer to firstBuffer + slots - 1.
    std::int32_t firstBuffer = 0;
    std::int32_t slots = 2;
    Bytes arrayBytes;  // logical
    Bytes blockBytes;  // logical, of a whole block
    Bytes slotBytes;   // in its memory on chip, with tile padding
    SourceLine source; // of its block spec
    // The array axis along which its blocks are gathered or scattered; along it, a block is a list
    // of elements. -1: none.
    std::int32_t indirectAxis = -1;
    // These lists, one after the other in the order of their numbers. Each has block[indirectAxis]
    // entries; a shorter list is filled up with kNoElement. blockCounts has the number of lists.
    // Elements may lie outside of the array.
    std::vector<std::int32_t> indices;
    // Array axes along which blocks may overlap. Along elementAxes a block is numbered by its first
    // element, where number 0 lies elementPads (one entry for each axis) before the array.
    std::vector<std::int32_t> elementAxes;
    std::vector<Extent> elementPads;
    // Along sliceAxes a block is numbered by its first element and its length: first * block +
    // length - 1.
    std::vector<std::int32_t> sliceAxes;
    bool isAround = false; // whether fusions read or write it, not a kernel
    bool isOnChip = false; // manual DMA of which neither end lies in HBM
    Bytes paddedBytes;     // of the array in HBM, with tile padding; 0: it has none
    // The array of the program in HBM that it goes over, alike for all operands of that array; -1:
    // unknown, as in older files.
    std::int32_t arrayNumber = -1;
    // What that array takes in HBM if `array` is only a slice of it, or what the arrays of all
    // cores of a device take if each has one of its own on chip; 0: it is the whole array.
    Bytes slicedBytes;
    // The kernel that copies it, of those that the program names, in their order, and how often a
    // device launches it. Nothing stays on chip between two launches. -1 and 0: there is none, or
    // it is unknown, as in older files.
    std::int32_t kernel = -1;
    std::int64_t launches = 0;
    bool operator==(const Operand&) const = default;
};

// Most entries of `indices` for one operand.
inline constexpr std::int64_t kMostIndices = std::int64_t{1} << 22;

// A place in an on-chip memory: a slot of an operand, or scratch.
struct Buffer
{
    std::string name;          // "x·0", "acc"
    std::int32_t operand = -1; // -1: scratch
    std::int32_t slot = 0;
    std::int32_t memory = 0;
    Bytes address;
    Bytes bytes; // with tile padding
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
    std::int32_t agent = 0; // the agent that runs it
    SourceLine source;
    std::int64_t entries = 0; // how often it was entered; 0 also in older files
    // Values of its body that do not fit into the register file; 0 also in older files.
    Bytes temporaries;
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

// A loop of the program whose body copies, waits, or holds such a loop or a pipeline. Its rounds
// are rows of Rounds; those of other loops are not recorded, since there may be millions of them.
struct Loop
{
    // The name of the function that is its body, if the author gave it one; otherwise "loop at line
    // 57".
    std::string name;
    SourceLine source;
    std::int32_t operation = -1; // index into Info::operations; -1: unknown
    std::int32_t parent = -1;    // index into Info::loops: the innermost around it; -1: none
    // How many rounds were not recorded after the first kMostRounds.
    std::int64_t roundsBeyond = 0;
    bool operator==(const Loop&) const = default;
};

// Most recorded rounds of one loop.
inline constexpr std::int64_t kMostRounds = std::int64_t{1} << 20;

// When one operation occupies one unit: the cycles [offset, offset + length), counted from the
// segment's start.
struct Mark
{
    std::int32_t unit = 0;
    std::int32_t operation = -1; // -1: not an operation but step overhead
    Cycles offset;
    Cycles length;
    bool operator==(const Mark&) const = default;
};

enum class SegmentKind : std::uint8_t
{
    Body,
    StepOverhead,
    Launch, // of a kernel or a fusion
    Fusion  // the operations of a fusion
};

// Useful FLOPs of a matrix unit at the rate of one dtype, with this many passes.
struct Products
{
    DType dtype = DType::BF16;
    std::int32_t passes = 1;
    Flops flops;
    bool operator==(const Products&) const = default;
};

// What a segment costs. Each time it runs, it is a row of the trace (an instance).
struct SegmentTemplate
{
    SegmentKind kind = SegmentKind::Body;
    Cycles cycles;
    Picoseconds duration;
    Hertz clock;
    std::vector<std::int32_t> operations; // those executed, in program order
    // For each operation the time at which it retires, from the start, never decreasing.
    std::vector<Cycles> retire;
    std::vector<Mark> marks;                // in program order; they never overlap on a unit
    std::vector<Flops> flopsByUnit;         // useful FLOPs, for each of Info::units
    std::vector<Flops> executedFlopsByUnit; // with tile padding
    std::int64_t transcendentals = 0;
    std::vector<Products> products; // of a matrix or vector unit; empty in older files
    bool operator==(const SegmentTemplate&) const = default;

    // Whether the agent only does bookkeeping: no unit of the chip works.
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

// Findings with the same cause (kind, operand, source line) are one: the first step where it shows,
// and how often.
struct Finding
{
    std::string kind; // a name in findings.inc, or in another version's
    FindingClass category = FindingClass::Structural;
    std::string message;    // one sentence with numbers
    std::string operand;    // empty: none
    std::int64_t step = -1; // the first grid step where it shows; -1: before the run
    std::optional<std::int64_t> relatedStep; // the other step of a pair, such as the earlier visit
    SourceLine source;
    std::int64_t count = 1;
    // When its first place is reached. None if it only shows at the end of the run, such as a copy
    // that nobody has waited for, and in older files.
    std::optional<Picoseconds> time;
    // When the copy begins to move that it is about: the earlier access of a pair, or the last one
    // of a semaphore that nobody has waited for. None if it is about no copy, and in older files.
    std::optional<Picoseconds> copyTime;
    bool operator==(const Finding&) const = default;
};

// What a kernel printed, or a value that it recorded, at the time when the operation retired.
struct Print
{
    std::string text;
    std::int32_t step = -1; // row of Trace::steps; -1: outside of steps
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
    double maxRelError = 0; // largest difference / largest value of the reference
    std::string method;     // "16 rows and 16 columns against an f64 product, and a checksum"
    bool operator==(const Check&) const = default;
};

// How many blocks an SM could run at a time if nothing but this limited them.
struct BlockLimit
{
    std::string name; // "registers", "shared memory"
    std::int64_t blocks = 0;
    bool operator==(const BlockLimit&) const = default;
};

// How the blocks of a core_map's grid run on a GPU: what one takes of an SM, how many run on it at
// a time, and in how many waves all of them run if they take equally long.
struct BlockGrid
{
    SourceLine source;            // of the core_map
    std::int64_t threads = 128;   // of a block
    std::int64_t agents = 1;      // that these are
    Bytes shared;                 // of the memory SMEM, for one block
    Bytes arrays;                 // the part of it that is not barriers
    std::int64_t barriers = 0;    // in it
    bool hasReductions = false;   // whether scratch for these is a part of `arrays`
    std::int64_t registers = 0;   // of a thread
    bool assumesRegisters = true; // nobody has said how many there are
    std::int64_t blocksPerSm = 0; // at a time
    std::int64_t warpsPerSm = 0, warpsAtMost = 0;
    std::vector<BlockLimit> allowed; // the least of these is blocksPerSm
    std::int64_t blocks = 1;         // of the grid
    // The extents of the grid, whose points are numbered in row-major order; each stands for
    // `cluster` blocks. Empty in older files.
    std::vector<Extent> extents;
    std::int64_t cluster = 1;
    std::int64_t atATime = 0, waves = 0;
    std::int64_t last = 0; // blocks of the last wave
    bool operator==(const BlockGrid&) const = default;

    // How many of its blocks are on the fullest SM at a time.
    [[nodiscard]] std::int64_t together() const
    {
        const std::int64_t sms = blocksPerSm > 0 ? atATime / blocksPerSm : 0;
        return sms > 0 ? std::min(blocksPerSm, (blocks + sms - 1) / sms) : 1;
    }
};

struct Info
{
    std::string kernel;
    std::map<std::string, std::string> parameters;
    std::vector<std::string> parameterOrder;
    std::string chip;     // the name that --chip takes
    std::string chipName; // the name that people read
    // The whole chip file, so that a trace can be analysed and replayed on any machine.
    std::string chipJson;
    std::string values;                          // "full" or "needed"
    std::map<std::string, std::string> settings; // settings of the machine; empty in older files
    std::uint64_t seed = 0;
    std::string program; // only the name; views make titles with sizes

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
    std::vector<Semaphore> semaphores; // without those that pipelines use internally
    std::vector<BlockGrid> blockGrids; // of its core_maps, in program order; none but on GPUs
    std::vector<Loop> loops;           // in program order, so that a loop comes after its parent
    std::vector<Shape> copiedShapes;   // of the ends of manual DMA, each once
    SharedList<SegmentTemplate> templates;
    std::vector<Finding> findings;
    // The kind of the finding that ended the run before the program ended; empty if none did.
    std::string stoppedBy;
    std::vector<Print> prints;     // the first ones of the run, by time
    std::int64_t printsBeyond = 0; // how many more were not kept
    // For a captured kernel: whether JAX accepts it for a TPU ("yes", "no"), and why not.
    std::string jaxAccepts = "unknown", jaxReason;
    Check check;
    Bytes temporariesEstimate; // the most that a body has (Pipeline::temporaries)
    Bytes fromL1;              // what loads of a GPU's kernels found in the L1 of their SM
    std::int64_t events = 0;   // number of executed operations, copies, waits and semaphore changes

    bool operator==(const Info&) const = default;

    // Number of devices in the mesh on which the program ran; each has one link of the first kind.
    [[nodiscard]] std::int32_t deviceCount() const
    {
        std::int32_t count = 0;
        for (const Link& link : links) {
            count += !link.kind.empty() && link.kind == links.front().kind ? 1 : 0;
        }
        return std::max(count, 1);
    }

    // Agents and links come device by device, each device with as many as the others.
    [[nodiscard]] std::int32_t deviceOf(std::int32_t agent) const
    {
        return std::clamp(agent / static_cast<std::int32_t>(agentsPerDevice()), 0,
                          deviceCount() - 1);
    }

    // The agent that does on a device what this one does on its own.
    [[nodiscard]] std::int32_t counterpart(std::int32_t agent, std::int32_t device) const
    {
        const auto each = static_cast<std::int32_t>(agentsPerDevice());
        return std::clamp(device, 0, deviceCount() - 1) * each + agent % each;
    }

    [[nodiscard]] std::size_t agentsPerDevice() const
    {
        return std::max<std::size_t>(1, agents.size() / static_cast<std::size_t>(deviceCount()));
    }

    [[nodiscard]] std::size_t linksPerDevice() const
    {
        return links.size() / static_cast<std::size_t>(deviceCount());
    }

    // Whether the link leads to another device.
    [[nodiscard]] bool joinsDevices(std::size_t link) const
    {
        return links[link].kind != links.front().kind;
    }

    // How often HBM is read or written for each byte that a link moves: twice if it joins the HBM
    // of two devices.
    [[nodiscard]] int hbmPasses(std::size_t link) const
    {
        const auto isHbm = [this](std::int32_t memory) {
            return memories[static_cast<std::size_t>(memory)].name == "HBM" ? 1 : 0;
        };
        return isHbm(links[link].from) + isHbm(links[link].to);
    }

    // Whether a cache of a GPU, and not HBM, serves what the link moves.
    [[nodiscard]] bool comesFromL2(std::size_t link) const
    {
        return memories[static_cast<std::size_t>(links[link].from)].name == "L2";
    }

    // Whether any link does so, that is, whether copies go through L2.
    [[nodiscard]] bool hasL2() const
    {
        for (std::size_t link = 0; link < links.size(); ++link) {
            if (comesFromL2(link)) {
                return true;
            }
        }
        return false;
    }

    // Whether the operand's copies go from HBM to HBM.
    [[nodiscard]] bool staysInHbm(std::size_t operand) const
    {
        return operands[operand].pipeline < 0 && operands[operand].direction == Direction::InOut;
    }
};

} // namespace pallascope::trace
