// A product in the tensor memory of a GPU, for tests.
#pragma once

#include "core/ir/builder_tensor.h"

#include <vector>

namespace pallascope::machine_test {

// Copies x by way of refs[0] in SMEM into refs[1] in TMEM, adds x times x to it, and waits at the
// barrier refs[2] until the product is done.
inline void multiplyInTensorMemory(const pl::Ref& x, const std::vector<pl::Ref>& refs)
{
    namespace gpu = pl::gpu;
    refs[0][pl::all] = x[pl::all].load();
    gpu::commitSmem();
    gpu::copySmemToTmem(refs[0], refs[1]);
    gpu::tensorMultiply({refs[1], refs[0], refs[0]}, pl::full(Shape{}, 1, DType::Bool));
    gpu::tensorCommitArrive(refs[2]);
    gpu::barrierWait(refs[2]);
}

} // namespace pallascope::machine_test
