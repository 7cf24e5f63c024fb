#include "app/run_job/values_refs.h"

#include "core/ir/pipeline_facts.h"
#include "core/trace/pipelines.h"
#include "views/layout/run/operand_color.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

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
        add(m_program.body, trace::kNone);
        const std::vector<const ir::Operation*> pipelines = ir::pipelinesOf(m_program);
        for (std::size_t i = 0; i < pipelines.size(); ++i) {
            join(*pipelines[i], i);
        }
        for (ValuesRef& ref : m_refs) {
            choose(ref);
            color(ref);
        }
        return std::move(m_refs);
    }

private:
    // `kernel`: that in which the region is, as Operand::kernel counts; kNone: in none.
    void add(const ir::Region& region, std::int32_t kernel)
    {
        for (const ir::ValueId id : region.arguments) {
            add(id);
            m_kernelOf[id] = kernel;
        }
        for (const ir::Operation& operation : region.operations) {
            const std::int32_t inside = operation.code == ir::OpCode::Kernel ? m_kernels++ : kernel;
            // The other regions of a pipeline are index maps.
            const std::size_t regions = std::holds_alternative<ir::PipelineParams>(operation.params)
                                            ? 1
                                            : operation.regions.size();
            for (std::size_t i = 0; i < regions; ++i) {
                add(operation.regions[i], inside);
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

    // Notes which operands the arrays of a pipeline and their blocks are.
    void join(const ir::Operation& pipeline, std::size_t number)
    {
        const auto& specs = std::get<ir::PipelineParams>(pipeline.params).specs;
        for (std::size_t i = 0; i < specs.size(); ++i) {
            const ir::ValueId array = pipeline.operands[i];
            if (ValuesRef* whole = find(array); whole != nullptr) {
                cut(*whole, specs[i].block);
            }
            const std::int32_t operand = operandOf(number, i, specs[i].name, array);
            if (operand >= 0) {
                const ir::ValueId slot = pipeline.regions[0].arguments[i];
                m_operandOf.try_emplace(array, operand);
                m_operandOf.try_emplace(slot, operand);
                m_slots.insert(slot);
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

    // The trace has the pipelines of a program in program order, before those that more agents run.
    [[nodiscard]] std::int32_t operandOf(std::size_t pipeline, std::size_t number,
                                         const std::string& name, ir::ValueId array) const
    {
        if (m_run == nullptr || pipeline >= m_run->trace->info().pipelines.size()) {
            return -1;
        }
        const trace::Info& info = m_run->trace->info();
        const std::size_t row =
            static_cast<std::size_t>(info.pipelines[pipeline].firstOperand) + number;
        return row < info.operands.size()
                       && isCalled(info.operands[row], name, m_program.type(array).shape)
                   ? static_cast<std::int32_t>(row)
                   : -1;
    }

    [[nodiscard]] static bool isCalled(const trace::Operand& operand, const std::string& name,
                                       const Shape& array)
    {
        return operand.array == array
               && (operand.name == name || trace::arrayName(operand) == name);
    }

    // The operand of an array that is copied by manual DMA: one of its kernel, or else any.
    [[nodiscard]] std::int32_t copiedOperandOf(const ValuesRef& ref, std::int32_t kernel) const
    {
        std::int32_t found = -1;
        const auto& operands = m_run->trace->info().operands;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            const bool isOfKernel = operands[i].kernel == kernel;
            if (isCalled(operands[i], ref.name, ref.shape) && (found < 0 || isOfKernel)) {
                found = static_cast<std::int32_t>(i);
                if (isOfKernel) {
                    break;
                }
            }
        }
        return found;
    }

    // The operand that each of its ids is, as far as there are any.
    void choose(ValuesRef& ref) const
    {
        for (const ir::ValueId id : ref.ids) {
            const auto known = m_operandOf.find(id);
            const bool isCopied = known == m_operandOf.end() && m_run != nullptr && isInHbm(ref);
            ref.operands.push_back(known != m_operandOf.end() ? known->second
                                   : isCopied ? copiedOperandOf(ref, m_kernelOf.at(id))
                                              : -1);
            if (ref.operand < 0 && ref.operands.back() >= 0) {
                ref.operand = ref.operands.back();
                ref.isBlock = m_slots.contains(id);
            }
        }
    }

    [[nodiscard]] static bool isInHbm(const ValuesRef& ref)
    {
        return ref.memory == "HBM" || ref.memory == "ANY";
    }

    void color(ValuesRef& ref) const
    {
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
            : isInHbm(ref)         ? layout::Role::Hbm
            : ref.memory == "SMEM" ? layout::Role::Smem
                                   : layout::Role::Vmem;
    }

    const ir::Program& m_program;
    const layout::RunView* m_run;
    std::vector<ValuesRef> m_refs;
    std::int32_t m_kernels = 0; // so far
    std::map<ir::ValueId, std::int32_t> m_kernelOf;
    std::map<ir::ValueId, std::int32_t> m_operandOf; // of arrays of pipelines, and of their slots
    std::set<ir::ValueId> m_slots;
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
