// Follows which values and refs of an unrolled loop stay the same from round to round.
#include "core/cost/unrolled.h"

#include "core/ir/makers.h"

#include <algorithm>
#include <set>

namespace pallascope::cost {

using ir::OpCode;
using ir::OpKind;

namespace {

class Rounds
{
public:
    Rounds(const ir::Program& program, const ir::Operation& scan)
        : m_makers(program)
        , m_share(1.0 / static_cast<double>(std::get<ir::ScanParams>(scan.params).length))
    {
        const ir::Region& body = scan.regions[0];
        m_differs.insert(body.arguments.begin(), body.arguments.end());
        forEachOperation(body, [&](const ir::Operation& operation) {
            for (std::size_t i = 0; i < operation.operands.size(); ++i) {
                if (ir::writes(operation, i)) {
                    m_stored.insert(m_makers.rootOf(operation.operands[i]));
                }
            }
            if (ir::opEntry(operation.code).kind == OpKind::Sync) {
                for (const ir::ValueId operand : operation.operands) {
                    m_copied.insert(m_makers.rootOf(operand));
                }
            }
        });
        visit(body);
    }

    std::map<std::int32_t, double> shares;

private:
    void visit(const ir::Region& region)
    {
        for (const ir::Operation& operation : region.operations) {
            note(operation);
            for (const ir::Region& inner : operation.regions) {
                m_differs.insert(inner.arguments.begin(), inner.arguments.end());
                visit(inner);
            }
        }
    }

    void note(const ir::Operation& operation)
    {
        const bool same =
            std::none_of(operation.operands.begin(), operation.operands.end(),
                         [&](ir::ValueId value) { return m_differs.contains(value); });
        const OpKind kind = ir::opEntry(operation.code).kind;
        const bool isPlain = kind != OpKind::Control && kind != OpKind::Sync
                             && kind != OpKind::Request && kind != OpKind::Hint;
        bool isOnce = isPlain && same;
        bool yieldsSame = isOnce;
        if (kind == OpKind::Memory) {
            // Everything that decides which elements it reaches is the same in every round.
            const bool stores = ir::storesInto(operation.code);
            const bool isSamePlace = std::none_of(
                operation.operands.begin() + (stores ? 2 : 1), operation.operands.end(),
                [&](ir::ValueId value) { return m_differs.contains(value); });
            const ir::ValueId memory = m_makers.rootOf(operation.operands[0]);
            isOnce = isSamePlace && !m_differs.contains(operation.operands[0])
                     && !m_copied.contains(memory);
            yieldsSame = isOnce && !m_stored.contains(memory);
        }
        if (isOnce) {
            shares[operation.id] = m_share;
        }
        if (!yieldsSame) {
            m_differs.insert(operation.results.begin(), operation.results.end());
        }
    }

    ir::Makers m_makers;
    double m_share;
    std::set<ir::ValueId> m_differs; // values that differ from round to round
    std::set<ir::ValueId> m_stored;  // refs that some round stores to
    std::set<ir::ValueId> m_copied;  // copied refs; copies do not see registers
};

} // namespace

std::map<std::int32_t, double> unrolledShares(const ir::Program& program, const ir::Operation& scan)
{
    return Rounds(program, scan).shares;
}

bool isUnrolled(const ir::Operation& operation)
{
    const auto* scan = std::get_if<ir::ScanParams>(&operation.params);
    return operation.code == OpCode::Scan && scan != nullptr && scan->length > 1
           && scan->unroll >= scan->length;
}

} // namespace pallascope::cost
