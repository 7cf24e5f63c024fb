// What one operation demands of the units of a chip.
#include "core/base/check.h"
#include "core/cost/matrix_run.h"
#include "core/cost/rounds.h"
#include "core/cost/segment.h"
#include "core/cost/tiling.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace pallascope::cost {

namespace {

using ir::OpCode;
using ir::OpKind;

double shareOf(const ir::Operation& operation, const Runner& runner)
{
    const bool some = runner.shares != nullptr && runner.shares->contains(operation.id);
    return (some ? runner.shares->at(operation.id) : 1.0) / static_cast<double>(runner.cores);
}

class CostModel
{
public:
    CostModel(const ir::Program& program, const ir::Operation& operation, const chip::Chip& chip,
              Runner runner, const Variation* variation)
        : m_program(program)
        , m_operation(operation)
        , m_chip(chip)
        , m_agent(runner.agent)
        , m_share(shareOf(operation, runner))
        , m_isAround(runner.isAround)
        , m_variation(variation)
    {}

    [[nodiscard]] Result<OperationCost> run();

private:
    [[nodiscard]] const ir::Type& operand(std::size_t i) const
    {
        return m_program.type(m_operation.operands[i]);
    }

    [[nodiscard]] const ir::Type& result() const { return m_program.type(m_operation.results[0]); }

    [[nodiscard]] Error error(const std::string& sentence) const
    {
        return userError(m_program.where(m_operation.location) + ": " + sentence);
    }

    // The size of the agents' own registers, if they have any.
    [[nodiscard]] std::optional<Bytes> ownRegisters() const
    {
        return m_chip.agents[static_cast<std::size_t>(m_agent)].registerBytes;
    }

    [[nodiscard]] Bytes registerBytes() const
    {
        return ownRegisters().value_or(m_chip.registerBytes);
    }

    [[nodiscard]] const std::vector<std::int64_t>& tile() const;
    // How many registers hold a value while it is computed with: elements are widened to 32 bits
    // unless the vector unit takes them packed, and tiles are padded.
    [[nodiscard]] std::int64_t registers(const Shape& shape, DType dtype = DType::F32) const;
    // The same, counting only elements that may differ.
    [[nodiscard]] std::int64_t distinctRegisters(ir::ValueId value, DType dtype) const;
    // How many registers its packed bytes fill in memory.
    [[nodiscard]] std::int64_t memoryRegisters(const ir::Type& type) const;
    [[nodiscard]] std::int64_t registersOf(DType dtype, const Shape& shape) const;

    [[nodiscard]] Status demand(chip::UnitKind kind, double instructions);
    [[nodiscard]] Status demand(const chip::Unit& unit, double cycles);
    // How many vector instructions each register of the result takes.
    [[nodiscard]] std::int64_t passes() const;
    // Adds the instructions of an elementwise operation on this many registers.
    [[nodiscard]] Status instructions(chip::UnitKind kind, std::int64_t registers);
    [[nodiscard]] Status vectorWork(chip::UnitKind kind, ir::ValueId value, bool countsFlops);
    [[nodiscard]] DType workDType() const;
    [[nodiscard]] bool atRegisterBorders() const;
    [[nodiscard]] Status crosslane();
    [[nodiscard]] Status sort();
    [[nodiscard]] Status reshape();
    [[nodiscard]] Status copyStart();
    [[nodiscard]] Status reduction();
    [[nodiscard]] Status memory();
    [[nodiscard]] Status dot();
    [[nodiscard]] Status matrixWork(std::int64_t batch, std::int64_t m, std::int64_t n,
                                    std::int64_t k, std::int64_t instances);

    const ir::Program& m_program;
    const ir::Operation& m_operation;
    const chip::Chip& m_chip;
    std::int32_t m_agent; // index into Chip::agents
    double m_share;       // share of the work that is done here
    bool m_isAround;
    const Variation* m_variation;
    OperationCost m_cost;
};

const std::vector<std::int64_t>& CostModel::tile() const
{
    static const std::vector<std::int64_t> kNone;
    if (ownRegisters()) {
        return kNone;
    }
    return nativeTile(m_chip);
}

std::int64_t CostModel::registers(const Shape& shape, DType dtype) const
{
    const chip::Unit* unit = m_chip.unitOf(chip::UnitKind::Vector, m_agent);
    const bool isPacked =
        unit != nullptr
        && std::find(unit->packed.begin(), unit->packed.end(), dtype) != unit->packed.end();
    return registersOf(isPacked ? dtype : DType::F32, shape);
}

std::int64_t CostModel::distinctRegisters(ir::ValueId value, DType dtype) const
{
    return registers(
        m_variation == nullptr ? m_program.type(value).shape : m_variation->distinct(value), dtype);
}

std::int64_t CostModel::memoryRegisters(const ir::Type& type) const
{
    return registersOf(type.dtype, type.shape);
}

std::int64_t CostModel::registersOf(DType dtype, const Shape& shape) const
{
    const Bytes bytes =
        m_isAround ? compactBytes(dtype, shape, tile()) : paddedBytes(dtype, shape, tile());
    return ceilDiv(bytes.value(), registerBytes().value());
}

Status CostModel::demand(chip::UnitKind kind, double instructions)
{
    const chip::Unit* unit = m_chip.unitOf(kind, m_agent);
    if (unit == nullptr) {
        return error(std::string(ir::opName(m_operation.code)) + " needs a "
                     + std::string(chip::unitKindName(kind)) + " unit, which " + m_chip.title
                     + " lacks.");
    }
    return demand(*unit, instructions * unit->cyclesPerRegister / static_cast<double>(unit->count));
}

Status CostModel::demand(const chip::Unit& unit, double cycles)
{
    constexpr double kMost = 1e15; // exact in a double, and far below the limit of int64
    cycles *= m_share;
    if (cycles > kMost) {
        return error(std::string(ir::opName(m_operation.code)) + " takes more than 1e15 cycles of "
                     + unit.name + "; use smaller blocks or a chip with a faster unit.");
    }
    m_cost.demands.push_back({static_cast<std::int32_t>(&unit - m_chip.units.data()),
                              Cycles(static_cast<std::int64_t>(std::ceil(cycles)))});
    return Done{};
}

std::int64_t CostModel::passes() const
{
    if (const auto* power = std::get_if<ir::IntegerPowParams>(&m_operation.params)) {
        // Squares repeatedly; a negative exponent adds a division.
        const std::int64_t exponent = std::abs(std::int64_t{power->exponent});
        std::int64_t products = exponent == 0 ? 0 : -1;
        for (std::int64_t left = exponent; left > 0; left /= 2) {
            products += left > 1 ? 1 + left % 2 : 1;
        }
        return std::max<std::int64_t>(1, products + (power->exponent < 0 ? 1 : 0));
    }
    // 20 rounds of an addition, a rotation (three instructions) and an exclusive or. The key and
    // the round number are added five times, and the key once at the start.
    return m_operation.code == OpCode::Threefry2x32 ? 20 * 5 + 5 * 3 + 2 : 1;
}

Status CostModel::instructions(chip::UnitKind kind, std::int64_t registers)
{
    const auto known = m_chip.operations.find(ir::opName(m_operation.code));
    const auto work = static_cast<double>(registers * passes());
    if (known == m_chip.operations.end() || ownRegisters()) {
        return demand(kind, work);
    }
    for (const chip::Instructions& part : known->second) {
        if (Status status = demand(part.kind, work * part.count); !status) {
            return status;
        }
    }
    return Done{};
}

// The dtype in which the vector unit works. A comparison yields bools but works in its operands'
// dtype.
DType CostModel::workDType() const
{
    const OpKind kind = ir::opEntry(m_operation.code).kind;
    if (kind == OpKind::Comparison || kind == OpKind::Reduction) {
        return operand(0).dtype;
    }
    return kind == OpKind::Convert ? DType::F32 : result().dtype;
}

Status CostModel::vectorWork(chip::UnitKind kind, ir::ValueId value, bool countsFlops)
{
    const Shape& shape = m_program.type(value).shape;
    if (shape.rank() == 0) {
        return demand(chip::UnitKind::Scalar, 1);
    }
    if (Status status = instructions(kind, distinctRegisters(value, workDType())); !status) {
        return status;
    }
    const chip::Unit* unit = m_chip.unitOf(kind, m_agent); // FLOPs count for this one
    if (countsFlops && unit != nullptr) {
        m_cost.flopsUnit = static_cast<std::int32_t>(unit - m_chip.units.data());
        m_cost.useful = Flops(shape.elements());
        m_cost.executed = Flops(padded(shape, tiling(DType::F32, shape, tile())).elements());
    }
    return Done{};
}

// Whether the parts that an operation cuts or joins begin at whole registers. On the axes of a
// tile they must begin at multiples of the tile's extents and have a step of one; on earlier axes
// they may begin anywhere.
bool CostModel::atRegisterBorders() const
{
    const ir::Type& whole = operand(0);
    const std::vector<std::int64_t> tiles = tiling(DType::F32, whole.shape, tile());
    const auto aligned = [&](std::size_t axis, Extent start) {
        return axis >= tiles.size() || start % tiles[axis] == 0;
    };
    const auto& params = m_operation.params;
    bool sound = true;
    if (const auto* slice = std::get_if<ir::SliceParams>(&params)) {
        for (std::size_t axis = 0; axis < slice->start.size(); ++axis) {
            const bool strided = !slice->strides.empty() && slice->strides[axis] != 1;
            sound = sound && aligned(axis, slice->start[axis])
                    && (!strided || axis >= tiles.size() || tiles[axis] == 1);
        }
    } else if (const auto* split = std::get_if<ir::SplitParams>(&params)) {
        for (const Extent size : split->sizes) {
            sound = sound && aligned(static_cast<std::size_t>(split->axis), size);
        }
    } else if (const auto* pad = std::get_if<ir::PadParams>(&params)) {
        for (std::size_t axis = 0; axis < pad->low.size(); ++axis) {
            sound = sound && aligned(axis, pad->low[axis])
                    && (pad->interior[axis] == 0 || axis >= tiles.size() || tiles[axis] == 1);
        }
    } else if (const auto* repeat = std::get_if<ir::TileParams>(&params)) {
        for (std::size_t axis = 0; axis < repeat->repetitions.size(); ++axis) {
            sound = sound && (repeat->repetitions[axis] == 1 || aligned(axis, whole.shape[axis]));
        }
    } else { // here: concatenate, stack, unstack
        const auto axis = static_cast<std::size_t>(std::get<ir::AxisParams>(params).axis);
        if (m_operation.code != OpCode::Concatenate) {
            return axis + 2 < std::max(whole.shape.rank(), result().shape.rank());
        }
        for (std::size_t i = 0; i + 1 < m_operation.operands.size(); ++i) {
            sound = sound && aligned(axis, operand(i).shape[axis]);
        }
    }
    return sound;
}

Status CostModel::crosslane()
{
    std::int64_t count = 0;
    for (const ir::ValueId value : m_operation.results) {
        count += registers(m_program.type(value).shape);
    }
    return demand(chip::UnitKind::Crosslane, static_cast<double>(count));
}

// In each round of a bitonic network every register is paired with another one, and the keys
// decide which elements of the two it takes.
Status CostModel::sort()
{
    const Shape& shape = result().shape;
    const auto axis = static_cast<std::size_t>(std::get<ir::SortParams>(m_operation.params).axis);
    const SortRounds rounds = sortRounds(shape, axis, tile());
    const auto count = static_cast<std::int64_t>(m_operation.results.size()) * registers(shape);
    const Status met =
        demand(chip::UnitKind::Crosslane, static_cast<double>(count * rounds.within));
    const auto chosen = static_cast<double>((registers(shape) + count) * rounds.all);
    return met ? demand(chip::UnitKind::Vector, chosen) : met;
}

// Moves and selects registers of both shapes, in as many rounds as the reshape needs.
Status CostModel::reshape()
{
    const ir::ValueId from = m_operation.operands[0], to = m_operation.results[0];
    const int rounds = ownRegisters() ? 0 : reshapeRounds(operand(0).shape, result().shape, tile());
    if (m_isAround || rounds == 0) {
        return Done{};
    }
    const auto moved = static_cast<double>(
        std::max(distinctRegisters(from, result().dtype), distinctRegisters(to, result().dtype))
        * rounds);
    const Status turned = demand(chip::UnitKind::Crosslane, moved);
    return turned ? demand(chip::UnitKind::Vector, moved) : turned;
}

// The scalar unit's work to start a manual DMA, besides the operations that compute which one.
Status CostModel::copyStart()
{
    const auto known = m_chip.operations.find(ir::opName(m_operation.code));
    if (known == m_chip.operations.end() || ownRegisters()) {
        return Done{};
    }
    for (const chip::Instructions& part : known->second) {
        if (Status status = demand(part.kind, part.count); !status) {
            return status;
        }
    }
    return Done{};
}

Status CostModel::reduction()
{
    const Shape& input = operand(0).shape;
    if (Status status = vectorWork(chip::UnitKind::Vector, m_operation.operands[0], true);
        !status || input.rank() == 0) {
        return status;
    }
    const auto* arg = std::get_if<ir::ArgParams>(&m_operation.params);
    const auto* along = std::get_if<ir::CumulativeParams>(&m_operation.params);
    const std::vector<std::int32_t> axes = arg != nullptr ? std::vector{arg->axis}
                                           : along != nullptr
                                               ? std::vector{along->axis}
                                               : std::get<ir::AxesParams>(m_operation.params).axes;
    const auto last = static_cast<std::int32_t>(input.rank()) - 1;
    if (std::find(axes.begin(), axes.end(), last) == axes.end()) {
        return Done{};
    }
    // A reduction across lanes combines the registers of a row on the vector unit. Then the
    // remaining register goes through the crosslane unit; a scan along the lanes sends every
    // register through it.
    std::vector<Extent> kept;
    for (std::int32_t axis = 0; axis <= last; ++axis) {
        if (axis == last) {
            kept.push_back(along != nullptr ? input[static_cast<std::size_t>(axis)] : 1);
        } else if (std::find(axes.begin(), axes.end(), axis) == axes.end()) {
            kept.push_back(input[static_cast<std::size_t>(axis)]);
        }
    }
    return demand(chip::UnitKind::Crosslane, static_cast<double>(registers(Shape(kept))));
}

Status CostModel::memory()
{
    const bool stores = ir::storesInto(m_operation.code);
    const ir::Type& moved = m_operation.results.empty() ? operand(1) : result();
    if (moved.shape.rank() == 0 || *operand(0).space == ir::MemorySpace::Smem) {
        return demand(chip::UnitKind::Scalar,
                      static_cast<double>(std::max<std::int64_t>(1, moved.shape.elements())));
    }
    const auto filled = static_cast<double>(memoryRegisters(moved));
    if (!stores || m_operation.code == OpCode::AddupdateScatter) {
        if (Status status = demand(chip::UnitKind::Load, filled); !status) {
            return status;
        }
    }
    return stores ? demand(chip::UnitKind::Store, filled) : Done{};
}

Status CostModel::dot()
{
    const auto& dimensions = std::get<ir::DotParams>(m_operation.params);
    std::int64_t batch = 1, k = 1;
    for (const std::int32_t axis : dimensions.lhsBatch) {
        batch *= operand(0).shape[static_cast<std::size_t>(axis)];
    }
    for (const std::int32_t axis : dimensions.lhsContracting) {
        k *= operand(0).shape[static_cast<std::size_t>(axis)];
    }
    const std::int64_t m = operand(0).shape.elements() / (batch * k),
                       n = operand(1).shape.elements() / (batch * k);
    const chip::Unit* unit = m_chip.unitOf(chip::UnitKind::Matrix, m_agent);
    return matrixWork(batch, m, n, k, unit == nullptr ? 1 : unit->count);
}

// Adds the work of products on this many instances of the matrix unit.
Status CostModel::matrixWork(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
                             std::int64_t instances)
{
    const std::string name(ir::opName(m_operation.code));
    const chip::Unit* unit = m_chip.unitOf(chip::UnitKind::Matrix, m_agent);
    if (unit == nullptr) {
        return error(name + " needs a matrix unit, which " + m_chip.title + " lacks.");
    }
    const std::optional<MatrixRun> run = matrixRun(*unit, m_program, m_operation);
    if (!run) {
        std::string taken;
        for (const auto& [taker, unused] : unit->matrixRates) {
            taken += (taken.empty() ? "" : ", ") + std::string(dtypeName(taker));
        }
        const std::size_t first = ir::opEntry(m_operation.code).kind == OpKind::Request ? 1 : 0;
        return error(name + " of " + std::string(dtypeName(operand(first).dtype)) + " and "
                     + std::string(dtypeName(operand(first + 1).dtype)) + ": the " + unit->name
                     + " of " + m_chip.title + " takes " + taken + ".");
    }
    const std::int64_t tiles = batch * ceilDiv(k, unit->rows) * ceilDiv(n, unit->columns);
    const std::int64_t rowsPushed = tiles * alignTo(m, unit->rowGranule);
    const double cycles =
        static_cast<double>(rowsPushed) * unit->matrixRates.at(run->dtype).cyclesPerRow
        + static_cast<double>(tiles) * unit->cyclesPerTile;
    if (Status status = demand(*unit, run->passes * cycles / static_cast<double>(instances));
        !status) {
        return status;
    }
    m_cost.product = run;
    m_cost.flopsUnit = m_cost.demands.back().unit;
    m_cost.useful = Flops(2 * batch * m * n * k);
    m_cost.executed = Flops(2 * rowsPushed * unit->rows * unit->columns);
    if (unit->cyclesPerResult > 0) {
        const auto popped = static_cast<double>(batch * registers(Shape{m, n})
                                                * ceilDiv(k, unit->rows) * run->passes);
        return demand(chip::UnitKind::Vector, popped * unit->cyclesPerResult);
    }
    return Done{};
}

Result<OperationCost> CostModel::run()
{
    Status status = Done{};
    switch (ir::opEntry(m_operation.code).kind) {
    case OpKind::Elementwise:
    case OpKind::Comparison:
        status = vectorWork(chip::UnitKind::Vector, m_operation.results[0], true);
        break;
    case OpKind::Convert:
    case OpKind::Select:
        status = vectorWork(chip::UnitKind::Vector, m_operation.results[0], false);
        break;
    case OpKind::Transcendental:
        status = vectorWork(chip::UnitKind::Transcendental, m_operation.results[0], false);
        m_cost.transcendentals = result().shape.rank() == 0 ? 0 : result().shape.elements();
        break;
    case OpKind::Reduction:
        status = reduction();
        break;
    case OpKind::Layout:
        status = m_operation.code == OpCode::Reshape ? reshape() : status;
        break;
    case OpKind::View:
    case OpKind::Hint:
        break;
    case OpKind::Rearrange:
        if (!atRegisterBorders()) {
            status = crosslane();
        }
        break;
    case OpKind::Crosslane:
        status = m_operation.code == OpCode::Sort ? sort() : crosslane();
        break;
    case OpKind::Generate:
        status = vectorWork(chip::UnitKind::Vector, m_operation.results[0], false);
        break;
    case OpKind::Memory:
        status = memory();
        break;
    case OpKind::Dot:
        status = dot();
        break;
    case OpKind::Request: // uses one instance
        status = matrixWork(1, operand(1).shape[0], operand(2).shape[1], operand(2).shape[0], 1);
        break;
    case OpKind::Sync: // only dma_start, the last operation of its segment
        PALLASCOPE_CHECK(m_operation.code == OpCode::DmaStart);
        status = copyStart();
        break;
    case OpKind::Control:
        PALLASCOPE_CHECK(false && "they end a segment");
    }
    if (!status) {
        return status.error();
    }
    return std::move(m_cost);
}

} // namespace

Result<OperationCost> operationCost(const ir::Program& program, const ir::Operation& operation,
                                    const chip::Chip& chip, Runner runner,
                                    const Variation* variation)
{
    return CostModel(program, operation, chip, runner, variation).run();
}

} // namespace pallascope::cost
