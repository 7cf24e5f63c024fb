// Programs that stand for what JAX gives to Triton: the builder makes those of Mosaic GPU.
#pragma once

#include "core/ir/program.h"

#include <cstdint>
#include <variant>

namespace pallascope::test {

// Lets Triton compile all core_maps of a program of the test's own, with so many warps in a block.
inline void compileByTriton(ir::Program& program, std::int32_t warps = 4)
{
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code == ir::OpCode::CoreMap) {
            auto& params = std::get<ir::CoreMapParams>(
                const_cast<ir::Operation&>(operation).params); // the program is not const
            params.compiler = ir::kTriton;
            params.threads = 32 * warps;
        }
    });
}

} // namespace pallascope::test
