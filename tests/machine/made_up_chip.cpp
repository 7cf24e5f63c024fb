#include "tests/machine/made_up_chip.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using Refs = std::vector<pl::Ref>;
using Nothing = std::vector<pl::Value>;

// A cycle is 1 ns. A block of 8 x 8 f32, which is one register, takes 40 ns to copy into the chip,
// 20 out of it and 10 within it, and 80 on the matrix unit.
const char* const kChip = R"({
  "format": "pallascope.chip", "version": 1, "name": "made_up", "title": "Made up",
  "memories": [
    {"name": "HBM", "scope": "chip", "bytes": {"value": 1048576, "source": "made up", "status": "assumed"}},
    {"name": "VMEM", "scope": "agent", "bytes": {"value": 65536, "source": "made up", "status": "assumed"}}],
  "links": [
    {"name": "in", "from": "HBM", "to": "VMEM",
     "bytes_per_s": {"value": 6.4e9, "source": "made up", "status": "assumed"},
     "efficiency": {"value": 1, "source": "made up", "status": "assumed"},
     "latency_s": {"value": 0, "source": "made up", "status": "assumed"}},
    {"name": "out", "from": "VMEM", "to": "HBM",
     "bytes_per_s": {"value": 12.8e9, "source": "made up", "status": "assumed"},
     "efficiency": {"value": 1, "source": "made up", "status": "assumed"},
     "latency_s": {"value": 0, "source": "made up", "status": "assumed"}},
    {"name": "within", "from": "VMEM", "to": "VMEM",
     "bytes_per_s": {"value": 25.6e9, "source": "made up", "status": "assumed"},
     "efficiency": {"value": 1, "source": "made up", "status": "assumed"},
     "latency_s": {"value": 0, "source": "made up", "status": "assumed"}}],
  "units": [
    {"name": "MMA", "kind": "matrix", "count": {"value": 1, "source": "made up", "status": "assumed"},
     "rows": {"value": 8, "source": "made up", "status": "assumed"},
     "columns": {"value": 8, "source": "made up", "status": "assumed"},
     "row_granule": {"value": 8, "source": "made up", "status": "assumed"},
     "rates": {"f32": {"cycles_per_row": {"value": 10, "source": "made up", "status": "assumed"},
                       "peak_flops_per_s": {"value": 12.8e9, "source": "made up", "status": "assumed"}}}},
    {"name": "ALU", "kind": "vector", "count": {"value": 1, "source": "made up", "status": "assumed"},
     "cycles_per_register": {"value": 1, "source": "made up", "status": "assumed"},
     "peak_flops_per_s": {"value": 64e9, "source": "made up", "status": "assumed"}},
    {"name": "load", "kind": "load", "count": {"value": 1, "source": "made up", "status": "assumed"},
     "cycles_per_register": {"value": 1, "source": "made up", "status": "assumed"}},
    {"name": "store", "kind": "store", "count": {"value": 1, "source": "made up", "status": "assumed"},
     "cycles_per_register": {"value": 1, "source": "made up", "status": "assumed"}},
    {"name": "scalar", "kind": "scalar", "count": {"value": 1, "source": "made up", "status": "assumed"},
     "cycles_per_register": {"value": 1, "source": "made up", "status": "assumed"}}],
  "agents": [
    {"kind": "thread", "count": {"value": 3, "source": "made up", "status": "assumed"},
     "slots": {"value": 2, "source": "made up", "status": "assumed"},
     "clock_hz": {"value": 1000000000, "source": "made up", "status": "assumed"},
     "owns": ["ALU", "load", "store", "scalar"]}],
  "constants": {
    "step_overhead_s": {"value": 0, "source": "made up", "status": "assumed"},
    "register_bytes": {"value": 256, "source": "made up", "status": "assumed"},
    "registers": {"value": 64, "source": "made up", "status": "assumed"}}
})";

} // namespace

const chip::Chip& madeUpChip()
{
    static const Result<chip::Chip> kMade = chip::parse(kChip, "made up");
    EXPECT_TRUE(kMade) << (kMade ? "" : kMade.error().message);
    return *kMade;
}

ir::Program madeUpProgram()
{
    const Shape block{8, 8}, all{kBlocks, kThreads, 8, 8};
    return mustTrace(pl::kernel(
        "made_up",
        {pl::in("x", DType::F32, all), pl::in("w", DType::F32, block),
         pl::out("out", DType::F32, all)},
        [&](pl::Ref x, pl::Ref w, pl::Ref out) {
            const pl::Scratch weights{"weights", DType::F32, block};
            pl::runScoped({weights, pl::dmaSemaphores("brought")}, [&](const Refs& outer) {
                pl::dmaStart(w, outer[0], outer[1]);
                pl::dmaWait(outer[0], outer[1]);
                pl::coreMap(ir::CoreMapParams{"thread", kThreads, {{"block", kBlocks}}}, [&] {
                    pl::runScoped({{"a", DType::F32, block},
                                   {"b", DType::F32, block},
                                   {"sum", DType::F32, block, kUnit},
                                   {"rhs", DType::F32, block, kUnit},
                                   {"staged", DType::F32, block, kUnit},
                                   pl::dmaSemaphores("sem")},
                                  [&](const Refs& refs) {
                                      const pl::Value i = pl::axisIndex("block"),
                                                      j = pl::axisIndex("thread");
                                      const auto mine = [&](const pl::Ref& array) {
                                          return array.at({i, j, pl::all, pl::all});
                                      };
                                      pl::dmaStart(mine(x), refs[0], refs[5]);
                                      pl::dmaWait(refs[0], refs[5]);
                                      const pl::Value rhs = outer[0][pl::all].load(),
                                                      lhs = refs[0][pl::all].load();
                                      pl::matmulPushRhs(refs[4], rhs);
                                      pl::matmulAccLhs(refs[2], lhs, refs[3], refs[4]);
                                      pl::dmaStart(refs[0], refs[1], refs[5]);
                                      pl::dmaWait(refs[1], refs[5]);
                                      refs[0][pl::all] = pl::matmulPop(refs[2]) + refs[1][pl::all];
                                      pl::dmaStart(refs[0], mine(out), refs[5]);
                                      pl::dmaWait(mine(out), refs[5]);
                                      return Nothing{};
                                  });
                });
                return Nothing{};
            });
        }));
}

std::vector<Array> madeUpInputs()
{
    std::vector<double> x(kBlocks * kThreads * 64), w(64);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<double>(i % 11) - 5;
    }
    for (std::size_t i = 0; i < w.size(); ++i) {
        w[i] = static_cast<double>(i % 7) - 3;
    }
    return {arrayOf(DType::F32, {kBlocks, kThreads, 8, 8}, x), arrayOf(DType::F32, {8, 8}, w)};
}

} // namespace pallascope::machine_test
