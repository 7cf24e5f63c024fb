#include "core/ir/builder.h"
#include "core/ir/tracer.h"

namespace pallascope::pl {

using detail::materialise;
using detail::Tracer;
using ir::OpCode;

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
    ir::Operation operation{.code = OpCode::RunScoped, .params = ir::ScopedParams{}};
    operation.regions.push_back(
        tracer.region(std::move(arguments), [&] { return ids(body(refs)); }));
    return tracer.append(std::move(operation), here);
}

} // namespace pallascope::pl
