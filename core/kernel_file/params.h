// Says which parameters an operation has in a file. Only the .cpp files that read and write kernel
// files use it.
#pragma once

#include "core/kernel_file/fields.h"
#include "core/kernel_file/operations_with.h"

#include <algorithm>

namespace pallascope::kernel_file {

namespace detail {

struct AnyArchive
{
    template<class T>
    void operator()(std::string_view, T&)
    {}

    template<class T>
    void required(std::string_view, T&)
    {}
};

template<class P>
consteval bool isCovered()
{
    if constexpr (std::same_as<P, std::monostate>) {
        return true;
    } else {
        return !kOperationsWith<P>.empty() && requires(AnyArchive & a, P & params)
        {
            fields(a, params);
        };
    }
}

template<class... P>
consteval bool areCovered(const std::variant<P...>*)
{
    return (isCovered<P>() && ...);
}

static_assert(areCovered(static_cast<const ir::Params*>(nullptr)),
              "every Params alternative needs fields() and its operations in fields.h");

template<class... P>
void setParams(std::variant<P...>& params, std::string_view operation)
{
    const auto tryOne = [&]<class One>(std::type_identity<One>) {
        const auto& names = kOperationsWith<One>;
        if (std::find(names.begin(), names.end(), operation) != names.end()) {
            params = One{};
        }
    };
    (tryOne(std::type_identity<P>{}), ...);
}

} // namespace detail

// The parameters of an operation with this code, with their defaults.
[[nodiscard]] inline ir::Params paramsFor(ir::OpCode code)
{
    ir::Params params;
    detail::setParams(params, ir::opName(code));
    return params;
}

} // namespace pallascope::kernel_file
