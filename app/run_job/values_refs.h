// The refs of a program that hold elements, as the Values dock offers them.
#pragma once

#include "core/ir/program.h"
#include "views/layout/run/run_view.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::app {

// Refs of one name, memory and type. A program with several kernels may have more than one; at any
// moment of an agent it is the innermost that is meant.
struct ValuesRef
{
    std::string name, memory; // memory: "VMEM"
    DType dtype = DType::F32;
    Shape shape;
    std::vector<ir::ValueId> ids;
    // For each of `ids`: the row of Info::operands that it is or is cut by; -1: none.
    std::vector<std::int32_t> operands;
    layout::Color color = layout::Role::Vmem; // as in all views
    Shape block;                              // how an array is cut into blocks; rank 0: it is not
    std::int32_t operand = -1;                // the first of `operands` that is one; -1: none
    bool isBlock = false; // whether it is a slot of that operand and not the array
    bool isKnown = true;  // false: the run does not compute what it holds

    [[nodiscard]] bool isSameAs(const ValuesRef& other) const
    {
        return name == other.name && memory == other.memory && dtype == other.dtype
               && shape == other.shape;
    }
};

// Why nothing is known of a ref, where values are only `needed`.
[[nodiscard]] std::string notComputed(const std::string& ref);

// "VMEM"
[[nodiscard]] std::string memoryLabel(ir::MemorySpace space);

// In the order in which the program names them. `run`: for colours and operands; null: without.
[[nodiscard]] std::vector<ValuesRef> valuesRefs(const ir::Program& program,
                                                const layout::RunView* run);

} // namespace pallascope::app
