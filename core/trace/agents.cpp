#include "core/trace/agents.h"

#include "core/trace/columns.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace pallascope::trace {

namespace {

bool isNumber(std::string_view word)
{
    return !word.empty()
           && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "TensorCore 12" -> "TensorCore", "12". The second part is empty if the last word is not a number.
std::pair<std::string, std::string> beforeNumber(const std::string& name)
{
    const std::size_t space = name.rfind(' ');
    const std::string last = space == std::string::npos ? "" : name.substr(space + 1);
    return isNumber(last) ? std::pair(name.substr(0, space), last) : std::pair(name, std::string());
}

// The unit of which an agent is an instance, by the agent's name without its number; null if it is
// none.
const Unit* unitOf(const Info& info, const std::string& name)
{
    const auto found = std::find_if(info.units.begin(), info.units.end(), [&](const Unit& unit) {
        return unit.kind == UnitKind::Matrix
               && (name == unit.name || name.ends_with(" " + unit.name));
    });
    return found == info.units.end() ? nullptr : &*found;
}

// The owner of "TensorCore 0 MXU 1" is the agent "TensorCore 0". The owner of "device 2 MXU 1" or
// "MXU 1", which all agents of a device share, is the device's first agent; that of "device 1 SM 3
// TC 0" is the SM's first.
std::vector<std::int32_t> owners(const Info& info)
{
    const std::string only; // the name of a program's only device
    // Agent by its name, and by the names of its device and its SM.
    std::unordered_map<std::string, std::int32_t> first;
    for (auto i = static_cast<std::int32_t>(info.agents.size()); i-- > 0;) {
        const std::string& name = info.agents[at(i)];
        first[name] = first[only] = i;
        for (std::size_t end = name.find(' '); end != std::string::npos;) {
            end = name.find(' ', end + 1); // behind a word and its number
            first[name.substr(0, end)] = i;
            end = end == std::string::npos ? end : name.find(' ', end + 1);
        }
    }
    std::vector<std::int32_t> owner(info.agents.size());
    for (std::size_t i = 0; i < owner.size(); ++i) {
        owner[i] = static_cast<std::int32_t>(i);
        const std::string name = beforeNumber(info.agents[i]).first;
        const Unit* unit = name == info.agents[i] ? nullptr : unitOf(info, name);
        if (unit != nullptr) {
            const std::string of =
                name == unit->name ? only : name.substr(0, name.size() - unit->name.size() - 1);
            const auto found = first.find(of);
            owner[i] = found == first.end() ? owner[i] : found->second;
        }
    }
    const std::vector<std::int32_t> named = owner;
    // An instance must not own another one, whatever a file says.
    for (std::size_t i = 0; i < owner.size(); ++i) {
        owner[i] = named[at(named[i])] == named[i] ? named[i] : static_cast<std::int32_t>(i);
    }
    return owner;
}

// For each agent: whether it takes part.
std::vector<bool> takingPart(const Trace& trace, const std::vector<std::int32_t>& owner)
{
    const Info& info = trace.info();
    std::int32_t last = info.agents.empty() ? kNone : 0;
    for (const Pipeline& pipeline : info.pipelines) {
        last = std::max(last, pipeline.agent);
    }
    for (const Semaphore& semaphore : info.semaphores) {
        last = std::max(last, semaphore.agent);
    }
    std::vector<bool> takes(info.agents.size(), false);
    std::fill_n(takes.begin(), last + 1, true);
    if (last + 1
        < static_cast<std::int32_t>(takes.size())) { // others may take part by what they do
        for (const std::vector<std::int32_t>* column :
             {&trace.segments().agent, &trace.waits().agent, &trace.gridBlocks().agent}) {
            for (const std::int32_t agent : *column) {
                takes[at(owner[at(agent)])] = true;
            }
        }
    }
    for (std::size_t i = 0; i < takes.size(); ++i) {
        takes[i] = takes[i] && owner[i] == static_cast<std::int32_t>(i);
    }
    return takes;
}

// For each kind and unit: whether an agent of the kind uses the unit.
std::vector<bool> usesOf(const Trace& trace, const std::vector<std::size_t>& kindOf,
                         std::size_t kinds)
{
    const Info& info = trace.info();
    const std::size_t templates = info.templates.size();
    std::vector<char> runs(kinds * templates, 0);
    for (std::size_t row = 0; row < trace.segments().size(); ++row) {
        const std::size_t kind = kindOf[at(trace.segments().agent[row])];
        runs[kind * templates + at(trace.segments().templateId[row])] = 1;
    }
    std::vector<bool> uses(kinds * info.units.size(), false);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i] == 0) {
            continue;
        }
        for (const Mark& mark : info.templates[i % templates].marks) {
            if (mark.length.value() > 0) {
                uses[i / templates * info.units.size() + at(mark.unit)] = true;
            }
        }
    }
    return uses;
}

// "SM 3" of "device 1 SM 3 place 1 Warpgroup 0". The agents of a run with only one SM do not name
// it.
std::string smNameOf(const std::string& agent)
{
    constexpr std::string_view kSm = "SM ";
    const std::size_t begin = agent.find(kSm);
    if (begin == std::string::npos) {
        return "SM 0";
    }
    return agent.substr(begin, agent.find(' ', begin + kSm.size()) - begin);
}

void findSms(Agents& all, const Info& info)
{
    if (info.blockGrids.empty()) {
        return;
    }
    std::map<std::pair<std::int32_t, std::string>, std::int32_t> known;
    all.smOf.assign(info.agents.size(), kNone);
    std::vector<std::int32_t> warpgroups;
    for (const AgentKind& kind : all.kinds) {
        warpgroups.insert(warpgroups.end(), kind.agents.begin(), kind.agents.end());
    }
    std::sort(warpgroups.begin(), warpgroups.end());
    for (const std::int32_t agent : warpgroups) {
        const std::string name = smNameOf(info.agents[at(agent)]);
        const std::int32_t device = info.deviceOf(agent);
        const auto [sm, isNew] =
            known.try_emplace({device, name}, static_cast<std::int32_t>(all.sms.size()));
        if (isNew) {
            all.sms.push_back({name, device, {}});
        }
        all.sms[at(sm->second)].agents.push_back(agent);
        all.smOf[at(agent)] = sm->second;
    }
    for (std::size_t i = 0; i < all.smOf.size(); ++i) { // instances of units
        all.smOf[i] = all.smOf[at(all.ownerOf[i])];
    }
}

} // namespace

std::int64_t Agents::unitCount(UnitRow unit) const
{
    return std::max<std::int64_t>(1,
                                  sms.empty() ? std::ssize(ofUnit[unit.index()]) : std::ssize(sms));
}

std::size_t Agents::size() const
{
    std::size_t sum = 0;
    for (const AgentKind& kind : kinds) {
        sum += kind.agents.size();
    }
    return sum;
}

std::pair<std::int32_t, std::int32_t> Agents::smsOf(std::int32_t device) const
{
    const auto [first, last] =
        std::equal_range(sms.begin(), sms.end(), Sm{{}, device, {}},
                         [](const Sm& a, const Sm& b) { return a.device < b.device; });
    return {static_cast<std::int32_t>(first - sms.begin()),
            static_cast<std::int32_t>(last - sms.begin())};
}

std::string kindOfAgent(const std::string& name)
{
    std::string kind;
    for (std::size_t from = 0; from <= name.size();) {
        const std::size_t to = std::min(name.find(' ', from), name.size());
        if (const std::string word = name.substr(from, to - from); !isNumber(word)) {
            kind += (kind.empty() ? "" : " ") + word;
        }
        from = to + 1;
    }
    return kind;
}

bool isUnitInstance(const Info& info, const std::string& agent)
{
    const std::string name = beforeNumber(agent).first;
    return name != agent && unitOf(info, name) != nullptr;
}

bool isWarp(const std::string& agent)
{
    return agent.find(" warp ") != std::string::npos;
}

std::optional<std::string> nameOfPlace(const std::string& agent)
{
    const std::size_t place = agent.find(" place ");
    if (place == std::string::npos) {
        return std::nullopt;
    }
    std::string name = agent.substr(0, place);
    std::string rest = agent.substr(place + 1);
    for (std::size_t space = rest.find(' '); space != std::string::npos; space = rest.find(' ')) {
        rest = rest.substr(space + 1);
        if (const std::string word = rest.substr(0, rest.find(' ')); isNumber(word)) {
            name += "." + word;
        }
    }
    return name;
}

Agents agentsOf(const Trace& trace)
{
    const Info& info = trace.info();
    Agents all;
    all.ownerOf = owners(info);
    const std::vector<bool> takes = takingPart(trace, all.ownerOf);
    std::unordered_map<std::string, std::size_t> kinds;
    std::vector<std::size_t> kindOf(info.agents.size());
    for (std::size_t i = 0; i < info.agents.size(); ++i) {
        if (!takes[i]) {
            continue;
        }
        const std::string name = kindOfAgent(info.agents[i]);
        const auto [kind, isNew] = kinds.try_emplace(name, all.kinds.size());
        if (isNew) {
            all.kinds.push_back({name, {}});
        }
        all.kinds[kind->second].agents.push_back(static_cast<std::int32_t>(i));
        kindOf[i] = kind->second;
    }
    for (std::size_t i = 0; i < kindOf.size(); ++i) {
        kindOf[i] = kindOf[at(all.ownerOf[i])];
    }
    const std::vector<bool> uses = usesOf(trace, kindOf, all.kinds.size());
    all.ofUnit.resize(info.units.size());
    for (std::size_t i = 0; i < uses.size(); ++i) {
        if (uses[i]) {
            const std::vector<std::int32_t>& agents = all.kinds[i / info.units.size()].agents;
            std::vector<std::int32_t>& of = all.ofUnit[i % info.units.size()];
            of.insert(of.end(), agents.begin(), agents.end());
        }
    }
    for (std::vector<std::int32_t>& of : all.ofUnit) {
        std::sort(of.begin(), of.end());
    }
    findSms(all, info);
    return all;
}

std::string agentNames(const Info& info, const std::vector<std::int32_t>& agents)
{
    std::string names, before;
    std::int64_t first = 0, last = 0; // consecutive numbers that are not written yet
    const auto flush = [&] {
        names += last > first ? "–" + std::to_string(last) : "";
        first = last;
    };
    for (const std::int32_t agent : agents) {
        const auto [name, number] = beforeNumber(info.agents[at(agent)]);
        const bool counts = !number.empty() && number.size() < 10;
        const std::int64_t value = counts ? std::stoll(number) : -1;
        if (counts && !names.empty() && name == before && value == last + 1) {
            last = value;
            continue;
        }
        flush();
        const bool goesOn = counts && !names.empty() && name == before;
        names += goesOn ? ", " + number : (names.empty() ? "" : " · ") + info.agents[at(agent)];
        before = counts ? name : "";
        first = last = value;
    }
    flush();
    return names;
}

} // namespace pallascope::trace
