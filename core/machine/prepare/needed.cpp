#include "core/machine/needed.h"

#include <algorithm>
#include <span>

namespace pallascope::machine {

using ir::OpCode;

namespace {

bool isView(const ir::Operation& operation)
{
    return ir::opEntry(operation.code).kind == ir::OpKind::View;
}

// From the last operation to the first, each before what is within it: what is needed is found
// in the order in which it is asked for.
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
    // An output and the input that it aliases, a block ref and the array that it is a window of
    // share contents.
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
    if (isView(operation)
        || (ir::storesInto(operation.code) && needsContents(operation.operands[0]))) {
        return true;
    }
    return std::any_of(operation.results.begin(), operation.results.end(),
                       [&](ir::ValueId value) { return needs(value); });
}

void NeededSet::close(const ir::Program& program)
{
    bool changed = true;
    const auto needValue = [&](ir::ValueId value) {
        const auto i = static_cast<std::size_t>(value.index);
        if (!m_values[i] && !program.value(value).literal && !program.type(value).isRef()) {
            m_values[i] = changed = true;
        }
    };
    const auto needContents = [&](ir::ValueId ref) {
        const auto memory = static_cast<std::size_t>(root(ref).index);
        if (!m_contents[memory]) {
            m_contents[memory] = changed = true;
        }
    };
    const auto needPairs = [&](std::span<const ir::ValueId> wanted,
                               std::span<const ir::ValueId> from) {
        for (std::size_t i = 0; i < std::min(wanted.size(), from.size()); ++i) {
            if (needs(wanted[i])) {
                needValue(from[i]);
            }
        }
    };
    const auto visit = [&](const ir::Operation& operation) {
        switch (operation.code) {
        case OpCode::Cond:
            needValue(operation.operands[0]);
            for (const ir::Region& branch : operation.regions) {
                needPairs(operation.results, branch.results);
            }
            return;
        case OpCode::Scan: { // the body's arguments hold what is carried, and then the results
            const ir::Region& body = operation.regions[0];
            const auto carried = std::span<const ir::ValueId>(body.arguments).subspan(1);
            needPairs(operation.results, carried);
            needPairs(carried, operation.operands);
            needPairs(carried, body.results);
            return;
        }
        case OpCode::While: { // the condition's arguments hold it
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
                std::for_each(region.results.begin(), region.results.end(), needValue);
                for (const ir::Operation& step : region.operations) { // a map runs as a whole
                    std::for_each(step.results.begin(), step.results.end(), needValue);
                }
            }
            for (const ir::ValueId operand : operation.operands) { // dynamic extents; refs are none
                needValue(operand);
            }
            return;
        case OpCode::RunScoped:
        case OpCode::Fusion:
            needPairs(operation.results, operation.regions[0].results);
            return;
        case OpCode::Get:
        case OpCode::Swap: {
            // Slices are always needed; what is loaded or stored only when its memory is.
            const std::size_t fixed = operation.code == OpCode::Get ? 1 : 2;
            std::for_each(operation.operands.begin() + static_cast<std::ptrdiff_t>(fixed),
                          operation.operands.end(), needValue);
            if (needs(operation.results[0])) {
                needContents(operation.operands[0]);
            }
            if (operation.code == OpCode::Swap && needsContents(operation.operands[0])) {
                needValue(operation.operands[1]);
            }
            return;
        }
        case OpCode::MaskedLoad:
        case OpCode::MaskedSwap:
            if (needs(operation.results[0])) {
                needContents(operation.operands[0]);
            }
            if (needs(operation)) {
                std::for_each(operation.operands.begin() + 1, operation.operands.end(), needValue);
            }
            return;
        case OpCode::LoadGather:
        case OpCode::StoreScatter:
        case OpCode::AddupdateScatter: {
            // Lists are always needed, as slices are.
            const bool stores = ir::storesInto(operation.code);
            std::for_each(operation.operands.begin() + (stores ? 2 : 1), operation.operands.end(),
                          needValue);
            if (stores && needsContents(operation.operands[0])) {
                needValue(operation.operands[1]);
            }
            if (!stores && needs(operation.results[0])) {
                needContents(operation.operands[0]);
            }
            return;
        }
        case OpCode::MatmulPop:
        case OpCode::MatmulPopFifo:
            if (needs(operation.results[0])) {
                needContents(operation.operands[0]);
            }
            return;
        case OpCode::MatmulPushRhs:
            if (needsContents(operation.operands[0])) {
                needValue(operation.operands[1]);
            }
            return;
        case OpCode::MatmulAccLhs:
        case OpCode::MatmulLhsFifo:
            if (needsContents(operation.operands[0])) {
                needValue(operation.operands[1]);
                needContents(operation.operands[2]);
            }
            if (operation.operands.size() > 3 && needsContents(operation.operands[2])) {
                needContents(operation.operands[3]);
            }
            return;
        case OpCode::DmaStart:
            if (needsContents(operation.operands[1])) {
                needContents(operation.operands[0]);
            }
            if (std::get<ir::DmaParams>(operation.params).rows != ir::CopyRows::All
                && program.type(operation.operands.back()).isRef()) {
                needContents(operation.operands.back()); // which rows are copied
            }
            std::for_each(operation.operands.begin(), operation.operands.end(), needValue);
            return;
        case OpCode::SemaphoreSignal: // amounts, starts and sizes; refs are no values
        case OpCode::SemaphoreWait:
        case OpCode::Delay:
        case OpCode::RefAt:
            std::for_each(operation.operands.begin(), operation.operands.end(), needValue);
            return;
        default:
            if (needs(operation)) {
                std::for_each(operation.operands.begin(), operation.operands.end(), needValue);
            }
        }
    };
    while (changed) {
        changed = false;
        forEachBackwards(program.body, visit);
    }
}

NeededSet NeededSet::of(const ir::Program& program)
{
    NeededSet set(program);
    set.close(program);
    return set;
}

} // namespace pallascope::machine
