#include "core/study/element_choice.h"

#include "core/base/format.h"

#include <algorithm>
#include <charconv>

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

std::optional<std::int64_t> positionOf(const Shape& shape, const std::vector<std::int64_t>& index)
{
    std::int64_t position = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (index.size() != shape.rank() || index[axis] >= shape[axis]) {
            return std::nullopt;
        }
        position = position * shape[axis] + index[axis];
    }
    return index.size() == shape.rank() ? std::optional(position) : std::nullopt;
}

Error misread(const std::string& text)
{
    return userError("The element \"" + text
                     + "\" is not understood; expected a ref with the index of an element, such as "
                       "out[3,5].");
}

} // namespace

Result<ElementChoice> parseElement(const std::string& text)
{
    const std::size_t open = text.rfind('[');
    if (open == std::string::npos && !text.empty()) {
        return ElementChoice{text, {}, ""};
    }
    if (open == 0 || text.empty() || text.back() != ']') {
        return misread(text);
    }
    ElementChoice choice{text.substr(0, open), {}, ""};
    const char* at = text.data() + open + 1;
    const char* const end = text.data() + text.size() - 1;
    while (at != end) {
        std::int64_t number = 0;
        const auto [next, failed] = std::from_chars(at, end, number);
        if (failed != std::errc() || number < 0
            || (next != end && (*next != ',' || next + 1 == end))) {
            return misread(text);
        }
        choice.index.push_back(number);
        at = next == end ? end : next + 1;
    }
    return choice;
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
        if (value.name != choice.ref) {
            continue;
        }
        addOnce(shapes, toString(value.type.shape));
        if (const auto position = positionOf(value.type.shape, choice.index)) {
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
