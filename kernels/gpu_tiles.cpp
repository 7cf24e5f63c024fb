#include "kernels/gpu_tiles.h"

#include "core/ir/builder.h"

#include <algorithm>
#include <utility>

namespace pallascope::kernels {

Parameter persistentBlocks(std::int64_t blocks)
{
    return integer("persistent", blocks, 0, 1 << 16,
                   "blocks, which go on to further tiles; 0: a block for each tile");
}

Parameter copiesOfTiles()
{
    return choice("copies", {"tma", "direct"},
                  "by the TMA through SMEM, or from GMEM to registers and back");
}

Status Divisions::check(const std::string& parameter, Extent value, Extent divisor,
                        const std::vector<std::string>& others) const
{
    if (value % divisor == 0) {
        return Done{};
    }
    std::vector<About> about{{Subject::Parameter, parameter}};
    for (const std::string& other : others) {
        about.push_back({Subject::Parameter, other});
    }
    return userError("The parameter " + parameter + " of " + kernel + " is " + std::to_string(value)
                         + "; expected a multiple of " + std::to_string(divisor) + ".",
                     std::move(about));
}

Status firstError(const std::vector<Status>& checks)
{
    for (const Status& check : checks) {
        if (!check) {
            return check;
        }
    }
    return Done{};
}

std::array<pl::Value, 2> tileOrder(const pl::Value& number, std::array<Extent, 2> plane,
                                   Extent snake)
{
    if (snake == 0) {
        const auto columns = static_cast<int>(plane[1]);
        return {number / columns, number % columns};
    }
    return pl::gpu::planarSnake(number, plane, 0, snake);
}

std::int32_t RowBlocks::count() const
{
    return static_cast<std::int32_t>(persistent == 0 ? tiles : std::min(tiles, persistent));
}

pl::gpu::Share RowBlocks::share() const
{
    return {tiles, count(), pl::axisIndex("block")};
}

} // namespace pallascope::kernels
