#include "core/base/check.h"
#include "core/base/format.h"
#include "kernels/kernel.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace pallascope::kernels {

Parameter integer(std::string name, std::int64_t defaultValue, std::int64_t minimum,
                  std::int64_t maximum, std::string help)
{
    return {std::move(name),
            Parameter::Type::Integer,
            std::to_string(defaultValue),
            minimum,
            maximum,
            {},
            std::move(help)};
}

Parameter choice(std::string name, std::vector<std::string> choices, std::string help)
{
    const std::string first = choices.front();
    return {std::move(name),    Parameter::Type::Choice, first, 1, 1,
            std::move(choices), std::move(help)};
}

Kernel forChip(std::string chip, Kernel kernel)
{
    kernel.chip = chip;
    kernel.build = [build = std::move(kernel.build), chip](const Arguments& arguments) {
        Result<ir::Program> program = build(arguments);
        if (program) {
            program->chip = chip;
        }
        return program;
    };
    return kernel;
}

namespace {

bool parseInteger(std::string_view text, std::int64_t& value)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// "1024", "3,2,128,4" or "3x2x128x4". An empty text, a scalar, is not allowed.
bool parseShape(std::string_view text, std::vector<Extent>& extents)
{
    while (true) {
        const std::size_t end = std::min(text.find_first_of(",x"), text.size());
        std::int64_t extent = 0;
        if (!parseInteger(text.substr(0, end), extent)) {
            return false;
        }
        extents.push_back(extent);
        if (end == text.size()) {
            return true;
        }
        text.remove_prefix(end + 1);
    }
}

// A dtype has three names; choices have the first one. Any other text is what it is.
std::string chosen(const Parameter& parameter, const std::string& value)
{
    const std::optional<DType> dtype =
        parameter.type == Parameter::Type::Choice ? dtypeFromName(value) : std::nullopt;
    const std::string name(dtype ? dtypeName(*dtype) : value);
    return std::ranges::count(parameter.choices, name) > 0 ? name : value;
}

Status checkValue(const Kernel& kernel, const Parameter& parameter, const std::string& value)
{
    const std::string who = "The parameter " + parameter.name + " of " + kernel.name + " is \""
                            + value + "\"; expected ";
    const auto refuse = [&](const std::string& expected) {
        return userError(who + expected, {{Subject::Parameter, parameter.name}});
    };
    const std::string range =
        "from " + std::to_string(parameter.minimum) + " to " + std::to_string(parameter.maximum);
    switch (parameter.type) {
    case Parameter::Type::Integer: {
        std::int64_t number = 0;
        if (!parseInteger(value, number) || number < parameter.minimum
            || number > parameter.maximum) {
            return refuse("a whole number " + range + ".");
        }
        return Done{};
    }
    case Parameter::Type::Choice:
        if (std::find(parameter.choices.begin(), parameter.choices.end(), value)
            == parameter.choices.end()) {
            return refuse(orList(parameter.choices) + ".");
        }
        return Done{};
    case Parameter::Type::Shape: {
        std::vector<Extent> extents;
        const bool sound = parseShape(value, extents) && extents.size() <= 8
                           && std::all_of(extents.begin(), extents.end(), [&](Extent e) {
                                  return e >= parameter.minimum && e <= parameter.maximum;
                              });
        if (!sound) {
            return refuse("up to 8 whole numbers " + range + " such as 3,2,128,4.");
        }
        if (const auto elements = checkedElements(Shape(extents));
            !elements || *elements > (std::int64_t{1} << 40)) {
            return refuse("at most 2^40 elements.");
        }
        return Done{};
    }
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

} // namespace

std::int64_t Arguments::integer(std::string_view name) const
{
    std::int64_t value = 0;
    PALLASCOPE_CHECK(parseInteger(text(name), value));
    return value;
}

const std::string& Arguments::text(std::string_view name) const
{
    const auto found = m_values.find(name);
    PALLASCOPE_CHECK(found != m_values.end());
    return found->second;
}

DType Arguments::dtype(std::string_view name) const
{
    const auto dtype = dtypeFromName(text(name));
    PALLASCOPE_CHECK(dtype.has_value());
    return *dtype;
}

Shape Arguments::shape(std::string_view name) const
{
    std::vector<Extent> extents;
    PALLASCOPE_CHECK(parseShape(text(name), extents));
    return Shape(extents);
}

Result<Arguments> arguments(const Kernel& kernel, const std::map<std::string, std::string>& given)
{
    Arguments result;
    for (const Parameter& parameter : kernel.parameters) {
        result.m_values[parameter.name] = parameter.defaultValue;
    }
    for (const auto& entry : given) { // clang 14 cannot capture structured bindings in lambdas
        const std::string& name = entry.first;
        const auto parameter =
            std::find_if(kernel.parameters.begin(), kernel.parameters.end(),
                         [&](const Parameter& candidate) { return candidate.name == name; });
        if (parameter == kernel.parameters.end()) {
            std::vector<std::string> names;
            for (const Parameter& candidate : kernel.parameters) {
                names.push_back(candidate.name);
            }
            return userError("The kernel " + kernel.name + " has no parameter \"" + name
                                 + "\"; expected " + orList(names) + ".",
                             {{Subject::Parameter, name}});
        }
        const std::string value = chosen(*parameter, entry.second);
        if (Status status = checkValue(kernel, *parameter, value); !status) {
            return status.error();
        }
        result.m_values[name] = value;
    }
    return result;
}

const Kernel* find(std::string_view name)
{
    const auto found = std::find_if(all().begin(), all().end(),
                                    [&](const Kernel& kernel) { return kernel.name == name; });
    return found == all().end() ? nullptr : &*found;
}

void attachSources(ir::Program& program)
{
    std::set<std::string> files;
    for (const ir::Location& location : program.locations) {
        if (files.insert(location.file).second) {
            const std::string_view text = sourceText(location.file);
            if (!text.empty()) {
                program.sources.push_back({location.file, std::string(text)});
            }
        }
    }
}

} // namespace pallascope::kernels
