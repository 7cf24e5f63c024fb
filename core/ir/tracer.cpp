#include "core/ir/tracer.h"

#include "core/base/check.h"
#include "core/base/element.h"
#include "core/ir/infer.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace pallascope::pl::detail {

namespace {

thread_local Tracer* t_current = nullptr;

// Keeps the last two components of a path: the path from the repository root, wherever the build
// ran.
std::string shortPath(std::string path)
{
    const std::size_t last = path.rfind('/');
    if (last == std::string::npos || last == 0) {
        return path;
    }
    const std::size_t before = path.rfind('/', last - 1);
    return before == std::string::npos ? path : path.substr(before + 1);
}

} // namespace

Tracer& Tracer::current()
{
    PALLASCOPE_CHECK(t_current != nullptr);
    return *t_current;
}

Tracer::Tracer(std::string name)
    : m_outer(std::exchange(t_current, this))
{
    m_program.name = std::move(name);
    m_open.push_back(&m_program.body);
}

Tracer::~Tracer()
{
    t_current = m_outer;
}

ir::ValueId Tracer::newValue(ir::Type type, std::string name)
{
    m_program.values.push_back({std::move(type), {}, std::move(name)});
    return {static_cast<std::int32_t>(m_program.values.size() - 1)};
}

ir::ValueId Tracer::literal(double number, DType dtype, const Here& here)
{
    if (!isFloat(dtype)
        && !(number >= lowestNumber(dtype) && number <= highestNumber(dtype)
             && number == std::trunc(number))) {
        fail(fmt::format("{} does not fit {}; expected a whole number from {} to {}.", number,
                         dtypeName(dtype), lowestInteger(dtype), highestInteger(dtype)),
             here);
        number = 0;
    }
    number = roundTo(dtype, number);
    const auto [place, isNew] =
        m_literals.try_emplace({std::bit_cast<std::uint64_t>(number), dtype});
    if (isNew) {
        place->second = newValue({dtype, Shape{}, {}});
        m_program.values.back().literal = number;
    }
    return place->second;
}

ir::LocationId Tracer::location(const Here& here)
{
    const std::string file = shortPath(here.file_name());
    const auto line = static_cast<std::int32_t>(here.line());
    const auto [place, isNew] = m_locations.try_emplace({file, line});
    if (isNew) {
        m_program.locations.push_back({file, line, here.function_name(), {}});
        place->second = {static_cast<std::int32_t>(m_program.locations.size() - 1)};
    }
    return place->second;
}

std::vector<Value> Tracer::append(ir::Operation operation, const Here& here)
{
    operation.location = location(here);
    Result<std::vector<ir::Type>> types = ir::inferTypes(m_program, operation);
    if (!types) {
        fail(types.error().message, here);
        // Tracing goes on with the type of the first operand, so that nothing after the mistake
        // crashes.
        const bool hasOperand = !operation.operands.empty();
        ir::Type guess = hasOperand ? m_program.type(operation.operands.front()) : ir::Type{};
        guess.space.reset();
        types = std::vector<ir::Type>{guess};
    }
    std::vector<Value> results;
    for (const ir::Type& type : *types) {
        operation.results.push_back(newValue(type));
        results.emplace_back(operation.results.back());
    }
    m_open.back()->operations.push_back(std::move(operation));
    return results;
}

ir::Region Tracer::region(std::vector<ir::ValueId> arguments,
                          const std::function<std::vector<ir::ValueId>()>& body)
{
    ir::Region region;
    region.arguments = std::move(arguments);
    m_open.push_back(&region);
    region.results = body();
    m_open.pop_back();
    return region;
}

void Tracer::fail(const std::string& sentence, const Here& here)
{
    if (!m_error) {
        m_error = userError(shortPath(here.file_name()) + ":" + std::to_string(here.line()) + ": "
                            + sentence);
    }
}

Value materialise(const Operand& operand, DType dtype)
{
    return operand.isNumber()
               ? Value(Tracer::current().literal(operand.number(), dtype, operand.here()))
               : operand.value();
}

} // namespace pallascope::pl::detail
