// The rules for block specs, and the nearest legal block for each one that breaks a rule.
#include "core/cost/legality.h"

#include "core/cost/budget.h"
#include "core/ir/pipeline_facts.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>

namespace pallascope::cost {

namespace {

struct Tile
{
    Extent rows, lanes;
};

// A block spec with everything that the rules use.
struct Spec
{
    const ir::BlockSpec& spec;
    ir::Type array;
    ir::MemorySpace space;
    bool trivial = false; // the block is the whole array, and its index map is written as zeros
};

Spec specOf(const ir::Program& program, const ir::Operation& pipeline, std::size_t index)
{
    Spec spec{std::get<ir::PipelineParams>(pipeline.params).specs[index],
              program.type(pipeline.operands[index]),
              *program.type(pipeline.regions[0].arguments[index]).space};
    const auto& results = pipeline.regions[index + 1].results;
    spec.trivial = std::all_of(results.begin(), results.end(), [&](ir::ValueId result) {
        return program.value(result).literal == 0.0;
    });
    for (std::size_t axis = 0; axis < spec.spec.block.size(); ++axis) {
        spec.trivial = spec.trivial && spec.spec.block[axis].size == spec.array.shape[axis];
    }
    return spec;
}

std::string blockText(const std::vector<ir::BlockDim>& block)
{
    std::string text = "(";
    for (const ir::BlockDim& dim : block) {
        text += (&dim == block.data() ? "" : ", ")
                + (dim.kind == ir::BlockKind::Squeezed ? "None" : std::to_string(dim.size));
    }
    return text + (block.size() == 1 ? ",)" : ")");
}

// The candidate closest to `size`; of two, the smaller one.
Extent nearest(Extent size, std::vector<Extent> candidates)
{
    std::sort(candidates.begin(), candidates.end());
    return *std::min_element(candidates.begin(), candidates.end(), [size](Extent a, Extent b) {
        return std::abs(a - size) < std::abs(b - size);
    });
}

// The multiples of `unit` next to `size` within an axis of `extent` elements, and the whole axis.
std::vector<Extent> multiples(Extent size, Extent extent, Extent unit)
{
    std::vector<Extent> candidates{extent};
    for (const Extent multiple : {size / unit * unit, alignTo(size, unit)}) {
        if (multiple > 0 && multiple < extent) {
            candidates.push_back(multiple);
        }
    }
    return candidates;
}

// Checks the last two axes of a block that has at least two.
std::optional<std::string> checkTile(const Spec& spec, Tile tile)
{
    std::vector<ir::BlockDim> block = spec.spec.block;
    const std::size_t rank = block.size();
    bool legal = true;
    for (const auto& [axis, unit] :
         {std::pair(rank - 2, tile.rows), std::pair(rank - 1, tile.lanes)}) {
        ir::BlockDim& dim = block[axis];
        const Extent extent = spec.array.shape[axis];
        if (dim.size != extent && dim.size % unit != 0) {
            legal = false;
            dim = {ir::BlockKind::Blocked, nearest(dim.size, multiples(dim.size, extent, unit))};
        }
    }
    return legal ? std::nullopt
                 : std::optional("its last two axes must be multiples of "
                                 + std::to_string(tile.rows) + " and " + std::to_string(tile.lanes)
                                 + " (a squeezed one counts as 1), or whole axes of the array; "
                                   "the nearest legal block is "
                                 + blockText(block));
}

// Checks the only axis of a block.
std::optional<std::string> checkLine(const Spec& spec, Tile tile, ir::Schedule schedule)
{
    const Extent size = spec.spec.block[0].size, extent = spec.array.shape[0];
    const DType dtype = spec.array.dtype;
    const int bits =
        dtype == DType::Bool ? 32 : dtypeBits(dtype); // the compiler stores a bool in 32 bits
    const Extent least = tile.lanes * (32 / bits);
    const auto say = [&](const std::string& rule, const std::vector<Extent>& candidates) {
        return "the only axis must be the array's, or " + rule + "; the nearest legal block is "
               + blockText({{ir::BlockKind::Blocked, nearest(size, candidates)}});
    };
    if (schedule == ir::Schedule::Jax0_9) {
        return size == extent || size % least == 0
                   ? std::nullopt
                   : std::optional(say("a multiple of " + std::to_string(least),
                                       multiples(size, extent, least)));
    }
    const Extent chunk = tile.rows * tile.lanes;
    const auto power = std::bit_floor(static_cast<std::uint64_t>(size));
    const auto isPower = power == static_cast<std::uint64_t>(size);
    if (size == extent || size % chunk == 0 || (isPower && size >= least)) {
        return std::nullopt;
    }
    std::vector<Extent> candidates = multiples(size, extent, chunk);
    for (const Extent candidate :
         {least, static_cast<Extent>(power), 2 * static_cast<Extent>(power)}) {
        if (candidate >= least && candidate < extent) {
            candidates.push_back(candidate);
        }
    }
    return say("a multiple of " + std::to_string(chunk) + ", or a power of two from "
                   + std::to_string(least) + " on",
               candidates);
}

std::string wholeArray(const Spec& spec)
{
    std::vector<ir::BlockDim> block;
    for (std::size_t axis = 0; axis < spec.array.shape.rank(); ++axis) {
        block.push_back({ir::BlockKind::Blocked, spec.array.shape[axis]});
    }
    return "the legal block is " + blockText(block) + " with an index map of zeros";
}

// The rule that the spec breaks, or nothing.
std::optional<std::string> check(const Spec& spec, Tile tile, ir::Schedule schedule, bool grid)
{
    if (spec.space == ir::MemorySpace::Smem && spec.trivial) {
        return std::nullopt;
    }
    if (spec.array.shape.rank() == 0) {
        return "it needs one axis at least; an array of one element, or SMEM, is legal";
    }
    if ((spec.space == ir::MemorySpace::Any || spec.space == ir::MemorySpace::Hbm)
        && !spec.trivial) {
        return "in HBM it must be the whole array, always; " + wholeArray(spec);
    }
    std::optional<std::string> wrong =
        spec.array.shape.rank() == 1 ? checkLine(spec, tile, schedule) : checkTile(spec, tile);
    if (!wrong && !grid && !spec.trivial) {
        wrong = "without a grid it must be the whole array; " + wholeArray(spec);
    }
    return wrong;
}

} // namespace

std::vector<IllegalBlock> illegalBlocks(const ir::Program& program, const ir::Operation& pipeline,
                                        const chip::Chip& chip)
{
    const auto& params = std::get<ir::PipelineParams>(pipeline.params);
    const Result<std::int32_t> vector = memoryOf(ir::MemorySpace::Vmem, chip);
    if (params.origin != ir::PipelineOrigin::PallasCall || !vector
        || chip.memories[static_cast<std::size_t>(*vector)].tile.size() != 2) {
        return {};
    }
    const auto& native = chip.memories[static_cast<std::size_t>(*vector)].tile;
    const ir::Schedule schedule =
        ir::scheduleFromName(params.schedule).value_or(ir::Schedule::Jax0_12);
    std::vector<IllegalBlock> illegal;
    for (std::size_t i = 0; i < params.specs.size(); ++i) {
        const Spec spec = specOf(program, pipeline, i);
        if (const auto wrong =
                check(spec, {native[0], native[1]}, schedule, !params.grid.empty())) {
            illegal.push_back({i, "The TPU lowering refuses the block " + blockText(spec.spec.block)
                                      + " of " + spec.spec.name + ", "
                                      + toString(ir::Type{spec.array.dtype, spec.array.shape, {}})
                                      + ": " + *wrong + "."});
        }
    }
    return illegal;
}

} // namespace pallascope::cost
