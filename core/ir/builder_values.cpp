#include "core/ir/builder_values.h"

#include "core/ir/builder_operations.h"
#include "core/ir/infer.h"
#include "core/ir/tracer.h"

namespace pallascope::pl {

using detail::materialise;
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

// Dynamic starts come after the ref (get), or after the ref and the value (swap), among the
// operands.
ir::IndexerParams shifted(ir::IndexerParams indexer, std::int32_t by)
{
    for (ir::IndexEntry& entry : indexer.entries) {
        entry.operand = entry.operand < 0 ? -1 : entry.operand + by;
        entry.sizeOperand = entry.sizeOperand < 0 ? -1 : entry.sizeOperand + by;
    }
    return indexer;
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

// Whether the operation works element by element, so that its operands must have one shape.
bool broadcasts(ir::OpKind kind)
{
    return kind == ir::OpKind::Elementwise || kind == ir::OpKind::Transcendental
           || kind == ir::OpKind::Comparison || kind == ir::OpKind::Select;
}

} // namespace

Value apply(OpCode code, std::vector<Operand> operands, ir::Params params, Here here)
{
    for (Operand& operand : operands) { // every load is recorded once, in order
        if (!operand.isNumber()) {
            operand = Operand(operand.value(), operand.here());
        }
    }
    // Numbers take the type of the first operand that is not a number; scalars broadcast to the
    // arrays.
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

} // namespace pallascope::pl
