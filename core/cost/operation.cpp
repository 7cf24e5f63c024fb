// What one operation demands of the units of a chip.
#include "core/base/check.h"
#include "core/cost/cost_model.h"
#include "core/cost/rounds.h"
#include "core/cost/tiling.h"

#include <algorithm>
#include <bit>
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

} // namespace

CostModel::CostModel(const ir::Program& program, const ir::Operation& operation,
                     const chip::Chip& chip, Runner runner, const Variation* variation)
    : m_program(program)
    , m_operation(operation)
    , m_chip(chip)
    , m_share(shareOf(operation, runner))
    , m_isInOrder(runner.issuesInOrder(chip))
    , m_runner(runner)
    , m_registers(program, chip, runner, variation)
{}

Status CostModel::demand(UnitKind kind, double instructions)
{
    const chip::Unit* unit = m_chip.unitOf(kind, m_runner.agent);
    if (unit == nullptr) {
        return error(std::string(ir::opName(m_operation.code)) + " needs a "
                     + std::string(unitKindName(kind)) + " unit, which " + m_chip.title
                     + " lacks.");
    }
    // An instruction takes a slot of the schedulers that issue it, whichever unit it is for.
    const chip::Unit* issue = m_chip.unitOf(UnitKind::Scalar, m_runner.agent);
    if (m_isInOrder && kind != UnitKind::Scalar && issue != nullptr) {
        if (Status status = demand(*issue, instructions * issue->cyclesPerRegister); !status) {
            return status;
        }
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

double CostModel::chained(UnitKind kind, double instructions) const
{
    const chip::Unit* unit = m_chip.unitOf(kind, m_runner.agent);
    return unit == nullptr ? 0 : instructions * static_cast<double>(unit->latency);
}

double CostModel::serial(std::string_view name) const
{
    const auto known = m_chip.serial.find(name);
    double cycles = 0;
    if (known != m_chip.serial.end()) {
        for (const chip::Instructions& part : known->second) {
            cycles += chained(part.kind, part.count);
        }
    }
    return cycles;
}

void CostModel::takesAtLeast(double cycles)
{
    if (m_isInOrder) {
        m_cost.chain =
            std::max(m_cost.chain, Cycles(static_cast<std::int64_t>(std::ceil(cycles * m_share))));
    }
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

const CostModel::Entry* CostModel::listed() const
{
    const auto named = [&](const std::string& name) {
        const auto found = m_chip.operations.find(name);
        return found == m_chip.operations.end() ? nullptr : &*found;
    };
    const std::string name(ir::opName(m_operation.code));
    const Entry* found = nullptr;
    if (!m_runner.compiler.empty()) {
        found = named(name + " by " + std::string(m_runner.compiler));
    }
    if (found == nullptr && m_operation.code == OpCode::ConvertElementType) {
        const std::string to = " to " + std::string(dtypeName(result().dtype));
        found = named(name + " from " + std::string(dtypeName(operand(0).dtype)) + to);
        found = found != nullptr ? found : named(name + to);
    }
    return found != nullptr ? found : named(name);
}

Status CostModel::instructions(UnitKind kind, std::int64_t registers)
{
    const auto work = static_cast<double>(registers * passes());
    const Entry* known = listed();
    if (known == nullptr || m_registers.areOwn()) {
        takesAtLeast(chained(kind, 1));
        return demand(kind, work);
    }
    double latency = 0;
    for (const chip::Instructions& part : known->second) {
        if (Status status = demand(part.kind, work * part.count); !status) {
            return status;
        }
        latency += part.count > 0 ? chained(part.kind, 1) : 0;
    }
    takesAtLeast(latency);
    takesAtLeast(work * serial(known->first) / static_cast<double>(m_runner.warpgroups()));
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

Status CostModel::vectorWork(UnitKind kind, ir::ValueId value, bool countsFlops)
{
    const Shape& shape = m_program.type(value).shape;
    if (shape.rank() == 0) {
        return demand(UnitKind::Scalar, 1);
    }
    const std::int64_t registers = m_registers.distinct(value, workDType());
    if (Status status = instructions(kind, registers); !status) {
        return status;
    }
    const chip::Unit* unit = m_chip.unitOf(kind, m_runner.agent); // FLOPs count for this one
    if (countsFlops && unit != nullptr) {
        m_cost.flopsUnit = static_cast<std::int32_t>(unit - m_chip.units.data());
        // Of registers that are equal, one is computed, and its elements count.
        const bool repeats = registers < m_registers.of(shape, workDType());
        const Shape counted = repeats ? m_registers.varying(value) : shape;
        m_cost.useful = Flops(counted.elements());
        m_cost.executed =
            Flops(padded(counted, tiling(DType::F32, counted, m_registers.tile())).elements());
    }
    return Done{};
}

Status CostModel::crosslane()
{
    std::int64_t count = 0;
    for (const ir::ValueId value : m_operation.results) {
        count += m_registers.of(m_program.type(value).shape);
    }
    return demand(UnitKind::Crosslane, static_cast<double>(count));
}

// In each round of a bitonic network every register is paired with another one, and the keys
// decide which elements of the two it takes.
Status CostModel::sort()
{
    const Shape& shape = result().shape;
    const auto axis = static_cast<std::size_t>(std::get<ir::SortParams>(m_operation.params).axis);
    const SortRounds rounds = sortRounds(shape, axis, m_registers.tile());
    const auto count =
        static_cast<std::int64_t>(m_operation.results.size()) * m_registers.of(shape);
    const Status met = demand(UnitKind::Crosslane, static_cast<double>(count * rounds.within));
    const auto chosen = static_cast<double>((m_registers.of(shape) + count) * rounds.all);
    return met ? demand(UnitKind::Vector, chosen) : met;
}

// Moves and selects registers of both shapes, in as many rounds as the reshape needs.
Status CostModel::reshape()
{
    const ir::ValueId from = m_operation.operands[0], to = m_operation.results[0];
    const int rounds = m_registers.areOwn()
                           ? 0
                           : reshapeRounds(operand(0).shape, result().shape, m_registers.tile());
    if (m_runner.isAround || rounds == 0) {
        return Done{};
    }
    const auto moved = static_cast<double>(std::max(m_registers.distinct(from, result().dtype),
                                                    m_registers.distinct(to, result().dtype))
                                           * rounds);
    const Status turned = demand(UnitKind::Crosslane, moved);
    return turned ? demand(UnitKind::Vector, moved) : turned;
}

Status CostModel::reduction()
{
    const Shape& input = operand(0).shape;
    if (Status status = vectorWork(UnitKind::Vector, m_operation.operands[0], true);
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
    const std::int64_t left = m_registers.of(Shape(kept));
    return m_isInOrder ? acrossThreads(left)
                       : demand(UnitKind::Crosslane, static_cast<double>(left));
}

// A reduction along the rows of a GPU's threads. Each thread has parts of a row and combines them
// one after the other. Then the threads of the row exchange what they have, in rounds that halve
// their number.
Status CostModel::acrossThreads(std::int64_t left)
{
    const auto rounds =
        static_cast<double>(std::countr_zero(static_cast<std::uint64_t>(kRowThreads)));
    const std::int64_t before = m_registers.distinct(m_operation.operands[0], workDType());
    takesAtLeast(chained(UnitKind::Vector, static_cast<double>(ceilDiv(before, left)) + rounds)
                 + chained(UnitKind::Crosslane, rounds));
    const Status exchanged = demand(UnitKind::Crosslane, static_cast<double>(left) * rounds);
    return exchanged ? instructions(UnitKind::Vector, left * static_cast<std::int64_t>(rounds))
                     : exchanged;
}

Result<OperationCost> CostModel::run()
{
    Status status = Done{};
    switch (ir::opEntry(m_operation.code).kind) {
    case OpKind::Elementwise:
    case OpKind::Comparison:
        status = vectorWork(UnitKind::Vector, m_operation.results[0], true);
        break;
    case OpKind::Convert:
    case OpKind::Select:
        status = vectorWork(UnitKind::Vector, m_operation.results[0], false);
        break;
    case OpKind::Transcendental:
        status = vectorWork(UnitKind::Transcendental, m_operation.results[0], false);
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
        if (!cutsAtRegisters(m_program, m_operation, m_registers.tile())) {
            status = crosslane();
        }
        break;
    case OpKind::Crosslane:
        if (m_operation.code == OpCode::Sort) {
            status = sort();
        } else if (m_operation.code != OpCode::Roll
                   || !cutsAtRegisters(m_program, m_operation, m_registers.tile())) {
            status = crosslane();
        }
        break;
    case OpKind::Generate:
        status = vectorWork(UnitKind::Vector, m_operation.results[0], false);
        break;
    case OpKind::Memory:
        status = memory();
        break;
    case OpKind::Dot:
        status = dot();
        break;
    case OpKind::Request: // uses one instance
        status = m_chip.multiprocessor ? tensorProduct()
                                       : matrixWork(1, operand(1).shape[0], operand(2).shape[1],
                                                    operand(2).shape[0], 1);
        break;
    case OpKind::Sync: // only the start of a copy, the last operation of its segment
        PALLASCOPE_CHECK(ir::startsCopy(m_operation.code));
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

Result<OperationCost> operationCost(const ir::Program& program, const ir::Operation& operation,
                                    const chip::Chip& chip, Runner runner,
                                    const Variation* variation)
{
    return CostModel(program, operation, chip, runner, variation).run();
}

} // namespace pallascope::cost
