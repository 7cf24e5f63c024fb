#include "core/machine/prepare/last_use.h"

#include <map>
#include <set>

namespace pallascope::machine {

namespace {

class LastUses
{
public:
    explicit LastUses(const ir::Program& program)
        : m_program(program)
    {}

    void passOver(const Evaluation& evaluation, const ir::Operation& operation,
                  std::uint32_t& dying)
    {
        const auto& operands = operation.operands;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            if (m_defined.contains(operands[i])) {
                const auto before = m_last.find(operands[i]);
                const bool again =
                    before != m_last.end() && before->second.evaluation == &evaluation;
                m_last[operands[i]] = {&evaluation, &dying,
                                       again || i >= kDyingBits ? 0U : 1U << i};
            }
        }
        for (const ir::ValueId result : operation.results) {
            const ir::Type& type = m_program.type(result);
            if (!type.isRef() && !type.isScalar()) { // those have no storage
                m_defined.insert(result);
            }
        }
    }

    // Everything that a control operation or a region inside of it uses or yields stays alive.
    void keepUsedBy(const ir::Operation& control)
    {
        keep(control);
        for (const ir::Region& inner : control.regions) {
            forEachOperation(inner, [this](const ir::Operation& operation) { keep(operation); });
        }
    }

    void mark(const std::vector<ir::ValueId>& yielded)
    {
        for (const ir::ValueId result : yielded) {
            m_last.erase(result);
        }
        for (auto& [value, use] : m_last) {
            *use.dying |= use.bit;
        }
    }

private:
    struct Use
    {
        const Evaluation* evaluation;
        std::uint32_t* dying;
        std::uint32_t bit;
    };

    void keep(const ir::Operation& operation)
    {
        forget(operation.operands);
        for (const ir::Region& inner : operation.regions) {
            forget(inner.results);
        }
    }

    void forget(const std::vector<ir::ValueId>& values)
    {
        for (const ir::ValueId value : values) {
            m_last.erase(value);
            m_defined.erase(value);
        }
    }

    const ir::Program& m_program;
    std::map<ir::ValueId, Use> m_last;
    std::set<ir::ValueId> m_defined;
};

} // namespace

void markLastUses(const ir::Program& program, const ir::Region& region, BlockPlan& block)
{
    LastUses uses(program);
    for (PlanItem& item : block.items) {
        for (Evaluation& evaluation : item.evaluate) {
            if (evaluation.product != nullptr) {
                uses.passOver(evaluation, *evaluation.product, evaluation.productDying);
            }
            uses.passOver(evaluation, *evaluation.operation, evaluation.dying);
        }
        if (item.control != nullptr) {
            uses.keepUsedBy(*item.control);
        }
    }
    uses.mark(region.results);
}

} // namespace pallascope::machine
