// The state behind the builder while a kernel is traced. One per thread, on a stack.
#pragma once

#include "core/ir/builder.h"
#include "core/ir/program.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace pallascope::pl::detail {

class Tracer
{
public:
    [[nodiscard]] static Tracer& current(); // PALLASCOPE_CHECK: a kernel is being traced

    explicit Tracer(std::string name);
    ~Tracer();
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    [[nodiscard]] ir::Program& program() { return m_program; }

    [[nodiscard]] ir::ValueId newValue(ir::Type type, std::string name = {});
    // Rounded to a float dtype; a number that another dtype lacks is a mistake in the kernel.
    [[nodiscard]] ir::ValueId literal(double number, DType dtype, const Here& here);
    [[nodiscard]] ir::LocationId location(const Here& here);

    // Infers the results' types, keeps the first error, appends to the innermost open region.
    std::vector<Value> append(ir::Operation operation, const Here& here);
    // Runs `body` with a new innermost region; returns that region with the values it returned.
    [[nodiscard]] ir::Region region(std::vector<ir::ValueId> arguments,
                                    const std::function<std::vector<ir::ValueId>()>& body);

    void fail(const std::string& sentence, const Here& here);

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

    // Declared grid axis -> loop axis, of the pipeline being traced; empty outside one.
    std::vector<std::int32_t> axisPosition;

private:
    ir::Program m_program;
    std::vector<ir::Region*> m_open;
    std::map<std::tuple<std::string, std::int32_t>, ir::LocationId> m_locations;
    std::map<std::pair<std::uint64_t, DType>, ir::ValueId> m_literals; // by the number's bits
    std::optional<Error> m_error;
    Tracer* m_outer;
};

// The operand as a value; a number becomes a literal of the dtype.
[[nodiscard]] Value materialise(const Operand& operand, DType dtype);

} // namespace pallascope::pl::detail
