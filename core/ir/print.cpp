#include "core/ir/print.h"

#include "core/base/check.h"
#include "core/ir/print_params.h"

#include <array>
#include <fmt/format.h>
#include <map>
#include <set>

namespace pallascope::ir {

namespace {

class Printer
{
public:
    explicit Printer(const Program& program)
        : m_program(program)
    {
        for (const Value& value : program.values) {
            m_taken.insert(value.name);
        }
    }

    [[nodiscard]] std::vector<PrintedLine> run()
    {
        std::string head = m_program.name + "(";
        for (std::size_t i = 0; i < m_program.arguments.size(); ++i) {
            const Argument& argument = m_program.arguments[i];
            head += (i > 0 ? ", " : "") + named(argument.ref)
                    + (argument.kind == ArgumentKind::Output ? " out" : "") + partition(argument);
        }
        std::string mesh;
        for (const MeshAxis& axis : m_program.mesh) {
            mesh += (mesh.empty() ? " mesh=(" : ", ") + axis.name + ":" + std::to_string(axis.size);
        }
        line(head + ")" + mesh + (mesh.empty() ? "" : ")") + " {", -1);
        body(m_program.body);
        line("}", -1);
        return std::move(m_lines);
    }

private:
    void line(const std::string& text, std::int32_t operation)
    {
        m_lines.push_back({std::string(m_depth * 2, ' ') + text, operation});
    }

    [[nodiscard]] std::string name(ValueId id);

    [[nodiscard]] std::string named(ValueId id)
    {
        const Type& type = m_program.type(id);
        const std::string text = toString(type);
        const bool scalar = type.isScalar();
        return name(id) + ":" + (scalar ? std::string(jaxprName(type.dtype)) : text);
    }

    // " P(x, None)"; empty if every device has the whole array.
    [[nodiscard]] static std::string partition(const Argument& argument)
    {
        std::string text;
        for (const std::vector<std::string>& names : argument.partition) {
            std::string axis;
            for (const std::string& name : names) {
                axis += (axis.empty() ? "" : "*") + name;
            }
            text += (text.empty() ? " P(" : ", ") + (axis.empty() ? "None" : axis);
        }
        return text.empty() ? "" : text + ")";
    }

    void body(const Region& region);
    void operation(const Operation& operation);
    void control(const Operation& operation, const std::string& results);
    void pipeline(const Operation& operation);
    [[nodiscard]] std::string names(const std::vector<ValueId>& values, const char* separator);
    [[nodiscard]] std::string indexed(const Operation& operation);
    [[nodiscard]] std::string map(const Region& region);

    const Program& m_program;
    std::vector<PrintedLine> m_lines;
    std::map<ValueId, std::string> m_names;
    std::set<std::string> m_taken; // the names of refs and grid axes
    std::size_t m_letters = 0;
    std::size_t m_depth = 0;
};

// Values are named a, b, ..., z, aa, ab, ... in order of first appearance. Refs and grid axes keep
// their own names.
std::string Printer::name(ValueId id)
{
    const Value& value = m_program.value(id);
    if (value.literal) {
        const bool real = isFloat(value.type.dtype);
        // The shortest text that reads back as this f32. As a double, the number would show its
        // rounding.
        std::string text = real ? fmt::format("{}", static_cast<float>(*value.literal))
                                : fmt::format("{:.0f}", *value.literal);
        const bool looksWhole = text.find_first_not_of("-0123456789") == std::string::npos;
        return text + (real && looksWhole ? ".0" : "");
    }
    if (!value.name.empty()) {
        return value.name;
    }
    const auto [place, isNew] = m_names.try_emplace(id);
    if (isNew) {
        std::string text;
        do {
            std::size_t n = m_letters++;
            text.assign(1, static_cast<char>('a' + n % 26));
            while (n >= 26) {
                n = n / 26 - 1;
                text.insert(text.begin(), static_cast<char>('a' + n % 26));
            }
        } while (m_taken.contains(text));
        place->second = text;
    }
    return place->second;
}

std::string Printer::names(const std::vector<ValueId>& values, const char* separator)
{
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        text += (i > 0 ? separator : "") + name(values[i]);
    }
    return text;
}

std::string Printer::indexed(const Operation& operation)
{
    const Type& ref = m_program.type(operation.operands[0]);
    const auto& entries = std::get<IndexerParams>(operation.params).entries;
    std::string text =
        name(operation.operands[0]) + (operation.code == OpCode::RefAt ? ".at[" : "[");
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
        const IndexEntry& entry = entries[axis];
        text += axis > 0 ? "," : "";
        const std::string start =
            entry.operand >= 0 ? name(operation.operands[static_cast<std::size_t>(entry.operand)])
                               : std::to_string(entry.start);
        if (entry.sizeOperand >= 0) {
            text += start + ":" + start + "+"
                    + name(operation.operands[static_cast<std::size_t>(entry.sizeOperand)]);
        } else if (!entry.isSlice) {
            text += start;
        } else if (entry.operand < 0 && entry.start == 0 && entry.stride == 1
                   && entry.size == ref.shape[axis]) {
            text += ":";
        } else if (entry.operand < 0) {
            text += start + ":" + std::to_string(entry.start + (entry.size - 1) * entry.stride + 1)
                    + (entry.stride == 1 ? "" : ":" + std::to_string(entry.stride));
        } else {
            text += start + ":" + start + "+" + std::to_string(entry.size * entry.stride)
                    + (entry.stride == 1 ? "" : ":" + std::to_string(entry.stride));
        }
    }
    return text + "]";
}

namespace {

std::string blockDimText(const BlockDim& dim)
{
    const std::string size = std::to_string(dim.size);
    switch (dim.kind) {
    case BlockKind::Blocked:
        return size;
    case BlockKind::Squeezed:
        return "None";
    case BlockKind::Element:
        return "Element(" + size
               + (dim.padLow + dim.padHigh == 0
                      ? ")"
                      : fmt::format(", ({}, {}))", dim.padLow, dim.padHigh));
    case BlockKind::BoundedSlice:
        return "BoundedSlice(" + size + ")";
    case BlockKind::Indirect:
        return "Indirect(" + size + ")";
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

std::string_view directionText(BlockDirection direction)
{
    constexpr std::array<std::string_view, 3> kNames{"in", "out", "inout"};
    return kNames[static_cast<std::size_t>(direction)];
}

std::string buffersText(const BlockSpec& spec)
{
    std::string text = "  buffers ";
    if (spec.direction == BlockDirection::InOut) {
        text += fmt::format("({}, {})", spec.inBuffers, spec.outBuffers);
    } else {
        text +=
            std::to_string(spec.direction == BlockDirection::In ? spec.inBuffers : spec.outBuffers);
    }
    text += spec.lookahead ? " lookahead" : "";
    text += spec.restores ? " revisit=any" : "";
    return text + (spec.prefetched > 0 ? " prefetched " + std::to_string(spec.prefetched) : "");
}

} // namespace

std::string Printer::map(const Region& region)
{
    if (region.operations.empty()) {
        return "(" + names(region.results, ", ") + ")";
    }
    std::string text = "{ ";
    for (const Operation& operation : region.operations) {
        text += name(operation.results[0]) + " = " + std::string(opName(operation.code))
                + parametersText(operation) + " " + names(operation.operands, " ") + "; ";
    }
    return text + "(" + names(region.results, ", ") + ") }";
}

void Printer::pipeline(const Operation& operation)
{
    const auto& params = std::get<PipelineParams>(operation.params);
    std::string grid;
    std::size_t bound = params.specs.size();
    for (const Extent extent : params.grid) {
        grid += (grid.empty() ? "" : ", ")
                + (extent == kDynamicExtent ? name(operation.operands[bound++])
                                            : std::to_string(extent));
    }
    const std::string origin =
        std::string(params.origin == PipelineOrigin::PallasCall ? " origin=pallas_call" : "")
        + (params.noPipelining ? " no_pipelining" : "")
        + (params.coreAxis.empty() ? "" : " core_axis=" + params.coreAxis)
        + (params.blockAxes.empty()
               ? ""
               : " block_axes=" + fmt::format("{}", fmt::join(params.blockAxes, ",")))
        + (params.parallel.empty() ? "" : " parallel=" + tupleText(params.parallel));
    line("pipeline grid=(" + grid + ") schedule=" + params.schedule + origin + " {", operation.id);
    ++m_depth;
    for (std::size_t i = 0; i < params.specs.size(); ++i) {
        const BlockSpec& spec = params.specs[i];
        const Type& array = m_program.type(operation.operands[i]);
        std::string block;
        for (std::size_t axis = 0; axis < spec.block.size(); ++axis) {
            block += (axis > 0 ? ", " : "") + blockDimText(spec.block[axis]);
        }
        const Type& ref = m_program.type(operation.regions[0].arguments[i]);
        const std::string space =
            ref.space == MemorySpace::Vmem ? "" : " in " + std::string(memorySpaceName(*ref.space));
        line(fmt::format("{:<3} {:<5} ({}) {}{}  map {}{}", directionText(spec.direction),
                         spec.name, block, jaxprName(array.dtype), space,
                         map(operation.regions[i + 1]), buffersText(spec)),
             -1);
    }
    const auto& arguments = operation.regions[0].arguments;
    for (std::size_t i = params.specs.size(); i < arguments.size(); ++i) {
        const Type& type = m_program.type(arguments[i]);
        line("scratch " + name(arguments[i]) + " " + std::string(memorySpaceName(*type.space)) + " "
                 + std::string(jaxprName(type.dtype)) + toString(type.shape),
             -1);
    }
    --m_depth;
    body(operation.regions[0]);
    line("}", -1);
}

void Printer::control(const Operation& operation, const std::string& results)
{
    if (operation.code == OpCode::Pipeline) {
        pipeline(operation);
        return;
    }
    std::string head = results + std::string(opName(operation.code));
    if (const auto* scan = std::get_if<ScanParams>(&operation.params)) {
        head += "[length=" + std::to_string(scan->length)
                + (scan->unroll > 1 ? " unroll=" + std::to_string(scan->unroll) : "") + "]";
    } else {
        head += parametersText(operation);
    }
    head += operation.operands.empty() ? "" : " " + names(operation.operands, " ");
    // A `when` is a cond whose false branch is empty; it is printed as one block.
    const bool isWhen = operation.code == OpCode::Cond && operation.regions.size() == 2
                        && operation.regions[0].operations.empty() && operation.results.empty();
    if (isWhen) {
        line(head + " {", operation.id);
        body(operation.regions[1]);
        line("}", -1);
        return;
    }
    line(head + " {", operation.id);
    for (std::size_t i = 0; i < operation.regions.size(); ++i) {
        const Region& region = operation.regions[i];
        if (i > 0) {
            line("} {", -1);
        }
        if (!region.arguments.empty()) {
            ++m_depth;
            line("lambda " + names(region.arguments, " ") + ".", -1);
            --m_depth;
        }
        body(region);
        if (!region.results.empty()) {
            ++m_depth;
            line("in (" + names(region.results, ", ") + ")", -1);
            --m_depth;
        }
    }
    line("}", -1);
}

void Printer::operation(const Operation& operation)
{
    if (operation.code == OpCode::Swap) { // the replaced value gets no name unless it is used
        line(indexed(operation) + " <- " + name(operation.operands[1]), operation.id);
        return;
    }
    if (operation.code == OpCode::Get) {
        line(named(operation.results[0]) + " <- " + indexed(operation), operation.id);
        return;
    }
    if (operation.code == OpCode::RefAt) {
        line(named(operation.results[0]) + " = " + indexed(operation), operation.id);
        return;
    }
    std::string results;
    for (const ValueId result : operation.results) {
        results += (results.empty() ? "" : " ") + named(result);
    }
    if (!results.empty()) {
        results += " = ";
    }
    if (opEntry(operation.code).kind == OpKind::Control) {
        control(operation, results);
        return;
    }
    line(results + std::string(opName(operation.code)) + parametersText(operation)
             + (operation.operands.empty() ? "" : " ") + names(operation.operands, " "),
         operation.id);
}

void Printer::body(const Region& region)
{
    ++m_depth;
    for (const Operation& op : region.operations) {
        operation(op);
    }
    --m_depth;
}

} // namespace

std::vector<PrintedLine> print(const Program& program)
{
    return Printer(program).run();
}

std::string printText(const Program& program)
{
    std::string text;
    for (const PrintedLine& line : print(program)) {
        text += line.text + "\n";
    }
    return text;
}

std::string loweringText(std::string_view accepted, const std::string& reason)
{
    const std::string why = reason.empty() ? "" : ": " + reason;
    if (accepted == verdictName(Verdict::Yes)) {
        return "JAX's own lowering accepts it.";
    }
    if (accepted == verdictName(Verdict::No)) {
        return "JAX's own lowering does not accept it" + why;
    }
    return why.empty() ? "" : "It is not known whether JAX's own lowering accepts it" + why;
}

} // namespace pallascope::ir
