#include "app/run_job/values_refs.h"

#include "core/ir/pipeline_facts.h"
#include "core/trace/pipelines.h"
#include "views/layout/run/operand_color.h"

#include <algorithm>
#include <cctype>

namespace pallascope::app {

namespace {

class Lister
{
public:
    Lister(const ir::Program& program, const layout::RunView* run)
        : m_program(program)
        , m_run(run)
    {}

    std::vector<ValuesRef> list()
    {
        add(m_program.body);
        for (const ir::Operation* pipeline : ir::pipelinesOf(m_program)) {
            join(*pipeline);
        }
        for (ValuesRef& ref : m_refs) {
            color(ref);
        }
        return std::move(m_refs);
    }

private:
    void add(const ir::Region& region)
    {
        for (const ir::ValueId id : region.arguments) {
            add(id);
        }
        for (const ir::Operation& operation : region.operations) {
            // The other regions of a pipeline are index maps.
            const std::size_t regions = std::holds_alternative<ir::PipelineParams>(operation.params)
                                            ? 1
                                            : operation.regions.size();
            for (std::size_t i = 0; i < regions; ++i) {
                add(operation.regions[i]);
            }
        }
    }

    void add(ir::ValueId id)
    {
        const ir::Value& value = m_program.value(id);
        if (!value.type.space || ir::isSemaphore(*value.type.space) || value.name.empty()) {
            return;
        }
        ValuesRef ref{.name = value.name,
                      .memory = memoryLabel(*value.type.space),
                      .dtype = value.type.dtype,
                      .shape = value.type.shape};
        const auto known = std::find_if(m_refs.begin(), m_refs.end(),
                                        [&](const ValuesRef& one) { return one.isSameAs(ref); });
        (known == m_refs.end() ? m_refs.emplace_back(std::move(ref)) : *known).ids.push_back(id);
    }

    ValuesRef* find(ir::ValueId id)
    {
        const auto found = std::find_if(m_refs.begin(), m_refs.end(), [&](const ValuesRef& ref) {
            return std::find(ref.ids.begin(), ref.ids.end(), id) != ref.ids.end();
        });
        return found == m_refs.end() ? nullptr : &*found;
    }

    // Tells the arrays of a pipeline and their blocks which operand they are.
    void join(const ir::Operation& pipeline)
    {
        const auto& specs = std::get<ir::PipelineParams>(pipeline.params).specs;
        for (std::size_t i = 0; i < specs.size(); ++i) {
            const Shape& whole = m_program.type(pipeline.operands[i]).shape;
            const std::int32_t operand = operandOf(specs[i].name, whole);
            if (ValuesRef* array = find(pipeline.operands[i]); array != nullptr) {
                array->operand = array->operand < 0 ? operand : array->operand;
                cut(*array, specs[i].block);
            }
            ValuesRef* slot = find(pipeline.regions[0].arguments[i]);
            if (slot != nullptr && slot->operand < 0) {
                slot->operand = operand;
                slot->isBlock = true;
            }
        }
    }

    static void cut(ValuesRef& array, const std::vector<ir::BlockDim>& block)
    {
        if (array.block.rank() > 0 || block.size() != array.shape.rank()) {
            return;
        }
        Extents extents;
        for (const ir::BlockDim& dim : block) {
            if (dim.kind != ir::BlockKind::Blocked && dim.kind != ir::BlockKind::Squeezed) {
                return; // its blocks do not lie side by side
            }
            extents.push_back(dim.kind == ir::BlockKind::Squeezed ? 1 : dim.size);
        }
        array.block = Shape(std::move(extents));
    }

    [[nodiscard]] std::int32_t operandOf(std::string_view name, const Shape& array) const
    {
        if (m_run == nullptr) {
            return -1;
        }
        const auto& operands = m_run->trace->info().operands;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            if (operands[i].array == array
                && (operands[i].name == name || trace::arrayName(operands[i]) == name)) {
                return static_cast<std::int32_t>(i);
            }
        }
        return -1;
    }

    void color(ValuesRef& ref) const
    {
        const bool isHbm = ref.memory == "HBM" || ref.memory == "ANY";
        if (m_run == nullptr) {
            const auto& arguments = m_program.arguments;
            const auto one =
                std::find_if(arguments.begin(), arguments.end(), [&](const ir::Argument& argument) {
                    return argument.name == ref.name;
                });
            if (one != arguments.end()) {
                ref.color = layout::hueRole(static_cast<std::int32_t>(one - arguments.begin()));
            }
            return;
        }
        if (ref.operand < 0 && isHbm) {
            ref.operand = operandOf(ref.name, ref.shape); // copied by manual DMA
        }
        if (ref.operand >= 0) {
            ref.color = layout::operandRole(*m_run, trace::OperandRow{ref.operand});
            return;
        }
        const auto& buffers = m_run->trace->info().buffers;
        const auto buffer =
            std::find_if(buffers.begin(), buffers.end(), [&](const trace::Buffer& one) {
                return one.operand < 0 && one.name == ref.name;
            });
        ref.color =
            buffer != buffers.end() ? layout::bufferRole(
                *m_run, trace::BufferRow::at(static_cast<std::size_t>(buffer - buffers.begin())))
            : isHbm                ? layout::Role::Hbm
            : ref.memory == "SMEM" ? layout::Role::Smem
                                   : layout::Role::Vmem;
    }

    const ir::Program& m_program;
    const layout::RunView* m_run;
    std::vector<ValuesRef> m_refs;
};

} // namespace

std::string notComputed(const std::string& ref)
{
    return "What " + ref
           + " holds is not known: this run computed only the values that decide its time, and "
             "this "
             "ref has none of them.";
}

std::string memoryLabel(ir::MemorySpace space)
{
    std::string label(ir::memorySpaceName(space));
    std::transform(label.begin(), label.end(), label.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    return label;
}

std::vector<ValuesRef> valuesRefs(const ir::Program& program, const layout::RunView* run)
{
    return Lister(program, run).list();
}

} // namespace pallascope::app
