#include "core/ir/verify.h"

#include "core/ir/infer.h"
#include "core/ir/mesh.h"
#include "core/ir/pipeline_facts.h"
#include "core/ir/verify_pipeline.h"

#include <algorithm>
#include <set>

namespace pallascope::ir {

namespace {

class Verifier
{
public:
    explicit Verifier(const Program& program)
        : m_program(program)
    {}

    [[nodiscard]] Status run()
    {
        if (Status status = mesh(); !status) {
            return status;
        }
        if (Status status = arguments(); !status) {
            return status;
        }
        return region(m_program.body, 0);
    }

private:
    [[nodiscard]] Status region(const Region& region, std::size_t gridRank);
    [[nodiscard]] Status operation(const Operation& operation, std::size_t gridRank);
    [[nodiscard]] Status control(const Operation& operation, std::size_t gridRank);
    [[nodiscard]] Status pipeline(const Operation& operation);
    [[nodiscard]] Status coreMap(const Operation& operation);
    [[nodiscard]] Status whole(const Operation& operation);
    [[nodiscard]] Status near(const Operation& operation) const;
    [[nodiscard]] Status indexMap(const Operation& operation, std::size_t operand,
                                  const PipelineParams& params);
    [[nodiscard]] Status mesh() const;
    [[nodiscard]] Status partition(const Argument& argument) const;
    [[nodiscard]] Status arguments() const;
    [[nodiscard]] Status place(const Operation& operation, std::size_t gridRank);
    [[nodiscard]] Status ragged(const Operation& operation);
    [[nodiscard]] Status sameTypes(const Operation& operation, const std::vector<ValueId>& a,
                                   const std::vector<ValueId>& b, const std::string& what) const;

    [[nodiscard]] Error error(const Operation& operation, const std::string& sentence) const
    {
        return userError(m_program.where(operation.location) + ": " + sentence);
    }

    const Program& m_program;
    std::set<ValueId> m_defined;
    std::set<ValueId> m_ragged;         // refs of dynamic extents
    std::string m_coreAxis;             // of the core_map around
    std::vector<MeshAxis> m_blockAxes;  // of the core_map around
    int m_pipelines = 0;                // around
    OpCode m_whole = OpCode::RunScoped; // Kernel or Fusion where one is around
};

Status Verifier::region(const Region& region, std::size_t gridRank)
{
    const std::set<ValueId> outside = m_defined; // what a region defines ends with it
    m_defined.insert(region.arguments.begin(), region.arguments.end());
    for (const Operation& op : region.operations) {
        if (Status status = operation(op, gridRank); !status) {
            return status;
        }
    }
    for (const ValueId result : region.results) {
        if (!m_program.value(result).literal && !m_defined.contains(result)) {
            return userError("A region of " + m_program.name
                             + " returns a value that it does not define.");
        }
    }
    m_defined = outside;
    return Done{};
}

Status Verifier::operation(const Operation& operation, std::size_t gridRank)
{
    for (const ValueId operand : operation.operands) {
        const bool exists =
            operand.index >= 0 && static_cast<std::size_t>(operand.index) < m_program.values.size();
        if (!exists || (!m_program.value(operand).literal && !m_defined.contains(operand))) {
            return error(operation, std::string(opName(operation.code))
                                        + " uses a value before it is defined.");
        }
    }
    if (Status status = place(operation, gridRank); !status) {
        return status;
    }
    if (Status status = ragged(operation); !status) {
        return status;
    }
    if (Status status = near(operation); !status) {
        return status;
    }
    if (opEntry(operation.code).kind == OpKind::Control) {
        if (Status status = control(operation, gridRank); !status) {
            return status;
        }
    } else if (!operation.regions.empty()) {
        return error(operation, std::string(opName(operation.code))
                                    + " has operations within it; it takes none.");
    }
    const Result<std::vector<Type>> types = inferTypes(m_program, operation);
    if (!types) {
        return error(operation, types.error().message);
    }
    if (types->size() != operation.results.size()) {
        return error(operation, std::string(opName(operation.code))
                                    + " has another number of results than it should.");
    }
    for (std::size_t i = 0; i < types->size(); ++i) {
        if ((*types)[i] != m_program.type(operation.results[i])) {
            return error(operation, std::string(opName(operation.code)) + " yields "
                                        + toString((*types)[i]) + ", but its result is typed "
                                        + toString(m_program.type(operation.results[i])) + ".");
        }
        m_defined.insert(operation.results[i]);
    }
    return Done{};
}

// What an operation asks about where it stands exists there.
Status Verifier::place(const Operation& operation, std::size_t gridRank)
{
    if (operation.code == OpCode::ProgramId || operation.code == OpCode::NumPrograms) {
        const auto* axis = std::get_if<AxisParams>(&operation.params);
        if (axis == nullptr || axis->axis < 0 || static_cast<std::size_t>(axis->axis) >= gridRank) {
            return error(operation, std::string(opName(operation.code))
                                        + " asks for an axis that the grid does not have.");
        }
    }
    if (operation.code == OpCode::AxisIndex) {
        const auto* axis = std::get_if<TextParams>(&operation.params);
        const bool known =
            axis != nullptr
            && ((!m_coreAxis.empty() && axis->text == m_coreAxis)
                || axisNamed(m_program.mesh, axis->text) || axisNamed(m_blockAxes, axis->text));
        if (!known) {
            return error(operation, "axis_index asks for an axis that neither the mesh of devices "
                                    "nor a core_map around it has.");
        }
    }
    return Done{};
}

// Refs of dynamic extents serve copies alone: the type of a value is static.
Status Verifier::ragged(const Operation& operation)
{
    const auto isRagged = [&](ValueId ref) { return m_ragged.contains(ref); };
    const bool any = std::any_of(operation.operands.begin(), operation.operands.end(), isRagged);
    if (const auto* at = std::get_if<IndexerParams>(&operation.params);
        operation.code == OpCode::RefAt && at != nullptr && operation.results.size() == 1
        && (any || std::any_of(at->entries.begin(), at->entries.end(), [](const IndexEntry& entry) {
                return entry.sizeOperand >= 0;
            }))) {
        m_ragged.insert(operation.results[0]);
    } else if (any && operation.code != OpCode::DmaStart && operation.code != OpCode::DmaWait) {
        return error(operation, std::string(opName(operation.code))
                                    + " takes a slice of dynamic size; copies alone can.");
    }
    const auto* copy = std::get_if<DmaParams>(&operation.params);
    const bool listed = copy != nullptr && copy->rows != CopyRows::All;
    if (listed && any) {
        return error(operation, "dma_start takes listed rows of a slice of dynamic size; one of a "
                                "known size is right.");
    }
    const auto shapeOf = [&](std::size_t operand) {
        std::vector<Extent> extents = m_program.type(operation.operands[operand]).shape.extents();
        if (listed && !extents.empty()) {
            extents[0] = 0; // as many as the list has, which inference checks
        }
        return extents;
    };
    if (operation.code == OpCode::DmaStart && !any && operation.operands.size() > 1
        && shapeOf(0) != shapeOf(1)) {
        return error(operation, "dma_start copies "
                                    + toString(m_program.type(operation.operands[0])) + " to "
                                    + toString(m_program.type(operation.operands[1]))
                                    + "; two refs of one shape are right.");
    }
    return Done{};
}

Status Verifier::sameTypes(const Operation& operation, const std::vector<ValueId>& a,
                           const std::vector<ValueId>& b, const std::string& what) const
{
    bool same = a.size() == b.size();
    for (std::size_t i = 0; same && i < a.size(); ++i) {
        same = m_program.type(a[i]) == m_program.type(b[i]);
    }
    return same ? Status(Done{})
                : Status(error(operation, std::string(opName(operation.code)) + " " + what + "."));
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
    const std::size_t count = operation.regions.size();
    switch (operation.code) {
    case OpCode::Cond:
        if (count < 2) {
            return error(operation, "cond needs two branches or more.");
        }
        for (const Region& branch : operation.regions) {
            if (Status status =
                    sameTypes(operation, branch.results, operation.regions.front().results,
                              "has branches that return different types");
                !status) {
                return status;
            }
        }
        return Done{};
    case OpCode::Scan: {
        const bool sound = count == 1 && !operation.regions[0].arguments.empty()
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
    case OpCode::While:
        if (count != 2 || operation.regions[0].results.size() != 1
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
    case OpCode::RunScoped:
        if (count != 1
            || !std::all_of(operation.regions[0].arguments.begin(),
                            operation.regions[0].arguments.end(), [&](ValueId ref) {
                                const auto& space = m_program.type(ref).space;
                                return space && *space != MemorySpace::BarrierSemaphore;
                            })) {
            return error(operation, "run_scoped needs one body whose arguments are refs, none of "
                                    "them a barrier semaphore.");
        }
        return Done{};
    default:
        return Done{};
    }
}

// An index map is bookkeeping of the scalar core: scalars, and loads of scalars from SMEM. That of
// an Indirect block makes an array of indices, which may lie in VMEM.
Status Verifier::indexMap(const Operation& operation, std::size_t operand,
                          const PipelineParams& params)
{
    const BlockSpec& spec = params.specs[operand];
    const Region& map = operation.regions[operand + 1];
    const std::string who = "The index map of " + spec.name;
    if (map.arguments.size() != params.grid.size() || map.results.size() != indexCount(spec)) {
        return error(operation, who + " must take one index per grid axis and return "
                                    + std::to_string(indexCount(spec)) + " block indices.");
    }
    const bool isIndirect = hasIndirect(spec);
    std::size_t number = 0;
    for (const BlockDim& dim : spec.block) {
        const bool isArray = dim.kind == BlockKind::Indirect;
        const Type wanted{DType::Int32, isArray ? Shape{dim.size} : Shape{}, {}};
        const auto fits = [&](const Type& type) { // a list may be shorter than its block
            return type == wanted
                   || (isArray && type.dtype == DType::Int32 && !type.isRef()
                       && type.shape.rank() == 1 && type.shape[0] < dim.size);
        };
        for (const std::size_t end = number + (dim.kind == BlockKind::BoundedSlice ? 2U : 1U);
             number < end; ++number) {
            if (!fits(m_program.type(map.results[number]))) {
                return error(operation,
                             who + " must return "
                                 + (isArray ? toString(wanted) + " or fewer for its Indirect axis"
                                            : "int32 scalars")
                                 + ", not " + toString(m_program.type(map.results[number])) + ".");
            }
        }
    }
    for (const Operation& step : map.operations) {
        const bool loads = step.code == OpCode::Get;
        const OpKind kind = opEntry(step.code).kind;
        const auto whole = [&](ValueId id) { // an integer or bool scalar, or a small array of them
            const Type& type = m_program.type(id);
            return !isFloat(type.dtype)
                   && (isIndirect
                           ? !type.isRef() && Shape(type.shape).elements() <= kMostMapElements
                           : type.isScalar());
        };
        const auto first = step.operands.begin() + (loads && !step.operands.empty() ? 1 : 0);
        const bool sound = step.results.size() == 1 && whole(step.results[0])
                           && step.operands.size() <= kMostMapOperands
                           && (loads || (!endsSegment(step.code) && kind != OpKind::Memory))
                           && kind != OpKind::View && step.code != OpCode::ProgramId
                           && step.code != OpCode::NumPrograms && step.code != OpCode::AxisIndex
                           && std::all_of(first, step.operands.end(), whole);
        const auto isNear = [&](ValueId ref) {
            const auto& space = m_program.type(ref).space;
            return space == MemorySpace::Smem || (isIndirect && space && isLoadable(*space));
        };
        if (!sound || (loads && (step.operands.empty() || !isNear(step.operands[0])))) {
            return error(step, who + " holds " + std::string(opName(step.code))
                                   + (isIndirect ? "; operations on integers, 65536 of them at "
                                                   "most, and loads from smem and vmem are right."
                                                 : "; operations on integer scalars and loads of "
                                                   "them from smem are right."));
        }
    }
    return region(map, 0);
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
        if (Status status = indexMap(operation, operand, *params); !status) {
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
    constexpr std::int32_t kMostCores = 256;
    constexpr std::int64_t kMostBlocks = 1 << 20;
    const auto* mesh = std::get_if<CoreMapParams>(&operation.params);
    if (mesh == nullptr || operation.regions.size() != 1 || mesh->axis.empty() || mesh->cores < 1
        || mesh->cores > kMostCores || !operation.regions[0].arguments.empty()
        || !operation.regions[0].results.empty()) {
        return error(operation, "core_map needs an axis, 1 to 256 cores and one body without "
                                "arguments and results.");
    }
    if (!m_coreAxis.empty() || m_pipelines > 0) {
        return error(operation, "a core_map inside another one or inside a pipeline has no cores "
                                "left to run on.");
    }
    std::vector<MeshAxis> axes = mesh->grid;
    axes.push_back({mesh->axis, mesh->cores});
    std::set<std::string> names;
    std::int64_t blocks = 1;
    for (const MeshAxis& axis : axes) {
        if (axisNamed(m_program.mesh, axis.name) || !names.insert(axis.name).second) {
            return error(operation, "core_map names an axis \"" + axis.name
                                        + "\", as the mesh of devices or another of its own axes "
                                          "does; another name is right.");
        }
        blocks *= &axis == &axes.back() ? 1 : axis.size;
        if (axis.name.empty() || axis.size < 1 || blocks > kMostBlocks) {
            return error(operation,
                         "core_map has a grid with the axis \"" + axis.name + "\" of "
                             + std::to_string(axis.size) + "; names, sizes from 1 and at most "
                             + std::to_string(kMostBlocks) + " blocks together are right.");
        }
    }
    m_coreAxis = mesh->axis;
    m_blockAxes = mesh->grid;
    Status status = region(operation.regions[0], 0);
    m_coreAxis.clear();
    m_blockAxes.clear();
    return status;
}

// What the device runs as one: a kernel, or what XLA makes of operations around kernels.
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
                                      "pipeline; around them is right.");
    }
    m_whole = operation.code;
    Status status = region(operation.regions[0], 0);
    m_whole = OpCode::RunScoped;
    return status;
}

// A fusion computes on arrays in HBM, which nothing else loads from or stores to.
Status Verifier::near(const Operation& operation) const
{
    const bool isFusion = m_whole == OpCode::Fusion;
    const bool isFlow = operation.code == OpCode::Cond || operation.code == OpCode::Scan
                        || operation.code == OpCode::While;
    if (isFusion && endsSegment(operation.code) && !isFlow) {
        return error(operation, "a fusion holds " + std::string(opName(operation.code))
                                    + "; operations on values, loads, stores, branches and loops "
                                      "are right.");
    }
    if (opEntry(operation.code).kind != OpKind::Memory || operation.operands.empty()) {
        return Done{};
    }
    const Type& ref = m_program.type(operation.operands[0]);
    const bool mayBeFar =
        isFusion && (operation.code == OpCode::Get || operation.code == OpCode::Swap);
    if (ref.isRef() && isFar(*ref.space) && !mayBeFar) {
        return error(operation, std::string(opName(operation.code)) + " reaches " + toString(ref)
                                    + kNotLoadable);
    }
    return Done{};
}

Status Verifier::mesh() const
{
    std::int64_t devices = 1;
    std::set<std::string> names;
    for (const MeshAxis& axis : m_program.mesh) {
        devices = axis.size < 1 ? 0 : std::min<std::int64_t>(devices * axis.size, kMostDevices + 1);
        if (axis.name.empty() || !names.insert(axis.name).second || devices < 1
            || devices > kMostDevices) {
            return userError("The mesh of " + m_program.name + " has the axis \"" + axis.name
                             + "\" of " + std::to_string(axis.size)
                             + "; axes with names of their own and 1 to "
                             + std::to_string(kMostDevices) + " devices together are right.");
        }
    }
    return Done{};
}

Status Verifier::partition(const Argument& argument) const
{
    const Shape& shape = m_program.type(argument.ref).shape;
    std::set<std::string> used;
    bool sound = argument.partition.empty() || argument.partition.size() == shape.rank();
    for (const std::vector<std::string>& axis : argument.partition) {
        for (const std::string& name : axis) {
            sound = sound && axisNamed(m_program.mesh, name) && used.insert(name).second;
        }
    }
    if (!sound) {
        return userError("The partition of " + argument.name + " of " + m_program.name
                         + " must have one list for each of " + std::to_string(shape.rank())
                         + " axes, with axes of the mesh, each at most once.");
    }
    return Done{};
}

Status Verifier::arguments() const
{
    for (const Argument& argument : m_program.arguments) {
        if (Status status = partition(argument); !status) {
            return status;
        }
        const Type& type = m_program.type(argument.ref);
        const bool smem = type.space == MemorySpace::Smem;
        const bool isLocal = type.space == MemorySpace::Vmem || type.space == MemorySpace::TileSpmem
                             || type.space == MemorySpace::Spmem;
        if (!type.isRef() || isLocal || (smem && argument.kind == ArgumentKind::Output)) {
            return userError("The argument " + argument.name + " of " + m_program.name + " is "
                             + toString(type) + "; a ref in hbm is right, or an input in smem.");
        }
        if (argument.aliasOf < 0) {
            continue;
        }
        const auto other = static_cast<std::size_t>(argument.aliasOf);
        const bool sound = argument.kind == ArgumentKind::Output
                           && other < m_program.arguments.size()
                           && m_program.arguments[other].kind == ArgumentKind::Input
                           && &m_program.arguments[other] < &argument
                           && m_program.type(m_program.arguments[other].ref) == type
                           && m_program.arguments[other].partition == argument.partition;
        if (!sound) {
            return userError("The output " + argument.name + " of " + m_program.name
                             + " must alias an input of its own type, " + toString(type) + ".");
        }
    }
    return Done{};
}

} // namespace

Status verify(const Program& program)
{
    return Verifier(program).run();
}

} // namespace pallascope::ir
