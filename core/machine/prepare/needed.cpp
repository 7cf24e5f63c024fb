#include "core/machine/needed.h"

#include "core/ir/infer.h"

#include <algorithm>
#include <span>

namespace pallascope::machine {

using ir::OpCode;

namespace {

bool isView(const ir::Operation& operation)
{
    return ir::opEntry(operation.code).kind == ir::OpKind::View;
}

// Goes from the last operation to the first, and visits each before what is nested in it. What is
// needed is then usually found before the operation that computes it.
template<class Function>
void forEachBackwards(const ir::Region& region, const Function& function)
{
    for (auto operation = region.operations.rbegin(); operation != region.operations.rend();
         ++operation) {
        function(*operation);
        for (auto inner = operation->regions.rbegin(); inner != operation->regions.rend();
             ++inner) {
            forEachBackwards(*inner, function);
        }
    }
}

} // namespace

NeededSet::NeededSet(const ir::Program& program)
    : m_values(program.values.size(), false)
    , m_contents(program.values.size(), false)
{
    for (std::size_t i = 0; i < program.values.size(); ++i) {
        m_root.push_back({static_cast<std::int32_t>(i)});
    }
    // An output shares its contents with the input that it aliases, and a block's ref with the
    // array of which it is a window.
    for (const ir::Argument& argument : program.arguments) {
        if (argument.aliasOf >= 0) {
            m_root[static_cast<std::size_t>(argument.ref.index)] =
                program.arguments[static_cast<std::size_t>(argument.aliasOf)].ref;
        }
    }
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (isView(operation) && !operation.operands.empty()) {
            m_root[static_cast<std::size_t>(operation.results[0].index)] =
                root(operation.operands[0]);
        }
        if (operation.code == OpCode::Pipeline) {
            const std::size_t specs = std::get<ir::PipelineParams>(operation.params).specs.size();
            for (std::size_t i = 0; i < specs; ++i) {
                const ir::ValueId block = root(operation.regions[0].arguments[i]),
                                  array = root(operation.operands[i]);
                m_root[static_cast<std::size_t>(block.index)] = array;
            }
        }
    });
}

ir::ValueId NeededSet::root(ir::ValueId ref) const
{
    while (m_root[static_cast<std::size_t>(ref.index)] != ref) {
        ref = m_root[static_cast<std::size_t>(ref.index)];
    }
    return ref;
}

NeededSet NeededSet::everything(const ir::Program& program)
{
    NeededSet set(program);
    set.m_values.assign(set.m_values.size(), true);
    set.m_contents.assign(set.m_contents.size(), true);
    return set;
}

bool NeededSet::anyContents() const
{
    return std::find(m_contents.begin(), m_contents.end(), true) != m_contents.end();
}

bool NeededSet::needs(const ir::Operation& operation) const
{
    if (operation.code == OpCode::DebugPrint || operation.code == OpCode::DebugCheck) {
        return std::all_of(
            operation.operands.begin(), operation.operands.end(),
            [&](ir::ValueId value) { return m_values[static_cast<std::size_t>(value.index)]; });
    }
    bool changes = false;
    for (std::size_t i = 0; i < operation.operands.size() && !changes; ++i) {
        changes = ir::writes(operation, i) && needsContents(operation.operands[i]);
    }
    return isView(operation) || changes
           || std::any_of(operation.results.begin(), operation.results.end(),
                          [&](ir::ValueId value) { return needs(value); });
}

namespace {

// Adds what is needed because something else is, until nothing more is added.
class Closing
{
public:
    Closing(const ir::Program& program, const NeededSet& set, std::vector<bool>& values,
            std::vector<bool>& contents)
        : m_program(program)
        , m_set(set)
        , m_values(values)
        , m_contents(contents)
    {}

    void run()
    {
        while (m_changed) {
            m_changed = false;
            forEachBackwards(m_program.body,
                             [this](const ir::Operation& operation) { visit(operation); });
        }
    }

private:
    void needValue(ir::ValueId value)
    {
        const auto i = static_cast<std::size_t>(value.index);
        if (!m_values[i] && !m_program.value(value).literal && !m_program.type(value).isRef()) {
            m_values[i] = m_changed = true;
        }
    }

    void needValues(std::span<const ir::ValueId> values)
    {
        for (const ir::ValueId value : values) {
            needValue(value);
        }
    }

    void needContents(ir::ValueId ref)
    {
        const auto memory = static_cast<std::size_t>(m_set.root(ref).index);
        if (!m_contents[memory]) {
            m_contents[memory] = m_changed = true;
        }
    }

    void needPairs(std::span<const ir::ValueId> wanted, std::span<const ir::ValueId> from)
    {
        for (std::size_t i = 0; i < std::min(wanted.size(), from.size()); ++i) {
            if (m_set.needs(wanted[i])) {
                needValue(from[i]);
            }
        }
    }

    void visit(const ir::Operation& operation);
    void needOperands(const ir::Operation& operation);
    [[nodiscard]] bool isMaskOfFar(const ir::Operation& operation, std::size_t operand) const;
    void needAddress(ir::ValueId operand);
    void visitRequest(const ir::Operation& operation);

    const ir::Program& m_program;
    const NeededSet& m_set;
    std::vector<bool>&m_values, &m_contents;
    bool m_changed = true;
};

// Control operations pass values to and from their regions, each in its own way. All others say by
// the roles of their operands what they need.
void Closing::visit(const ir::Operation& operation)
{
    switch (operation.code) {
    case OpCode::Cond:
        needAddress(operation.operands[0]);
        for (const ir::Region& branch : operation.regions) {
            needPairs(operation.results, branch.results);
        }
        return;
    case OpCode::Scan: { // the body's arguments hold the carried values, finally the results
        const ir::Region& body = operation.regions[0];
        const auto carried = std::span<const ir::ValueId>(body.arguments).subspan(1);
        needPairs(operation.results, carried);
        needPairs(carried, operation.operands);
        needPairs(carried, body.results);
        return;
    }
    case OpCode::While: { // the condition's arguments hold the carried values
        const ir::Region &condition = operation.regions[0], &body = operation.regions[1];
        needValue(condition.results[0]);
        needPairs(operation.results, condition.arguments);
        needPairs(body.arguments, condition.arguments);
        needPairs(condition.arguments, operation.operands);
        needPairs(condition.arguments, body.results);
        return;
    }
    case OpCode::Pipeline:
        for (std::size_t map = 1; map < operation.regions.size(); ++map) {
            const ir::Region& region = operation.regions[map];
            needValues(region.results);
            for (const ir::Operation& step : region.operations) { // a map runs as a whole
                needValues(step.results);
            }
        }
        needValues(operation.operands); // dynamic extents; refs are not values
        return;
    case OpCode::MatmulAccLhs:
    case OpCode::MatmulLhsFifo:
        visitRequest(operation);
        return;
    case OpCode::RunScoped:
    case OpCode::Fusion:
        needPairs(operation.results, operation.regions[0].results);
        return;
    default:
        needOperands(operation);
    }
}

// Whether this is the mask of an access of memory that others share: it says which elements the
// access reaches.
bool Closing::isMaskOfFar(const ir::Operation& operation, std::size_t operand) const
{
    const bool isMask = (operation.code == OpCode::MaskedLoad && operand == 1)
                        || (operation.code == OpCode::MaskedSwap && operand == 2);
    return isMask && ir::isFar(*m_program.type(operation.operands[0]).space);
}

// Where, when and how much is always needed. What is read, stored or computed with is needed only
// if the operation is.
void Closing::needOperands(const ir::Operation& operation)
{
    const bool isNeeded = m_set.needs(operation);
    for (std::size_t i = 0; i < operation.operands.size(); ++i) {
        const ir::OperandRole role = ir::roleOf(operation, i);
        if (role == ir::OperandRole::Address || isMaskOfFar(operation, i)) {
            needAddress(operation.operands[i]);
        } else if (isNeeded && ir::isRead(role)) {
            needContents(operation.operands[i]);
        } else if (isNeeded && role == ir::OperandRole::Value) {
            needValue(operation.operands[i]);
        }
    }
}

// An address is a value, or a ref to a list of rows that lies in memory.
void Closing::needAddress(ir::ValueId operand)
{
    const ir::Type& type = m_program.type(operand);
    if (type.isRef() && ir::hasMemory(*type.space)) {
        needContents(operand);
    }
    needValue(operand);
}

// A request to the matrix unit that names where its weights are staged does two things: it loads
// them, and it multiplies. Either can be needed without the other.
void Closing::visitRequest(const ir::Operation& operation)
{
    if (operation.operands.size() < 4) { // it names no such place
        needOperands(operation);
        return;
    }
    const ir::ValueId weights = operation.operands[2];
    if (m_set.needsContents(operation.operands[0])) {
        needValue(operation.operands[1]);
        needContents(weights);
    }
    if (m_set.needsContents(weights)) {
        needContents(operation.operands[3]);
    }
}

} // namespace

void NeededSet::close(const ir::Program& program)
{
    Closing(program, *this, m_values, m_contents).run();
}

NeededSet NeededSet::of(const ir::Program& program)
{
    NeededSet set(program);
    set.close(program);
    return set;
}

NeededSet NeededSet::ofContents(const ir::Program& program, ir::ValueId ref)
{
    NeededSet set(program);
    set.m_contents[static_cast<std::size_t>(set.root(ref).index)] = true;
    set.close(program);
    return set;
}

} // namespace pallascope::machine
