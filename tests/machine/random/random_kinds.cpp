#include "tests/machine/random/random_kinds.h"

#include <algorithm>

namespace pallascope::machine_test {

namespace {

const char* nameOf(ir::BlockKind kind)
{
    switch (kind) {
    case ir::BlockKind::Blocked:
        return "a pipeline of plain blocks";
    case ir::BlockKind::Squeezed:
        return "a pipeline of squeezed blocks";
    case ir::BlockKind::Element:
        return "a pipeline of Element blocks";
    case ir::BlockKind::BoundedSlice:
        return "a pipeline of BoundedSlice blocks";
    case ir::BlockKind::Indirect:
        return "a pipeline of Indirect blocks";
    }
    return "";
}

class Kinds
{
public:
    explicit Kinds(const ir::Program& program)
    {
        addIf(program.mesh.empty(), "one device");
        addIf(!program.mesh.empty(), "several devices");
        forEachOperation(program.body,
                         [&](const ir::Operation& operation) { add(program, operation); });
    }

    [[nodiscard]] std::set<std::string> found() && { return std::move(m_found); }

private:
    void addIf(bool holds, const char* kind)
    {
        if (holds) {
            m_found.insert(kind);
        }
    }

    void add(const ir::Program& program, const ir::Operation& operation)
    {
        const bool carriesBlock =
            std::any_of(operation.results.begin(), operation.results.end(),
                        [&](ir::ValueId id) { return program.type(id).shape.rank() > 0; });
        if (operation.code == ir::OpCode::Scan || operation.code == ir::OpCode::While) {
            const bool counts = operation.code == ir::OpCode::Scan;
            const std::size_t carried = operation.results.size();
            addIf(counts && carried >= 2, "a counted loop that carries a tuple");
            addIf(!counts && carried >= 2, "a while loop that carries a tuple");
            addIf(carried >= 2 && carriesBlock, "a loop that carries numbers and a block");
        }
        addIf(operation.code == ir::OpCode::CoreMap, "several cores");
        addIf(operation.code == ir::OpCode::Cond, "a branch");
        addIf(operation.code == ir::OpCode::Kernel, "a kernel among fusions");
        addIf(operation.code == ir::OpCode::Fusion, "a fusion");
        if (const auto* copy = std::get_if<ir::DmaParams>(&operation.params);
            copy != nullptr && operation.code == ir::OpCode::DmaStart) {
            addIf(!copy->device, "a manual DMA");
            addIf(copy->device, "a copy to another device");
        }
        if (const auto* signal = std::get_if<ir::SignalParams>(&operation.params)) {
            addIf(!signal->device, "a signal");
            addIf(signal->device, "a signal to another device");
        }
        if (const auto* pipeline = std::get_if<ir::PipelineParams>(&operation.params)) {
            add(*pipeline);
        }
    }

    void add(const ir::PipelineParams& pipeline)
    {
        const bool isDynamic =
            std::find(pipeline.grid.begin(), pipeline.grid.end(), ir::kDynamicExtent)
            != pipeline.grid.end();
        addIf(isDynamic, "a pipeline of a dynamic grid");
        addIf(!pipeline.coreAxis.empty(), "a pipeline that cores share");
        addIf(pipeline.noPipelining, "a pipeline that copies every block");
        addIf(pipeline.origin == ir::PipelineOrigin::PallasCall, "the grid of a pallas_call");
        addIf(pipeline.origin == ir::PipelineOrigin::EmitPipeline, "an emit_pipeline");
        for (const ir::BlockSpec& spec : pipeline.specs) {
            for (const ir::BlockDim& dim : spec.block) {
                m_found.insert(nameOf(dim.kind));
            }
            const bool reads = spec.direction != ir::BlockDirection::Out;
            addIf(reads && spec.inBuffers == 1, "Buffered(1)");
            addIf(reads && spec.inBuffers == 2, "Buffered(2)");
            addIf(reads && spec.inBuffers == 3, "Buffered(3)");
            addIf(!reads && spec.outBuffers == 3, "an output in Buffered(3)");
            addIf(spec.lookahead, "lookahead");
            addIf(spec.prefetched > 0, "blocks that the caller fills");
            addIf(spec.restores, "blocks that are read back");
            addIf(spec.direction == ir::BlockDirection::InOut, "an in-out");
        }
    }

    std::set<std::string> m_found;
};

} // namespace

std::set<std::string> kindsIn(const ir::Program& program)
{
    return Kinds(program).found();
}

const std::vector<std::string>& allKinds()
{
    static const std::vector<std::string> kAll{"one device",
                                               "several devices",
                                               "several cores",
                                               "a kernel among fusions",
                                               "a fusion",
                                               "a branch",
                                               "a counted loop that carries a tuple",
                                               "a while loop that carries a tuple",
                                               "a loop that carries numbers and a block",
                                               "a manual DMA",
                                               "a copy to another device",
                                               "a signal",
                                               "a signal to another device",
                                               "the grid of a pallas_call",
                                               "an emit_pipeline",
                                               "a pipeline of plain blocks",
                                               "a pipeline of squeezed blocks",
                                               "a pipeline of Element blocks",
                                               "a pipeline of BoundedSlice blocks",
                                               "a pipeline of Indirect blocks",
                                               "a pipeline of a dynamic grid",
                                               "a pipeline that cores share",
                                               "a pipeline that copies every block",
                                               "Buffered(1)",
                                               "Buffered(2)",
                                               "Buffered(3)",
                                               "an output in Buffered(3)",
                                               "lookahead",
                                               "blocks that the caller fills",
                                               "blocks that are read back",
                                               "an in-out"};
    return kAll;
}

} // namespace pallascope::machine_test
