#include "app/run_job/block_choices.h"

#include "core/ir/mesh.h"
#include "core/ir/pipeline_facts.h"

#include <algorithm>
#include <limits>
#include <set>

namespace pallascope::app {

namespace {

constexpr auto kBuffers = "buffers";
constexpr std::int64_t kLanes = 128, kRows = 8; // of the tiles that a block consists of

std::int64_t extentNamed(const kernels::Kernel& kernel, const kernels::Arguments& arguments,
                         const std::string& name)
{
    const auto parameter = std::ranges::find(kernel.parameters, name, &kernels::Parameter::name);
    return parameter->type == kernels::Parameter::Type::Shape ? arguments.shape(name)[0]
                                                              : arguments.integer(name);
}

// Half a block; of an odd one, up to whole tiles.
std::int64_t halved(std::int64_t block)
{
    const std::int64_t tile = block > 2 * kLanes ? kLanes : kRows;
    return block % 2 == 0 ? block / 2 : ceilDiv(block, 2 * tile) * tile;
}

// The largest block of whole lanes, up to `most`, that divides the extent; otherwise the extent.
std::int64_t dividing(std::int64_t extent, std::int64_t most)
{
    for (std::int64_t block = most / kLanes * kLanes; block > 0; block -= kLanes) {
        if (extent % block == 0) {
            return block;
        }
    }
    return extent;
}

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

} // namespace

BlockChoices::BlockChoices(const kernels::Kernel& kernel, const kernels::Arguments& arguments)
    : m_kernel(kernel)
    , m_arguments(arguments)
{
    for (const std::string& name : kernel.blockedExtents) {
        m_extents.push_back(extentNamed(kernel, arguments, name));
    }
    for (std::size_t axis = 0; axis < kernel.blockParameters.size(); ++axis) {
        m_asked.blocks.push_back(
            std::min(arguments.integer(kernel.blockParameters[axis]), extentOf(axis)));
    }
    if (arguments.all().contains(kBuffers)) {
        m_asked.buffers = arguments.integer(kBuffers);
    }
}

std::int64_t BlockChoices::extentOf(std::size_t axis) const
{
    return m_extents.empty() ? std::numeric_limits<std::int64_t>::max() : m_extents[axis];
}

std::optional<BlockChoice> BlockChoices::scaled(BlockChoice choice, int shift,
                                                std::optional<std::size_t> axis) const
{
    for (std::size_t i = 0; i < choice.blocks.size(); ++i) {
        std::int64_t& block = choice.blocks[i];
        if (axis && *axis != i) {
            continue;
        }
        const bool isFixed = shift < 0 && (block == 1 || (block % 2 != 0 && m_extents.empty()));
        if (block == 0 || isFixed) {
            return std::nullopt;
        }
        block = shift < 0 ? halved(block) : std::min(block << shift, extentOf(i));
    }
    return choice.blocks.empty() ? std::nullopt : std::optional(std::move(choice));
}

BlockChoice BlockChoices::allAsTheLargest(BlockChoice choice) const
{
    const std::int64_t largest =
        choice.blocks.empty() ? 0 : *std::ranges::max_element(choice.blocks);
    for (std::size_t i = 0; i < choice.blocks.size(); ++i) {
        choice.blocks[i] = std::min(largest, extentOf(i));
    }
    return choice;
}

std::vector<BlockChoice> BlockChoices::withADividingBlock(const BlockChoice& choice) const
{
    std::vector<BlockChoice> found;
    for (std::size_t i = 0; i < m_extents.size(); ++i) {
        if (choice.blocks[i] > 0 && m_extents[i] % choice.blocks[i] != 0) {
            found.push_back(choice);
            found.back().blocks[i] = dividing(m_extents[i], choice.blocks[i]);
        }
    }
    return found;
}

Changes BlockChoices::changesOf(const BlockChoice& choice) const
{
    Changes changes;
    for (std::size_t i = 0; i < choice.blocks.size(); ++i) {
        if (choice.blocks != m_asked.blocks) {
            changes[m_kernel.blockParameters[i]] = std::to_string(choice.blocks[i]);
        }
    }
    if (choice.buffers != m_asked.buffers) {
        changes[kBuffers] = std::to_string(choice.buffers);
    }
    return changes;
}

std::string BlockChoices::nameOf(const BlockChoice& choice) const
{
    std::string product, name;
    for (const std::int64_t block : choice.blocks) {
        product += (product.empty() ? "" : "\u00d7") + std::to_string(block);
    }
    if (choice.blocks != m_asked.blocks) {
        const bool isOne =
            std::set<std::int64_t>(choice.blocks.begin(), choice.blocks.end()).size() == 1;
        name = isOne ? std::to_string(choice.blocks.front()) + "-blocks" : product + " blocks";
    }
    if (choice.buffers != m_asked.buffers) {
        name += (name.empty() ? "" : ", ") + std::to_string(choice.buffers) + " buffers";
    }
    return name;
}

std::optional<ir::Program> BlockChoices::programOf(const BlockChoice& choice) const
{
    return programWith(m_kernel, m_arguments, changesOf(choice));
}

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

std::int64_t stepsOf(const ir::Program& program)
{
    std::int64_t steps = roundsOf(program.body);
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        steps = std::max(steps, ir::stepCount(std::get<ir::PipelineParams>(pipeline->params).grid));
    }
    return steps;
}

} // namespace pallascope::app
