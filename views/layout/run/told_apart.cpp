#include "views/layout/run/told_apart.h"

#include "core/trace/columns.h"
#include "core/trace/pieces.h"
#include "core/trace/pipelines.h"

#include <algorithm>
#include <map>
#include <set>

namespace pallascope::layout {

namespace {

std::string with(const std::string& name, const std::string& suffix)
{
    return suffix.empty() ? name : name + " · " + suffix;
}

// What the program calls the array around kernels; empty: nothing else.
std::string otherNameOf(const RunView& run, std::int32_t operand, const std::string& name)
{
    const trace::Info& info = run.trace->info();
    const std::int32_t array = info.operands[trace::at(operand)].arrayNumber;
    for (const trace::Operand& other : info.operands) {
        const std::string called(trace::arrayName(other));
        if (other.isAround && array >= 0 && other.arrayNumber == array && called != name) {
            return called;
        }
    }
    return {};
}

std::string kernelOf(const RunView& run, std::int32_t operand,
                     const std::vector<std::string_view>& kernels)
{
    const trace::Info& info = run.trace->info();
    const trace::Operand& of = info.operands[trace::at(operand)];
    if (of.kernel >= 0) {
        return trace::at(of.kernel) < kernels.size() ? std::string(kernels[trace::at(of.kernel)])
                                                     : std::string();
    }
    return of.pipeline < 0 ? std::string() : info.pipelines[trace::at(of.pipeline)].name;
}

// Operands in the order in which the program brings up their arrays, which is the same at every
// moment of a run; lists may not be.
std::vector<std::size_t> inProgramOrder(const RunView& run,
                                        const std::vector<std::int32_t>& operands,
                                        std::vector<std::size_t> group)
{
    const auto& all = run.trace->info().operands;
    std::ranges::stable_sort(group, {}, [&](std::size_t i) {
        return std::pair(all[trace::at(operands[i])].arrayNumber, operands[i]);
    });
    return group;
}

} // namespace

std::vector<std::string> toldApart(const RunView& run, const std::vector<std::int32_t>& operands,
                                   std::vector<std::string> names,
                                   const std::function<bool(const std::string&)>& fits)
{
    std::map<std::string, std::vector<std::size_t>> same;
    for (std::size_t i = 0; i < names.size(); ++i) {
        same[names[i]].push_back(i);
    }
    if (same.size() == names.size()) {
        return names;
    }
    std::set<std::string> taken(names.begin(), names.end());
    const std::vector<std::string_view> kernels = trace::kernelNames(run.trace->info());
    for (const auto& [name, inList] : same) {
        if (inList.size() < 2) {
            continue;
        }
        const std::vector<std::size_t> group = inProgramOrder(run, operands, inList);
        std::vector<std::vector<std::string>> choices(3);
        for (std::size_t i = 0; i < group.size(); ++i) {
            const std::int32_t operand = operands[group[i]];
            choices[0].push_back(with(name, otherNameOf(run, operand, name)));
            choices[1].push_back(with(name, kernelOf(run, operand, kernels)));
            choices[2].push_back(name + " #" + std::to_string(i + 1));
        }
        const auto isClear = [&](const std::vector<std::string>& choice) {
            std::set<std::string> all = taken;
            all.erase(name);
            return std::all_of(choice.begin(), choice.end(), [&](const std::string& text) {
                return fits(text) && all.insert(text).second;
            });
        };
        auto chosen = std::find_if(choices.begin(), choices.end(), isClear);
        chosen = chosen == choices.end() ? std::prev(chosen) : chosen;
        for (std::size_t i = 0; i < group.size(); ++i) {
            names[group[i]] = (*chosen)[i];
            taken.insert((*chosen)[i]);
        }
    }
    return names;
}

} // namespace pallascope::layout
