#include "app/run_job/alternatives.h"

#include "core/base/format.h"
#include "core/ir/pipeline_facts.h"
#include "core/study/trial.h"

#include <algorithm>
#include <set>

namespace pallascope::app {

namespace {

using Changes = std::map<std::string, std::string>;

// The program for the arguments with some values replaced; nullopt if the kernel does not accept
// them.
std::optional<ir::Program> programWith(const kernels::Kernel& kernel,
                                       const kernels::Arguments& arguments, const Changes& changes)
{
    std::map<std::string, std::string> given(arguments.all().begin(), arguments.all().end());
    for (const auto& [name, value] : changes) {
        given[name] = value;
    }
    const Result<kernels::Arguments> changed = kernels::arguments(kernel, given);
    if (!changed) {
        return std::nullopt;
    }
    Result<ir::Program> program = kernel.build(*changed);
    return program ? std::optional(std::move(*program)) : std::nullopt;
}

// Every block parameter times 2^shift; nullopt if one would become a fraction or is off (0).
std::optional<Changes> scaledBlocks(const kernels::Kernel& kernel,
                                    const kernels::Arguments& arguments, int shift)
{
    Changes changes;
    for (const std::string& name : kernel.blockParameters) {
        const std::int64_t block = arguments.integer(name);
        const std::int64_t scaled = shift >= 0 ? block << shift : block >> -shift;
        if (block == 0 || (shift < 0 && (scaled << -shift) != block)) {
            return std::nullopt;
        }
        changes[name] = std::to_string(scaled);
    }
    return changes.empty() ? std::nullopt : std::optional(changes);
}

// "1024-blocks" if all blocks are equal, otherwise "512×1024×1024 blocks".
std::string blockName(const kernels::Kernel& kernel, const Changes& changes)
{
    std::set<std::string> sizes;
    std::string product;
    for (const std::string& name : kernel.blockParameters) {
        sizes.insert(changes.at(name));
        product += (product.empty() ? "" : "\u00d7") + changes.at(name);
    }
    return sizes.size() == 1 ? *sizes.begin() + "-blocks" : product + " blocks";
}

std::int64_t stepsOf(const ir::Program& program)
{
    std::int64_t steps = 0;
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        steps = std::max(steps, ir::stepCount(std::get<ir::PipelineParams>(pipeline->params).grid));
    }
    return steps;
}

} // namespace

std::vector<analysis::Alternative> alternatives(const kernels::Kernel& kernel,
                                                const kernels::Arguments& arguments,
                                                const chip::Chip& chip)
{
    std::vector<std::pair<std::string, Changes>> candidates;
    for (const int shift : {-1, 1, 2}) {
        if (const std::optional<Changes> blocks = scaledBlocks(kernel, arguments, shift)) {
            candidates.emplace_back(blockName(kernel, *blocks), *blocks);
        }
    }
    const bool hasBuffers = arguments.all().contains("buffers");
    if (hasBuffers) {
        const std::string more = std::to_string(arguments.integer("buffers") + 1);
        candidates.emplace_back(more + " buffers", Changes{{"buffers", more}});
    }
    std::vector<analysis::Alternative> result;
    for (const auto& [name, changes] : candidates) {
        const std::optional<ir::Program> program = programWith(kernel, arguments, changes);
        if (!program || stepsOf(*program) > kMostTrialSteps) {
            continue;
        }
        Result<analysis::Alternative> tried = study::trial(*program, chip);
        if (tried) {
            tried->name = name;
            tried->changed = changes;
            result.push_back(std::move(*tried));
        }
    }
    return result;
}

std::string nearestThatFit(const kernels::Kernel& kernel, const kernels::Arguments& arguments,
                           const chip::Chip& chip)
{
    struct Candidate
    {
        std::string name;
        Bytes bytes;
        int halvings;
    };

    std::vector<Candidate> candidates;
    const std::size_t count = kernel.blockParameters.size();
    const int most = 4; // how often each block is halved
    std::vector<int> shift(count, 0);
    while (count > 0) {
        Changes changes;
        std::string name;
        int halvings = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t block = arguments.integer(kernel.blockParameters[i]) >> shift[i];
            changes[kernel.blockParameters[i]] = std::to_string(block);
            name += (i > 0 ? "\u00d7" : "") + std::to_string(block);
            halvings += shift[i];
        }
        if (const auto program = programWith(kernel, arguments, changes)) {
            const Result<study::Fit> fits = study::fit(*program, chip);
            if (fits && fits->fits) {
                candidates.push_back({name, fits->bytes, halvings});
            }
        }
        std::size_t axis = 0;
        while (axis < count && ++shift[axis] > most) {
            shift[axis++] = 0;
        }
        if (axis == count) {
            break;
        }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) {
                         return std::pair(a.halvings, -a.bytes.value())
                                < std::pair(b.halvings, -b.bytes.value());
                     });
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, candidates.size()); ++i) {
        text +=
            (i > 0 ? ", " : "") + candidates[i].name + " (" + bytesText(candidates[i].bytes) + ")";
    }
    return text;
}

} // namespace pallascope::app
