#include "core/cost/target.h"

#include "core/ir/cp_async.h"
#include "core/ir/mesh.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::cost {

namespace {

// Memory that only TPUs have, or semaphores that their copies and barriers signal.
bool isOfTpus(ir::MemorySpace space)
{
    switch (space) {
    case ir::MemorySpace::Vmem:
    case ir::MemorySpace::TileSpmem:
    case ir::MemorySpace::Spmem:
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

// Memory that only GPUs have.
bool isOfGpus(ir::MemorySpace space)
{
    return space == ir::MemorySpace::Barrier || space == ir::MemorySpace::Tmem;
}

// Which compute capabilities have an operation.
struct Generations
{
    std::int64_t first = 0, last = 0; // major numbers
};

constexpr std::int64_t kNewest = std::numeric_limits<std::int64_t>::max();

// Of an operation that only GPUs have; nullopt for any other. CUDA PTX ISA: cp.async from sm_80 on,
// cp.async.bulk.tensor and setmaxnreg from sm_90 on, wgmma on sm_90a only, tcgen05 and
// clusterlaunchcontrol from sm_100 on.
std::optional<Generations> generationsOf(const ir::Operation& operation)
{
    switch (operation.code) {
    case ir::OpCode::BarrierArrive:
    case ir::OpCode::BarrierWait:
    case ir::OpCode::BarrierTest:
    case ir::OpCode::WarpMap:
        return Generations{0, kNewest};
    case ir::OpCode::CopyGmemToSmem: // with a barrier also in the loops that Triton makes
        return Generations{8, ir::isCpAsync(operation) ? 8 : kNewest};
    case ir::OpCode::CommitSmem:
        return Generations{8, kNewest};
    case ir::OpCode::WaitGmemToSmem:
        return Generations{8, 8};
    case ir::OpCode::CopySmemToGmem:
    case ir::OpCode::CommitGroup:
    case ir::OpCode::WaitSmemToGmem:
    case ir::OpCode::SetMaxRegisters:
        return Generations{9, kNewest};
    case ir::OpCode::Wgmma:
    case ir::OpCode::WgmmaWait:
    case ir::OpCode::WgmmaAccumulatorDeref:
    case ir::OpCode::WgmmaAccumulatorStore:
        return Generations{9, 9};
    case ir::OpCode::Tcgen05Mma:
    case ir::OpCode::Tcgen05CommitArrive:
    case ir::OpCode::AsyncCopySmemToTmem:
    case ir::OpCode::WaitLoadTmem:
    case ir::OpCode::CommitTmem:
    case ir::OpCode::TryClusterCancel:
        return Generations{10, kNewest};
    default:
        return std::nullopt;
    }
}

Status checkClusters(const ir::Program& program, const chip::Chip& chip)
{
    const std::int64_t most = chip.multiprocessor->clusterBlocksMost.value_or(1);
    Status status = Done{};
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        const auto* mesh = std::get_if<ir::CoreMapParams>(&operation.params);
        if (!status || mesh == nullptr || ir::sizeOf(mesh->cluster) <= most) {
            return;
        }
        status =
            userError(program.name + " has clusters of " + std::to_string(ir::sizeOf(mesh->cluster))
                          + " blocks; " + chip.title
                          + (most == 1 ? " has no clusters."
                                       : " takes " + std::to_string(most) + " at most."),
                      {{Subject::Chip, chip.name}});
    });
    return status;
}

std::string said(const ir::Program& program, const std::string& what, ir::LocationId location)
{
    return what + (location.index < 0 ? "" : " at " + program.where(location));
}

// What runs on the cores of a device: the kernels, but not what XLA does between them. A program
// that names neither is itself one kernel.
std::vector<const ir::Region*> kernelsOf(const ir::Program& program)
{
    std::vector<const ir::Region*> kernels;
    bool hasFusions = false;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        hasFusions = hasFusions || operation.code == ir::OpCode::Fusion;
        if (operation.code == ir::OpCode::Kernel) {
            kernels.push_back(&operation.regions[0]);
        }
    });
    if (kernels.empty() && !hasFusions) {
        kernels.push_back(&program.body);
    }
    return kernels;
}

// The first operation or memory of the kernels for which one of these is true, in words.
template<class OfCode, class OfSpace>
std::optional<std::string> firstSign(const ir::Program& program,
                                     const std::vector<const ir::Region*>& kernels,
                                     const OfCode& ofCode, const OfSpace& ofSpace)
{
    std::optional<std::string> sign;
    const auto visit = [&](const ir::Operation& operation) {
        const auto note = [&](const std::string& what) {
            sign = sign ? sign : said(program, what, operation.location);
        };
        if (ofCode(operation)) {
            note("it has the operation " + std::string(ir::opName(operation.code)));
        }
        for (const ir::Region& region : operation.regions) {
            for (const ir::ValueId argument : region.arguments) {
                const ir::Type& type = program.type(argument);
                if (type.space && ofSpace(*type.space)) {
                    const std::string name(ir::memorySpaceName(*type.space));
                    note(ir::isSemaphore(*type.space) ? "it allocates a " + name
                                                      : "it uses the memory " + name);
                }
            }
        }
    };
    for (const ir::Region* kernel : kernels) {
        ir::forEachOperation(*kernel, visit);
    }
    return sign;
}

// The first thing in a program that only TPUs have, or that every kernel for a GPU has and this one
// lacks.
std::optional<std::string> signOfTpus(const ir::Program& program)
{
    const std::vector<const ir::Region*> kernels = kernelsOf(program);
    bool hasBlocks = kernels.empty();
    std::optional<std::string> sign = firstSign(
        program, kernels,
        [&](const ir::Operation& operation) {
            hasBlocks = hasBlocks || operation.code == ir::OpCode::CoreMap;
            return isOfTpus(operation.code);
        },
        [](ir::MemorySpace space) { return isOfTpus(space); });
    if (!sign && !hasBlocks) {
        return "it has no core_map, whose blocks the multiprocessors would run";
    }
    return sign;
}

// The first thing in a program that only GPUs have.
std::optional<std::string> signOfGpus(const ir::Program& program)
{
    const ir::Operation* direct = nullptr;
    const std::optional<std::string> sign = firstSign(
        program, kernelsOf(program),
        [&](const ir::Operation& operation) {
            const auto* blocks = std::get_if<ir::CoreMapParams>(&operation.params);
            direct = blocks != nullptr && blocks->directAccess ? &operation : direct;
            return generationsOf(operation).has_value();
        },
        [](ir::MemorySpace space) { return isOfGpus(space); });
    if (!sign && direct != nullptr) {
        return said(program, "its blocks access HBM directly, by the core_map", direct->location);
    }
    return sign;
}

Status refuse(const ir::Program& program, const std::string& kind, const std::string& sign,
              const chip::Chip& chip, const std::string& other)
{
    return userError(program.name + " is a kernel for " + kind + "s, for " + sign + "; "
                         + chip.title + " is a " + other + ". Choose the chip of a " + kind
                         + "; `pallascope list chips` names all.",
                     {{Subject::Chip, chip.name}});
}

// Refuses what GPUs of another generation than this one have.
Status checkGeneration(const ir::Program& program, const chip::Chip& chip)
{
    Status status = Done{};
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        const std::optional<Generations> needed = generationsOf(operation);
        const std::int64_t major = chip.multiprocessor->computeMajor;
        if (!status || !needed || (major >= needed->first && major <= needed->last)) {
            return;
        }
        status = userError(
            program.name + " has the operation "
                + said(program, std::string(ir::opName(operation.code)), operation.location)
                + ", which GPUs of compute capability " + std::to_string(needed->first)
                + (needed->last == needed->first ? ".x" : ".0 and above") + " have; " + chip.title
                + " has " + std::to_string(major) + "."
                + std::to_string(chip.multiprocessor->computeMinor)
                + ". Choose another GPU; `pallascope list chips` names all.",
            {{Subject::Chip, chip.name}});
    });
    return status;
}

} // namespace

Status checkTarget(const ir::Program& program, const chip::Chip& chip)
{
    if (!chip.multiprocessor) {
        const std::optional<std::string> sign = signOfGpus(program);
        return sign ? refuse(program, "GPU", *sign, chip, "TPU") : Status(Done{});
    }
    if (const std::optional<std::string> sign = signOfTpus(program)) {
        return refuse(program, "TPU", *sign, chip, "GPU");
    }
    if (Status status = checkGeneration(program, chip); !status) {
        return status;
    }
    return checkClusters(program, chip);
}

} // namespace pallascope::cost
