#include "core/ir/mesh.h"
#include "core/ir/verifier.h"
#include "core/ir/verify_pipeline.h"

#include <algorithm>

namespace pallascope::ir {

Status Verifier::branches(const Operation& operation) const
{
    if (operation.regions.size() < 2) {
        return error(operation, "cond needs two branches or more.");
    }
    for (const Region& branch : operation.regions) {
        if (Status status = sameTypes(operation, branch.results, operation.regions.front().results,
                                      "has branches that return different types");
            !status) {
            return status;
        }
    }
    return Done{};
}

Status Verifier::scan(const Operation& operation) const
{
    const bool sound = operation.regions.size() == 1 && !operation.regions[0].arguments.empty()
                       && std::holds_alternative<ScanParams>(operation.params)
                       && std::get<ScanParams>(operation.params).length >= 0
                       && std::get<ScanParams>(operation.params).unroll >= 1;
    if (!sound) {
        return error(operation, "scan needs a length, at least one round of it at once, and "
                                "one body with a counter.");
    }
    std::vector<ValueId> carried = operation.regions[0].arguments;
    if (m_program.type(carried.front()) != Type{DType::Int32, Shape{}, {}}) {
        return error(operation, "scan counts in an int32 scalar, not "
                                    + toString(m_program.type(carried.front())) + ".");
    }
    carried.erase(carried.begin());
    if (Status status = sameTypes(operation, carried, operation.operands,
                                  "carries other types than its body takes");
        !status) {
        return status;
    }
    return sameTypes(operation, operation.regions[0].results, operation.operands,
                     "carries other types than its body returns");
}

Status Verifier::whileLoop(const Operation& operation) const
{
    if (operation.regions.size() != 2 || operation.regions[0].results.size() != 1
        || m_program.type(operation.regions[0].results[0]) != Type{DType::Bool, Shape{}, {}}) {
        return error(operation, "while needs a condition that returns one bool, and a body.");
    }
    for (const Region& inner : operation.regions) {
        if (Status status = sameTypes(operation, inner.arguments, operation.operands,
                                      "carries other types than its regions take");
            !status) {
            return status;
        }
    }
    return sameTypes(operation, operation.regions[1].results, operation.operands,
                     "carries other types than its body returns");
}

// Only memory of a block may be in a union, and each member is of one of its groups.
Status Verifier::unions(const Operation& operation, const ScopedParams& params) const
{
    const std::vector<ValueId>& refs = operation.regions[0].arguments;
    if (params.unions.size() != params.groups.size()
        || (!params.unions.empty() && params.unions.size() != refs.size())) {
        return error(operation,
                     "run_scoped names the unions of " + std::to_string(params.unions.size())
                         + " refs and the groups of " + std::to_string(params.groups.size())
                         + "; expected those of all its refs, or none.");
    }
    for (std::size_t i = 0; i < params.unions.size(); ++i) {
        const bool isMember = params.unions[i] > 0;
        const bool sound = params.unions[i] >= 0 && params.groups[i] >= 0
                           && (!isMember || m_program.type(refs[i]).space == MemorySpace::Smem
                               || m_program.type(refs[i]).space == MemorySpace::Tmem);
        if (!sound) {
            return error(operation,
                         "run_scoped puts its ref " + std::to_string(i) + " into union "
                             + std::to_string(params.unions[i]) + ", group "
                             + std::to_string(params.groups[i])
                             + "; expected numbers from 0 on, and refs in smem or tmem.");
        }
    }
    return Done{};
}

Status Verifier::runScoped(const Operation& operation) const
{
    if (operation.regions.size() != 1
        || !std::all_of(operation.regions[0].arguments.begin(),
                        operation.regions[0].arguments.end(), [&](ValueId ref) {
                            const auto& space = m_program.type(ref).space;
                            return space && *space != MemorySpace::BarrierSemaphore;
                        })) {
        return error(operation, "run_scoped needs one body whose arguments are refs, none of "
                                "them a barrier semaphore.");
    }
    const auto* params = std::get_if<ScopedParams>(&operation.params);
    if (params == nullptr) {
        return error(operation, "run_scoped has the parameters of another operation.");
    }
    const std::vector<ValueId>& refs = operation.regions[0].arguments;
    for (std::size_t i = 0; i < std::max(refs.size(), params->arrivals.size()); ++i) {
        const std::int32_t arrivals = i < params->arrivals.size() ? params->arrivals[i] : 0;
        const bool isBarrier =
            i < refs.size() && m_program.type(refs[i]).space == MemorySpace::Barrier;
        if (isBarrier ? arrivals < 1 : arrivals != 0) {
            return error(operation, "run_scoped names " + std::to_string(arrivals)
                                        + " arrivals for its ref " + std::to_string(i)
                                        + "; expected at least 1 for barriers, and 0 for all "
                                          "others.");
        }
    }
    if (Status status = unions(operation, *params); !status) {
        return status;
    }
    if (params->blocks < 1 || (params->blocks > 1 && !params->collective)) {
        return error(operation, "run_scoped is of " + std::to_string(params->blocks)
                                    + " blocks of a cluster; expected 1 or, if it is collective, "
                                      "more.");
    }
    for (const ValueId ref : refs) {
        const Shape& shape = m_program.type(ref).shape;
        if (params->blocks > 1 && (shape.rank() == 0 || shape[0] != params->blocks)) {
            return error(operation, "run_scoped shares " + toString(m_program.type(ref))
                                        + " between " + std::to_string(params->blocks)
                                        + " blocks; expected a first axis of as many elements.");
        }
    }
    if (params->collective && m_coreAxis.empty()) {
        return error(operation, "run_scoped is collective outside of a core_map, where no agents "
                                "share a block.");
    }
    return Done{};
}

// Each region is what one of the four warps of a warpgroup does.
Status Verifier::warpMap(const Operation& operation) const
{
    constexpr std::int32_t kWarps = 4;
    const auto* params = std::get_if<WarpMapParams>(&operation.params);
    const bool sound =
        params != nullptr && params->warps.size() == operation.regions.size()
        && !params->warps.empty() && params->warps.front() >= 0 && params->warps.back() < kWarps
        && std::is_sorted(params->warps.begin(), params->warps.end(), std::less_equal<>())
        && std::all_of(operation.regions.begin(), operation.regions.end(), [](const Region& one) {
               return one.arguments.empty() && one.results.empty();
           });
    if (!sound || m_coreAxis.empty()) {
        return error(operation, "warp_map needs, in a core_map, a body without arguments and "
                                "results for each of its warps, which are numbered from 0 to 3 "
                                "and named in that order.");
    }
    return Done{};
}

Status Verifier::control(const Operation& operation, std::size_t gridRank)
{
    if (operation.code == OpCode::Pipeline) {
        return pipeline(operation);
    }
    if (operation.code == OpCode::CoreMap) {
        return coreMap(operation);
    }
    if (operation.code == OpCode::Kernel || operation.code == OpCode::Fusion) {
        return whole(operation);
    }
    for (const Region& inner : operation.regions) {
        if (Status status = region(inner, gridRank); !status) {
            return status;
        }
    }
    if (operation.code == OpCode::Cond) {
        return branches(operation);
    }
    if (operation.code == OpCode::Scan) {
        return scan(operation);
    }
    if (operation.code == OpCode::While) {
        return whileLoop(operation);
    }
    if (operation.code == OpCode::WarpMap) {
        return warpMap(operation);
    }
    return operation.code == OpCode::RunScoped ? runScoped(operation) : Status(Done{});
}

Status Verifier::pipeline(const Operation& operation)
{
    const auto* params = std::get_if<PipelineParams>(&operation.params);
    const auto dynamic = params == nullptr
                             ? 0
                             : std::count(params->grid.begin(), params->grid.end(), kDynamicExtent);
    if (params == nullptr || operation.regions.size() != params->specs.size() + 1
        || operation.operands.size() != params->specs.size() + static_cast<std::size_t>(dynamic)
        || operation.regions[0].arguments.size()
               != params->specs.size() + params->scratchNames.size()) {
        return error(operation,
                     "pipeline needs one operand, one block ref and one index map per block spec, "
                     "and one operand per dynamic grid axis.");
    }
    if (Status status = checkPipeline(m_program, operation); !status) {
        return error(operation, status.error().message);
    }
    for (std::size_t operand = 0; operand < params->specs.size(); ++operand) {
        if (Status status = checkIndexMap(m_program, operation, operand); !status) {
            return status;
        }
        if (Status status = region(operation.regions[operand + 1], 0); !status) {
            return status;
        }
    }
    if (!params->coreAxis.empty() && params->coreAxis != m_coreAxis) {
        return error(operation, "a pipeline shares its grid over \"" + params->coreAxis
                                    + "\", an axis that no core_map around it has.");
    }
    for (const std::string& name : params->blockAxes) {
        if (!axisNamed(m_blockAxes, name)) {
            return error(operation, "a pipeline shares its grid over \"" + name
                                        + "\", an axis that no grid of a core_map around it has.");
        }
    }
    ++m_pipelines;
    Status status = region(operation.regions[0], params->grid.size());
    --m_pipelines;
    return status;
}

Status Verifier::coreMap(const Operation& operation)
{
    constexpr std::int32_t kMostCores = 256, kWarp = 32, kMostThreads = 1024;
    constexpr std::int64_t kMostBlocks = 1 << 20;
    const auto* mesh = std::get_if<CoreMapParams>(&operation.params);
    if (mesh == nullptr || operation.regions.size() != 1 || mesh->axis.empty() || mesh->cores < 1
        || mesh->cores > kMostCores || !operation.regions[0].arguments.empty()
        || !operation.regions[0].results.empty()) {
        return error(operation, "core_map needs an axis, 1 to 256 cores and one body without "
                                "arguments and results.");
    }
    if (mesh->threads < kWarp || mesh->threads > kMostThreads || mesh->threads % kWarp != 0) {
        return error(operation, "core_map has agents of " + std::to_string(mesh->threads)
                                    + " threads; expected a multiple of 32 up to 1024.");
    }
    if (!mesh->compiler.empty() && mesh->compiler != kTriton) {
        return error(operation, "core_map names the compiler \"" + mesh->compiler
                                    + "\"; expected \"triton\", or none for any other.");
    }
    if (!m_coreAxis.empty() || m_pipelines > 0) {
        return error(operation, "a core_map inside another one or inside a pipeline has no cores "
                                "left to run on.");
    }
    std::vector<MeshAxis> axes = mesh->grid;
    axes.insert(axes.end(), mesh->cluster.begin(), mesh->cluster.end());
    axes.push_back({mesh->axis, mesh->cores});
    std::set<std::string> names;
    std::int64_t blocks = 1;
    for (const MeshAxis& axis : axes) {
        if (axisNamed(m_program.mesh, axis.name) || !names.insert(axis.name).second) {
            return error(operation, "core_map names an axis \"" + axis.name
                                        + "\", as the mesh of devices or another of its own axes "
                                          "does; use another name.");
        }
        blocks *= &axis == &axes.back() ? 1 : axis.size;
        if (axis.name.empty() || axis.size < 1 || blocks > kMostBlocks) {
            return error(operation, "core_map has a grid with the axis \"" + axis.name + "\" of "
                                        + std::to_string(axis.size)
                                        + "; expected a name, a size of at least 1 and at most "
                                        + std::to_string(kMostBlocks) + " blocks together.");
        }
    }
    m_coreAxis = mesh->axis;
    m_blockAxes = mesh->grid;
    m_blockAxes.insert(m_blockAxes.end(), mesh->cluster.begin(), mesh->cluster.end());
    m_directAccess = mesh->directAccess;
    Status status = region(operation.regions[0], 0);
    m_coreAxis.clear();
    m_blockAxes.clear();
    m_directAccess = false;
    return status;
}

// Checks a Kernel or a Fusion (what XLA makes of the operations around kernels). Each runs as one
// piece on the device.
Status Verifier::whole(const Operation& operation)
{
    const std::string name(opName(operation.code));
    const bool isFusion = operation.code == OpCode::Fusion;
    if (operation.regions.size() != 1 || !operation.regions[0].arguments.empty()
        || (!isFusion && !operation.regions[0].results.empty())) {
        return error(operation, name + " needs one body without arguments"
                                    + (isFusion ? "." : " and results."));
    }
    if (m_whole != OpCode::RunScoped || !m_coreAxis.empty() || m_pipelines > 0) {
        return error(operation, name
                                    + " stands inside a kernel, a fusion, a core_map or a "
                                      "pipeline; put it around them.");
    }
    m_whole = operation.code;
    Status status = region(operation.regions[0], 0);
    m_whole = OpCode::RunScoped;
    return status;
}

} // namespace pallascope::ir
