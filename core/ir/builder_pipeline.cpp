#include "core/ir/builder.h"
#include "core/ir/infer.h"
#include "core/ir/pipeline_facts.h"
#include "core/ir/tracer.h"
#include "core/ir/verify.h"

#include <algorithm>
#include <numeric>

namespace pallascope::pl {

using detail::Tracer;
using ir::OpCode;

BlockSpec block(const Dims& shape, IndexMap indexMap, std::int32_t buffers, Here here)
{
    return {
        .block = shape.get(), .indexMap = std::move(indexMap), .buffers = buffers, .here = here};
}

BlockSpec wholeArray(Here here)
{
    return {.here = here};
}

namespace detail {

namespace {

// The loop position of each declared axis, from an order such as "ikj" over the axes "ijk".
Result<std::vector<std::int32_t>> axisPositions(const std::string& axes, const std::string& order,
                                                std::size_t rank)
{
    std::vector<std::int32_t> position(rank);
    std::iota(position.begin(), position.end(), 0);
    if (order.empty()) {
        return position;
    }
    std::string sorted = order, declared = axes;
    std::sort(sorted.begin(), sorted.end());
    std::sort(declared.begin(), declared.end());
    if (sorted != declared || axes.size() != rank) {
        return userError("the order \"" + order + "\" is not a permutation of the grid axes \""
                         + axes + "\".");
    }
    for (std::size_t declaredAxis = 0; declaredAxis < rank; ++declaredAxis) {
        position[declaredAxis] = static_cast<std::int32_t>(order.find(axes[declaredAxis]));
    }
    return position;
}

class PipelineTracer
{
public:
    PipelineTracer(const Grid& grid, ir::PipelineOrigin origin, const std::vector<Ref>& operands)
        : m_tracer(Tracer::current())
        , m_grid(grid)
        , m_operands(operands)
    {
        m_params.origin = origin;
        m_params.schedule = grid.schedule;
        m_params.noPipelining = grid.noPipelining;
        m_params.coreAxis = grid.coreAxis;
    }

    void trace(const Body& body);

private:
    [[nodiscard]] bool takeGrid();
    void addSpec(std::size_t operand);
    [[nodiscard]] ir::Region indexMap(const BlockSpec& spec, const ir::Type& array);

    Tracer& m_tracer;
    const Grid& m_grid;
    const std::vector<Ref>& m_operands;
    ir::PipelineParams m_params;
    std::vector<std::int32_t> m_position;
    std::vector<ir::ValueId> m_blockRefs;
    std::vector<ir::Region> m_maps;
};

bool PipelineTracer::takeGrid()
{
    const std::size_t rank = m_grid.grid.size();
    std::string axes = m_grid.axes;
    for (std::size_t axis = axes.size(); axis < rank; ++axis) {
        axes += static_cast<char>('i' + static_cast<char>(axis));
    }
    Result<std::vector<std::int32_t>> position = axisPositions(axes, m_grid.order, rank);
    if (!position) {
        m_tracer.fail(position.error().message, m_grid.here);
        return false;
    }
    m_position = *position;
    m_params.grid.resize(rank);
    m_params.axisNames.resize(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) {
        const auto at = static_cast<std::size_t>(m_position[axis]);
        m_params.grid[at] = m_grid.grid[axis];
        m_params.axisNames[at] = axes.substr(axis, 1);
    }
    for (const std::int32_t axis : m_grid.parallel) {
        const auto at = static_cast<std::size_t>(axis);
        m_params.parallel.push_back(axis >= 0 && at < rank ? m_position[at] : axis);
    }
    std::sort(m_params.parallel.begin(), m_params.parallel.end());
    return true;
}

ir::Region PipelineTracer::indexMap(const BlockSpec& spec, const ir::Type& array)
{
    std::vector<ir::ValueId> arguments;
    for (std::size_t axis = 0; axis < m_params.grid.size(); ++axis) {
        arguments.push_back(
            m_tracer.newValue({DType::Int32, Shape{}, {}}, m_params.axisNames[axis]));
    }
    const std::size_t wanted =
        spec.block.empty() ? array.shape.rank() : ir::indexCount({.block = spec.block});
    return m_tracer.region(arguments, [&] {
        std::vector<Value> declared;
        for (const std::int32_t position : m_position) {
            declared.emplace_back(arguments[static_cast<std::size_t>(position)]);
        }
        std::vector<Operand> indices(wanted, Operand(0));
        if (spec.indexMap) {
            indices = (*spec.indexMap)(declared);
        }
        if (indices.size() != wanted) {
            m_tracer.fail("an index map returns " + std::to_string(indices.size())
                              + " block indices for an array of rank "
                              + std::to_string(array.shape.rank()) + ".",
                          spec.here);
            indices.assign(wanted, Operand(0));
        }
        std::vector<ir::ValueId> results;
        for (const Operand& index : indices) {
            results.push_back(materialise(index, DType::Int32).id());
        }
        return results;
    });
}

void PipelineTracer::addSpec(std::size_t operand)
{
    const bool isInput = operand < m_grid.in.size();
    const BlockSpec& spec = isInput ? m_grid.in[operand] : m_grid.out[operand - m_grid.in.size()];
    const ir::Value array = m_tracer.program().value(m_operands[operand].id());
    ir::BlockSpec blockSpec{.name = spec.name.empty() ? array.name : spec.name,
                            .block = spec.block,
                            .direction = isInput ? ir::BlockDirection::In : ir::BlockDirection::Out,
                            .inBuffers = spec.buffers,
                            .outBuffers = spec.outBuffers > 0 ? spec.outBuffers : spec.buffers,
                            .lookahead = spec.lookahead,
                            .prefetched = spec.prefetched,
                            .restores = spec.restores,
                            .location = m_tracer.location(spec.here)};
    if (!isInput && spec.outBuffers > 0) {
        blockSpec.direction = ir::BlockDirection::InOut;
    }
    if (blockSpec.block.empty()) {
        for (const Extent extent : array.type.shape) {
            blockSpec.block.push_back({ir::BlockKind::Blocked, extent});
        }
    }
    m_blockRefs.push_back(m_tracer.newValue({array.type.dtype, ir::refShape(blockSpec.block),
                                             spec.space.value_or(ir::MemorySpace::Vmem)},
                                            blockSpec.name));
    m_maps.push_back(indexMap(spec, array.type));
    m_params.specs.push_back(std::move(blockSpec));
}

void PipelineTracer::trace(const Body& body)
{
    if (m_operands.size() != m_grid.in.size() + m_grid.out.size()) {
        m_tracer.fail("a pipeline with " + std::to_string(m_grid.in.size() + m_grid.out.size())
                          + " block specs is called with " + std::to_string(m_operands.size())
                          + " operands.",
                      m_grid.here);
        return;
    }
    if (!takeGrid()) {
        return;
    }
    for (std::size_t operand = 0; operand < m_operands.size(); ++operand) {
        addSpec(operand);
    }
    std::vector<ir::ValueId> arguments = m_blockRefs;
    for (const Scratch& scratch : m_grid.scratch) {
        arguments.push_back(
            m_tracer.newValue({scratch.dtype, scratch.shape, scratch.space}, scratch.name));
        m_params.scratchNames.push_back(scratch.name);
    }
    std::vector<Ref> refs;
    for (const ir::ValueId argument : arguments) {
        refs.emplace_back(argument);
    }
    const std::vector<std::int32_t> outer = std::exchange(m_tracer.axisPosition, m_position);
    ir::Region bodyRegion = m_tracer.region(std::move(arguments), [&] {
        if (!body(refs)) {
            m_tracer.fail("a pipeline body takes another number of refs than the "
                              + std::to_string(refs.size()) + " of its block specs and scratch.",
                          m_grid.here);
        }
        return std::vector<ir::ValueId>();
    });
    m_tracer.axisPosition = outer;
    ir::Operation operation{.code = OpCode::Pipeline};
    for (const Ref& operand : m_operands) {
        operation.operands.push_back(operand.id());
    }
    for (const Value& bound : m_grid.bounds) {
        operation.operands.push_back(bound.id());
    }
    operation.regions.push_back(std::move(bodyRegion));
    std::move(m_maps.begin(), m_maps.end(), std::back_inserter(operation.regions));
    operation.params = std::move(m_params);
    m_tracer.append(std::move(operation), m_grid.here);
}

// Numbers the operations in program order, those of a region right after the operation that has it.
// Listings and traces refer to operations by these numbers.
void number(ir::Region& region, std::int32_t& next)
{
    for (ir::Operation& operation : region.operations) {
        operation.id = next++;
        for (ir::Region& inner : operation.regions) {
            number(inner, next);
        }
    }
}

} // namespace

void pipeline(const Grid& grid, ir::PipelineOrigin origin, const Body& body,
              const std::vector<Ref>& operands)
{
    PipelineTracer(grid, origin, operands).trace(body);
}

// The index of the argument with this name. -1 if the name is empty; the number of arguments if
// there is none of this name.
std::int32_t inputNamed(const ir::Program& program, const std::string& name)
{
    const auto& all = program.arguments;
    const auto found = std::find_if(all.begin(), all.end(), [&](const ir::Argument& argument) {
        return argument.name == name;
    });
    return name.empty() ? -1 : static_cast<std::int32_t>(found - all.begin());
}

Result<ir::Program> traceKernel(std::string name, std::vector<ArgumentSpec> arguments,
                                const Body& body, Here here)
{
    Tracer tracer(std::move(name));
    std::vector<Ref> refs;
    ir::Program& program = tracer.program();
    for (ArgumentSpec& argument : arguments) {
        if (const Result<std::int64_t> elements = checkedElements(argument.shape); !elements) {
            return elements.error();
        }
        const ir::ValueId ref =
            tracer.newValue({argument.dtype, argument.shape, argument.space}, argument.name);
        program.arguments.push_back({argument.name, argument.kind, ref,
                                     inputNamed(program, argument.aliasOf), argument.partition});
        program.body.arguments.push_back(ref);
        refs.emplace_back(ref);
    }
    if (!body(refs)) {
        tracer.fail("the kernel takes another number of refs than its "
                        + std::to_string(refs.size()) + " arguments.",
                    here);
    }
    if (tracer.error()) {
        return *tracer.error();
    }
    std::int32_t next = 0;
    number(program.body, next);
    program.operationCount = next;
    if (const Status verified = ir::verify(program); !verified) {
        return verified.error();
    }
    return std::move(program);
}

} // namespace detail

} // namespace pallascope::pl
