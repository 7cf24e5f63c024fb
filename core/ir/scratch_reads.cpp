#include "core/ir/scratch_reads.h"

#include "core/ir/infer.h"
#include "core/ir/makers.h"
#include "core/ir/operand_roles.h"

#include <algorithm>
#include <set>
#include <variant>

namespace pallascope::ir {

namespace {

class ReadFinder
{
public:
    explicit ReadFinder(const Program& program)
        : m_program(program)
        , m_makers(program)
    {}

    [[nodiscard]] std::vector<ScratchRead> find() &&
    {
        forEachOperation(m_program.body, [this](const Operation& operation) {
            switch (opEntry(operation.code).kind) {
            case OpKind::Memory:
                addLoad(operation, operation, false);
                break;
            case OpKind::Dot:
                addProduct(operation);
                break;
            default:
                break;
            }
        });
        return std::move(m_found);
    }

private:
    // Whether its result is its operands, each element by itself, or moved.
    [[nodiscard]] static bool passesOn(const Operation& operation)
    {
        switch (opEntry(operation.code).kind) {
        case OpKind::Elementwise:
        case OpKind::Transcendental:
        case OpKind::Convert:
        case OpKind::Select:
        case OpKind::Layout:
        case OpKind::Rearrange:
        case OpKind::Crosslane:
            return true;
        default:
            return false;
        }
    }

    void addProduct(const Operation& product)
    {
        constexpr std::size_t kMost = 1000; // operations behind it that are looked at
        std::vector<const Operation*> open{&product};
        std::set<const Operation*> seen;
        while (!open.empty() && seen.size() < kMost) {
            const Operation* const next = open.back();
            open.pop_back();
            for (const ValueId operand : next->operands) {
                const Operation* const maker = m_makers.of(operand);
                if (maker == nullptr || !seen.insert(maker).second) {
                    continue;
                }
                if (opEntry(maker->code).kind == OpKind::Memory) {
                    addLoad(*maker, product, true);
                } else if (passesOn(*maker)) {
                    open.push_back(maker);
                }
            }
        }
    }

    // What `load` reads, `reader` reads.
    void addLoad(const Operation& load, const Operation& reader, bool isProduct)
    {
        for (std::size_t i = 0; i < load.operands.size(); ++i) {
            if (roleOf(load, i) != OperandRole::Read) { // a store has no reader
                continue;
            }
            ScratchRead read{load.operands[i], reader.id, isProduct, {}, false};
            const auto* own = i == 0 ? std::get_if<IndexerParams>(&load.params) : nullptr;
            place(read, own);
            const std::optional<MemorySpace> space = m_program.type(read.scratch).space;
            const bool isKnown =
                std::any_of(m_found.rbegin(), m_found.rend(), [&](const auto& one) {
                    return one.operation == reader.id && one.scratch == read.scratch
                           && one.index == read.index && one.isWhole == read.isWhole;
                });
            if (space && !isFar(*space) && !isKnown) {
                m_found.push_back(read);
            }
        }
    }

    // Goes from the ref that is loaded to the memory itself, and then finds which index of the
    // leading axis the views and the load choose.
    void place(ScratchRead& read, const IndexerParams* own) const
    {
        std::vector<const IndexerParams*> chain; // the last one comes first
        bool isIndexed = true;                   // else by other views too
        if (own != nullptr) {
            chain.push_back(own);
        }
        for (const Operation* view = m_makers.of(read.scratch);
             view != nullptr && !view->operands.empty(); view = m_makers.of(read.scratch)) {
            const auto* indexer = std::get_if<IndexerParams>(&view->params);
            isIndexed = isIndexed && view->code == OpCode::RefAt && indexer != nullptr;
            chain.push_back(indexer);
            read.scratch = view->operands[0];
        }
        const Shape& shape = m_program.type(read.scratch).shape;
        read.isWhole = isIndexed && shape.rank() == 0;
        if (isIndexed && shape.rank() > 0) {
            placeLeading(read, chain, shape[0]);
        }
    }

    static void placeLeading(ScratchRead& read, const std::vector<const IndexerParams*>& chain,
                             Extent extent)
    {
        std::size_t axis = 0; // of the view so far
        for (auto indexer = chain.rbegin(); indexer != chain.rend(); ++indexer) {
            const std::vector<IndexEntry>& entries = (*indexer)->entries;
            if (axis >= entries.size()) {
                return;
            }
            const IndexEntry& entry = entries[axis];
            if (!entry.isSlice || entry.size != extent) {
                const bool isNumber = entry.operand < 0 && (!entry.isSlice || entry.size == 1);
                read.index = isNumber ? std::optional(entry.start) : std::nullopt;
                return;
            }
            axis = static_cast<std::size_t>(
                std::count_if(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(axis),
                              [](const IndexEntry& one) { return one.isSlice; }));
        }
        read.isWhole = true;
    }

    const Program& m_program;
    Makers m_makers;
    std::vector<ScratchRead> m_found;
};

} // namespace

std::vector<ScratchRead> scratchReadsOf(const Program& program)
{
    return ReadFinder(program).find();
}

} // namespace pallascope::ir
