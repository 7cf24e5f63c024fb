#include "core/study/element_choice.h"

#include "core/base/format.h"
#include "core/base/indexed_name.h"

#include <algorithm>

namespace pallascope::study {

namespace {

// The refs that own memory or show a block: arguments of the program and of regions.
std::vector<ir::ValueId> refsOf(const ir::Program& program)
{
    std::vector<ir::ValueId> refs;
    const auto add = [&](const ir::Region& region) {
        for (const ir::ValueId id : region.arguments) {
            const ir::Type& type = program.type(id);
            if (type.space && !ir::isSemaphore(*type.space) && !program.value(id).name.empty()
                && std::find(refs.begin(), refs.end(), id) == refs.end()) {
                refs.push_back(id);
            }
        }
    };
    for (const ir::Argument& argument : program.arguments) {
        refs.push_back(argument.ref);
    }
    add(program.body);
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        std::for_each(operation.regions.begin(), operation.regions.end(), add);
    });
    return refs;
}

} // namespace

Result<ElementChoice> parseElement(const std::string& text)
{
    if (!text.empty() && text.rfind('[') == std::string::npos) {
        return ElementChoice{text, {}, "", {}};
    }
    std::optional<IndexedName> element = parseIndexedName(text, '[', ']');
    if (!element) {
        return userError("The element \"" + text
                         + "\" is not understood; expected a ref with the index of an element, "
                           "such as out[3,5].");
    }
    return ElementChoice{std::move(element->name), std::move(element->index), "", {}};
}

Result<machine::Watched> watchedOf(const ir::Program& program, const ElementChoice& choice)
{
    machine::Watched watched;
    std::vector<std::string> names, shapes;
    const auto addOnce = [](std::vector<std::string>& to, const std::string& text) {
        if (std::find(to.begin(), to.end(), text) == to.end()) {
            to.push_back(text);
        }
    };
    for (const ir::ValueId id : refsOf(program)) {
        const ir::Value& value = program.value(id);
        if (!choice.space.empty() && ir::memorySpaceName(*value.type.space) != choice.space) {
            continue;
        }
        addOnce(names, value.name);
        const bool isMeant =
            choice.only.empty()
            || std::find(choice.only.begin(), choice.only.end(), id) != choice.only.end();
        if (value.name != choice.ref || !isMeant) {
            continue;
        }
        addOnce(shapes, toString(value.type.shape));
        if (const auto position = rowMajorNumber(value.type.shape.extents(), choice.index)) {
            watched.elements.push_back({id, *position});
        }
    }
    const std::string where = choice.space.empty() ? "" : " in " + choice.space;
    if (shapes.empty()) {
        return userError("There is no ref \"" + choice.ref + "\"" + where + " in " + program.name
                         + "; "
                         + (names.empty() ? "none is there." : "expected " + orList(names) + "."));
    }
    if (watched.elements.empty()) {
        return userError("There is no element " + choice.ref + "[" + join(choice.index, ",")
                         + "]; the shape of " + choice.ref + " is " + orList(shapes) + ".");
    }
    return watched;
}

} // namespace pallascope::study
