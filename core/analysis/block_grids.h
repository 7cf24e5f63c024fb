// What a report says about the blocks of kernels for GPUs, as JSON and in words.
#pragma once

#include "core/base/shape.h"
#include "core/chip/multiprocessor.h"
#include "core/trace/info.h"

#include <string>
#include <vector>

namespace pallascope::analysis {

// "kernel.py:12"; empty if the line is not known.
[[nodiscard]] std::string sourceText(const trace::Info& info, const trace::SourceLine& line);

// Sentences about the grid for people, without the place of its core_map.
[[nodiscard]] std::vector<std::string> linesOf(const trace::BlockGrid& grid);

// The same on lines that begin as those of `run` do.
[[nodiscard]] std::string gridText(const trace::BlockGrid& grid);

// The object of docs/report_format.md, in the type of JSON that the caller uses (nlohmann's, which
// headers do not include). `source` is the place of the core_map.
template<class Json>
[[nodiscard]] Json gridJson(const trace::BlockGrid& grid, const std::string& source)
{
    Json allowed = Json::object(), limits = Json::array();
    for (const trace::BlockLimit& limit : grid.allowed) {
        allowed[limit.name] = limit.blocks;
        if (limit.blocks == grid.blocksPerSm) {
            limits.push_back(limit.name);
        }
    }
    Json json = Json::object();
    json["source"] = source.empty() ? Json() : Json(source);
    json["threads"] = grid.threads;
    json["warpgroups"] = ceilDiv(grid.threads, chip::kWarpgroupThreads);
    json["shared_bytes"] = grid.shared.value();
    json["barriers"] = grid.barriers;
    json["registers_per_thread"] = grid.registers;
    json["registers_assumed"] = grid.assumesRegisters;
    json["blocks_per_sm"] = grid.blocksPerSm;
    json["warps_per_sm"] = grid.warpsPerSm;
    json["limited_by"] = std::move(limits);
    json["allowed_blocks"] = std::move(allowed);
    json["blocks"] = grid.blocks;
    json["blocks_at_a_time"] = grid.atATime;
    json["waves"] = grid.waves;
    json["last_wave_blocks"] = grid.last;
    return json;
}

} // namespace pallascope::analysis
