// What the builder keeps while it traces a kernel: the program so far and the regions that are
// open. Tracers of one thread form a stack; the innermost is current.
#pragma once

#include "core/ir/builder.h"
#include "core/ir/program.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pallascope::pl::detail {

class Tracer
{
public:
    [[nodiscard]] static Tracer& current(); // fails a PALLASCOPE_CHECK if no kernel is being traced

    explicit Tracer(std::string name);
    ~Tracer();
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    [[nodiscard]] ir::Program& program() { return m_program; }

    [[nodiscard]] ir::ValueId newValue(ir::Type type, std::string name = {});
    // The number is rounded to a float dtype. If another dtype cannot hold it, that is a user's
    // mistake.
    [[nodiscard]] ir::ValueId literal(double number, DType dtype, const Here& here);
    [[nodiscard]] ir::LocationId location(const Here& here);

    // Infers the types of the results, keeps the first error, and appends the operation to the
    // innermost open region.
    std::vector<Value> append(ir::Operation operation, const Here& here);

    // The same for one without regions and results.
    void append(ir::OpCode code, std::vector<ir::ValueId> operands, ir::Params params,
                const Here& here)
    {
        append({.code = code, .operands = std::move(operands), .params = std::move(params)}, here);
    }

    // Runs `body` with a new innermost region and returns it; what `body` returns are the region's
    // results.
    [[nodiscard]] ir::Region region(std::vector<ir::ValueId> arguments,
                                    const std::function<std::vector<ir::ValueId>()>& body);

    void fail(const std::string& sentence, const Here& here);

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

    // Declared grid axis -> loop axis, for the pipeline being traced. Empty outside of pipelines.
    std::vector<std::int32_t> axisPosition;

private:
    ir::Program m_program;
    std::vector<ir::Region*> m_open;
    std::map<std::tuple<std::string, std::int32_t>, ir::LocationId> m_locations;
    std::map<std::pair<std::uint64_t, DType>, ir::ValueId> m_literals; // by the bits of the number
    std::optional<Error> m_error;
    Tracer* m_outer;
};

// The operand as a value; a number becomes a literal of this dtype.
[[nodiscard]] Value materialise(const Operand& operand, DType dtype);

} // namespace pallascope::pl::detail
