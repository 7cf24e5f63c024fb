#include "core/cost/register_counts.h"

#include "core/cost/tiling.h"

#include <algorithm>
#include <optional>

namespace pallascope::cost {

using ir::OpCode;

bool RegisterCounts::areOwn() const
{
    return m_chip.agents[static_cast<std::size_t>(m_agent)].registerBytes.has_value();
}

const std::vector<std::int64_t>& RegisterCounts::tile() const
{
    static const std::vector<std::int64_t> kNone;
    return areOwn() ? kNone : nativeTile(m_chip);
}

std::int64_t RegisterCounts::of(const Shape& shape, DType dtype) const
{
    const chip::Unit* unit = m_chip.unitOf(UnitKind::Vector, m_agent);
    const bool isPacked =
        unit != nullptr
        && std::find(unit->packed.begin(), unit->packed.end(), dtype) != unit->packed.end();
    return filled(isPacked ? dtype : DType::F32, shape, copies(shape));
}

Shape RegisterCounts::varying(ir::ValueId value) const
{
    return m_variation == nullptr ? m_program.type(value).shape : m_variation->distinct(value);
}

std::int64_t RegisterCounts::distinct(ir::ValueId value, DType dtype) const
{
    return of(varying(value), dtype);
}

std::int64_t RegisterCounts::inMemory(const ir::Type& type) const
{
    return filled(type.dtype, type.shape, 1);
}

// Of a GPU's values, what belongs to a whole row is in all of its threads.
std::int64_t RegisterCounts::copies(const Shape& shape) const
{
    const bool isOfRows = shape.rank() == 1 || (shape.rank() > 1 && shape[shape.rank() - 1] == 1);
    return m_chip.multiprocessor && !m_isAround && isOfRows && shape.elements() <= kMostRows
               ? kRowThreads
               : 1;
}

std::int64_t RegisterCounts::filled(DType dtype, const Shape& shape, std::int64_t copies) const
{
    const Bytes bytes =
        (m_isAround ? compactBytes(dtype, shape, tile()) : paddedBytes(dtype, shape, tile()))
        * copies;
    const Bytes one = m_chip.agents[static_cast<std::size_t>(m_agent)].registerBytes.value_or(
        m_chip.registerBytes);
    return ceilDiv(bytes.value(), one.value());
}

namespace {

// The shift of a roll that is the same everywhere and known before the run.
std::optional<std::int64_t> knownShift(const ir::Program& program, const ir::Operation& roll)
{
    const std::optional<ir::Literal>& shift = program.value(roll.operands[1]).literal;
    const bool strided = std::get<ir::RollParams>(roll.params).strideAxis >= 0;
    return shift && !strided ? std::optional(static_cast<std::int64_t>(*shift)) : std::nullopt;
}

} // namespace

bool cutsAtRegisters(const ir::Program& program, const ir::Operation& operation,
                     const std::vector<std::int64_t>& tile)
{
    const auto operand = [&](std::size_t i) -> const ir::Type& {
        return program.type(operation.operands[i]);
    };
    const ir::Type& whole = operand(0);
    const std::vector<std::int64_t> tiles = tiling(DType::F32, whole.shape, tile);
    const auto aligned = [&](std::size_t axis, Extent start) {
        return axis >= tiles.size() || start % tiles[axis] == 0;
    };
    const auto& params = operation.params;
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
    } else if (const auto* roll = std::get_if<ir::RollParams>(&params)) {
        const auto axis = static_cast<std::size_t>(roll->axis);
        const std::optional<std::int64_t> shift = knownShift(program, operation);
        sound = shift && aligned(axis, *shift) && aligned(axis, whole.shape[axis]);
    } else { // here: concatenate, stack, unstack
        const auto axis = static_cast<std::size_t>(std::get<ir::AxisParams>(params).axis);
        if (operation.code != OpCode::Concatenate) {
            return axis + 2
                   < std::max(whole.shape.rank(), program.type(operation.results[0]).shape.rank());
        }
        for (std::size_t i = 0; i + 1 < operation.operands.size(); ++i) {
            sound = sound && aligned(axis, operand(i).shape[axis]);
        }
    }
    return sound;
}

} // namespace pallascope::cost
