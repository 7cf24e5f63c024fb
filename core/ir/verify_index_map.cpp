#include "core/ir/infer.h"
#include "core/ir/pipeline_facts.h"
#include "core/ir/verifier.h"

#include <algorithm>

namespace pallascope::ir {

namespace {

// Checks the index map of one operand of a pipeline.
struct IndexMapCheck
{
    const Program& program;
    const Operation& pipeline;
    const PipelineParams& params;
    const BlockSpec& spec;
    const Region& map;
    bool isIndirect = hasIndirect(spec);

    [[nodiscard]] Error error(const Operation& operation, const std::string& sentence) const
    {
        return userError(program.where(operation.location) + ": The index map of " + spec.name + " "
                         + sentence);
    }

    [[nodiscard]] Status run() const
    {
        if (map.arguments.size() != params.grid.size() || map.results.size() != indexCount(spec)) {
            return error(pipeline, "must take one index per grid axis and return "
                                       + std::to_string(indexCount(spec)) + " block indices.");
        }
        std::size_t number = 0;
        for (const BlockDim& dim : spec.block) {
            for (const std::size_t end = number + (dim.kind == BlockKind::BoundedSlice ? 2U : 1U);
                 number < end; ++number) {
                if (Status status = result(dim, program.type(map.results[number])); !status) {
                    return status;
                }
            }
        }
        const auto wrong = std::find_if(map.operations.begin(), map.operations.end(),
                                        [this](const Operation& step) { return !isRight(step); });
        if (wrong == map.operations.end()) {
            return Done{};
        }
        return error(
            *wrong,
            "holds " + std::string(opName(wrong->code))
                + (isIndirect
                       ? "; expected at most 65536 operations on integers, and loads from smem and "
                         "vmem."
                       : "; expected operations on integer scalars and loads of them from smem."));
    }

    [[nodiscard]] Status result(const BlockDim& dim, const Type& type) const
    {
        const bool isArray = dim.kind == BlockKind::Indirect;
        const Type wanted{DType::Int32, isArray ? Shape{dim.size} : Shape{}, {}};
        const bool fits = // a list may be shorter than its block
            type == wanted
            || (isArray && type.dtype == DType::Int32 && !type.isRef() && type.shape.rank() == 1
                && type.shape[0] < dim.size);
        if (fits) {
            return Done{};
        }
        return error(pipeline, "must return "
                                   + (isArray ? toString(wanted) + " or fewer for its Indirect axis"
                                              : "int32 scalars")
                                   + ", not " + toString(type) + ".");
    }

    // Whether the value is an integer or bool scalar or, for an Indirect block, a small array of
    // them.
    [[nodiscard]] bool isWhole(ValueId id) const
    {
        const Type& type = program.type(id);
        return !isFloat(type.dtype)
               && (isIndirect ? !type.isRef() && Shape(type.shape).elements() <= kMostMapElements
                              : type.isScalar());
    }

    [[nodiscard]] bool isNear(ValueId ref) const
    {
        const auto& space = program.type(ref).space;
        return space == MemorySpace::Smem || (isIndirect && space && isLoadable(*space));
    }

    [[nodiscard]] bool isRight(const Operation& step) const
    {
        const bool loads = step.code == OpCode::Get;
        const OpKind kind = opEntry(step.code).kind;
        const auto first = step.operands.begin() + (loads && !step.operands.empty() ? 1 : 0);
        const bool sound =
            step.results.size() == 1 && isWhole(step.results[0])
            && step.operands.size() <= kMostMapOperands
            && (loads || (!endsSegment(step.code) && kind != OpKind::Memory))
            && kind != OpKind::View && step.code != OpCode::ProgramId
            && step.code != OpCode::NumPrograms && step.code != OpCode::AxisIndex
            && std::all_of(first, step.operands.end(), [this](ValueId id) { return isWhole(id); });
        return sound && (!loads || (!step.operands.empty() && isNear(step.operands[0])));
    }
};

} // namespace

Status checkIndexMap(const Program& program, const Operation& pipeline, std::size_t operand)
{
    const auto& params = std::get<PipelineParams>(pipeline.params);
    return IndexMapCheck{program, pipeline, params, params.specs[operand],
                         pipeline.regions[operand + 1]}
        .run();
}

} // namespace pallascope::ir
