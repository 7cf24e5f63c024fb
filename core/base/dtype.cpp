#include "core/base/dtype.h"

#include "core/base/format.h"

namespace pallascope {

namespace {

constexpr bool tableIsInOrder()
{
    for (std::size_t i = 0; i < kDTypes.size(); ++i) {
        if (static_cast<std::size_t>(kDTypes[i].type) != i) {
            return false;
        }
    }
    return kDTypes.size() == static_cast<std::size_t>(DType::Bool) + 1;
}

static_assert(tableIsInOrder(), "the table is indexed by DType");

} // namespace

std::optional<DType> dtypeFromName(std::string_view name)
{
    for (const DTypeEntry& entry : kDTypes) {
        if (entry.name == name || entry.jaxpr == name || entry.numpy == name) {
            return entry.type;
        }
    }
    return std::nullopt;
}

std::string dtypeNames()
{
    std::vector<std::string> names;
    for (const DTypeEntry& entry : kDTypes) {
        names.emplace_back(entry.name);
    }
    return orList(names);
}

} // namespace pallascope
