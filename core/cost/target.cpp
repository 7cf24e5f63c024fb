#include "core/cost/target.h"

#include <optional>
#include <string>

namespace pallascope::cost {

namespace {

// Memory that only TPUs have, or semaphores, which their copies and cores signal.
bool isOfTpus(ir::MemorySpace space)
{
    switch (space) {
    case ir::MemorySpace::Vmem:
    case ir::MemorySpace::TileSpmem:
    case ir::MemorySpace::Spmem:
    case ir::MemorySpace::Semaphore:
    case ir::MemorySpace::DmaSemaphore:
    case ir::MemorySpace::BarrierSemaphore:
        return true;
    default:
        return false;
    }
}

bool isOfTpus(ir::OpCode code)
{
    switch (code) {
    case ir::OpCode::Pipeline:
    case ir::OpCode::DmaStart:
    case ir::OpCode::MatmulPushRhs:
    case ir::OpCode::MatmulAccLhs:
    case ir::OpCode::MatmulPop:
    case ir::OpCode::MatmulLhsFifo:
    case ir::OpCode::MatmulPopFifo:
        return true;
    default:
        return false;
    }
}

std::string said(const ir::Program& program, const std::string& what, ir::LocationId location)
{
    return what + (location.index < 0 ? "" : " at " + program.where(location));
}

// The first thing in a program that only TPUs have, or that every kernel for a GPU has and this one
// lacks.
std::optional<std::string> signOfTpus(const ir::Program& program)
{
    std::optional<std::string> sign;
    bool hasBlocks = false;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        hasBlocks = hasBlocks || operation.code == ir::OpCode::CoreMap;
        const auto note = [&](const std::string& what) {
            sign = sign ? sign : said(program, what, operation.location);
        };
        if (isOfTpus(operation.code)) {
            note("it has the operation " + std::string(ir::opName(operation.code)));
        }
        for (const ir::Region& region : operation.regions) {
            for (const ir::ValueId argument : region.arguments) {
                const ir::Type& type = program.type(argument);
                if (type.space && isOfTpus(*type.space)) {
                    note("it uses the memory " + std::string(ir::memorySpaceName(*type.space)));
                }
            }
        }
    });
    if (!sign && !hasBlocks) {
        return "it has no core_map, whose blocks the multiprocessors would run";
    }
    return sign;
}

} // namespace

Status checkTarget(const ir::Program& program, const chip::Chip& chip)
{
    if (!chip.multiprocessor) {
        return Done{};
    }
    const std::optional<std::string> sign = signOfTpus(program);
    if (!sign) {
        return Done{};
    }
    return userError(
        program.name + " is a kernel for TPUs, for " + *sign + "; " + chip.title
            + " is a GPU. Choose the chip of a TPU; `pallascope list chips` names all.",
        {{Subject::Chip, chip.name}});
}

} // namespace pallascope::cost
