#include "app/window/request_fields.h"

#include "views/fonts.h"

#include <algorithm>

namespace pallascope::app {
namespace {

using views::text;

constexpr auto kFieldOfKernel = "kernel", kFieldOfChip = "chip"; // names of fields of the form

const KernelInfo* findKernel(const std::vector<KernelInfo>& all, const std::string& name)
{
    const auto it = std::find_if(all.begin(), all.end(),
                                 [&](const auto& kernel) { return kernel.name == name; });
    return it == all.end() ? nullptr : &*it;
}

// The value that a request has for a field of the form; empty for the default.
std::string valueIn(const RunRequest& request, const std::string& field)
{
    if (field == kFieldOfKernel || field == kFieldOfChip) {
        return field == kFieldOfKernel ? request.kernel : request.chip;
    }
    const auto given = request.parameters.find(field);
    return given == request.parameters.end() ? std::string() : given->second;
}

// The fields of the form that an error is about.
std::vector<std::string> fieldsOf(const Error& error)
{
    std::vector<std::string> fields;
    for (const About& thing : error.about) {
        switch (thing.subject) {
        case Subject::Kernel:
            fields.emplace_back(kFieldOfKernel);
            break;
        case Subject::Chip:
            fields.emplace_back(kFieldOfChip);
            break;
        case Subject::Parameter:
            fields.push_back(thing.name);
            break;
        case Subject::Setting:
        case Subject::Operand:
        case Subject::File:
            break; // there are no fields for these
        }
    }
    return fields;
}

// The fields of a kernel's form, except the field of the kernel itself.
std::vector<std::string> fieldsOfForm(const std::string& kernelName)
{
    const std::vector<KernelInfo> all = kernels();
    std::vector<std::string> fields{kFieldOfChip};
    if (const KernelInfo* kernel = findKernel(all, kernelName)) {
        for (const ParameterInfo& parameter : kernel->parameters) {
            fields.push_back(parameter.name);
        }
    }
    return fields;
}

} // namespace

void putParameter(RunRequest& request, const std::string& name, const std::string& value)
{
    const std::vector<KernelInfo> all = kernels();
    if (const KernelInfo* kernel = findKernel(all, request.kernel)) {
        for (const ParameterInfo& parameter : kernel->parameters) {
            if (parameter.name == name && parameter.defaultValue == value) {
                request.parameters.erase(name);
                return;
            }
        }
    }
    request.parameters[name] = value;
}

QStringList fieldsOfError(const Error& error)
{
    QStringList fields;
    for (const std::string& field : fieldsOf(error)) {
        fields.append(text(field));
    }
    return fields;
}

QString fieldOfError(const Error& error, const RunRequest& asked, const RunRequest* shown)
{
    const auto isChanged = [&](const std::string& field) {
        return shown == nullptr || valueIn(*shown, field) != valueIn(asked, field);
    };
    const std::vector<std::string> named = fieldsOf(error);
    const auto changed = std::find_if(named.begin(), named.end(), isChanged);
    if (changed != named.end()) {
        return text(*changed);
    }
    if (std::find(named.begin(), named.end(), kFieldOfKernel) != named.end()) {
        return text(kFieldOfKernel); // it is gone, whatever else was changed
    }
    if (shown != nullptr && shown->kernel == asked.kernel) {
        const std::vector<std::string> fields = fieldsOfForm(asked.kernel);
        const auto other = std::find_if(fields.begin(), fields.end(), isChanged);
        if (other != fields.end()) {
            return text(*other);
        }
    }
    return named.empty() ? QString() : text(named.front());
}

} // namespace pallascope::app
