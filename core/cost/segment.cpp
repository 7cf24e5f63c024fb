#include "core/cost/segment.h"

#include "core/base/check.h"
#include "core/cost/tiling.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace pallascope::cost {

namespace {

using ir::OpCode;
using ir::OpKind;

class CostModel
{
public:
    CostModel(const ir::Program& program, const ir::Operation& operation, const chip::Chip& chip,
              std::int32_t agent)
        : m_program(program)
        , m_operation(operation)
        , m_chip(chip)
        , m_agent(agent)
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

    // Of the agents' own registers, where they have some.
    [[nodiscard]] std::optional<Bytes> ownRegisters() const
    {
        return m_chip.agents[static_cast<std::size_t>(m_agent)].registerBytes;
    }

    [[nodiscard]] Bytes registerBytes() const
    {
        return ownRegisters().value_or(m_chip.registerBytes);
    }

    [[nodiscard]] const std::vector<std::int64_t>& tile() const;
    // Registers that hold a value while it is computed with: elements widened to 32 bits, tiles
    // padded.
    [[nodiscard]] std::int64_t registers(const Shape& shape) const;
    // Registers that its packed bytes fill in memory.
    [[nodiscard]] std::int64_t memoryRegisters(const ir::Type& type) const;

    [[nodiscard]] Status demand(chip::UnitKind kind, std::int64_t registers);
    [[nodiscard]] Status demand(const chip::Unit& unit, double cycles);
    // Vector instructions for one register of the result.
    [[nodiscard]] std::int64_t passes() const;
    [[nodiscard]] Status vectorWork(chip::UnitKind kind, const Shape& shape, bool countsFlops);
    [[nodiscard]] bool atRegisterBorders() const;
    [[nodiscard]] Status crosslane();
    [[nodiscard]] Status reduction();
    [[nodiscard]] Status memory();
    [[nodiscard]] Status dot();
    [[nodiscard]] Status matrixWork(std::int64_t batch, std::int64_t m, std::int64_t n,
                                    std::int64_t k, std::int64_t instances);

    const ir::Program& m_program;
    const ir::Operation& m_operation;
    const chip::Chip& m_chip;
    std::int32_t m_agent; // index into Chip::agents
    OperationCost m_cost;
};

const std::vector<std::int64_t>& CostModel::tile() const
{
    static const std::vector<std::int64_t> kNone;
    if (ownRegisters()) {
        return kNone;
    }
    for (const chip::Memory& memory : m_chip.memories) {
        if (!memory.tile.empty()) {
            return memory.tile;
        }
    }
    return kNone;
}

std::int64_t CostModel::registers(const Shape& shape) const
{
    const Bytes bytes = paddedBytes(DType::F32, shape, tile());
    return ceilDiv(bytes.value(), registerBytes().value());
}

std::int64_t CostModel::memoryRegisters(const ir::Type& type) const
{
    return ceilDiv(paddedBytes(type.dtype, type.shape, tile()).value(), registerBytes().value());
}

Status CostModel::demand(chip::UnitKind kind, std::int64_t registers)
{
    const chip::Unit* unit = m_chip.unitOf(kind, m_agent);
    if (unit == nullptr) {
        return error(std::string(ir::opName(m_operation.code)) + " needs a "
                     + std::string(chip::unitKindName(kind)) + " unit, which " + m_chip.title
                     + " lacks.");
    }
    return demand(*unit, static_cast<double>(registers) * unit->cyclesPerRegister
                             / static_cast<double>(unit->count));
}

Status CostModel::demand(const chip::Unit& unit, double cycles)
{
    constexpr double kMost = 1e15; // exact in a double, and far from the end of int64
    if (cycles > kMost) {
        return error(std::string(ir::opName(m_operation.code)) + " takes more than 1e15 cycles of "
                     + unit.name + "; smaller blocks or a faster unit are right.");
    }
    m_cost.demands.push_back({static_cast<std::int32_t>(&unit - m_chip.units.data()),
                              Cycles(static_cast<std::int64_t>(std::ceil(cycles)))});
    return Done{};
}

std::int64_t CostModel::passes() const
{
    if (const auto* power = std::get_if<ir::IntegerPowParams>(&m_operation.params)) {
        // By squaring; a negative exponent divides.
        const std::int64_t exponent = std::abs(std::int64_t{power->exponent});
        std::int64_t products = exponent == 0 ? 0 : -1;
        for (std::int64_t left = exponent; left > 0; left /= 2) {
            products += left > 1 ? 1 + left % 2 : 1;
        }
        return std::max<std::int64_t>(1, products + (power->exponent < 0 ? 1 : 0));
    }
    // 20 rounds of an addition, a rotation (three instructions) and an exclusive or; five times the
    // key and the round are added, the key once at the start.
    return m_operation.code == OpCode::Threefry2x32 ? 20 * 5 + 5 * 3 + 2 : 1;
}

Status CostModel::vectorWork(chip::UnitKind kind, const Shape& shape, bool countsFlops)
{
    if (shape.rank() == 0) {
        return demand(chip::UnitKind::Scalar, 1);
    }
    if (Status status = demand(kind, registers(shape) * passes()); !status) {
        return status;
    }
    if (countsFlops) {
        m_cost.flopsUnit = m_cost.demands.back().unit;
        m_cost.useful = Flops(shape.elements());
        m_cost.executed = Flops(padded(shape, tiling(DType::F32, shape, tile())).elements());
    }
    return Done{};
}

// Whether the parts that an operation cuts or joins begin at whole registers: on the axes of a tile
// at multiples of it, in steps of one, on the axes before anywhere.
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
    } else { // concatenate, stack, unstack
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
    return demand(chip::UnitKind::Crosslane, count);
}

Status CostModel::reduction()
{
    const Shape& input = operand(0).shape;
    if (Status status = vectorWork(chip::UnitKind::Vector, input, true);
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
    // Across lanes: what is left after the other reduced axes are gone goes through the crosslane
    // unit.
    std::vector<Extent> kept;
    for (std::int32_t axis = 0; axis <= last; ++axis) {
        if (axis == last || std::find(axes.begin(), axes.end(), axis) == axes.end()) {
            kept.push_back(input[static_cast<std::size_t>(axis)]);
        }
    }
    return demand(chip::UnitKind::Crosslane, registers(Shape(kept)));
}

Status CostModel::memory()
{
    const bool stores = ir::storesInto(m_operation.code);
    const ir::Type& moved = m_operation.results.empty() ? operand(1) : result();
    if (moved.shape.rank() == 0 || *operand(0).space == ir::MemorySpace::Smem) {
        return demand(chip::UnitKind::Scalar, std::max<std::int64_t>(1, moved.shape.elements()));
    }
    if (!stores || m_operation.code == OpCode::AddupdateScatter) {
        if (Status status = demand(chip::UnitKind::Load, memoryRegisters(moved)); !status) {
            return status;
        }
    }
    return stores ? demand(chip::UnitKind::Store, memoryRegisters(moved)) : Done{};
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

// Products on so many instances of the matrix unit.
Status CostModel::matrixWork(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
                             std::int64_t instances)
{
    const std::string name(ir::opName(m_operation.code));
    const chip::Unit* unit = m_chip.unitOf(chip::UnitKind::Matrix, m_agent);
    if (unit == nullptr) {
        return error(name + " needs a matrix unit, which " + m_chip.title + " lacks.");
    }
    const DType dtype = dotDType(m_program, m_operation, *unit);
    const auto rate = unit->matrixRates.find(dtype);
    if (rate == unit->matrixRates.end()) {
        std::string taken;
        for (const auto& [taker, unused] : unit->matrixRates) {
            taken += (taken.empty() ? "" : ", ") + std::string(dtypeName(taker));
        }
        return error(name + " of " + std::string(dtypeName(dtype)) + ": the " + unit->name + " of "
                     + m_chip.title + " takes " + taken + ".");
    }
    const std::int64_t rowsPushed =
        batch * alignTo(m, unit->rowGranule) * ceilDiv(k, unit->rows) * ceilDiv(n, unit->columns);
    if (Status status = demand(*unit, static_cast<double>(rowsPushed) * rate->second.cyclesPerRow
                                          / static_cast<double>(instances));
        !status) {
        return status;
    }
    m_cost.flopsUnit = m_cost.demands.back().unit;
    m_cost.useful = Flops(2 * batch * m * n * k);
    m_cost.executed = Flops(2 * rowsPushed * unit->rows * unit->columns);
    return Done{};
}

Result<OperationCost> CostModel::run()
{
    Status status = Done{};
    switch (ir::opEntry(m_operation.code).kind) {
    case OpKind::Elementwise:
    case OpKind::Comparison:
        status = vectorWork(chip::UnitKind::Vector, result().shape, true);
        break;
    case OpKind::Convert:
    case OpKind::Select:
        status = vectorWork(chip::UnitKind::Vector, result().shape, false);
        break;
    case OpKind::Transcendental:
        status = vectorWork(chip::UnitKind::Transcendental, result().shape, false);
        m_cost.transcendentals = result().shape.rank() == 0 ? 0 : result().shape.elements();
        break;
    case OpKind::Reduction:
        status = reduction();
        break;
    case OpKind::Layout:
    case OpKind::View:
    case OpKind::Hint:
        break;
    case OpKind::Rearrange:
        if (!atRegisterBorders()) {
            status = crosslane();
        }
        break;
    case OpKind::Crosslane:
        status = crosslane();
        break;
    case OpKind::Generate:
        status = vectorWork(chip::UnitKind::Vector, result().shape, false);
        break;
    case OpKind::Memory:
        status = memory();
        break;
    case OpKind::Dot:
        status = dot();
        break;
    case OpKind::Request: // of one instance
        status = matrixWork(1, operand(1).shape[0], operand(2).shape[1], operand(2).shape[0], 1);
        break;
    case OpKind::Control:
    case OpKind::Sync:
        PALLASCOPE_CHECK(false && "they end a segment");
    }
    if (!status) {
        return status.error();
    }
    return std::move(m_cost);
}

// Places operations on their units. Per unit they keep program order; an operation ends no earlier
// than what it uses, and no later than leaves room for what follows on its unit, so that the whole
// fits in the largest sum over units.
void place(const ir::Program& program, std::span<const ir::Operation* const> operations,
           const std::vector<OperationCost>& costs, SegmentCost& out)
{
    std::map<std::int32_t, Cycles> total, free, used;
    for (const OperationCost& cost : costs) {
        for (const Demand& demand : cost.demands) {
            total[demand.unit] += demand.cycles;
        }
    }
    for (const auto& [unit, cycles] : total) {
        out.cycles = std::max(out.cycles, cycles);
    }
    std::map<ir::ValueId, Cycles> ready;
    Cycles retired;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        Cycles earliest;
        for (const ir::ValueId operand : operations[i]->operands) {
            if (!program.value(operand).literal) {
                earliest = std::max(earliest, ready[operand]);
            }
        }
        Cycles end = earliest;
        for (const Demand& demand : costs[i].demands) {
            const Cycles later = total[demand.unit] - used[demand.unit] - demand.cycles;
            const Cycles last = out.cycles - later;
            const Cycles unitEnd =
                std::min(std::max(free[demand.unit] + demand.cycles, earliest), last);
            out.places.push_back(
                {demand.unit, operations[i]->id, unitEnd - demand.cycles, demand.cycles});
            free[demand.unit] = unitEnd;
            used[demand.unit] += demand.cycles;
            end = std::max(end, unitEnd);
        }
        for (const ir::ValueId result : operations[i]->results) {
            ready[result] = end;
        }
        retired = std::max(retired, end);
        out.operations.push_back(operations[i]->id);
        out.retire.push_back(retired);
    }
}

} // namespace

DType dotDType(const ir::Program& program, const ir::Operation& operation, const chip::Unit& unit)
{
    const std::size_t first = ir::opEntry(operation.code).kind == OpKind::Request ? 1 : 0;
    const DType lhs = program.type(operation.operands[first]).dtype,
                rhs = program.type(operation.operands[first + 1]).dtype;
    const DType wider = dtypeBits(lhs) >= dtypeBits(rhs) ? lhs : rhs;
    if (unit.matrixRates.contains(wider) || (!isFloat(wider) && !isInteger(wider))) {
        return wider;
    }
    for (const DType holder : {DType::BF16, DType::F32}) {
        const int bits = dtypeEntry(holder).format.mantissaBits + 1;
        const int wanted =
            isFloat(wider) ? dtypeEntry(wider).format.mantissaBits + 1 : dtypeBits(wider);
        if (wanted <= bits && unit.matrixRates.contains(holder)) {
            return holder;
        }
    }
    return wider;
}

Result<OperationCost> operationCost(const ir::Program& program, const ir::Operation& operation,
                                    const chip::Chip& chip, std::int32_t agent)
{
    return CostModel(program, operation, chip, agent).run();
}

Result<SegmentCost> segmentCost(const ir::Program& program,
                                std::span<const ir::Operation* const> operations,
                                const chip::Chip& chip, std::int32_t agent)
{
    SegmentCost result;
    result.useful.assign(chip.units.size(), Flops(0));
    result.executed.assign(chip.units.size(), Flops(0));
    std::vector<OperationCost> costs;
    for (const ir::Operation* operation : operations) {
        Result<OperationCost> cost = operationCost(program, *operation, chip, agent);
        if (!cost) {
            return cost.error();
        }
        if (cost->flopsUnit >= 0) {
            result.useful[static_cast<std::size_t>(cost->flopsUnit)] += cost->useful;
            result.executed[static_cast<std::size_t>(cost->flopsUnit)] += cost->executed;
        }
        result.transcendentals += cost->transcendentals;
        costs.push_back(std::move(*cost));
    }
    place(program, operations, costs, result);
    result.clock = chip.agents[static_cast<std::size_t>(agent)].clock;
    constexpr double kLongest = 2e6; // below half of the longest run, 2^62 ps
    if (toSeconds(result.cycles, result.clock).value() > kLongest) {
        return limitError("One step's body takes longer than 23 days on " + chip.title
                          + "; smaller blocks or a faster clock are right.");
    }
    result.duration = toPicoseconds(result.cycles, result.clock);
    return result;
}

Bytes temporaries(const ir::Program& program, std::span<const ir::Operation* const> operations,
                  const chip::Chip& chip)
{
    std::map<ir::ValueId, std::size_t> lastUse;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        for (const ir::ValueId operand : operations[i]->operands) {
            lastUse[operand] = i;
        }
    }
    std::map<ir::ValueId, std::int64_t> alive; // bytes of computed values
    std::int64_t sum = 0, peak = 0;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const OpKind kind = ir::opEntry(operations[i]->code).kind;
        const bool computes = kind != OpKind::Memory && kind != OpKind::View
                              && kind != OpKind::Layout && kind != OpKind::Rearrange
                              && kind != OpKind::Crosslane;
        std::int64_t dying = 0;
        for (const ir::ValueId operand : operations[i]->operands) {
            if (const auto found = alive.find(operand);
                found != alive.end() && lastUse[operand] == i) {
                dying += found->second;
                alive.erase(found);
            }
        }
        std::int64_t born = 0;
        if (computes && !operations[i]->results.empty()) {
            const ir::Type& type = program.type(operations[i]->results[0]);
            born = type.shape.rank() == 0 ? 0 : type.shape.elements() * 4;
            alive[operations[i]->results[0]] = born;
        }
        // A reduction or dot needs its operands until it is done; others overwrite as they go.
        const bool inPlace = kind != OpKind::Dot && kind != OpKind::Reduction;
        peak = std::max(peak, sum + born - (inPlace ? std::min(dying, born) : 0));
        sum += born - dying;
    }
    return Bytes(std::max<std::int64_t>(0, peak - chip.registerBytes.value() * chip.registers));
}

} // namespace pallascope::cost
