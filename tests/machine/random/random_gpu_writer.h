// Writes the bodies of random kernels for GPUs. All warpgroups run what is written; `when` tells
// them apart.
#pragma once

#include "core/ir/builder_gpu.h"
#include "core/ir/mesh.h"
#include "tests/machine/chance.h"
#include "tests/machine/support.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::machine_test {

class GpuWriter
{
public:
    static constexpr Extent kLines = 24, kWidth = 128, kSquare = 64, kNumbers = 8;
    static constexpr std::int32_t kBlocks = 2; // of a cluster

    // `arrived` are semaphores that all of a device share, if there are several devices.
    GpuWriter(Chance& chance, std::vector<pl::Ref> arguments, pl::gpu::Launch launch,
              std::int32_t devices = 1, std::optional<pl::Ref> arrived = {})
        : m_chance(chance)
        , m_arguments(std::move(arguments))
        , m_launch(std::move(launch))
        , m_devices(devices)
        , m_arrived(arrived)
    {}

    void body();

private:
    enum Argument : std::uint8_t
    {
        X,
        A,
        B,
        Table,
        Y,
        C,
        Counts
    };

    enum Smem : std::uint8_t
    {
        Tile,
        Lhs,
        Rhs,
        Near,
        Own,
        All,
        Full,
        Free,
        Loaded
    };

    void ofBlock();
    // Seldom false: what a kernel without mistakes does.
    bool usually();
    void form();
    pl::Value warpgroup();
    // A number that is known, or differs by agent, block or round, or comes from memory.
    pl::Value number(std::int64_t limit);
    // Mostly a line of the block's own, so that most programs have no race.
    pl::Value line(bool mine);
    pl::Value slot();
    void statements(int count, int depth);
    void statement(int depth);
    void meet();
    void copyIn();
    void copyOut();
    void compute();
    void atomic();
    // The last warpgroup fills slots, the others read them and give them back.
    void ring();
    // Warpgroup 0 loads both operands; all multiply.
    void product();

    // random_gpu_several.cpp: what blocks of a cluster, and GPUs, do in each other's memory.
    void inOtherBlock(int depth);
    void meetOfCluster();
    void onOtherDevices(int depth);
    pl::Value peer();
    void handOver();
    void meetOfDevices();
    void tellAll(const pl::Value& line);
    void copyTo(const pl::Ref& array, const pl::Value& slot);

    Chance& m_chance;
    std::vector<pl::Ref> m_arguments, m_smem;
    std::vector<pl::Ref> m_pair; // what a cluster shares: rows and barriers; empty without one
    pl::gpu::Launch m_launch;
    std::int32_t m_devices;
    std::optional<pl::Ref> m_arrived;
    pl::Ref m_sum = m_arguments[0];
    std::int32_t m_slots = 1, m_computed = 0;
    std::vector<pl::Value> m_rounds;
};

} // namespace pallascope::machine_test
