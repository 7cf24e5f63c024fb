#include "app/cli/ref_choice.h"

#include "app/run_job/values_source.h"
#include "core/base/format.h"
#include "core/base/indexed_name.h"
#include "views/layout/scene/header.h"
#include "views/layout/values/values.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::app {

using machine::Replay;

Result<RefChoice> chooseRef(const Replay& replay, const std::string& text)
{
    if (text.rfind('[') == std::string::npos || !findRefs(replay, text, "", "").empty()) {
        return RefChoice{text, {}};
    }
    std::optional<IndexedName> element = parseIndexedName(text, '[', ']');
    if (!element) {
        return userError("The ref \"" + text
                         + "\" is not understood; expected a name, or a name with the index of an "
                           "element, such as out[3,5].");
    }
    return RefChoice{std::move(element->name), std::move(element->index)};
}

namespace {

// Whether it is a ref of this name in this memory; empty: of any.
bool isRefOf(const ir::Value& value, const std::string& name, const std::string& space)
{
    return value.type.isRef() && (name.empty() || value.name == name)
           && (space.empty() || ir::memorySpaceName(*value.type.space) == space);
}

} // namespace

std::vector<FoundRef> findRefs(const Replay& replay, const std::string& name,
                               const std::string& space, const std::string& agent)
{
    std::vector<FoundRef> found;
    const std::vector<Replay::AgentPlace> places = replay.places();
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!agent.empty() && places[i].agent != agent) {
            continue;
        }
        for (const ir::ValueId id : places[i].refs) {
            if (isRefOf(replay.program().value(id), name, space)) {
                found.push_back({i, id});
            }
        }
    }
    return found;
}

// The error lists the names of all refs that can be asked for.
Error noSuchRef(const Replay& replay, const std::string& name, const std::string& space,
                const std::string& agent)
{
    std::vector<std::string> names;
    for (const FoundRef& there : findRefs(replay, "", space, agent)) {
        const std::string& other = replay.program().value(there.id).name;
        if (std::find(names.begin(), names.end(), other) == names.end()) {
            names.push_back(other);
        }
    }
    const std::vector<Replay::AgentPlace> places = replay.places();
    const bool isAgent = agent.empty()
                         || std::any_of(places.begin(), places.end(),
                                        [&](const auto& place) { return place.agent == agent; });
    const std::vector<ir::Value>& values = replay.program().values;
    const bool isThereElsewhen =
        std::any_of(values.begin(), values.end(),
                    [&](const ir::Value& value) { return isRefOf(value, name, space); });
    return userError("There is no ref \"" + name + "\"" + (space.empty() ? "" : " in " + space)
                     + (agent.empty() ? "" : " of " + agent) + " at that moment"
                     + (!isAgent          ? ", as there is no such agent; "
                        : isThereElsewhen ? ", as its scope has ended or has yet to begin; "
                                          : "; ")
                     + (names.empty() ? "none is there." : "expected " + orList(names) + "."));
}

Status checkElement(const Replay& replay, const FoundRef& ref, const RefChoice& choice)
{
    if (!choice.element) {
        return Done{};
    }
    const Shape& shape = replay.program().value(ref.id).type.shape;
    return rowMajorNumber(shape.extents(), *choice.element)
               ? Status(Done{})
               : userError(fmt::format("There is no element {}[{}]; the shape of {} is {}.",
                                       choice.name, fmt::join(*choice.element, ","), choice.name,
                                       toString(shape)));
}

Status writeHeat(Replay& replay, const FoundRef& ref, const RefChoice& choice,
                 const StateCommand& command)
{
    const std::vector<ValuesRef> refs = valuesRefs(replay.program(), nullptr);
    const auto one = std::find_if(refs.begin(), refs.end(), [&](const ValuesRef& listed) {
        return std::find(listed.ids.begin(), listed.ids.end(), ref.id) != listed.ids.end();
    });
    if (one == refs.end()) {
        return userError("The ref \"" + choice.name + "\" has no elements to draw.");
    }
    layout::ValuesView view = viewOfHeld(replay.held(ref.agent, ref.id, replay.time()), *one);
    if (!replay.computes(ref.id)) {
        view.unknown = notComputed(choice.name);
    }
    const layout::ValuesChoice shown{.element = choice.element,
                                     .scale = command.log ? layout::ValuesScale::Log
                                                          : layout::ValuesScale::Range};
    layout::Size size =
        command.heat.size.empty() ? layout::Size{640, 560} : *parseSize(command.heat.size);
    size.height -= layout::headerHeight(size.width);
    return writeScene(layout::withHeader(layout::layoutValues(view, shown, size)), command.heat);
}

} // namespace pallascope::app
