#include "core/machine/prepare/kept_arrays.h"

#include "core/cost/tiling.h"

#include <algorithm>
#include <map>

namespace pallascope::machine {

using ir::OpCode;

namespace {

// The stretch of the program in which an array holds something, as numbers of operations in program
// order.
struct Life
{
    int first = 0, last = 0;
    int from = 0, to = 0; // of the operation in the region that is being read
    bool isWrittenFirst = false;
    bool isOfFusions = true;
};

using Lives = std::map<ir::ValueId, Life>;

// Adds a life that another operation of the same region continues.
void add(ir::ValueId array, const Life& life, Lives& lives)
{
    const auto [found, isNew] = lives.try_emplace(array, life);
    Life& both = found->second;
    if (!isNew) {
        both.from = both.first = std::min(both.from, life.from);
        both.to = both.last = std::max(both.to, life.to);
        both.isOfFusions = both.isOfFusions && life.isOfFusions;
    }
}

class Reader
{
public:
    explicit Reader(const std::vector<bool>& between)
        : m_between(between)
    {}

    Lives region(const ir::Region& region)
    {
        Lives lives;
        for (const ir::Operation& operation : region.operations) {
            for (const auto& [array, life] : of(operation)) {
                add(array, life, lives);
            }
        }
        return lives;
    }

    std::vector<int> kernels; // numbers of the kernels

private:
    Lives of(const ir::Operation& operation)
    {
        const int number = m_number++;
        if (operation.code == OpCode::RunScoped) {
            return region(operation.regions[0]);
        }
        Lives lives;
        if (operation.code == OpCode::Fusion) { // everything inside of a fusion happens at once
            forEachOperation(operation.regions[0],
                             [&](const ir::Operation& inner) { note(inner, number, true, lives); });
            return lives;
        }
        if (operation.code == OpCode::Kernel) {
            kernels.push_back(number);
        }
        note(operation, number, false, lives);
        for (const ir::Region& inner : operation.regions) {
            for (const auto& [array, life] : region(inner)) {
                add(array, life, lives);
            }
        }
        for (auto& [array, life] : lives) {
            life.from = number;
            life.to = m_number;
            if (!life.isWrittenFirst) { // it comes from outside, or from the previous round
                life.first = life.from;
                life.last = life.to;
            }
        }
        return lives;
    }

    void note(const ir::Operation& operation, int number, bool isOfFusion, Lives& lives)
    {
        for (std::size_t i = 0; i < operation.operands.size(); ++i) {
            const ir::ValueId array = operation.operands[i];
            if (m_between[static_cast<std::size_t>(array.index)]) {
                const bool isWrittenFirst = ir::writes(operation, i);
                add(array, {number, number, number, number, isWrittenFirst, isOfFusion}, lives);
            }
        }
    }

    const std::vector<bool>& m_between;
    int m_number = 0;
};

// The bytes of VMEM that kernels cannot use; 0 if the chip file does not say.
std::int64_t roomOf(const chip::Chip& chip)
{
    const std::optional<std::int32_t> index = chip.memoryIndex("VMEM");
    const chip::Memory* const vmem =
        index ? &chip.memories[static_cast<std::size_t>(*index)] : nullptr;
    return vmem != nullptr && vmem->defaultLimit
               ? std::max<std::int64_t>(0, (vmem->bytes - *vmem->defaultLimit).value())
               : 0;
}

} // namespace

std::vector<bool> keptArrays(const ir::Program& program, const chip::Chip& chip,
                             const std::vector<bool>& between)
{
    Reader reader(between);
    const Lives lives = reader.region(program.body);
    std::vector<std::pair<ir::ValueId, Life>> ordered(lives.begin(), lives.end());
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    std::vector<bool> kept(program.values.size(), false);
    // Bytes, by the operation after which they are free again.
    std::multimap<int, std::int64_t> held;
    std::int64_t used = 0;
    const std::int64_t room = roomOf(chip);
    for (const auto& [array, life] : ordered) {
        while (!held.empty() && held.begin()->first < life.first) {
            used -= held.begin()->second;
            held.erase(held.begin());
        }
        const ir::Type& type = program.type(array);
        const std::int64_t bytes =
            cost::compactBytes(type.dtype, type.shape, cost::nativeTile(chip)).value();
        const bool meetsKernel =
            std::any_of(reader.kernels.begin(), reader.kernels.end(), [&life = life](int kernel) {
                return kernel >= life.first && kernel <= life.last;
            });
        if (life.isOfFusions && life.isWrittenFirst && !meetsKernel && used + bytes <= room) {
            kept[static_cast<std::size_t>(array.index)] = true;
            held.emplace(life.last, bytes);
            used += bytes;
        }
    }
    return kept;
}

} // namespace pallascope::machine
