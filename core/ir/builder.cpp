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

const Shape& Value::shape() const
{
    return Tracer::current().program().type(m_id).shape;
}

DType Value::dtype() const
{
    return Tracer::current().program().type(m_id).dtype;
}

const Shape& Ref::shape() const
{
    return Tracer::current().program().type(m_id).shape;
}

DType Ref::dtype() const
{
    return Tracer::current().program().type(m_id).dtype;
}

IndexArg ds(std::int64_t start, Extent size, std::int64_t stride)
{
    IndexArg arg(start);
    arg.m_kind = IndexArg::Kind::Slice;
    arg.m_size = size;
    arg.m_stride = stride;
    return arg;
}

IndexArg ds(Value start, Extent size, std::int64_t stride)
{
    IndexArg arg(start);
    arg.m_kind = IndexArg::Kind::Slice;
    arg.m_size = size;
    arg.m_stride = stride;
    return arg;
}

IndexArg ds(Value start, Value size, Extent most)
{
    IndexArg arg = ds(start, most, 1);
    arg.m_dynamicSize = size.id();
    return arg;
}

RefView::RefView(ir::ValueId ref, std::vector<ir::ValueId> dynamic, ir::IndexerParams indexer,
                 Here here)
    : m_ref(ref)
    , m_dynamic(std::move(dynamic))
    , m_indexer(std::move(indexer))
    , m_here(here)
{}

RefView Ref::operator[](const Indexer& indexer) const
{
    ir::IndexerParams params;
    std::vector<ir::ValueId> dynamic;
    const Shape& extents = shape();
    if (!indexer.m_args.empty() && indexer.m_args.size() != extents.rank()) {
        Tracer::current().fail("a ref of shape " + toString(extents) + " is indexed with "
                                   + std::to_string(indexer.m_args.size()) + " indices.",
                               indexer.m_here);
    }
    for (std::size_t axis = 0; axis < extents.rank(); ++axis) {
        const IndexArg arg = axis < indexer.m_args.size() ? indexer.m_args[axis] : IndexArg(all);
        ir::IndexEntry entry{true, 0, -1, extents[axis], 1};
        if (arg.m_kind != IndexArg::Kind::All) {
            entry.isSlice = arg.m_kind == IndexArg::Kind::Slice;
            entry.start = arg.m_start;
            entry.size = arg.m_size;
            entry.stride = arg.m_stride;
            if (arg.m_dynamic.index >= 0) {
                entry.operand = static_cast<std::int32_t>(dynamic.size());
                dynamic.push_back(arg.m_dynamic);
            }
            if (arg.m_dynamicSize.index >= 0) {
                entry.sizeOperand = static_cast<std::int32_t>(dynamic.size());
                dynamic.push_back(arg.m_dynamicSize);
            }
        }
        params.entries.push_back(entry);
    }
    return {m_id, std::move(dynamic), std::move(params), indexer.m_here};
}

namespace {

// Dynamic starts follow the ref (get) or the ref and the value (swap) among the operands.
ir::IndexerParams shifted(ir::IndexerParams indexer, std::int32_t by)
{
    for (ir::IndexEntry& entry : indexer.entries) {
        entry.operand = entry.operand < 0 ? -1 : entry.operand + by;
        entry.sizeOperand = entry.sizeOperand < 0 ? -1 : entry.sizeOperand + by;
    }
    return indexer;
}

// A number becomes a literal of `type`'s dtype, broadcast when the other operand is an array.
Value materialise(const Operand& operand, DType dtype)
{
    return operand.isNumber()
               ? Value(Tracer::current().literal(operand.number(), dtype, operand.here()))
               : operand.value();
}

Value one(std::vector<Value> values)
{
    return values.empty() ? Value() : values.front();
}

} // namespace

Ref Ref::at(const Indexer& indexer) const
{
    const RefView view = (*this)[indexer];
    ir::Operation operation{
        .code = OpCode::RefAt, .operands = {m_id}, .params = shifted(view.m_indexer, 1)};
    operation.operands.insert(operation.operands.end(), view.m_dynamic.begin(),
                              view.m_dynamic.end());
    return Ref(one(Tracer::current().append(std::move(operation), view.m_here)).id());
}

Value RefView::load() const
{
    ir::Operation operation{
        .code = OpCode::Get, .operands = {m_ref}, .params = shifted(m_indexer, 1)};
    operation.operands.insert(operation.operands.end(), m_dynamic.begin(), m_dynamic.end());
    return one(Tracer::current().append(std::move(operation), m_here));
}

void RefView::store(const Operand& operand) const
{
    Tracer& tracer = Tracer::current();
    const DType dtype = tracer.program().type(m_ref).dtype;
    Value value = materialise(operand, dtype);
    const Shape target = ir::indexedShape(m_indexer);
    if (value.shape().rank() == 0 && target.rank() != 0) {
        value = broadcastTo(value, target, {}, operand.here());
    }
    ir::Operation operation{
        .code = OpCode::Swap, .operands = {m_ref, value.id()}, .params = shifted(m_indexer, 2)};
    operation.operands.insert(operation.operands.end(), m_dynamic.begin(), m_dynamic.end());
    tracer.append(std::move(operation), m_here);
}

void RefView::operator=(const RefView& value) const
{
    store(value);
}

void RefView::operator=(const Operand& value) const
{
    store(value);
}

void RefView::operator+=(const Operand& value) const
{
    store(apply(OpCode::Add, {load(), value}, {}, m_here));
}

namespace {

// Whether the operation goes element by element, so that its operands have one shape.
bool broadcasts(ir::OpKind kind)
{
    return kind == ir::OpKind::Elementwise || kind == ir::OpKind::Transcendental
           || kind == ir::OpKind::Comparison || kind == ir::OpKind::Select;
}

} // namespace

Value apply(OpCode code, std::vector<Operand> operands, ir::Params params, Here here)
{
    for (Operand& operand : operands) { // loads happen once, in order
        if (!operand.isNumber()) {
            operand = Operand(operand.value(), operand.here());
        }
    }
    // Numbers take the type of the first operand that is not one; scalars broadcast to the arrays.
    DType dtype = DType::Int32;
    Shape shape;
    const std::size_t skip = code == OpCode::SelectN ? 1 : 0; // the mask has a type of its own
    for (std::size_t i = operands.size(); i-- > skip;) {
        if (!operands[i].isNumber()) {
            dtype = operands[i].value().dtype();
        }
    }
    for (const Operand& operand : operands) {
        if (!operand.isNumber() && operand.value().shape().rank() > shape.rank()) {
            shape = operand.value().shape();
        }
    }
    ir::Operation operation{.code = code, .params = std::move(params)};
    const bool spreads = broadcasts(ir::opEntry(code).kind);
    for (const Operand& operand : operands) {
        Value value = materialise(operand, dtype);
        if (spreads && value.shape().rank() == 0 && shape.rank() != 0) {
            value = broadcastTo(value, shape, {}, here);
        }
        operation.operands.push_back(value.id());
    }
    return one(Tracer::current().append(std::move(operation), here));
}

Value elementwise(OpCode code, std::vector<Operand> operands, Here here)
{
    return apply(code, std::move(operands), {}, here);
}

Value maximum(const Operand& a, const Operand& b, Here here)
{
    return apply(OpCode::Max, {a, b}, {}, here);
}

Value exp(const Operand& a, Here here)
{
    return apply(OpCode::Exp, {a}, {}, here);
}

namespace {

Value gridQuery(OpCode code, std::int32_t axis, Here here)
{
    const auto& position = Tracer::current().axisPosition;
    if (axis < 0 || static_cast<std::size_t>(axis) >= position.size()) {
        Tracer::current().fail(std::string(ir::opName(code)) + " asks for grid axis "
                                   + std::to_string(axis) + " of a grid of "
                                   + std::to_string(position.size()) + " axes.",
                               here);
        return Value(Tracer::current().literal(0, DType::Int32, here));
    }
    return apply(code, {}, ir::AxisParams{position[static_cast<std::size_t>(axis)]}, here);
}

} // namespace

Value programId(std::int32_t axis, Here here)
{
    return gridQuery(OpCode::ProgramId, axis, here);
}

Value numPrograms(std::int32_t axis, Here here)
{
    return gridQuery(OpCode::NumPrograms, axis, here);
}

namespace {

std::vector<ir::ValueId> ids(const std::vector<Value>& values)
{
    std::vector<ir::ValueId> result;
    for (const Value& value : values) {
        result.push_back(value.id());
    }
    return result;
}

std::vector<Value> freshLike(const std::vector<Value>& values)
{
    std::vector<Value> fresh;
    for (const Value& value : values) {
        fresh.emplace_back(Tracer::current().newValue({value.dtype(), value.shape(), {}}));
    }
    return fresh;
}

} // namespace

std::vector<Value> cond(const Operand& condition, const std::function<std::vector<Value>()>& ifTrue,
                        const std::function<std::vector<Value>()>& ifFalse, Here here)
{
    Tracer& tracer = Tracer::current();
    ir::Operation operation{.code = OpCode::Cond,
                            .operands = {materialise(condition, DType::Bool).id()}};
    operation.regions.push_back(
        tracer.region({}, [&] { return ids(ifFalse()); })); // branch 0 is false
    operation.regions.push_back(tracer.region({}, [&] { return ids(ifTrue()); }));
    return tracer.append(std::move(operation), here);
}

void when(const Operand& condition, const std::function<void()>& body, Here here)
{
    const auto nothing = [] { return std::vector<Value>(); };
    const auto run = [&] {
        body();
        return std::vector<Value>();
    };
    (void)cond(condition, run, nothing, here);
}

std::vector<Value>
foriLoop(std::int64_t length, std::vector<Value> carry,
         const std::function<std::vector<Value>(Value, std::vector<Value>)>& body, Here here)
{
    Tracer& tracer = Tracer::current();
    ir::Operation operation{
        .code = OpCode::Scan, .operands = ids(carry), .params = ir::ScanParams{length}};
    const Value counter(tracer.newValue({DType::Int32, Shape{}, {}}));
    const std::vector<Value> inner = freshLike(carry);
    std::vector<ir::ValueId> arguments = ids(inner);
    arguments.insert(arguments.begin(), counter.id());
    operation.regions.push_back(
        tracer.region(std::move(arguments), [&] { return ids(body(counter, inner)); }));
    return tracer.append(std::move(operation), here);
}

std::vector<Value> whileLoop(std::vector<Value> carry,
                             const std::function<Value(std::vector<Value>)>& condition,
                             const std::function<std::vector<Value>(std::vector<Value>)>& body,
                             Here here)
{
    Tracer& tracer = Tracer::current();
    ir::Operation operation{.code = OpCode::While, .operands = ids(carry)};
    const std::vector<Value> tested = freshLike(carry);
    operation.regions.push_back(
        tracer.region(ids(tested), [&] { return ids({condition(tested)}); }));
    const std::vector<Value> inner = freshLike(carry);
    operation.regions.push_back(tracer.region(ids(inner), [&] { return ids(body(inner)); }));
    return tracer.append(std::move(operation), here);
}

std::vector<Value> runScoped(const std::vector<Scratch>& scratch,
                             const std::function<std::vector<Value>(const std::vector<Ref>&)>& body,
                             Here here)
{
    Tracer& tracer = Tracer::current();
    std::vector<Ref> refs;
    std::vector<ir::ValueId> arguments;
    for (const Scratch& one : scratch) {
        arguments.push_back(tracer.newValue({one.dtype, one.shape, one.space}, one.name));
        refs.emplace_back(arguments.back());
    }
    ir::Operation operation{.code = OpCode::RunScoped};
    operation.regions.push_back(
        tracer.region(std::move(arguments), [&] { return ids(body(refs)); }));
    return tracer.append(std::move(operation), here);
}

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

// Declared axis -> loop position, from an order such as "ikj" over the axes "ijk".
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

// Program order, regions inside their operation: what listings and traces call an operation.
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

// Number of the argument with this name; -1 for none, past the end where there is no such one.
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
