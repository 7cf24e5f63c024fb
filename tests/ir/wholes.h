// Kernels and fusions in programs that tests build. Apart from tests, only captured programs have
// them.
#pragma once

#include "core/ir/tracer.h"

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pallascope::ir_test {

using WholeBody = std::function<std::vector<pl::Value>()>;

// Runs the body as one kernel or fusion of the program that is being traced.
inline std::vector<pl::Value> whole(ir::OpCode code, ir::Params params, const WholeBody& body,
                                    pl::Here here = pl::Here::current())
{
    pl::detail::Tracer& tracer = pl::detail::Tracer::current();
    ir::Operation operation{.code = code, .params = std::move(params)};
    operation.regions.push_back(tracer.region({}, [&] {
        std::vector<ir::ValueId> results;
        for (const pl::Value& value : body()) {
            results.push_back(value.id());
        }
        return results;
    }));
    return tracer.append(std::move(operation), here);
}

inline void kernel(const std::string& name, const std::function<void()>& body,
                   pl::Here here = pl::Here::current())
{
    const auto nothing = [&] {
        body();
        return std::vector<pl::Value>{};
    };
    whole(ir::OpCode::Kernel, ir::KernelParams{name}, nothing, here);
}

// The body returns values, or nothing.
template<class Body>
std::vector<pl::Value> fusion(ir::FusionParams params, const Body& body,
                              pl::Here here = pl::Here::current())
{
    const auto yields = [&]() -> std::vector<pl::Value> {
        if constexpr (std::is_void_v<decltype(body())>) {
            body();
            return {};
        } else {
            return body();
        }
    };
    return whole(ir::OpCode::Fusion, std::move(params), yields, here);
}

} // namespace pallascope::ir_test
