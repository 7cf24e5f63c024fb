#include "tests/machine/random/random_program.h"

#include "core/ir/mesh.h"
#include "core/ir/tracer.h"
#include "tests/machine/random/random_writer.h"
#include "tests/machine/support.h"

#include <algorithm>

namespace pallascope::machine_test {

namespace {

using Arguments = std::vector<pl::detail::ArgumentSpec>;

enum class Form : std::uint8_t
{
    Kernel,
    Cores,          // cores that run one kernel
    Devices,        // devices that run one kernel
    CoresOfDevices, // devices of two cores each
    Sequence        // a sequence of kernels and fusions
};

bool hasCores(Form form)
{
    return form == Form::Cores || form == Form::CoresOfDevices;
}

bool hasDevices(Form form)
{
    return form == Form::Devices || form == Form::CoresOfDevices;
}

bool isAliased(const pl::detail::ArgumentSpec& input, const Arguments& arguments)
{
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const auto& other) { return other.aliasOf == input.name; });
}

// With rows that fill whole tiles, or that do not.
Shape rowsOf(Chance& chance)
{
    const std::vector<Extent> rows{8, 16, 20, 24};
    return {chance.pick(rows), kColumns};
}

DType dtypeOf(Chance& chance)
{
    return chance.oneIn(2) ? kInt : kF32;
}

Arguments argumentsOf(Chance& chance, Form form)
{
    Arguments arguments;
    const std::int64_t tables = form == Form::Sequence ? 0 : chance.from(1, 2);
    for (std::int64_t i = 0; i < tables; ++i) {
        arguments.push_back(pl::scalarPrefetch("table" + std::to_string(i), kInt, {kEntries}));
    }
    arguments.push_back(pl::in("list", kInt, {kEntries}));
    const std::int64_t inputs = chance.from(1, 3);
    for (std::int64_t i = 0; i < inputs; ++i) {
        const std::string name = "x" + std::to_string(i);
        const DType dtype = dtypeOf(chance);
        const Shape shape = chance.oneIn(4) ? Shape{3, kRows, kColumns} : rowsOf(chance);
        arguments.push_back(pl::in(name, dtype, shape));
    }
    const pl::detail::ArgumentSpec& last = arguments.back();
    if (chance.oneIn(4)) {
        arguments.push_back(pl::outAliasing("same", last.name, last.dtype, last.shape));
    }
    const DType dtype = dtypeOf(chance);
    arguments.push_back(pl::out("out", dtype, rowsOf(chance)));
    arguments.push_back(pl::out("numbers", kInt, {kEntries}));
    for (pl::detail::ArgumentSpec& argument : arguments) {
        const bool isRead =
            argument.kind == ir::ArgumentKind::Input && !isAliased(argument, arguments);
        if (hasDevices(form) && !(isRead && chance.oneIn(2))) { // each device has a part of it
            argument.partition.resize(argument.shape.rank());
            argument.partition.front() = {"d"};
        }
    }
    return arguments;
}

Array inputOf(Chance& chance, const ir::Type& type)
{
    std::vector<double> elements;
    const std::int64_t most = type.shape.rank() == 1 ? kEntries - 1 : 5;
    for (std::int64_t i = 0; i < type.shape.elements(); ++i) {
        const auto number = static_cast<double>(chance.from(0, most));
        elements.push_back(type.dtype == kInt ? number : number / 4 - 1);
    }
    return arrayOf(type.dtype, type.shape, elements);
}

machine::Settings settingsOf(Chance& chance)
{
    machine::Settings settings;
    if (chance.oneIn(4)) {
        settings.uninitializedMemory = Fill::Zero;
    }
    if (chance.oneIn(3)) {
        settings.outOfBoundsReads = machine::OutOfBoundsReads::Uninitialized;
    }
    if (chance.oneIn(3)) {
        settings.dmaExecutionMode =
            chance.oneIn(2) ? machine::DmaMode::Eager : machine::DmaMode::OnWait;
    }
    settings.detectRaces = chance.oneIn(5) ? machine::DetectRaces::No : machine::DetectRaces::Yes;
    return settings;
}

void write(Chance& chance, Form form, const std::vector<pl::Ref>& refs)
{
    RandomScope scope;
    for (const pl::Ref& ref : refs) {
        add(scope, ref);
    }
    RandomWriter writer(chance, std::move(scope));
    switch (form) {
    case Form::Kernel:
        if (chance.oneIn(3)) { // perhaps the grid of a pallas_call, which cannot be nested
            writer.pipeline();
        }
        writer.statements(6);
        return;
    case Form::Cores:
        writer.coreMap();
        return;
    case Form::Devices:
    case Form::CoresOfDevices:
        writer.onDevices(static_cast<std::int32_t>(chance.from(2, 4)), hasCores(form));
        return;
    case Form::Sequence:
        writer.scope().isAround = true;
        writer.scoped({{"between", kInt, {kEntries}, ir::MemorySpace::Hbm},
                       {"rows", kInt, {kRows, kColumns}, ir::MemorySpace::Hbm}},
                      [&] {
                          const std::int64_t count = chance.from(2, 4);
                          for (std::int64_t i = 0; i < count; ++i) {
                              chance.oneIn(2) ? writer.kernel() : writer.fusion();
                          }
                      });
    }
}

} // namespace

RandomProgram randomProgram(std::uint64_t seed)
{
    Chance chance(seed);
    const std::vector<Form> forms{Form::Kernel,   Form::Kernel,   Form::Cores,
                                  Form::Cores,    Form::Devices,  Form::CoresOfDevices,
                                  Form::Sequence, Form::Sequence, Form::Sequence};
    const Form form = chance.pick(forms);
    const Arguments arguments = argumentsOf(chance, form);
    RandomProgram random;
    random.program = mustTrace(pl::detail::traceKernel(
        "random", arguments,
        [&](const std::vector<pl::Ref>& refs) {
            write(chance, form, refs);
            return true;
        },
        std::source_location::current()));
    for (const ir::Argument& argument : random.program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            random.inputs.push_back(inputOf(chance, ir::wholeType(random.program, argument)));
        }
    }
    random.chip = hasCores(form) ? &v5p() : &v5e();
    random.settings = settingsOf(chance);
    return random;
}

} // namespace pallascope::machine_test
