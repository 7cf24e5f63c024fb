// x + y by manual DMA: each array has two slots, and the next block arrives while one is added. It
// does itself what emit_pipeline does for add_vectors.
#include "core/ir/builder.h"
#include "kernels/kernel.h"
#include "kernels/sum_reference.h"

#include <algorithm>

namespace pallascope::kernels {

namespace {

constexpr int kSlots = 2;

// Adds `count` blocks on one core, beginning with block number `first`.
class Adder
{
public:
    Adder(pl::Ref x, pl::Ref y, pl::Ref out, Extent block, pl::Operand first,
          const std::vector<pl::Ref>& scratch)
        : m_x(x)
        , m_y(y)
        , m_out(out)
        , m_block(block)
        , m_first(first)
        , m_scratch(scratch)
    {}

    void run(std::int64_t count) const
    {
        fetch(pl::full({}, 0, DType::Int32));
        pl::foriLoop(count, {}, [&](pl::Value i, const auto&) {
            pl::when(i + 1 < static_cast<int>(count), [&] { fetch(i + 1); });
            pl::dmaWait(slot(0, i), semaphore(0, i));
            pl::dmaWait(slot(1, i), semaphore(1, i));
            pl::when(i >= kSlots, [&] { pl::dmaWait(slot(2, i), semaphore(2, i)); });
            slot(2, i)[pl::all] = slot(0, i)[pl::all] + slot(1, i)[pl::all];
            pl::dmaStart(slot(2, i), rows(m_out, i), semaphore(2, i));
            return std::vector<pl::Value>{};
        });
        for (std::int64_t i = std::max<std::int64_t>(0, count - kSlots); i < count; ++i) {
            const pl::Value last = pl::full({}, static_cast<double>(i), DType::Int32);
            pl::dmaWait(slot(2, last), semaphore(2, last));
        }
    }

private:
    void fetch(pl::Value i) const
    {
        pl::dmaStart(rows(m_x, i), slot(0, i), semaphore(0, i));
        pl::dmaStart(rows(m_y, i), slot(1, i), semaphore(1, i));
    }

    [[nodiscard]] pl::Ref rows(pl::Ref array, pl::Value i) const
    {
        return array.at({pl::ds((i + m_first) * static_cast<int>(m_block), m_block), pl::all});
    }

    [[nodiscard]] pl::Ref slot(std::size_t array, pl::Value i) const
    {
        return m_scratch[array].at({i % kSlots, pl::all, pl::all});
    }

    [[nodiscard]] pl::Ref semaphore(std::size_t array, pl::Value i) const
    {
        return m_scratch[3 + array].at({i % kSlots});
    }

    pl::Ref m_x, m_y, m_out;
    Extent m_block;
    pl::Operand m_first;
    const std::vector<pl::Ref>& m_scratch;
};

Result<ir::Program> addByHand(const Arguments& p)
{
    const std::int64_t rows = p.integer("rows"), block = p.integer("block"),
                       cores = p.integer("cores");
    if (rows % (block * cores) != 0) {
        return userError("add_by_hand has " + std::to_string(rows) + " rows for blocks of "
                             + std::to_string(block) + " on " + std::to_string(cores)
                             + (cores == 1 ? " core" : " cores") + "; expected a multiple of "
                             + std::to_string(block * cores) + ".",
                         {{Subject::Parameter, "rows"},
                          {Subject::Parameter, "block"},
                          {Subject::Parameter, "cores"}});
    }
    const Shape shape{rows, 128};
    const auto onCore = [&](pl::Ref x, pl::Ref y, pl::Ref out, const pl::Operand& first) {
        const Shape slots{kSlots, block, 128};
        pl::runScoped({{"x_slots", DType::F32, slots},
                       {"y_slots", DType::F32, slots},
                       {"out_slots", DType::F32, slots},
                       pl::dmaSemaphores("x_sem", {kSlots}),
                       pl::dmaSemaphores("y_sem", {kSlots}),
                       pl::dmaSemaphores("out_sem", {kSlots})},
                      [&](const std::vector<pl::Ref>& scratch) {
                          Adder(x, y, out, block, first, scratch).run(rows / block / cores);
                          return std::vector<pl::Value>{};
                      });
    };
    const auto kernel = [&](pl::Ref x, pl::Ref y, pl::Ref out) {
        if (cores == 1) {
            onCore(x, y, out, 0);
            return;
        }
        pl::coreMap("core", static_cast<std::int32_t>(cores), [&] {
            const pl::Value core = pl::axisIndex("core");
            onCore(x, y, out, core * static_cast<int>(rows / block / cores));
        });
    };
    return pl::kernel("add_by_hand",
                      {pl::in("x", DType::F32, shape), //
                       pl::in("y", DType::F32, shape), //
                       pl::out("out", DType::F32, shape)},
                      kernel);
}

} // namespace

Kernel addByHandKernel()
{
    return {"add_by_hand",
            "x + y with manual DMA, semaphores and cores",
            {integer("rows", 4096, 1, 1 << 24, "rows of 128 elements"),
             integer("block", 512, 1, 1 << 20, "rows in a block"),
             integer("cores", 1, 1, 2, "cores that share the rows")},
            addByHand,
            compareWithSum,
            {"block"}};
}

} // namespace pallascope::kernels
