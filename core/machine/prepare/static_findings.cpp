#include "core/machine/prepare/static_findings.h"

#include "core/base/format.h"
#include "core/cost/budget.h"
#include "core/cost/legality.h"
#include "core/ir/pipeline_facts.h"
#include "core/machine/prepare/unknown_figures.h"
#include "core/trace/findings.h"

#include <algorithm>

namespace pallascope::machine {

namespace {

// The name of the entry that takes most of a memory.
std::string largestIn(const cost::Budget& budget, std::int32_t memory)
{
    const cost::BudgetEntry* largest = nullptr;
    for (const cost::BudgetEntry& entry : budget.entries) {
        if (entry.memory == memory && (largest == nullptr || entry.total() > largest->total())) {
            largest = &entry;
        }
    }
    return largest == nullptr ? "" : largest->name;
}

// Whether it is of a pipeline in another one's body. Budgets are in program order, so it follows
// those of the pipelines around it.
bool isNested(const cost::Budget& budget)
{
    return std::any_of(budget.entries.begin(), budget.entries.end(),
                       [](const cost::BudgetEntry& entry) { return entry.outer; });
}

// A kernel over the scoped limit still runs, as it would if it asked for more. Of pipelines in each
// other's bodies the one that needs most says what it would have to ask for.
void addScopedLimit(const ir::Program& program, const chip::Chip& chip,
                    const std::vector<cost::Budget>& budgets, const Description& description,
                    std::vector<trace::Finding>& findings)
{
    for (auto first = budgets.begin(), next = first; first != budgets.end(); first = next) {
        next = std::find_if_not(first + 1, budgets.end(), isNested);
        for (std::size_t row = 0; row < chip.memories.size(); ++row) {
            const auto memory = static_cast<std::int32_t>(row);
            const cost::Budget& budget =
                *std::max_element(first, next, [&](const auto& a, const auto& b) {
                    return a.used(memory) < b.used(memory);
                });
            const Bytes used = budget.used(memory);
            const std::optional<Bytes> limit = cost::scopedLimit(program, chip.memories[row]);
            if (limit && used > *limit) {
                findings.push_back(
                    trace::found(trace::FindingKind::OverScopedLimit,
                                 "The operands take " + bytesText(used) + " of "
                                     + chip.memories[row].name + ", over the scoped limit of "
                                     + bytesText(*limit) + ": ask for vmem_limit_bytes="
                                     + std::to_string(used.value()) + ", or use smaller blocks.",
                                 largestIn(budget, memory), {}, {},
                                 description.sourceLine(program, budget.location)));
            }
        }
    }
}

void addIllegalBlocks(const ir::Program& program, const chip::Chip& chip,
                      const Description& description, std::vector<trace::Finding>& findings)
{
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        const auto& specs = std::get<ir::PipelineParams>(pipeline->params).specs;
        for (const cost::IllegalBlock& block : cost::illegalBlocks(program, *pipeline, chip)) {
            const ir::BlockSpec& spec = specs[block.spec];
            findings.push_back(trace::found(trace::FindingKind::IllegalBlock, block.sentence,
                                            spec.name, {}, {},
                                            description.sourceLine(program, spec.location)));
        }
    }
}

} // namespace

std::vector<trace::Finding> staticFindings(const ir::Program& program, const chip::Chip& chip,
                                           const Plan& plan,
                                           const std::vector<cost::Budget>& budgets,
                                           const Description& description)
{
    std::vector<trace::Finding> findings;
    addScopedLimit(program, chip, budgets, description, findings);
    addIllegalBlocks(program, chip, description, findings);
    std::vector<std::int32_t> memories;
    if (const std::optional<std::int32_t> hbm = chip.memoryIndex("HBM")) {
        memories.push_back(*hbm);
    }
    for (const trace::Buffer& buffer : description.info.buffers) {
        memories.push_back(buffer.memory);
    }
    if (std::optional<trace::Finding> finding = unknownFigures(program, chip, plan, memories)) {
        findings.push_back(std::move(*finding));
    }
    return findings;
}

} // namespace pallascope::machine
