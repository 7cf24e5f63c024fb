#include "core/cost/inside_shares.h"

#include "core/ir/pipeline_facts.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pallascope::cost {

namespace {

using ir::OpCode;
using Shares = std::vector<double>; // of each axis

class Insides
{
public:
    explicit Insides(const ir::Program& program)
        : m_program(program)
    {}

    void note(const ir::Operation& pipeline)
    {
        const auto& params = std::get<ir::PipelineParams>(pipeline.params);
        for (std::size_t i = 0; i < params.specs.size();
             ++i) { // bounds of the grid come after them
            const ir::OperandFacts facts = ir::operandFacts(m_program, pipeline, i);
            const Shape& array = m_program.type(pipeline.operands[i]).shape;
            Shares shares;
            for (std::size_t axis = 0; axis < facts.dims.size(); ++axis) {
                const ir::BlockDim& dim = facts.dims[axis];
                if (dim.kind == ir::BlockKind::Squeezed) {
                    continue;
                }
                const auto covered = static_cast<double>(facts.blockCounts[axis] * dim.size);
                shares.push_back(ir::overhangs(dim, array[axis])
                                     ? static_cast<double>(array[axis]) / covered
                                     : 1);
            }
            keep(pipeline.regions[0].arguments[i], std::move(shares));
        }
        forEachOperation(pipeline.regions[0],
                         [this](const ir::Operation& operation) { follow(operation); });
    }

    std::map<std::int32_t, double> found;

private:
    void keep(ir::ValueId value, Shares shares)
    {
        const bool isLess =
            std::any_of(shares.begin(), shares.end(), [](double share) { return share < 1; });
        if (isLess && shares.size() == m_program.type(value).shape.rank()) {
            m_shares[value] = std::move(shares);
        }
    }

    [[nodiscard]] Shares of(ir::ValueId value) const
    {
        const auto known = m_shares.find(value);
        return known != m_shares.end() ? known->second
                                       : Shares(m_program.type(value).shape.rank(), 1);
    }

    void follow(const ir::Operation& operation)
    {
        if (operation.results.size() != 1 || operation.operands.empty()) {
            return;
        }
        const ir::ValueId result = operation.results[0];
        if (operation.code == OpCode::Get) {
            keep(result, loaded(operation));
        } else if (operation.code == OpCode::Transpose) {
            const Shares from = of(operation.operands[0]);
            Shares shares;
            for (const std::int32_t axis :
                 std::get<ir::PermutationParams>(operation.params).permutation) {
                shares.push_back(from[static_cast<std::size_t>(axis)]);
            }
            keep(result, std::move(shares));
        } else if (operation.code == OpCode::BroadcastInDim) {
            keep(result, broadcast(operation));
        } else if (operation.code == OpCode::DotGeneral) {
            keep(result, multiplied(operation));
        } else {
            keep(result, common(operation));
        }
    }

    // Of a load: what it takes whole; of a part of an axis nothing is known.
    [[nodiscard]] Shares loaded(const ir::Operation& load) const
    {
        const Shares block = of(load.operands[0]);
        const auto* indexer = std::get_if<ir::IndexerParams>(&load.params);
        if (indexer == nullptr) {
            return block;
        }
        const Shape& shape = m_program.type(load.operands[0]).shape;
        Shares shares;
        for (std::size_t axis = 0; axis < indexer->entries.size(); ++axis) {
            const ir::IndexEntry& entry = indexer->entries[axis];
            if (entry.isSlice) {
                const bool isWhole = entry.operand < 0 && entry.size == shape[axis];
                shares.push_back(isWhole ? block[axis] : 1);
            }
        }
        return shares;
    }

    [[nodiscard]] Shares broadcast(const ir::Operation& operation) const
    {
        const auto& params = std::get<ir::BroadcastParams>(operation.params);
        const Shares from = of(operation.operands[0]);
        const Shape& shape = m_program.type(operation.operands[0]).shape;
        Shares shares(params.shape.rank(), 1);
        for (std::size_t axis = 0; axis < from.size(); ++axis) {
            const auto to = static_cast<std::size_t>(params.dimensions[axis]);
            shares[to] = shape[axis] == params.shape[to] ? from[axis] : 1;
        }
        return shares;
    }

    // Of operands that have the shape of the result.
    [[nodiscard]] Shares common(const ir::Operation& operation) const
    {
        const ir::OpKind kind = ir::opEntry(operation.code).kind;
        const Shape& shape = m_program.type(operation.results[0]).shape;
        Shares shares(shape.rank(), 1);
        if (kind != ir::OpKind::Elementwise && kind != ir::OpKind::Transcendental
            && kind != ir::OpKind::Comparison && kind != ir::OpKind::Convert
            && kind != ir::OpKind::Select) {
            return shares;
        }
        for (const ir::ValueId operand : operation.operands) {
            if (!m_program.type(operand).isRef() && m_program.type(operand).shape == shape) {
                const Shares from = of(operand);
                for (std::size_t axis = 0; axis < shares.size(); ++axis) {
                    shares[axis] = std::min(shares[axis], from[axis]);
                }
            }
        }
        return shares;
    }

    // Notes the share of a product. Returns those of its result.
    [[nodiscard]] Shares multiplied(const ir::Operation& product)
    {
        const auto& dims = std::get<ir::DotParams>(product.params);
        const Shares lhs = of(product.operands[0]), rhs = of(product.operands[1]);
        const auto at = [](const Shares& shares, std::int32_t axis) {
            return shares[static_cast<std::size_t>(axis)];
        };
        double inside = 1;
        Shares shares;
        for (std::size_t i = 0; i < dims.lhsBatch.size(); ++i) {
            shares.push_back(std::min(at(lhs, dims.lhsBatch[i]), at(rhs, dims.rhsBatch[i])));
        }
        for (std::size_t i = 0; i < dims.lhsContracting.size(); ++i) {
            inside *= std::min(at(lhs, dims.lhsContracting[i]), at(rhs, dims.rhsContracting[i]));
        }
        const auto addFree = [&shares](const Shares& of, const std::vector<std::int32_t>& batch,
                                       const std::vector<std::int32_t>& contracting) {
            for (std::size_t axis = 0; axis < of.size(); ++axis) {
                const auto number = static_cast<std::int32_t>(axis);
                if (std::ranges::count(batch, number) + std::ranges::count(contracting, number)
                    == 0) {
                    shares.push_back(of[axis]);
                }
            }
        };
        addFree(lhs, dims.lhsBatch, dims.lhsContracting);
        addFree(rhs, dims.rhsBatch, dims.rhsContracting);
        for (const double share : shares) {
            inside *= share;
        }
        if (inside < 1) {
            found[product.id] = inside;
        }
        return shares;
    }

    const ir::Program& m_program;
    std::map<ir::ValueId, Shares> m_shares; // of blocks and values; others are inside as a whole
};

} // namespace

std::map<std::int32_t, double> insideShares(const ir::Program& program)
{
    Insides insides(program);
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        insides.note(*pipeline);
    }
    return std::move(insides.found);
}

} // namespace pallascope::cost
