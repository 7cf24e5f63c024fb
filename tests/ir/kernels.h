// Small kernels for the tests of the IR.
#pragma once

#include "core/ir/builder.h"

#include <functional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace pallascope::ir_test {

// A value that no operation makes.
inline ir::ValueId freshValue(ir::Program& program, ir::Type type)
{
    program.values.push_back({std::move(type), {}, {}});
    return {static_cast<std::int32_t>(program.values.size() - 1)};
}

using RefsBody = std::function<void(const std::vector<pl::Ref>& refs)>;

// A kernel of one pipeline whose body gets every argument whole in VMEM. The last argument is the
// output.
[[nodiscard]] inline Result<ir::Program> traced(std::vector<pl::detail::ArgumentSpec> arguments,
                                                const RefsBody& body, pl::Grid grid = {})
{
    arguments.back().kind = ir::ArgumentKind::Output;
    const auto kernel = [&](const std::vector<pl::Ref>& refs) {
        grid.in.assign(refs.size() - 1, pl::wholeArray());
        grid.out.push_back(pl::wholeArray());
        const auto inner = [&](const std::vector<pl::Ref>& blocks) {
            body(blocks);
            return true;
        };
        pl::detail::pipeline(grid, ir::PipelineOrigin::EmitPipeline, inner, refs);
        return true;
    };
    return pl::detail::traceKernel("small", std::move(arguments), kernel,
                                   std::source_location::current());
}

// What the author is told; empty if the program is valid.
template<class T>
[[nodiscard]] std::string sentence(const Result<T>& result)
{
    return result ? std::string() : result.error().message;
}

// How the place of an operation in a test is named: "ir/<file>:<line>".
[[nodiscard]] inline std::string place(const char* file, int line)
{
    return std::string("ir/") + file + ":" + std::to_string(line);
}

} // namespace pallascope::ir_test
