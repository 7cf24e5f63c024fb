#include "core/ir/table_facts.h"

#include "core/ir/infer.h"
#include "core/ir/makers.h"

#include <algorithm>
#include <optional>

namespace pallascope::ir {

namespace {

class Finder
{
public:
    explicit Finder(const Program& program)
        : m_program(program)
        , m_makers(program)
    {}

    [[nodiscard]] std::vector<TableFacts> find() &&
    {
        forEachOperation(m_program.body, [this](const Operation& operation) {
            if (startsCopy(operation.code)) {
                for (const ValueId end : {operation.operands[0], operation.operands[1]}) {
                    addViews(end);
                }
            } else if (operation.code == OpCode::Pipeline) {
                addMaps(operation);
            }
        });
        forEachOperation(m_program.body, [this](const Operation& operation) {
            if (storesInto(operation.code)) {
                noteStore(m_makers.rootOf(operation.operands[0]));
            }
        });
        return std::move(m_found);
    }

private:
    // The table from which a number was loaded as it is.
    [[nodiscard]] std::optional<ValueId> tableOf(ValueId number) const
    {
        const Operation* maker = m_makers.of(number);
        while (maker != nullptr && maker->code == OpCode::ConvertElementType) {
            maker = m_makers.of(maker->operands[0]);
        }
        const bool loads = maker != nullptr && maker->code == OpCode::Get
                           && m_program.type(maker->operands[0]).space == MemorySpace::Smem
                           && m_program.type(maker->results[0]).shape.rank() == 0;
        if (!loads || m_makers.of(maker->operands[0]) != nullptr) { // of a view of it
            return std::nullopt;
        }
        const Shape& shape = m_program.type(maker->operands[0]).shape;
        return shape.elements() > 1 ? std::optional(maker->operands[0]) : std::nullopt;
    }

    void add(ValueId number, const std::string& array, std::size_t axis, Extent unit)
    {
        const std::optional<ValueId> table = tableOf(number);
        const auto isKnown = [&](const TableFacts& one) { return table && one.table == *table; };
        if (table && std::none_of(m_found.begin(), m_found.end(), isKnown)) {
            m_found.push_back({*table, array, axis, unit, false});
        }
    }

    // Of a part of an array that is copied: the numbers at which its views begin.
    void addViews(ValueId end)
    {
        std::vector<const Operation*> chain;
        ValueId array = end;
        for (const Operation* view = m_makers.of(array);
             view != nullptr && view->code == OpCode::RefAt; view = m_makers.of(array)) {
            chain.push_back(view);
            array = view->operands[0];
        }
        const std::optional<MemorySpace> space = m_program.type(array).space;
        if (m_makers.of(array) != nullptr || !space || !isFar(*space)) {
            return;
        }
        std::vector<std::size_t> axes; // for each axis of the view, the axis of the array
        for (std::size_t axis = 0; axis < m_program.type(array).shape.rank(); ++axis) {
            axes.push_back(axis);
        }
        for (auto view = chain.rbegin(); view != chain.rend(); ++view) {
            const auto& entries = std::get<IndexerParams>((*view)->params).entries;
            std::vector<std::size_t> kept;
            for (std::size_t i = 0; i < entries.size(); ++i) {
                if (entries[i].operand >= 0 && entries[i].size == 1) {
                    add((*view)->operands[static_cast<std::size_t>(entries[i].operand)],
                        m_program.value(array).name, axes[i], 1);
                }
                if (entries[i].isSlice) {
                    kept.push_back(axes[i]);
                }
            }
            axes = std::move(kept);
        }
    }

    // Of the blocks of a pipeline: what their index maps yield.
    void addMaps(const Operation& pipeline)
    {
        const auto& specs = std::get<PipelineParams>(pipeline.params).specs;
        for (std::size_t i = 0; i < specs.size() && i + 1 < pipeline.regions.size(); ++i) {
            const Region& map = pipeline.regions[i + 1];
            std::size_t result = 0;
            for (std::size_t axis = 0; axis < specs[i].block.size(); ++axis) {
                const BlockDim& dim = specs[i].block[axis];
                const bool isNumbered =
                    dim.kind == BlockKind::Blocked || dim.kind == BlockKind::Squeezed;
                if (isNumbered && result < map.results.size()) {
                    add(map.results[result], specs[i].name, axis,
                        dim.kind == BlockKind::Squeezed ? 1 : dim.size);
                }
                result += dim.kind == BlockKind::BoundedSlice ? 2U : 1U;
            }
        }
    }

    void noteStore(ValueId ref)
    {
        for (TableFacts& one : m_found) {
            one.isWritten = one.isWritten || one.table == ref;
        }
    }

    const Program& m_program;
    Makers m_makers;
    std::vector<TableFacts> m_found;
};

} // namespace

std::vector<TableFacts> tablesOf(const Program& program)
{
    return Finder(program).find();
}

} // namespace pallascope::ir
