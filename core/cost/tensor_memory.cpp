#include "core/cost/tensor_memory.h"

#include "core/cost/scope_sum.h"

#include <algorithm>
#include <bit>

namespace pallascope::cost {

namespace {

constexpr std::int64_t kRefGranule = 4, kScopeGranule = 8, kLeast = 32;

// Of one block: with several of a cluster, the first axis says whose part it is.
std::int64_t columnsOfScope(const ir::Program& program, const ir::Operation& scope)
{
    const auto* params = std::get_if<ir::ScopedParams>(&scope.params);
    ScopeSum<std::int64_t> columns(params);
    const std::vector<ir::ValueId>& refs = scope.regions[0].arguments;
    for (std::size_t i = 0; i < refs.size(); ++i) {
        const ir::Type& type = program.type(refs[i]);
        if (type.space == ir::MemorySpace::Tmem) {
            columns.add(i, alignTo(tensorColumns(type.dtype, type.shape) / sharingBlocks(params),
                                   kRefGranule));
        }
    }
    return alignTo(columns.total(), kScopeGranule);
}

std::int64_t columnsIn(const ir::Program& program, const ir::Region& region)
{
    std::int64_t most = 0;
    for (const ir::Operation& operation : region.operations) {
        for (const ir::Region& inner : operation.regions) {
            std::int64_t columns = columnsIn(program, inner);
            if (operation.code == ir::OpCode::RunScoped) {
                columns += columnsOfScope(program, operation);
            }
            most = std::max(most, columns);
        }
    }
    return most;
}

} // namespace

std::int64_t tensorColumns(DType dtype, const Shape& shape)
{
    const std::int64_t rows = shape.rank() < 2 ? 1 : shape[shape.rank() - 2];
    const std::int64_t elements = rows == 0 ? 0 : shape.elements() / rows;
    return ceilDiv(elements * dtypeBits(dtype), std::int64_t{32});
}

std::int64_t allocatedColumns(std::int64_t columns)
{
    return columns == 0 ? 0
                        : static_cast<std::int64_t>(
                            std::bit_ceil(static_cast<std::uint64_t>(std::max(columns, kLeast))));
}

std::int64_t blockColumns(const ir::Program& program, const ir::Region& region)
{
    return allocatedColumns(columnsIn(program, region));
}

} // namespace pallascope::cost
