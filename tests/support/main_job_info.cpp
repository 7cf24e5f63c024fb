// Fills the info half of the synthetic main job: its arrays, buffers, operations and segments.
#include "tests/support/main_job_info.h"

#include <array>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace pallascope::test {

namespace {

using trace::Direction;

constexpr std::int64_t kMiB = 1024 * 1024;

enum UnitRow : std::int32_t
{
    Mxu,
    Vpu,
    Eup,
    Xlu,
    Load,
    Store,
    Scalar
};

// The rows of the operations, in program order. The listing and the source use the same names.
enum OperationRow : std::int32_t
{
    Program,
    Eq,
    Cond,
    Zeros,
    Fill,
    GetX,
    GetY,
    Dot,
    GetOut,
    Add,
    Swap
};

constexpr std::int32_t kPipelineLine = 3; // a line of the source text below

constexpr const char* kSource = R"(ir::Program matmul(const Params& p) {
  return pl::kernel("matmul", [&](Ref x, Ref y, Ref out) {
    pl::emitPipeline({
      .grid = {p.m / p.bm, p.n / p.bn, p.k / p.bk},
      .in   = {block({p.bm, p.bk}, [](auto i, auto j, auto k) { return at(i, k); }),
               block({p.bk, p.bn}, [](auto i, auto j, auto k) { return at(k, j); })},
      .out  = {block({p.bm, p.bn}, [](auto i, auto j, auto k) { return at(i, j); })},
    }, [&](Ref x, Ref y, Ref out) {
      pl::when(pl::programId(2) == 0, [&] {
        out[all] = zerosLike(out);
      });
      out[all] += dot(x[all], y[all], f32);
    })(x, y, out);
  });
}
)";

void addProgram(trace::Info& info, int block, Extent grid)
{
    info.sources = {{"kernels/matmul.cpp", kSource}};
    const std::array<std::pair<std::string, std::int32_t>, 17> lines{{
        {fmt::format("pipeline grid=({0}, {0}, {0}) schedule=0.12 {{", grid), -1},
        {fmt::format("  in  x    ({0}, {0}) bf16  map (i, k)  buffers 2", block), -1},
        {fmt::format("  in  y    ({0}, {0}) bf16  map (k, j)  buffers 2", block), -1},
        {fmt::format("  out out  ({0}, {0}) f32   map (i, j)  buffers 2", block), -1},
        {"  a:i32 = program_id[axis=2]", Program},
        {"  b:bool = eq a 0", Eq},
        {"  cond b {", Cond},
        {fmt::format("    c:f32[{0},{0}] = broadcast_in_dim 0.0", block), Zeros},
        {"    out[:,:] <- c", Fill},
        {"  }", -1},
        {fmt::format("  d:bf16[{0},{0}] <- x[:,:]", block), GetX},
        {fmt::format("  e:bf16[{0},{0}] <- y[:,:]", block), GetY},
        {fmt::format("  f:f32[{0},{0}] = dot_general d e", block), Dot},
        {fmt::format("  g:f32[{0},{0}] <- out[:,:]", block), GetOut},
        {fmt::format("  h:f32[{0},{0}] = add g f", block), Add},
        {"  out[:,:] <- h", Swap},
        {"}", -1},
    }};
    for (const auto& [text, operation] : lines) {
        info.listing.edit().push_back({text, operation});
    }
    info.operations = {{"program_id", "program id", 4, {0, 9}},
                       {"eq", "k = 0", 5, {0, 9}},
                       {"cond", "when", 6, {0, 9}},
                       {"broadcast_in_dim", "zeros", 7, {0, 10}},
                       {"swap", "zero out", 8, {0, 10}},
                       {"get", "load x", 10, {0, 12}},
                       {"get", "load y", 11, {0, 12}},
                       {"dot_general", "dot", 12, {0, 12}},
                       {"get", "load out", 13, {0, 12}},
                       {"add", "add", 14, {0, 12}},
                       {"swap", "store out", 15, {0, 12}}};
}

void addHardware(trace::Info& info)
{
    info.chip = "tpu_v5e";
    info.chipName = "TPU v5e";
    info.chipJson = "{}";
    info.units = {{"MXU", UnitKind::Matrix},         {"VPU", UnitKind::Vector},
                  {"EUP", UnitKind::Transcendental}, {"XLU", UnitKind::Crosslane},
                  {"load", UnitKind::Load},          {"store", UnitKind::Store},
                  {"scalar", UnitKind::Scalar}};
    info.memories = {{"HBM", Bytes(16 * 1024 * kMiB), std::nullopt},
                     {"VMEM", Bytes(128 * kMiB), Bytes(16 * kMiB)},
                     {"SMEM", Bytes(kMiB), std::nullopt}};
    info.links = {
        {"HBM", 0, 1, BytesPerSecond(kLinkRate), BytesPerSecond(kLinkRate * kEfficiency)}};
    info.agents = {"TensorCore 0"};
}

void addOperand(trace::Info& info, const char* name, DType dtype, Direction direction, int block,
                int size, std::vector<std::int32_t> gridAxes, std::int32_t line)
{
    trace::Operand operand;
    operand.name = name;
    operand.dtype = dtype;
    operand.direction = direction;
    operand.array = Shape{size, size};
    operand.block = Shape{block, block};
    operand.blockCounts = {size / block, size / block};
    operand.gridAxes = std::move(gridAxes);
    operand.firstBuffer = static_cast<std::int32_t>(info.buffers.size());
    const std::int64_t element = dtypeBytes(dtype);
    operand.arrayBytes = Bytes(std::int64_t{size} * size * element);
    operand.blockBytes = Bytes(std::int64_t{block} * block * element);
    operand.slotBytes = operand.blockBytes;
    operand.source = {0, line};
    for (std::int32_t slot = 0; slot < operand.slots; ++slot) {
        trace::Buffer buffer;
        buffer.name = fmt::format("{}\u00b7{}", name, slot);
        buffer.operand = static_cast<std::int32_t>(info.operands.size());
        buffer.slot = slot;
        buffer.memory = 1;
        if (!info.buffers.empty()) {
            buffer.address = info.buffers.back().address + info.buffers.back().bytes;
        }
        buffer.bytes = operand.slotBytes;
        buffer.dtype = dtype;
        buffer.shape = operand.block;
        info.buffers.edit().push_back(std::move(buffer));
    }
    info.operands.edit().push_back(std::move(operand));
}

trace::SegmentTemplate segment(std::int64_t cycles, std::size_t units)
{
    trace::SegmentTemplate result;
    result.cycles = Cycles(cycles);
    result.clock = Hertz(kClock);
    result.duration = toPicoseconds(result.cycles, result.clock);
    result.flopsByUnit.resize(units);
    result.executedFlopsByUnit.resize(units);
    return result;
}

void addTemplates(trace::Info& info, std::int64_t block)
{
    const std::size_t units = info.units.size();
    const std::int64_t elements = block * block;
    const std::int64_t mxu = block * ((block + 127) / 128) * block / 256 / 2;
    const std::int64_t vpu = elements / 4096, store = elements / 1024;
    const std::int64_t loadBlock = elements * 2 / 12288, loadOut = elements * 4 / 12288;

    trace::SegmentTemplate zero = segment(store, units);
    zero.operations = {Program, Eq, Cond, Zeros, Fill};
    zero.retire = {Cycles(0), Cycles(0), Cycles(0), Cycles(0), zero.cycles};
    zero.marks = {{Store, Fill, Cycles(0), zero.cycles}};

    trace::SegmentTemplate dot = segment(mxu, units);
    dot.operations = {GetX, GetY, Dot, GetOut, Add, Swap};
    dot.retire = {Cycles(loadBlock), Cycles(2 * loadBlock), dot.cycles, dot.cycles, dot.cycles,
                  dot.cycles};
    dot.marks = {{Load, GetX, Cycles(0), Cycles(loadBlock)},
                 {Load, GetY, Cycles(loadBlock), Cycles(loadBlock)},
                 {Mxu, Dot, Cycles(0), dot.cycles},
                 {Load, GetOut, Cycles(2 * loadBlock), Cycles(loadOut)},
                 {Vpu, Add, Cycles(mxu - vpu), Cycles(vpu)},
                 {Store, Swap, Cycles(mxu - store), Cycles(store)}};
    dot.flopsByUnit[Mxu] = Flops(2 * block * block * block);
    dot.flopsByUnit[Vpu] = Flops(elements);
    dot.executedFlopsByUnit = dot.flopsByUnit;

    const std::int64_t cycles = (kStepOverhead * (kClock / 1'000'000) + 999'999) / 1'000'000;
    trace::SegmentTemplate overhead = segment(cycles, units);
    overhead.kind = trace::SegmentKind::StepOverhead;
    overhead.duration = Picoseconds(kStepOverhead);
    overhead.marks = {{Scalar, -1, Cycles(0), overhead.cycles}};
    info.templates = {std::move(zero), std::move(dot), std::move(overhead)};
}

} // namespace

trace::Info mainJobInfo(int block, int size)
{
    trace::Info info;
    info.kernel = info.program = "matmul";
    const std::string extent = std::to_string(size), edge = std::to_string(block);
    info.parameterOrder = {"m", "n", "k", "bm", "bn", "bk", "dtype", "order", "buffers"};
    info.parameters = {{"m", extent},     {"n", extent},    {"k", extent},
                       {"bm", edge},      {"bn", edge},     {"bk", edge},
                       {"dtype", "bf16"}, {"order", "ijk"}, {"buffers", "2"}};
    info.values = "full";
    const Extent grid = size / block;
    addProgram(info, block, grid);
    addHardware(info);
    trace::Pipeline pipeline;
    pipeline.name = "matmul";
    pipeline.origin = "emit_pipeline";
    pipeline.schedule = "0.12";
    pipeline.grid = {grid, grid, grid};
    pipeline.axisNames = {"i", "j", "k"};
    pipeline.operandCount = 3;
    pipeline.steps = grid * grid * grid;
    pipeline.source = {0, kPipelineLine};
    info.pipelines = {std::move(pipeline)};
    addOperand(info, "x", DType::BF16, Direction::In, block, size, {0, 2}, 5);
    addOperand(info, "y", DType::BF16, Direction::In, block, size, {2, 1}, 6);
    addOperand(info, "out", DType::F32, Direction::Out, block, size, {0, 1}, 7);
    addTemplates(info, block);
    info.check = {true, true, 2.1e-4, 3.3e-6,
                  "16 rows and 16 columns against an f64 product, and a checksum"};
    return info;
}

} // namespace pallascope::test
