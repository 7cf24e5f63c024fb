#include "core/kernel_file/verify_placed.h"

#include "core/ir/verify.h"

#include <fmt/format.h>
#include <string>
#include <vector>

namespace pallascope::kernel_file {

namespace {

// Numbers the operations. The location of each becomes its place in the file, together with the
// author's line, which `program` knows.
void number(ir::Region& region, const std::string& pointer, std::int32_t& next,
            std::vector<ir::Location>* places, const ir::Program& program)
{
    for (std::size_t i = 0; i < region.operations.size(); ++i) {
        ir::Operation& operation = region.operations[i];
        const std::string here =
            places == nullptr ? "" : fmt::format("{}/operations/{}", pointer, i);
        operation.id = next++;
        if (places != nullptr) {
            const bool known = operation.location.index >= 0;
            const std::string line = known ? " (" + program.where(operation.location) + ")" : "";
            operation.location.index = static_cast<std::int32_t>(places->size());
            places->push_back({here + line, 0, "", {}});
        }
        for (std::size_t inner = 0; inner < operation.regions.size(); ++inner) {
            number(operation.regions[inner], fmt::format("{}/regions/{}", here, inner), next,
                   places, program);
        }
    }
}

// The number of products of a dot_general that has passed the verifier.
double productsOf(const ir::Program& program, const ir::Operation& operation)
{
    const ir::Type& lhs = program.type(operation.operands[0]);
    double products = 1;
    for (const Extent extent : program.type(operation.results[0]).shape.extents()) {
        products *= static_cast<double>(extent);
    }
    for (const std::int32_t axis : std::get<ir::DotParams>(operation.params).lhsContracting) {
        products *= static_cast<double>(lhs.shape[static_cast<std::size_t>(axis)]);
    }
    return products;
}

} // namespace

void numberOperations(ir::Program& program)
{
    program.operationCount = 0;
    number(program.body, "", program.operationCount, nullptr, program);
}

Status verifyPlaced(const ir::Program& program)
{
    ir::Program placed = program;
    placed.locations.clear();
    std::int32_t next = 0;
    number(placed.body, "/body", next, &placed.locations, program);
    if (Status legal = ir::verify(placed); !legal) {
        return legal;
    }
    Status status = Done{};
    ir::forEachOperation(placed.body, [&](const ir::Operation& operation) {
        // 4096 cubed; no on-chip memory holds such operands.
        constexpr double kMostProducts = 68'719'476'736;
        if (status && operation.code == ir::OpCode::DotGeneral
            && productsOf(placed, operation) > kMostProducts) {
            status = userError(
                fmt::format("{}: dot_general takes {:.1e} products; expected at most 4096\u00b3",
                            placed.where(operation.location), productsOf(placed, operation)));
        }
    });
    return status;
}

} // namespace pallascope::kernel_file
