#include "app/run_job/alternatives.h"

#include "core/base/format.h"
#include "core/ir/mesh.h"
#include "core/ir/pipeline_facts.h"
#include "core/study/trial.h"

#include <algorithm>
#include <set>

namespace pallascope::app {

namespace {

using Changes = std::map<std::string, std::string>;

constexpr std::int64_t kTrialsOfOne = 6; // of three block parameters; together as long as one trial

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

// Every block parameter, or only this one, times 2^shift; nullopt if one would become a fraction or
// is off (0).
std::optional<Changes> scaledBlocks(const kernels::Kernel& kernel,
                                    const kernels::Arguments& arguments, int shift,
                                    std::string_view only = {})
{
    Changes changes;
    for (const std::string& name : kernel.blockParameters) {
        const std::int64_t block = arguments.integer(name);
        if (!only.empty() && name != only) {
            changes[name] = std::to_string(block);
            continue;
        }
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

// The rounds of the loops that go round most, in all blocks of a core_map. Of a loop that goes on
// while something holds, one round counts.
std::int64_t roundsOf(const ir::Region& region)
{
    std::int64_t most = 1;
    for (const ir::Operation& operation : region.operations) {
        std::int64_t times = 1;
        if (const auto* loop = std::get_if<ir::ScanParams>(&operation.params)) {
            times = loop->length;
        } else if (const auto* blocks = std::get_if<ir::CoreMapParams>(&operation.params)) {
            times = std::int64_t{ir::sizeOf(blocks->grid)} * ir::sizeOf(blocks->cluster);
        }
        for (const ir::Region& inner : operation.regions) {
            most = std::max(most, times * roundsOf(inner));
        }
    }
    return most;
}

std::int64_t stepsOf(const ir::Program& program)
{
    std::int64_t steps = roundsOf(program.body);
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        steps = std::max(steps, ir::stepCount(std::get<ir::PipelineParams>(pipeline->params).grid));
    }
    return steps;
}

// Tries neighbours of a run that take no more than so many steps.
class Trials
{
public:
    Trials(const kernels::Kernel& kernel, const kernels::Arguments& arguments,
           const chip::Chip& chip)
        : m_kernel(kernel)
        , m_arguments(arguments)
        , m_chip(chip)
    {}

    // Nullopt if the kernel does not accept it, if it takes too long or if it would be wrong.
    [[nodiscard]] std::optional<analysis::Alternative>
    tried(const std::string& name, const Changes& changes, std::int64_t mostSteps) const
    {
        const std::optional<ir::Program> program = programWith(m_kernel, m_arguments, changes);
        if (!program || stepsOf(*program) > mostSteps || sumsPastAnArray(*program)) {
            return std::nullopt;
        }
        Result<analysis::Alternative> tried = study::trial(*program, m_chip);
        if (!tried) {
            return std::nullopt;
        }
        tried->name = name;
        tried->changed = changes;
        return std::move(*tried);
    }

    // Of those with one block halved or doubled, the fastest that keeps the limits.
    [[nodiscard]] std::optional<analysis::Alternative> fastestOfOneBlock() const
    {
        std::optional<analysis::Alternative> fastest;
        for (const std::string& only : m_kernel.blockParameters) {
            for (const int shift : {-1, 1}) {
                const auto blocks = scaledBlocks(m_kernel, m_arguments, shift, only);
                auto one = blocks ? tried(blockName(m_kernel, *blocks), *blocks,
                                          kMostTrialSteps / kTrialsOfOne)
                                  : std::nullopt;
                if (one && one->keepsLimits() && (!fastest || one->time < fastest->time)) {
                    fastest = std::move(one);
                }
            }
        }
        return fastest;
    }

private:
    const kernels::Kernel& m_kernel;
    const kernels::Arguments& m_arguments;
    const chip::Chip& m_chip;
};

} // namespace

bool sumsPastAnArray(const ir::Program& program)
{
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        std::set<std::int32_t> ofInputs, ofOutputs;
        const auto& params = std::get<ir::PipelineParams>(pipeline->params);
        for (std::size_t i = 0; i < params.specs.size(); ++i) {
            const ir::OperandFacts facts = ir::operandFacts(program, *pipeline, i);
            if (facts.outCount > 0) {
                ofOutputs.insert(facts.gridAxes.begin(), facts.gridAxes.end());
                continue;
            }
            const Shape& array = program.type(pipeline->operands[i]).shape;
            for (std::size_t axis = 0; axis < facts.dims.size(); ++axis) {
                if (ir::overhangs(facts.dims[axis], array[axis])) {
                    ofInputs.insert(facts.gridAxes[axis]);
                }
            }
        }
        if (!std::ranges::includes(ofOutputs, ofInputs)) {
            return true;
        }
    }
    return false;
}

std::vector<analysis::Alternative> alternatives(const kernels::Kernel& kernel,
                                                const kernels::Arguments& arguments,
                                                const chip::Chip& chip)
{
    const Trials trials(kernel, arguments, chip);
    std::vector<analysis::Alternative> result;
    const auto add = [&result](std::optional<analysis::Alternative> tried) {
        if (tried) {
            result.push_back(std::move(*tried));
        }
    };
    for (const int shift : {-1, 1, 2}) {
        if (const std::optional<Changes> blocks = scaledBlocks(kernel, arguments, shift)) {
            add(trials.tried(blockName(kernel, *blocks), *blocks, kMostTrialSteps));
        }
    }
    if (arguments.all().contains("buffers")) {
        const std::string more = std::to_string(arguments.integer("buffers") + 1);
        add(trials.tried(more + " buffers", Changes{{"buffers", more}}, kMostTrialSteps));
    }
    if (kernel.blockParameters.size() > 1) { // one may be all of its array
        std::optional<analysis::Alternative> one = trials.fastestOfOneBlock();
        const auto isAsFast = [&one](const analysis::Alternative& other) {
            return other.keepsLimits() && other.time <= one->time;
        };
        if (one && std::ranges::none_of(result, isAsFast)) {
            result.push_back(std::move(*one));
        }
    }
    return result;
}

std::vector<analysis::Alternative> nearestThatFit(const kernels::Kernel& kernel,
                                                  const kernels::Arguments& arguments,
                                                  const chip::Chip& chip, std::size_t most)
{
    struct Candidate
    {
        analysis::Alternative blocks;
        int halvings;
    };

    std::vector<Candidate> candidates;
    const std::size_t count = kernel.blockParameters.size();
    const int mostHalvings = 4; // how often each block is halved
    std::vector<int> shift(count, 0);
    while (count > 0) {
        analysis::Alternative blocks;
        int halvings = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t block = arguments.integer(kernel.blockParameters[i]) >> shift[i];
            blocks.changed[kernel.blockParameters[i]] = std::to_string(block);
            blocks.name += (i > 0 ? "\u00d7" : "") + std::to_string(block);
            halvings += shift[i];
        }
        if (const auto program = programWith(kernel, arguments, blocks.changed)) {
            const Result<study::Fit> fits = study::fit(*program, chip);
            if (fits && fits->fits) {
                blocks.vmem = fits->bytes;
                candidates.push_back({std::move(blocks), halvings});
            }
        }
        std::size_t axis = 0;
        while (axis < count && ++shift[axis] > mostHalvings) {
            shift[axis++] = 0;
        }
        if (axis == count) {
            break;
        }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) {
                         return std::pair(a.halvings, -a.blocks.vmem.value())
                                < std::pair(b.halvings, -b.blocks.vmem.value());
                     });
    std::vector<analysis::Alternative> nearest;
    for (std::size_t i = 0; i < std::min(most, candidates.size()); ++i) {
        nearest.push_back(std::move(candidates[i].blocks));
    }
    return nearest;
}

std::string namesOf(const std::vector<analysis::Alternative>& nearest)
{
    std::string text;
    for (const analysis::Alternative& each : nearest) {
        text += (text.empty() ? "" : ", ") + each.name + " (" + bytesText(each.vmem) + ")";
    }
    return text;
}

void tryTime(analysis::Alternative& alternative, const kernels::Kernel& kernel,
             const kernels::Arguments& arguments, const chip::Chip& chip)
{
    const std::optional<ir::Program> program = programWith(kernel, arguments, alternative.changed);
    if (!program || stepsOf(*program) > kMostTrialSteps) {
        return;
    }
    if (Result<analysis::Alternative> tried = study::trial(*program, chip)) {
        tried->name = alternative.name;
        tried->changed = alternative.changed;
        alternative = std::move(*tried);
    }
}

std::vector<std::string> raisedTooFar(const kernels::Kernel& kernel,
                                      const kernels::Arguments& arguments, const chip::Chip& chip,
                                      Bytes taken)
{
    std::vector<std::string> raised;
    for (const kernels::Parameter& parameter : kernel.parameters) {
        const bool isBlock =
            std::find(kernel.blockParameters.begin(), kernel.blockParameters.end(), parameter.name)
            != kernel.blockParameters.end();
        if (isBlock || parameter.type != kernels::Parameter::Type::Integer
            || arguments.integer(parameter.name) <= std::stoll(parameter.defaultValue)) {
            continue;
        }
        const auto program =
            programWith(kernel, arguments, {{parameter.name, parameter.defaultValue}});
        const Result<study::Fit> lower =
            program ? study::fit(*program, chip) : Result<study::Fit>(study::Fit{taken});
        if (lower && lower->bytes < taken) {
            raised.push_back(parameter.name);
        }
    }
    return raised;
}

} // namespace pallascope::app
