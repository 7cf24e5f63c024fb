// Writes random statements into the kernel that is being traced. All choices are made in an order
// that the language defines, so that a seed gives the same program with every compiler.
#pragma once

#include "core/ir/builder.h"
#include "tests/machine/chance.h"
#include "tests/machine/support.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace pallascope::machine_test {

// What statements may use at their place.
struct RandomScope
{
    std::vector<pl::Value> numbers; // int32 scalars
    std::vector<pl::Value> values;  // of shape (8, 128)
    std::vector<pl::Ref> tables;    // kEntries int32 each, in SMEM
    std::vector<pl::Ref> blocks;    // (rows, 128), in VMEM
    std::vector<pl::Ref> arrays;    // (rows, 128), in HBM
    std::vector<pl::Ref> stacks;    // (layers, 8, 128), in HBM
    std::vector<pl::Ref> lists;     // kEntries int32 each, in HBM
    std::vector<pl::Ref> dmas;      // DMA semaphores
    std::vector<pl::Ref> semaphores;
    std::int32_t axes = 0; // of the enclosing grid
    int depth = 0;         // number of enclosing regions
    int pipelines = 0;     // number of enclosing pipelines
    std::int32_t devices = 1;
    bool onCores = false;  // in a core_map
    bool isAround = false; // outside of kernels and fusions
    bool isFusion = false; // in a fusion, which has only values
};

// Adds the ref to the list for its memory and shape.
void add(RandomScope& scope, const pl::Ref& ref);
[[nodiscard]] bool isNear(const pl::Ref& ref); // whether a body can load from it and store to it

inline constexpr Extent kEntries = 8, kRows = 8, kColumns = 128;

class RandomWriter
{
public:
    RandomWriter(Chance& chance, RandomScope scope)
        : m_chance(chance)
        , m_scope(std::move(scope))
    {}

    void statements(int most);
    void pipeline();
    // Runs `body` as a region of its own. At its end all copies have been waited for that should
    // be.
    std::vector<pl::Value> within(const std::function<std::vector<pl::Value>()>& body);
    void coreMap();
    void onDevices(std::int32_t devices, bool onCores);
    void kernel();
    void fusion();
    void scoped(const std::vector<pl::Scratch>& scratch, const std::function<void()>& body);

    RandomScope& scope() { return m_scope; }

private:
    // values
    pl::Value number(int depth = 2);
    pl::Value leaf();
    pl::Value condition();
    pl::Value below(pl::Value number, std::int64_t limit); // 0 to limit - 1, or rarely outside
    pl::Value start(Extent extent, Extent size);
    pl::Value array(DType dtype, Extent rows, int depth = 2);
    std::optional<pl::Value> loadedBlock(DType dtype, Extent rows);
    std::vector<pl::Value> someNumbers(std::int64_t count);

    // statements
    void statement();
    void storeNumber();
    void storeBlock();
    void storeMasked();
    void fill(const pl::Ref& scratch);
    void branch();
    void chooseNumbers();
    void countedLoop();
    void whileLoop();
    void scoped();
    void view();
    void signal();
    void debug();
    void computed();
    [[nodiscard]] std::vector<pl::Value> carriedOn(const std::vector<pl::Value>& carried,
                                                   std::size_t from);
    void keep(const std::vector<pl::Value>& results);

    // copies
    void copy();
    void copy(const pl::Ref& from, const pl::Ref& to);
    void copyTable();
    [[nodiscard]] pl::Ref part(const pl::Ref& ref);

    // programs for several devices, random_devices.cpp
    pl::Value peer();
    void meet();
    void remoteCopy(const pl::Ref& from, const pl::Ref& to);

    // pipelines, random_pipelines.cpp
    struct Operand
    {
        pl::Ref ref;
        pl::BlockSpec spec;
    };

    void takeGrid(pl::Grid& grid, bool emits);
    void fillBehindCopy(pl::Grid& grid, std::vector<pl::Ref>& operands);
    [[nodiscard]] Operand operand(const pl::Grid& grid, bool isOutput, bool emits);
    void takeBuffers(pl::BlockSpec& spec, const pl::Grid& grid, bool isOutput, bool emits);
    [[nodiscard]] pl::BlockSpec rowsSpec(const pl::Ref& array, bool emits);
    [[nodiscard]] pl::BlockSpec gatheredSpec(const pl::Ref& array);
    [[nodiscard]] pl::Value blockIndex(const std::vector<pl::Value>& point, Extent count);
    void body(const pl::Grid& grid, const std::vector<pl::Ref>& refs);

    Chance& m_chance;
    RandomScope m_scope;

    struct Pending
    {
        pl::Ref target, semaphore;
    };

    std::vector<Pending> m_pending; // copies of this region for which it waits at its end
};

} // namespace pallascope::machine_test
