// What one operation demands of the units of a chip. Its methods are in operation.cpp (values),
// operation_memory.cpp (loads, stores, copies) and operation_products.cpp (matrix units).
#pragma once

#include "core/cost/matrix_run.h"
#include "core/cost/register_counts.h"
#include "core/cost/segment.h"

#include <string>
#include <string_view>

namespace pallascope::cost {

class CostModel
{
public:
    // They outlive it.
    CostModel(const ir::Program& program, const ir::Operation& operation, const chip::Chip& chip,
              Runner runner, const Variation* variation);

    [[nodiscard]] Result<OperationCost> run();

private:
    [[nodiscard]] const ir::Type& operand(std::size_t i) const
    {
        return m_program.type(m_operation.operands[i]);
    }

    [[nodiscard]] const ir::Type& result() const { return m_program.type(m_operation.results[0]); }

    [[nodiscard]] Error error(const std::string& sentence) const
    {
        return userError(m_program.where(m_operation.location) + ": " + sentence);
    }

    [[nodiscard]] Status demand(UnitKind kind, double instructions);
    [[nodiscard]] Status demand(const chip::Unit& unit, double cycles);
    // How many cycles a chain of so many instructions of this kind takes, each of which needs the
    // result of the one before.
    [[nodiscard]] double chained(UnitKind kind, double instructions) const;
    // How many cycles one register's instructions of this operation take, if those of the next one
    // wait for them.
    [[nodiscard]] double serial(std::string_view name) const;
    // The operation takes at least so long, where instructions are issued in order.
    void takesAtLeast(double cycles);
    // How many vector instructions each register of the result takes.
    [[nodiscard]] std::int64_t passes() const;
    // What the chip file lists for the operation, the most special entry first: by the compiler,
    // conversions by their dtypes. Null if there is none.
    using Entry = decltype(chip::Chip::operations)::value_type; // by name
    [[nodiscard]] const Entry* listed() const;
    // Adds the instructions of an elementwise operation on this many registers.
    [[nodiscard]] Status instructions(UnitKind kind, std::int64_t registers);
    [[nodiscard]] Status vectorWork(UnitKind kind, ir::ValueId value, bool countsFlops);
    [[nodiscard]] DType workDType() const;
    [[nodiscard]] Status crosslane();
    [[nodiscard]] Status sort();
    [[nodiscard]] Status reshape();
    [[nodiscard]] Status copyStart();
    [[nodiscard]] Status copyByThreads();
    [[nodiscard]] Status reduction();
    [[nodiscard]] Status acrossThreads(std::int64_t left);
    [[nodiscard]] Status memory();
    [[nodiscard]] Status relaid(double registers);
    [[nodiscard]] double tensorShare(bool stores) const;
    [[nodiscard]] Status dot();
    [[nodiscard]] double productWait() const;
    [[nodiscard]] Status tensorProduct();
    void awaitSpilled(std::int64_t instructions);
    [[nodiscard]] Status fusedWork(std::int64_t elements, std::int64_t k);
    // Those of the product's FLOPs that are of elements inside of arrays.
    [[nodiscard]] Flops inside(Flops all) const;

    struct WarpGrid
    {
        std::int64_t rows = 1, columns = 1; // numbers of warps
    };

    [[nodiscard]] bool isMma() const;
    [[nodiscard]] WarpGrid warpGrid(std::int64_t m, std::int64_t n) const;
    [[nodiscard]] Status operandReads(std::int64_t m, std::int64_t n);
    [[nodiscard]] Status matrixWork(std::int64_t batch, std::int64_t m, std::int64_t n,
                                    std::int64_t k, std::int64_t instances);

    const ir::Program& m_program;
    const ir::Operation& m_operation;
    const chip::Chip& m_chip;
    double m_share;   // share of the work that is done here
    bool m_isInOrder; // a GPU's kernel, whose agents issue their instructions in order
    Runner m_runner;
    RegisterCounts m_registers;
    OperationCost m_cost;
};

} // namespace pallascope::cost
