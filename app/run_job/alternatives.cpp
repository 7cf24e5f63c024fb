#include "app/run_job/alternatives.h"

#include "app/run_job/block_choices.h"
#include "core/base/format.h"
#include "core/ir/pipeline_facts.h"
#include "core/study/trial.h"

#include <algorithm>
#include <set>

namespace pallascope::app {

namespace {

constexpr std::int64_t kTrialsOfOne = 6; // of three block parameters; together as long as one trial
constexpr int kMostRounds = 4;           // of going on from the fastest choice

// Tries choices of blocks, each once.
class Trials
{
public:
    Trials(const kernels::Kernel& kernel, const kernels::Arguments& arguments,
           const chip::Chip& chip)
        : m_choices(kernel, arguments)
        , m_chip(chip)
        , m_tried{m_choices.asked()}
    {}

    [[nodiscard]] const BlockChoices& choices() const { return m_choices; }

    // Adds the choice to the results, with a block that divides its array if it would be wrong
    // without, unless it was tried before, the kernel does not accept it, or it takes more steps.
    void add(const BlockChoice& choice, std::int64_t mostSteps)
    {
        if (std::optional<Trial> found = tried(choice, mostSteps)) {
            m_results.push_back(std::move(*found));
        }
    }

    // Halves and doubles one block, and goes on from what is fastest as long as that helps. Only
    // the fastest becomes a result, if it is faster than all others.
    void climb()
    {
        std::optional<Trial> fastest = fastestResult();
        const bool hadOne = fastest.has_value();
        std::optional<Trial> found = fastestBeside(m_choices.asked());
        bool isNew = false;
        for (int round = 0; round < kMostRounds; ++round) {
            const bool isBetter = found && (!fastest || found->tried.time < fastest->tried.time);
            if (isBetter) {
                fastest = std::move(found);
                isNew = true;
            } else if (round > 0 || !hadOne) {
                break;
            }
            found = fastestBeside(fastest->choice);
        }
        if (isNew) {
            m_results.push_back(std::move(*fastest));
        }
    }

    [[nodiscard]] std::vector<analysis::Alternative> results() const
    {
        std::vector<analysis::Alternative> all;
        for (const Trial& trial : m_results) {
            all.push_back(trial.tried);
        }
        return all;
    }

private:
    struct Trial
    {
        BlockChoice choice;
        analysis::Alternative tried;
    };

    struct Sound
    {
        BlockChoice choice;
        ir::Program program;
    };

    // The choice, or one with a dividing block if it would add up what lies past an array.
    [[nodiscard]] std::optional<Sound> sound(const BlockChoice& choice) const
    {
        std::vector<BlockChoice> choices = m_choices.withADividingBlock(choice);
        choices.insert(choices.begin(), choice);
        for (BlockChoice& one : choices) {
            std::optional<ir::Program> program = m_choices.programOf(one);
            if (program && !sumsPastAnArray(*program)) {
                return Sound{std::move(one), std::move(*program)};
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<Trial> tried(const BlockChoice& wanted, std::int64_t mostSteps)
    {
        std::optional<Sound> found = sound(wanted);
        if (!found || !m_tried.insert(found->choice).second
            || stepsOf(found->program) > mostSteps) {
            return std::nullopt;
        }
        Result<analysis::Alternative> tried = study::trial(found->program, m_chip);
        if (!tried) {
            return std::nullopt;
        }
        tried->name = m_choices.nameOf(found->choice);
        tried->changed = m_choices.changesOf(found->choice);
        return Trial{std::move(found->choice), std::move(*tried)};
    }

    // Of those with one block halved or doubled, the fastest that keeps the limits.
    [[nodiscard]] std::optional<Trial> fastestBeside(const BlockChoice& choice)
    {
        std::optional<Trial> fastest;
        for (std::size_t axis = 0; axis < choice.blocks.size(); ++axis) {
            for (const int shift : {-1, 1}) {
                const auto one = m_choices.scaled(choice, shift, axis);
                auto found = one ? tried(*one, kMostTrialSteps / kTrialsOfOne) : std::nullopt;
                if (found && isFaster(*found, fastest)) {
                    fastest = std::move(found);
                }
            }
        }
        return fastest;
    }

    [[nodiscard]] std::optional<Trial> fastestResult() const
    {
        std::optional<Trial> fastest;
        for (const Trial& trial : m_results) {
            if (isFaster(trial, fastest)) {
                fastest = trial;
            }
        }
        return fastest;
    }

    static bool isFaster(const Trial& trial, const std::optional<Trial>& than)
    {
        return trial.tried.keepsLimits() && (!than || trial.tried.time < than->tried.time);
    }

    BlockChoices m_choices;
    const chip::Chip& m_chip;
    std::set<BlockChoice> m_tried;
    std::vector<Trial> m_results;
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
    Trials trials(kernel, arguments, chip);
    const BlockChoices& choices = trials.choices();
    for (const int shift : {-1, 1, 2}) {
        if (const std::optional<BlockChoice> blocks = choices.scaled(choices.asked(), shift)) {
            trials.add(*blocks, kMostTrialSteps);
        }
    }
    trials.add(choices.allAsTheLargest(choices.asked()), kMostTrialSteps);
    if (choices.asked().buffers > 0) {
        BlockChoice more = choices.asked();
        ++more.buffers;
        trials.add(more, kMostTrialSteps);
    }
    if (kernel.blockParameters.size() > 1) { // one may be all of its array
        trials.climb();
    }
    return trials.results();
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
    const std::vector<std::int64_t> asked = BlockChoices(kernel, arguments).asked().blocks;
    const std::size_t count = asked.size();
    const int mostHalvings = 4; // how often each block is halved
    std::vector<int> shift(count, 0);
    while (count > 0) {
        analysis::Alternative blocks;
        int halvings = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t block = asked[i] >> shift[i];
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
