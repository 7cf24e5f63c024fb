#include "core/machine/parts/arguments.h"

#include "core/base/check.h"
#include "core/ir/mesh.h"
#include "core/machine/values/nonfinite.h"

namespace pallascope::machine {

namespace {

// The part that one device has of an array spread over all devices.
StridedView partView(const ir::Program& program, const ir::Argument& argument, const Shape& all,
                     std::int32_t device)
{
    StridedView view = StridedView::whole(all);
    view.shape = program.type(argument.ref).shape;
    const std::vector<std::int64_t> start = ir::partStart(program, argument, device);
    for (std::size_t axis = 0; axis < start.size(); ++axis) {
        view.offset += start[axis] * view.strides[axis];
    }
    return view;
}

} // namespace

Arguments::Arguments(const Context& context, std::set<std::int32_t>& aliased, Agents& agents,
                     Findings& findings)
    : m_prepared(context.prepared)
    , m_turn(context.turn)
    , m_memory(context.memory)
    , m_aliased(aliased)
    , m_agents(agents)
    , m_findings(findings)
{}

Status Arguments::bind(const std::vector<Array>& inputs)
{
    for (std::int32_t device = 0; device < m_prepared.layout.devices; ++device) {
        m_turn.give(m_agents.firstOf(device));
        std::size_t input = 0;
        for (const ir::Argument& argument : m_prepared.program.arguments) {
            const bool isGiven = argument.aliasOf < 0 && argument.kind != ir::ArgumentKind::Output;
            PALLASCOPE_CHECK(!isGiven || input < inputs.size());
            if (Status status = bindHere(argument, isGiven ? &inputs[input++] : nullptr); !status) {
                return status;
            }
        }
    }
    return Done{};
}

// `input` is null if the caller gave none.
Status Arguments::bindHere(const ir::Argument& argument, const Array* input)
{
    const ir::Program& program = m_prepared.program;
    RefBinding& here = m_turn.binding(argument.ref);
    if (argument.aliasOf >= 0) { // it shares the input's array, which is bound already
        const auto& same = program.arguments[static_cast<std::size_t>(argument.aliasOf)];
        here = m_turn.binding(same.ref);
        m_aliased.insert(here.buffer);
        return Done{};
    }
    const ir::Type& type = program.type(argument.ref);
    here.buffer = m_memory.allocate(1).first;
    Memory& memory = m_memory[here.buffer];
    const bool isConstant = !isWritten(argument.ref);
    memory = {m_turn.undefined(type.dtype, type.shape), Memory::Holds::Current, isConstant,
              isConstant};
    memory.device = m_turn.agent().device;
    if (input == nullptr) {
        return Done{};
    }
    const ir::Type all = ir::wholeType(program, argument);
    PALLASCOPE_CHECK(input->dtype == all.dtype && input->shape == all.shape);
    if (m_prepared.needed.needsContents(argument.ref) && !input->data) {
        return userError("The values of " + argument.name + " decide what " + program.name
                             + " does, so they are needed; only its shape is given.",
                         {{Subject::Operand, argument.name}});
    }
    if (input->data) {
        memory.contents = partOf(argument, *input);
    }
    if (isConstant) {
        memory.contents.freeze();
    }
    return Done{};
}

// This device's part of an array.
Buffer Arguments::partOf(const ir::Argument& argument, const Array& array) const
{
    const Buffer all(array.dtype, array.shape, m_turn.fill(), array.data);
    const Shape& part = m_prepared.program.type(argument.ref).shape;
    if (part == array.shape) {
        return all;
    }
    const StridedView view =
        partView(m_prepared.program, argument, array.shape, m_turn.agent().device);
    return {all.load(view, part), m_turn.fill()};
}

// Joins the parts of all devices into one array; where devices hold equal parts, the first
// device's is taken.
Buffer Arguments::whole(const ir::Argument& argument)
{
    const ir::Type all = ir::wholeType(m_prepared.program, argument);
    const Shape& part = m_prepared.program.type(argument.ref).shape;
    m_turn.give(m_agents.firstOf(0));
    if (part == all.shape) {
        return m_turn.buffer(m_turn.binding(argument.ref).buffer);
    }
    Buffer result = m_turn.undefined(all.dtype, all.shape);
    for (std::int32_t device = m_prepared.layout.devices; device-- > 0;) {
        m_turn.give(m_agents.firstOf(device));
        const Buffer& mine = m_turn.buffer(m_turn.binding(argument.ref).buffer);
        result.store(partView(m_prepared.program, argument, all.shape, device), mine.loadAll());
    }
    return result;
}

std::optional<std::string> Arguments::nonFiniteOutput()
{
    for (const ir::Argument& argument : m_prepared.program.arguments) {
        if (argument.kind == ir::ArgumentKind::Output) {
            const Buffer array = whole(argument);
            if (nonFiniteIn(array.loadAll()).any()) {
                return argument.name;
            }
        }
    }
    return std::nullopt;
}

std::vector<Array> Arguments::outputs()
{
    std::vector<Array> arrays;
    for (const ir::Argument& argument : m_prepared.program.arguments) {
        if (argument.kind == ir::ArgumentKind::Output) {
            arrays.push_back(whole(argument).contents());
        }
    }
    return arrays;
}

// Reports outputs with undefined elements, unless another finding explains or may explain them.
void Arguments::reportUndefinedResults()
{
    for (const ir::Argument& argument : m_prepared.program.arguments) {
        if (argument.kind != ir::ArgumentKind::Output) {
            continue;
        }
        std::vector<const Memory*> parts;
        for (std::int32_t device = 0; device < m_prepared.layout.devices; ++device) {
            m_turn.give(m_agents.firstOf(device));
            parts.push_back(&m_memory[m_turn.binding(argument.ref).buffer]);
        }
        const Buffer array = whole(argument);
        if (array.undefinedCount() > 0 && !m_findings.mayExplainUndefined(argument.ref)) {
            m_findings.reportUndefinedResult(argument, parts, array);
        }
    }
}

} // namespace pallascope::machine
