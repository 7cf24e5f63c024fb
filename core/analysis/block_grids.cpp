#include "core/analysis/block_grids.h"

#include "core/base/format.h"

namespace pallascope::analysis {

std::string sourceText(const trace::Info& info, const trace::SourceLine& line)
{
    return line.file < 0 ? ""
                         : info.sources[static_cast<std::size_t>(line.file)].path + ":"
                               + std::to_string(line.line);
}

std::vector<std::string> linesOf(const trace::BlockGrid& grid)
{
    std::string of = bytesText(grid.arrays) + " of arrays";
    of += grid.hasReductions ? " and of scratch for reductions" : "";
    of += grid.barriers > 0 ? ", " + counted(grid.barriers, "barrier", "barriers") : "";
    const bool whole = grid.threads % chip::kWarpgroupThreads == 0;
    const std::string has =
        whole ? counted(grid.threads / chip::kWarpgroupThreads, "warpgroup", "warpgroups")
              : counted(ceilDiv(grid.threads, chip::kWarpThreads), "warp", "warps");
    std::vector<std::string> lines{"a block has " + has + " and takes "
                                   + countText(grid.shared.value())
                                   + " bytes of shared memory: " + of};
    std::string limits, allowed;
    for (const trace::BlockLimit& limit : grid.allowed) {
        if (limit.blocks == grid.blocksPerSm) {
            limits += (limits.empty() ? "" : " and ") + limit.name;
        }
        allowed += (allowed.empty() ? "" : ", ") + limit.name + " " + countText(limit.blocks);
    }
    lines.push_back("an SM runs " + counted(grid.blocksPerSm, "block", "blocks") + " at a time ("
                    + countText(grid.warpsPerSm) + " of " + countText(grid.warpsAtMost)
                    + " warps), limited by " + limits + "; each alone allows: " + allowed);
    lines.push_back(
        countText(grid.registers) + " registers a thread"
        + (grid.assumesRegisters ? " are assumed; the compiler decides how many there are" : ""));
    lines.push_back(counted(grid.blocks, "block", "blocks") + " in "
                    + counted(grid.waves, "wave", "waves") + " of " + countText(grid.atATime)
                    + " at a time; the last has " + countText(grid.last));
    return lines;
}

std::string gridText(const trace::BlockGrid& grid)
{
    std::string text;
    for (const std::string& line : linesOf(grid)) {
        text += (text.empty() ? "blocks  " : "\n        ") + line;
    }
    return text;
}

} // namespace pallascope::analysis
