#include "core/machine/prepare/streams.h"

#include "core/cost/tiling.h"
#include "core/ir/infer.h"
#include "core/machine/prepare/kept_arrays.h"

#include <algorithm>
#include <cmath>

namespace pallascope::machine {

using ir::OpCode;

namespace {

// Whether an operation reads no more of its first operand than it returns, except to fill whole
// tiles.
bool takesAPart(const ir::Program& program, const ir::Operation& operation)
{
    if (const auto* gather = std::get_if<ir::GatherParams>(&operation.params)) {
        const auto rank =
            static_cast<std::int32_t>(program.type(operation.operands[0]).shape.rank());
        return operation.code == OpCode::Gather && gather->axis + 1 < rank;
    }
    return operation.code == OpCode::Slice || operation.code == OpCode::DynamicSlice;
}

// The elements of the whole tiles that such an operation reads. A start that is not known before
// the run is taken to be that of a tile, and rows that a gather takes to be in a tile each.
std::int64_t elementsRead(const ir::Program& program, const ir::Operation& operation,
                          const std::vector<Extent>& tile)
{
    Shape read = program.type(operation.results[0]).shape;
    if (const auto* gather = std::get_if<ir::GatherParams>(&operation.params)) {
        const auto axis = static_cast<std::size_t>(gather->axis);
        read[axis] *= tile[axis];
    }
    if (const auto* slice = std::get_if<ir::SliceParams>(&operation.params)) {
        for (std::size_t axis = 0; axis < read.rank(); ++axis) {
            read[axis] = slice->limit[axis] - slice->start[axis] / tile[axis] * tile[axis];
        }
    }
    return cost::padded(read, tile).elements();
}

} // namespace

std::vector<bool> arraysOfFusions(const ir::Program& program)
{
    std::vector<bool> all(program.values.size(), false);
    const auto mark = [&](ir::ValueId id, bool free) {
        all[static_cast<std::size_t>(id.index)] = free;
    };
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code != OpCode::RunScoped) {
            return;
        }
        for (const ir::ValueId array : operation.regions[0].arguments) {
            const ir::Type& type = program.type(array);
            mark(array, type.isRef() && ir::isFar(*type.space));
        }
    });
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code != OpCode::Get && operation.code != OpCode::Swap) {
            for (const ir::ValueId used : operation.operands) {
                mark(used, false);
            }
        }
    });
    return all;
}

Bytes bytesInHbm(const ir::Type& type, bool isOfFusions, const std::vector<std::int64_t>& tile)
{
    return isOfFusions ? cost::compactBytes(type.dtype, type.shape, tile)
                       : cost::paddedBytes(type.dtype, type.shape, tile);
}

Streams::Streams(const ir::Program& program, const chip::Chip& chip,
                 const std::vector<std::int32_t>& uses)
    : m_program(program)
    , m_tile(cost::nativeTile(chip))
    , m_makers(program)
    , m_free(arraysOfFusions(program))
    , m_uses(uses)
{
    m_kept = keptArrays(program, chip, m_free);
}

// Whether it loads or stores an array in HBM.
bool Streams::isCopied(const ir::Operation& operation) const
{
    return ir::opEntry(operation.code).kind == ir::OpKind::Memory
           && ir::isFar(*m_program.type(operation.operands[0]).space)
           && !m_kept[static_cast<std::size_t>(operation.operands[0].index)];
}

bool Streams::copies(const ir::Region& region) const
{
    bool found = false;
    forEachOperation(region,
                     [&](const ir::Operation& operation) { found = found || isCopied(operation); });
    return found;
}

// The bytes that a ref takes in HBM. Views of the whole array show the order of axes in which it
// lies: it has the bytes of the one that pads it least, and a window of a view has its share.
double Streams::leastBytes(ir::ValueId ref) const
{
    const double own = paddedBytes(ref);
    const ir::Operation* const view = m_makers.viewOf(ref);
    if (view == nullptr) {
        return own;
    }
    const ir::ValueId of = view->operands[0];
    switch (view->code) {
    case OpCode::RefReshape:
    case OpCode::RefTranspose:
        return std::min(own, leastBytes(of));
    case OpCode::RefAt:
        return own * leastBytes(of) / paddedBytes(of);
    default:
        return own;
    }
}

double Streams::paddedBytes(ir::ValueId ref) const
{
    const ir::Type& type = m_program.type(ref);
    return static_cast<double>(cost::paddedBytes(type.dtype, type.shape, m_tile).value());
}

// The bytes of what is loaded from an array or stored to it.
Bytes Streams::bytesOf(const ir::Type& type, ir::ValueId array) const
{
    const Bytes bytes = bytesInHbm(type, m_free[static_cast<std::size_t>(array.index)], m_tile);
    const double share = bytes > Bytes() ? leastBytes(array) / paddedBytes(array) : 1;
    return Bytes(std::llround(static_cast<double>(bytes.value()) * share));
}

std::vector<Extent> Streams::tileOf(ir::ValueId value) const
{
    const ir::Type& type = m_program.type(value);
    return cost::tiling(type.dtype, type.shape, m_tile);
}

std::vector<PlanStream> Streams::of(std::span<const ir::Operation* const> stretch,
                                    const std::map<std::int32_t, double>& parts) const
{
    std::vector<PlanStream> streams;
    for (const ir::Operation* operation : stretch) {
        if (!isCopied(*operation)) {
            continue;
        }
        const bool out = ir::storesInto(operation->code);
        const ir::ValueId moved = out ? operation->operands[1] : operation->results[0];
        const Bytes whole = bytesOf(m_program.type(moved), operation->operands[0]);
        const auto part = parts.find(operation->id);
        const double share = part == parts.end() ? 1 : part->second;
        streams.push_back(
            {operation,
             Bytes(static_cast<std::int64_t>(static_cast<double>(whole.value()) * share)), out});
    }
    return streams;
}

std::map<std::int32_t, double> Streams::shares(std::span<const ir::Operation* const> stretch) const
{
    struct Use
    {
        std::int32_t load = 0, parts = 0;
        std::int64_t elements = 0;
    };

    std::map<ir::ValueId, Use> uses; // of what is loaded
    for (const ir::Operation* operation : stretch) {
        for (std::size_t i = 0; i < operation->operands.size(); ++i) {
            const auto use = uses.find(operation->operands[i]);
            if (use == uses.end()) {
                continue;
            }
            if (i == 0 && takesAPart(m_program, *operation)) {
                ++use->second.parts;
                use->second.elements +=
                    elementsRead(m_program, *operation, tileOf(operation->operands[0]));
            }
        }
        if (operation->code == OpCode::Get) {
            uses[operation->results[0]] = {.load = operation->id};
        }
    }
    std::map<std::int32_t, double> shares;
    for (const auto& [value, use] : uses) {
        const auto all = static_cast<double>(
            cost::padded(m_program.type(value).shape, tileOf(value)).elements());
        if (use.parts == m_uses[static_cast<std::size_t>(value.index)] && use.parts > 0
            && static_cast<double>(use.elements) < all) {
            shares[use.load] = static_cast<double>(use.elements) / all;
        }
    }
    return shares;
}

} // namespace pallascope::machine
