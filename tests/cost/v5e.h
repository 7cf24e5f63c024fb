// What the tests of the cost model share. The numbers in these tests are derived from these figures
// of resources/chips/tpu_v5e.json: 64 registers of 4096 bytes; 4 MXUs of 128 x 128 at 1 (bf16) or 2
// (f32) cycles per row, with rows in groups of 8; 4 VALU slots at 1 cycle per register; 1 EUP at 2;
// 2 XLUs at 8; 3 loads and 1 store per cycle; one scalar operation per cycle; 1.5 GHz.
#pragma once

#include "core/cost/segment.h"
#include "core/ir/pipeline_facts.h"
#include "tests/chip/chip_file.h"
#include "tests/ir/kernels.h"

#include <algorithm>

namespace pallascope::cost_test {

inline constexpr DType kF32 = DType::F32, kBf16 = DType::BF16, kInt = DType::Int32,
                       kInt8 = DType::Int8, kBool = DType::Bool;

inline chip::Chip v5e()
{
    return chip::parse(chip::plainText("tpu_v5e"), "tpu_v5e.json").value();
}

// For what is of GPUs.
inline const chip::Chip& h100()
{
    static const chip::Chip kChip =
        chip::parse(chip::chipText("h100_sxm"), "h100_sxm.json").value();
    return kChip;
}

enum Unit : std::int32_t // in the order of the file
{
    Mxu,
    Vpu,
    Eup,
    Xlu,
    Load,
    Store,
    Scalar
};

inline const ir::Region& bodyOf(const ir::Program& program)
{
    return ir::pipelinesOf(program).at(0)->regions.at(0);
}

inline std::vector<const ir::Operation*> pointersTo(const ir::Region& region)
{
    std::vector<const ir::Operation*> operations;
    for (const ir::Operation& operation : region.operations) {
        operations.push_back(&operation);
    }
    return operations;
}

} // namespace pallascope::cost_test
