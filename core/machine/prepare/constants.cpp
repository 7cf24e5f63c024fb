#include "core/machine/prepare/constants.h"

#include "core/machine/ops/evaluate.h"
#include "core/machine/values/nonfinite.h"

#include <algorithm>

namespace pallascope::machine {

namespace {

// Larger arrays are computed when a run needs them: a program may have many of them, but few at any
// one time.
constexpr std::int64_t kMostElements = 4096, kMostInAll = 1 << 18;

} // namespace

Constants::Constants(const ir::Program& program, const NeededSet& needed, const Slots& slots)
    : m_slots(slots)
    , m_values(slots.valueCount())
    , m_known(program.values.size(), false)
{
    for (std::size_t i = 0; i < program.values.size(); ++i) {
        const ir::Value& value = program.values[i];
        if (const ir::ValueId id{static_cast<std::int32_t>(i)};
            value.literal && !slots.isIdle(id)) {
            m_values[slots.of(id)] = RuntimeValue::scalarOf(value.type.dtype, *value.literal);
            m_known[i] = true;
        }
    }
    fold(program, program.body, nullptr, needed);
}

void Constants::fold(const ir::Program& program, const ir::Region& region,
                     const ir::PipelineParams* grid, const NeededSet& needed)
{
    for (const ir::Operation& operation : region.operations) {
        if (needed.needs(operation) && isPure(operation.code)) {
            fold(program, operation);
        } else if (needed.needs(operation) && grid != nullptr) {
            foldPlace(operation, *grid);
        }
        const auto* own = std::get_if<ir::PipelineParams>(&operation.params);
        for (const ir::Region& inner : operation.regions) {
            fold(program, inner, own != nullptr ? own : grid, needed);
        }
    }
}

// Cores that share a grid may each have a part of an axis, but not of an axis of one step.
void Constants::foldPlace(const ir::Operation& operation, const ir::PipelineParams& grid)
{
    if (operation.code != ir::OpCode::ProgramId && operation.code != ir::OpCode::NumPrograms) {
        return;
    }
    const auto axis = static_cast<std::size_t>(std::get<ir::AxisParams>(operation.params).axis);
    if (grid.grid[axis] != 1) {
        return;
    }
    const ir::ValueId id = operation.results[0];
    const double place = operation.code == ir::OpCode::ProgramId ? 0 : 1;
    m_values[m_slots.of(id)] = RuntimeValue::scalarOf(DType::Int32, place);
    m_known[static_cast<std::size_t>(id.index)] = true;
}

void Constants::fold(const ir::Program& program, const ir::Operation& operation)
{
    const auto elements = [&](ir::ValueId id) { return program.type(id).shape.elements(); };
    const auto isLarge = [&](ir::ValueId id) { return elements(id) > kMostElements; };
    const auto isKnown = [&](ir::ValueId id) { return has(id); };
    if (!std::all_of(operation.operands.begin(), operation.operands.end(), isKnown)
        || std::any_of(operation.results.begin(), operation.results.end(), isLarge)) {
        return;
    }
    NonFinite before;
    std::vector<RuntimeValue*> operands;
    for (const ir::ValueId id : operation.operands) {
        operands.push_back(&m_values[m_slots.of(id)]);
        const NonFinite in = nonFiniteIn(*operands.back());
        before = {before.nan || in.nan, before.inf || in.inf};
    }
    std::vector<RuntimeValue> results;
    std::int64_t made = m_elements;
    for (std::size_t i = 0; i < operation.results.size(); ++i) {
        const NonFinite after =
            nonFiniteIn(results.emplace_back(evaluate(operation, operands, 0, i)));
        if ((after.nan && !before.nan) || (after.inf && !before.inf)) {
            return; // a run that looks for the origin of NaN and Inf must evaluate this operation
        }
        // Scalars are always kept: which branches are known must not depend on what else is folded.
        made += program.type(operation.results[i]).shape.rank() == 0
                    ? 0
                    : elements(operation.results[i]);
    }
    if (made > kMostInAll) {
        return;
    }
    m_elements = made;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const ir::ValueId id = operation.results[i];
        m_values[m_slots.of(id)] = std::move(results[i]);
        m_known[static_cast<std::size_t>(id.index)] = true;
    }
}

} // namespace pallascope::machine
