#include "core/cost/spilled_sums.h"

#include "core/base/shape.h"
#include "core/cost/block_grid.h"
#include "core/cost/live_registers.h"
#include "core/cost/occupancy.h"

#include <algorithm>
#include <map>

namespace pallascope::cost {

namespace {

using ir::OpCode;

class Accumulators
{
public:
    explicit Accumulators(const ir::Program& program)
        : m_program(program)
    {}

    void visit(const ir::Region& region, Bytes existing, int loops)
    {
        m_most = std::max(m_most, existing);
        for (const ir::Operation& operation : region.operations) {
            note(operation, loops);
            const bool isLoop = operation.code == OpCode::Scan || operation.code == OpCode::While;
            for (const ir::Region& inner : operation.regions) {
                visit(inner, existing + allocated(operation, inner, loops),
                      loops + (isLoop ? 1 : 0));
            }
        }
    }

    // Of all that exist at a time.
    [[nodiscard]] Bytes most() const { return m_most; }

    // The most registers that an agent asks for in place of fewer; 0 if none does.
    [[nodiscard]] std::int64_t asked() const { return m_asked; }

    // Those to which a loop adds products, and their views.
    [[nodiscard]] const std::set<ir::ValueId>& outlasting() const { return m_outlasting; }

private:
    Bytes allocated(const ir::Operation& operation, const ir::Region& inner, int loops)
    {
        Bytes all;
        if (operation.code == OpCode::RunScoped) {
            for (const ir::ValueId argument : inner.arguments) {
                const ir::Type& type = m_program.type(argument);
                if (type.space == ir::MemorySpace::Accumulator) {
                    m_loopsAround[argument] = loops;
                    all += packedBytes(type.dtype, type.shape.elements());
                }
            }
        }
        return all;
    }

    void note(const ir::Operation& operation, int loops)
    {
        if (operation.code == OpCode::SetMaxRegisters) {
            const auto& asked = std::get<ir::RegistersParams>(operation.params);
            m_asked = std::max<std::int64_t>(m_asked, asked.increase ? asked.n : 0);
        }
        const bool isView = ir::opEntry(operation.code).kind == ir::OpKind::View;
        if ((!isView && operation.code != OpCode::Wgmma) || operation.operands.empty()) {
            return;
        }
        const auto known = m_loopsAround.find(operation.operands[0]);
        if (known == m_loopsAround.end()) {
            return;
        }
        if (isView) {
            m_loopsAround[operation.results[0]] = known->second;
        } else if (known->second < loops) {
            m_outlasting.insert(operation.operands[0]);
        }
    }

    const ir::Program& m_program;
    Bytes m_most;
    std::int64_t m_asked = 0;
    std::map<ir::ValueId, int> m_loopsAround; // of an accumulator or a view: where it is allocated
    std::set<ir::ValueId> m_outlasting;
};

} // namespace

std::set<ir::ValueId> spilledSums(const ir::Program& program, const ir::Operation& coreMap,
                                  const chip::Chip& chip)
{
    const auto& mesh = std::get<ir::CoreMapParams>(coreMap.params);
    if (!chip.multiprocessor) {
        return {};
    }
    Accumulators found(program);
    found.visit(coreMap.regions[0], Bytes(0), 0);
    const std::int64_t needed = registersFor(found.most(), mesh);
    const std::int64_t most =
        found.asked() > 0 ? found.asked() : mostRegisters(threadsOf(mesh), *chip.multiprocessor);
    return needed > most ? found.outlasting() : std::set<ir::ValueId>();
}

} // namespace pallascope::cost
