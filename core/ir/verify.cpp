#include "core/ir/verify.h"

#include "core/ir/infer.h"
#include "core/ir/mesh.h"
#include "core/ir/pipeline_facts.h"
#include "core/ir/verifier.h"

#include <algorithm>
#include <set>

namespace pallascope::ir {

Status Verifier::region(const Region& region, std::size_t gridRank)
{
    const std::set<ValueId> outside = m_defined; // what a region defines is not visible after it
    m_defined.insert(region.arguments.begin(), region.arguments.end());
    for (const Operation& op : region.operations) {
        if (Status status = operation(op, gridRank); !status) {
            return status;
        }
    }
    for (const ValueId result : region.results) {
        if (!m_program.value(result).literal && !m_defined.contains(result)) {
            return userError("A region of " + m_program.name
                             + " returns a value that it does not define.");
        }
    }
    m_defined = outside;
    return Done{};
}

Status Verifier::operation(const Operation& operation, std::size_t gridRank)
{
    for (const ValueId operand : operation.operands) {
        const bool exists =
            operand.index >= 0 && static_cast<std::size_t>(operand.index) < m_program.values.size();
        if (!exists || (!m_program.value(operand).literal && !m_defined.contains(operand))) {
            return error(operation, std::string(opName(operation.code))
                                        + " uses a value before it is defined.");
        }
    }
    if (Status status = place(operation, gridRank); !status) {
        return status;
    }
    if (Status status = ragged(operation); !status) {
        return status;
    }
    if (Status status = near(operation); !status) {
        return status;
    }
    if (opEntry(operation.code).kind == OpKind::Control) {
        if (Status status = control(operation, gridRank); !status) {
            return status;
        }
    } else if (!operation.regions.empty()) {
        return error(operation, std::string(opName(operation.code))
                                    + " has operations within it; it takes none.");
    }
    const Result<std::vector<Type>> types = inferTypes(m_program, operation);
    if (!types) {
        return error(operation, types.error().message);
    }
    if (types->size() != operation.results.size()) {
        return error(operation, std::string(opName(operation.code))
                                    + " has another number of results than it should.");
    }
    for (std::size_t i = 0; i < types->size(); ++i) {
        if ((*types)[i] != m_program.type(operation.results[i])) {
            return error(operation, std::string(opName(operation.code)) + " yields "
                                        + toString((*types)[i]) + ", but its result is typed "
                                        + toString(m_program.type(operation.results[i])) + ".");
        }
        m_defined.insert(operation.results[i]);
    }
    return Done{};
}

// Checks that a grid axis, core axis or mesh axis that an operation asks about exists where it
// stands.
Status Verifier::place(const Operation& operation, std::size_t gridRank)
{
    if (operation.code == OpCode::ProgramId || operation.code == OpCode::NumPrograms) {
        const auto* axis = std::get_if<AxisParams>(&operation.params);
        if (axis == nullptr || axis->axis < 0 || static_cast<std::size_t>(axis->axis) >= gridRank) {
            return error(operation, std::string(opName(operation.code))
                                        + " asks for an axis that the grid does not have.");
        }
    }
    if (operation.code == OpCode::AxisIndex) {
        const auto* axis = std::get_if<TextParams>(&operation.params);
        const bool known =
            axis != nullptr
            && ((!m_coreAxis.empty() && axis->text == m_coreAxis)
                || axisNamed(m_program.mesh, axis->text) || axisNamed(m_blockAxes, axis->text));
        if (!known) {
            return error(operation, "axis_index asks for an axis that neither the mesh of devices "
                                    "nor a core_map around it has.");
        }
    }
    if (const auto* load = std::get_if<LoadCopyParams>(&operation.params); load != nullptr) {
        for (const std::string& name : load->along) {
            if (!axisNamed(m_blockAxes, name)) {
                return error(operation, "copy_gmem_to_smem serves blocks along \"" + name
                                            + "\", an axis that no core_map around it has.");
            }
        }
    }
    return Done{};
}

// Refs with dynamic extents may only be copied, because the type of a value is static.
Status Verifier::ragged(const Operation& operation)
{
    const auto isRagged = [&](ValueId ref) { return m_ragged.contains(ref); };
    const bool any = std::any_of(operation.operands.begin(), operation.operands.end(), isRagged);
    if (const auto* at = std::get_if<IndexerParams>(&operation.params);
        operation.code == OpCode::RefAt && at != nullptr && operation.results.size() == 1
        && (any || std::any_of(at->entries.begin(), at->entries.end(), [](const IndexEntry& entry) {
                return entry.sizeOperand >= 0;
            }))) {
        m_ragged.insert(operation.results[0]);
    } else if (any && operation.code != OpCode::DmaStart && operation.code != OpCode::DmaWait) {
        return error(operation, std::string(opName(operation.code))
                                    + " takes a slice of dynamic size; copies alone can.");
    }
    const auto* copy = std::get_if<DmaParams>(&operation.params);
    const bool listed = copy != nullptr && copy->rows != CopyRows::All;
    if (listed && any) {
        return error(
            operation,
            "dma_start takes listed rows of a slice of dynamic size; use a slice of a known size.");
    }
    const auto shapeOf = [&](std::size_t operand) {
        std::vector<Extent> extents = m_program.type(operation.operands[operand]).shape.extents();
        if (listed && !extents.empty()) {
            extents[0] = 0; // the list gives this extent, and inferTypes has checked it
        }
        return extents;
    };
    if (operation.code == OpCode::DmaStart && !any && operation.operands.size() > 1
        && shapeOf(0) != shapeOf(1)) {
        return error(operation, "dma_start copies "
                                    + toString(m_program.type(operation.operands[0])) + " to "
                                    + toString(m_program.type(operation.operands[1]))
                                    + "; expected two refs of one shape.");
    }
    return Done{};
}

Status Verifier::sameTypes(const Operation& operation, const std::vector<ValueId>& a,
                           const std::vector<ValueId>& b, const std::string& what) const
{
    bool same = a.size() == b.size();
    for (std::size_t i = 0; same && i < a.size(); ++i) {
        same = m_program.type(a[i]) == m_program.type(b[i]);
    }
    return same ? Status(Done{})
                : Status(error(operation, std::string(opName(operation.code)) + " " + what + "."));
}

// Only a fusion, or a core_map whose agents access HBM directly, may load from HBM and store to it;
// everything else copies.
Status Verifier::near(const Operation& operation) const
{
    const bool isFusion = m_whole == OpCode::Fusion;
    const bool isFlow = operation.code == OpCode::Cond || operation.code == OpCode::Scan
                        || operation.code == OpCode::While;
    if (isFusion && endsSegment(operation.code) && !isFlow) {
        return error(operation,
                     "a fusion holds " + std::string(opName(operation.code))
                         + "; expected operations on values, loads, stores, branches and loops.");
    }
    if (opEntry(operation.code).kind != OpKind::Memory || operation.operands.empty()) {
        return Done{};
    }
    const Type& ref = m_program.type(operation.operands[0]);
    const bool plain = operation.code == OpCode::Get || operation.code == OpCode::Swap;
    const bool mayBeFar = m_directAccess || (isFusion && plain);
    if (ref.isRef() && isFar(*ref.space) && !mayBeFar) {
        return error(operation, std::string(opName(operation.code)) + " reaches " + toString(ref)
                                    + kNotLoadable);
    }
    return Done{};
}

Status verify(const Program& program)
{
    return Verifier(program).run();
}

} // namespace pallascope::ir
